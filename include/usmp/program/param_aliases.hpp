// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// Which parameters of a function may alias.
#pragma once

#include <cstddef>
#include <map>
#include <vector>

#include "usmp/program/entry_calls.hpp"
#include "usmp/tir/ir.hpp"

namespace usmp::program {

// Which parameters of which function may reach the same bytes, from all calls in the module. The parameters to which a
// call passes one storage are a class; each class is kept once. O(size of the module + arguments · log²).
class ParamAliases {
 public:
  explicit ParamAliases(const tir::Module& module);

  // Whether every call passes whole variables, so that parameters are either the same storage or disjoint.
  [[nodiscard]] bool known(std::size_t function) const { return known_[function]; }
  // For parameters of one function: whether some call passes one storage for both. A parameter in more than
  // `most_classes` classes counts as an alias of every parameter in a class. O(most_classes²).
  [[nodiscard]] bool may_alias(tir::VarId a, tir::VarId b) const;
  static constexpr std::size_t most_classes = 16;

  [[nodiscard]] std::size_t classes() const { return classes_.size(); }

 private:
  void note_call(const tir::Function& called, const std::vector<tir::VarId>& arguments);
  void note_class(std::vector<tir::VarId> params);

  std::vector<bool> known_;
  std::map<std::vector<tir::VarId>, std::size_t> classes_;  // sorted variables, to numbers
  std::map<tir::VarId, std::vector<std::size_t>> classes_of_;
};

}  // namespace usmp::program
