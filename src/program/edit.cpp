// SPDX-License-Identifier: Apache-2.0
#include "usmp/program/edit.hpp"

#include <algorithm>
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

std::string fresh_name(const tir::Module& module, const std::string& name) {
  const std::set<std::string> called = called_names(module);
  for (std::size_t i = 0;; ++i) {
    std::string fresh = i == 0 ? name : name + "_" + std::to_string(i);
    if (!module.find(fresh) && !called.contains(fresh)) return fresh;
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

void drop_uncalled(tir::Module& module, const std::set<std::string>& names) {
  const std::set<std::string> called = called_names(module);
  const std::string entry = module.functions[module.entry].name;
  std::erase_if(module.functions, [&](const tir::Function& function) {
    return function.name != entry && names.contains(function.name) && !called.contains(function.name);
  });
  module.entry = *module.find(entry);
}

void drop_allocate(tir::Block& block, tir::VarId var) {
  std::erase_if(block, [&](const tir::Stmt& stmt) {
    const auto* allocate = std::get_if<tir::Allocate>(&stmt.node);
    return allocate != nullptr && allocate->var == var;
  });
}

}  // namespace usmp::program
