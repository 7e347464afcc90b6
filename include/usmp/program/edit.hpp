// Changes of the functions of a module that several passes make.
#pragma once

#include <cstddef>
#include <set>
#include <string>

#include "usmp/tir/ir.hpp"

namespace usmp::program {

// What calls in the module name: functions of the module and others. O(size of the module · log).
[[nodiscard]] std::set<std::string> called_names(const tir::Module& module);

// `name`, or `name_1`, `name_2`, …: the first that no function has and no call names. As called_names.
[[nodiscard]] std::string fresh_name(const tir::Module& module, const std::string& name);

// In the order of names; no function has this one yet. Gives its index. O(functions).
std::size_t insert_function(tir::Module& module, tir::Function function);

// Removes those of the functions of these names that no call names, never the entry. As called_names.
void drop_uncalled(tir::Module& module, const std::set<std::string>& names);

// Removes the allocates of `var` that stand directly in the block. O(statements).
void drop_allocate(tir::Block& block, tir::VarId var);

}  // namespace usmp::program
