// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// Marks allocates, and adds up those of each function.
#include "usmp/storage/stack_arrays.hpp"

#include <algorithm>
#include <variant>

#include "usmp/tir/visit.hpp"

namespace usmp::storage {

void keep_on_stack(tir::Module& module) {
  for (std::size_t i = 0; i < module.functions.size(); ++i) {
    tir::for_each_block(module.functions[i].body, [&](tir::Block& block) {
      for (tir::Stmt& stmt : block) {
        auto* allocate = std::get_if<tir::Allocate>(&stmt.node);
        if (allocate != nullptr) allocate->on_stack = tir::stays_on_stack(module, i, *allocate);
      }
    });
  }
}

Bytes stack_arrays(const tir::Module& module, bool planned) {
  Bytes most = 0;
  for (const tir::Function& function : module.functions) {
    Bytes sum = 0;
    tir::for_each_stmt(function.body, [&](const tir::Stmt& stmt) {
      const auto* allocate = std::get_if<tir::Allocate>(&stmt.node);
      if (allocate == nullptr || !allocate->was_on_stack || (!planned && !allocate->on_stack)) return;
      sum = checked_add(sum, tir::allocation_size(*allocate).bytes.value_or(0)).value_or(sum);
    });
    most = std::max(most, sum);
  }
  return most;
}

}  // namespace usmp::storage
