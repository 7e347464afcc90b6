// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// Which storage is loaded and stored, and where.
#pragma once

#include <cstddef>
#include <map>
#include <set>

#include "usmp/tir/ir.hpp"

namespace usmp::loops {

struct Accesses {
  std::map<tir::VarId, std::size_t> loads;  // places, not executions
  std::map<tir::VarId, std::size_t> stores;

  [[nodiscard]] std::size_t loads_of(tir::VarId storage) const;
  [[nodiscard]] std::size_t stores_of(tir::VarId storage) const;
};

void add_accesses(const tir::Stmt& stmt, Accesses& accesses);  // of the blocks inside too
[[nodiscard]] Accesses accesses_of(const tir::Block& block);
[[nodiscard]] std::set<tir::VarId> loaded_by(const tir::Expr& expr);

}  // namespace usmp::loops
