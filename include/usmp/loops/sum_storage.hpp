// SPDX-License-Identifier: Apache-2.0
// What sums that are kept in memory have to do with the rest of a function: conditions for adding them up in another
// order among each other.
#pragma once

#include <set>

#include "usmp/tir/ir.hpp"

namespace usmp::loops {

class SumStorage {
 public:
  explicit SumStorage(const tir::Function& function);

  // One parameter that nothing else reaches (Param::no_alias).
  [[nodiscard]] bool is_alone(tir::VarId storage) const { return alone_.contains(storage); }

  // Whether the value does nothing, and reads only parameters and constants, none of which the sums are in.
  [[nodiscard]] bool may_read(const tir::Expr& value, tir::VarId sums) const;

 private:
  std::set<tir::VarId> alone_;
  std::set<tir::VarId> readable_;  // other parameters, and constants
};

}  // namespace usmp::loops
