// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// Interval analysis of integer expressions: which values can an index take?
//
// Idea: TVM's index arithmetic often divides loop variables by constants, and floor division is C's plain `/` only
// where the dividend cannot be negative. Loop bounds are almost always constants, so intervals decide nearly every
// case. They also find comparisons that always hold, which compilers warn about. Cost: each expression node once
// (memoised by node). Guarantee: the interval contains every value that the *C* expression takes, so int8 and int16
// arithmetic is computed as int; signed overflow of 32 or 64 bits is undefined in C and ignored. Tested by
// tests/arith/ranges_test.cpp against brute force.
#pragma once

#include <cstdint>
#include <optional>
#include <unordered_map>
#include <vector>

#include "usmp/support/interval.hpp"
#include "usmp/tir/ir.hpp"

namespace usmp::arith {

class Ranges {
 public:
  static constexpr std::size_t most_constants = 4;

  struct Value {
    std::optional<Interval> range = {};
    // All values that it may have if each of its alternatives consists only of literals; empty: not known, or more than
    // most_constants. C compilers compute such values and warn about them.
    std::vector<std::int64_t> constants = {};
  };

  // The values that a variable may have from here on; drops what was derived from an earlier binding.
  void bind(tir::VarId var, std::optional<Interval> range) { bind(var, Value{range}); }
  void bind(tir::VarId var, Value value);
  // The last value bound to the variable; nothing: never bound.
  [[nodiscard]] std::optional<Value> bound(tir::VarId var) const;
  // Every element of this type that is loaded from the storage lies in the range.
  void bind_storage(tir::VarId storage, tir::DataType element, Interval range);
  // The variable of a let has the range `of_cut` of the value.
  void bind_let(tir::VarId var, const tir::Expr& value);
  // A loop variable over [min, min + extent).
  void bind_loop(tir::VarId var, const tir::Expr& min, const tir::Expr& extent);

  // Nothing: not known. For a vector, covers all lanes.
  std::optional<Interval> of(const tir::Expr& expr) { return value(expr).range; }
  // Range of the value truncated to its type, which may be narrower than what C computes (see ir.hpp).
  std::optional<Interval> of_cut(const tir::Expr& expr);
  Value value(const tir::Expr& expr);
  // The value if it depends only on literals; for a vector, the same in all lanes. It has the promoted type.
  std::optional<std::int64_t> constant(const tir::Expr& expr);

  bool never_negative(const tir::Expr& expr);

 private:
  // What `value` has derived before, or a leaf's value.
  Value value_of_operand(const tir::ExprRef& expr) const;
  std::optional<Interval> of_operand(const tir::ExprRef& expr) const { return value_of_operand(expr).range; }
  Value of_leaf(const tir::Expr& expr) const;
  // From the values of the operands.
  Value compute(const tir::Expr& expr);
  std::vector<std::int64_t> folded(const tir::Expr& expr) const;
  std::optional<Interval> compute_range(const tir::Expr& expr);
  std::optional<Interval> compute_arithmetic(const tir::Expr& expr);
  std::optional<Interval> compute_call(const tir::Expr& expr);

  std::unordered_map<tir::VarId, Value> vars_;
  struct Elements {
    tir::DataType type;
    Interval range;
  };
  std::unordered_map<tir::VarId, Elements> storages_;
  struct Known {
    tir::ExprRef expr;  // kept alive, so that no other node can take its address
    Value value;
  };
  std::unordered_map<const tir::Expr*, Known> known_;  // looked up only, never walked
};

}  // namespace usmp::arith
