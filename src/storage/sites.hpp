// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// Where a function allocates storage.
#pragma once

#include <cstddef>
#include <set>
#include <vector>

#include "usmp/tir/ir.hpp"

namespace usmp::storage {

struct Site {
  const tir::Allocate* allocate = nullptr;
  std::size_t depth = 0;  // of blocks around its own
};

struct Sites {
  std::vector<Site> all;       // in program order
  std::set<tir::VarId> twice;  // allocated in several places
};

[[nodiscard]] Sites sites_of(const tir::Block& body);

}  // namespace usmp::storage
