// SPDX-License-Identifier: Apache-2.0
// Changes to the functions of a module, shared by several passes.
#pragma once

#include <cstddef>
#include <set>
#include <string>

#include "usmp/tir/ir.hpp"

namespace usmp::program {

// The names in calls of the module: of its functions and of others. O(size of the module · log).
[[nodiscard]] std::set<std::string> called_names(const tir::Module& module);

// `name`, or `name_1`, `name_2`, …: the first that no function has and no call names. Cost as called_names.
[[nodiscard]] std::string fresh_name(const tir::Module& module, const std::string& name);

// Inserts in the order of names; the name must be new. Returns the index. O(functions).
std::size_t insert_function(tir::Module& module, tir::Function function);

// Removes the functions of these names that no call names, never the entry. Cost as called_names.
void drop_uncalled(tir::Module& module, const std::set<std::string>& names);

// Removes the allocates of `var` directly in the block. O(statements).
void drop_allocate(tir::Block& block, tir::VarId var);

}  // namespace usmp::program
