// SPDX-License-Identifier: Apache-2.0
#include "usmp/storage/stack.hpp"

#include <algorithm>
#include <variant>

#include "usmp/tir/visit.hpp"

namespace usmp::storage {

std::set<tir::VarId> keep_on_stack(tir::Module& module, Bytes most) {
  std::set<tir::VarId> stays;
  for (std::size_t i = 0; i < module.functions.size(); ++i) {
    if (i == module.entry) continue;  // what it has is live across calls
    tir::for_each_block(module.functions[i].body, [&](tir::Block& block) {
      for (tir::Stmt& stmt : block) {
        auto* allocate = std::get_if<tir::Allocate>(&stmt.node);
        if (allocate == nullptr || !allocate->was_on_stack || allocate->ring || allocate->condition != nullptr)
          continue;
        const std::optional<Bytes> size = tir::allocation_size(*allocate).bytes;
        if (!size || *size > most || allocate->type.is_vector()) continue;
        allocate->on_stack = true;
        stays.insert(allocate->var);
      }
    });
  }
  return stays;
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
