// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// What is known of the elements of constants, wherever they are read.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <unordered_map>

#include "usmp/arith/ranges.hpp"
#include "usmp/tir/ir.hpp"

namespace usmp::program {

struct ConstantElements {
  tir::DataType type;
  Interval range;  // a point: all elements are equal
};

// The elements of each AllocateConst of integers that is never stored to, and of each parameter of an operator that
// every call gives such a constant and that is never stored to either. Constants without elements are left out. Data
// are looked at once however often they are used.
class ConstantTable {
 public:
  explicit ConstantTable(const tir::Module& module);

  // Tells `ranges` what it has of storages that the function loads from; returns of how many. O(the function · log).
  std::size_t bind(arith::Ranges& ranges, const tir::Function& function) const;

  // The value of an immediate, or of any element of a uniform constant that is loaded in its own type.
  [[nodiscard]] std::optional<std::int64_t> value_of(const tir::Expr& expr) const;

 private:
  void add_constants(const tir::Module& module);
  void add_params(const tir::Module& module, const std::set<tir::VarId>& written);

  std::map<tir::VarId, ConstantElements> elements_;
};

}  // namespace usmp::program
