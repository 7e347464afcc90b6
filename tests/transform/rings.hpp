// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
#pragma once

#include <string>
#include <variant>

#include "usmp/tir/ir.hpp"
#include "usmp/tir/visit.hpp"

namespace usmp::transform {

// "a 13, b 1": the buffers that are rings, and how many rows or pixels they hold.
inline std::string rings_of(const tir::Module& module) {
  std::string rings;
  for (const tir::Function& function : module.functions) {
    tir::for_each_stmt(function.body, [&](const tir::Stmt& stmt) {
      const auto* allocate = std::get_if<tir::Allocate>(&stmt.node);
      if (allocate == nullptr || !allocate->ring) return;
      rings +=
          (rings.empty() ? "" : ", ") + module.var(allocate->var).name + " " + std::to_string(allocate->ring->rows);
    });
  }
  return rings;
}

}  // namespace usmp::transform
