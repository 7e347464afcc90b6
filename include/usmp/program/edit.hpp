// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// Changes to the functions of a module, shared by several passes.
#pragma once

#include <cstddef>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "usmp/tir/ir.hpp"

namespace usmp::program {

// The names in calls of the module: of its functions and of others. O(size of the module · log).
[[nodiscard]] std::set<std::string> called_names(const tir::Module& module);

// Names that no function of the module has and no call in it names. Cost as called_names, of all names together.
class FreshNames {
 public:
  explicit FreshNames(const tir::Module& module);

  // `name`, or `name_1`, `name_2`, …: the first that is fresh. From then on it is not.
  [[nodiscard]] std::string add(const std::string& name);

 private:
  std::set<std::string> taken_;
  std::map<std::string, std::size_t> next_;  // by name: the number up to which all are taken
};

// Inserts in the order of names; the name must be new. Returns the index. O(functions).
std::size_t insert_function(tir::Module& module, tir::Function function);
// Likewise. O(functions · log).
void insert_functions(tir::Module& module, std::vector<tir::Function> functions);

// Removes the functions of these names that no call names, never the entry. Cost as called_names.
void drop_uncalled(tir::Module& module, const std::set<std::string>& names);

// Removes the allocates of these variables directly in the block. O(statements · log).
void drop_allocates(tir::Block& block, const std::set<tir::VarId>& vars);

}  // namespace usmp::program
