// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// What sums that are kept in memory have to do with the rest of a function: conditions for adding them up in another
// order among each other.
#pragma once

#include <set>

#include "usmp/tir/ir.hpp"

namespace usmp::loops {

class SumStorage {
 public:
  explicit SumStorage(const tir::Function& function);

  // A parameter, or an array on the stack, that nothing else reaches (Param::no_alias).
  [[nodiscard]] bool is_alone(tir::VarId storage) const {
    return alone_.contains(storage) || arrays_.contains(storage);
  }

  // Whether the value does nothing, and reads nothing that the sums are in: parameters, constants and such arrays; if
  // the sums are in such an array, anything else.
  [[nodiscard]] bool may_read(const tir::Expr& value, tir::VarId sums) const;

 private:
  std::set<tir::VarId> alone_;     // parameters
  std::set<tir::VarId> arrays_;    // no pointer to which is passed or kept
  std::set<tir::VarId> readable_;  // other parameters, and constants
};

}  // namespace usmp::loops
