// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// Collects names, and inserts and removes functions so that they stay sorted and the entry keeps its index.
#include "usmp/program/edit.hpp"

#include <algorithm>
#include <iterator>
#include <utility>

#include "usmp/tir/visit.hpp"

namespace usmp::program {

std::set<std::string> called_names(const tir::Module& module) {
  std::set<std::string> names;
  for (const tir::Function& function : module.functions) {
    tir::for_each_expr_in(function.body, [&](const tir::Expr& expr) {
      if (const auto call = tir::named_call(expr)) names.insert(*call->name);
    });
  }
  return names;
}

FreshNames::FreshNames(const tir::Module& module) : taken_(called_names(module)) {
  for (const tir::Function& function : module.functions) taken_.insert(function.name);
}

std::string FreshNames::add(const std::string& name) {
  for (std::size_t& i = next_[name];; ++i) {
    std::string fresh = i == 0 ? name : name + "_" + std::to_string(i);
    if (taken_.insert(fresh).second) return fresh;
  }
}

std::size_t insert_function(tir::Module& module, tir::Function function) {
  const auto place =
      std::lower_bound(module.functions.begin(), module.functions.end(), function.name,
                       [](const tir::Function& other, const std::string& name) { return other.name < name; });
  const auto index = static_cast<std::size_t>(place - module.functions.begin());
  if (index <= module.entry) ++module.entry;
  module.functions.insert(place, std::move(function));
  return index;
}

void insert_functions(tir::Module& module, std::vector<tir::Function> functions) {
  const std::string entry = module.functions[module.entry].name;
  std::ranges::move(functions, std::back_inserter(module.functions));
  std::ranges::sort(module.functions, {}, &tir::Function::name);
  module.entry = *module.find(entry);
}

void drop_uncalled(tir::Module& module, const std::set<std::string>& names) {
  const std::set<std::string> called = called_names(module);
  const std::string entry = module.functions[module.entry].name;
  std::erase_if(module.functions, [&](const tir::Function& function) {
    return function.name != entry && names.contains(function.name) && !called.contains(function.name);
  });
  module.entry = *module.find(entry);
}

void drop_allocates(tir::Block& block, const std::set<tir::VarId>& vars) {
  std::erase_if(block, [&](const tir::Stmt& stmt) {
    const auto* allocate = std::get_if<tir::Allocate>(&stmt.node);
    return allocate != nullptr && vars.contains(allocate->var);
  });
}

}  // namespace usmp::program
