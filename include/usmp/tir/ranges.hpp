// Interval analysis of integer expressions: which values can an index take?
//
// Idea: TVM's index arithmetic divides loop variables by constants all over, and floor division is C's plain `/` only
// where the dividend cannot be negative. Bounds of loop variables are constants almost always, so intervals decide
// nearly every case. They also tell comparisons that always hold, which compilers warn of.
// Cost: each expression node once (memoised by node). Guarantee: the interval contains every value that the *C*
// expression takes, so int8 and int16 arithmetic is that of the promoted int; a signed overflow of 32 or 64 bits is
// undefined in C and does not count. Tested by tests/tir/ranges_test.cpp against brute force.
#pragma once

#include <cstdint>
#include <optional>
#include <unordered_map>
#include <vector>

#include "usmp/tir/ir.hpp"

namespace usmp::tir {

struct Range {  // both ends inclusive
  std::int64_t low = 0;
  std::int64_t high = 0;

  [[nodiscard]] bool is_point() const { return low == high; }
  friend bool operator==(const Range&, const Range&) = default;
};

// All values of an integer type; nothing for uint64 (its values do not fit) and for what is not an integer.
[[nodiscard]] std::optional<Range> range_of_type(DataType type);

// C's integer promotion: the result of an operation may leave the range of a narrow type, but not that of int.
[[nodiscard]] DataType promoted(DataType type);

class Ranges {
 public:
  static constexpr std::size_t most_constants = 4;

  struct Value {
    std::optional<Range> range = {};
    // All values that it may have, where each way through its choices is made of literals alone; empty: not known, or
    // more than most_constants. Compilers of C compute such values, and warn of what they find.
    std::vector<std::int64_t> constants = {};
  };

  // What a variable may hold from here on; forgets what was derived from an earlier binding.
  void bind(VarId var, std::optional<Range> range) { bind(var, Value{range}); }
  void bind(VarId var, Value value);
  // What `bind` said last of the variable; nothing: never bound.
  [[nodiscard]] std::optional<Value> bound(VarId var) const;
  // Every element of this type that is loaded from the storage lies in the range.
  void bind_storage(VarId storage, DataType element, Range range);
  // What the variable of a let holds: `of_cut` of the value.
  void bind_let(VarId var, const Expr& value);
  // A loop variable over [min, min + extent).
  void bind_loop(VarId var, const Expr& min, const Expr& extent);

  // Nothing: not known. Of a vector: covers all lanes.
  std::optional<Range> of(const Expr& expr) { return value(expr).range; }
  // Of the value once it is cut to its type, which may be narrower than what C computes (see ir.hpp).
  std::optional<Range> of_cut(const Expr& expr);
  Value value(const Expr& expr);
  // The value, where literals alone decide it; of a vector: the same in all lanes. It has the promoted type.
  std::optional<std::int64_t> constant(const Expr& expr);

  bool never_negative(const Expr& expr);

 private:
  // Of what `value` has derived before, or of a leaf.
  Value value_of_operand(const ExprRef& expr) const;
  std::optional<Range> of_operand(const ExprRef& expr) const { return value_of_operand(expr).range; }
  Value of_leaf(const Expr& expr) const;
  // From the values of the operands.
  Value compute(const Expr& expr);
  std::vector<std::int64_t> folded(const Expr& expr) const;
  std::optional<Range> compute_range(const Expr& expr);
  std::optional<Range> compute_arithmetic(const Expr& expr);
  std::optional<Range> compute_call(const Expr& expr);

  std::unordered_map<VarId, Value> vars_;
  struct Elements {
    DataType type;
    Range range;
  };
  std::unordered_map<VarId, Elements> storages_;
  struct Known {
    ExprRef expr;  // kept alive, so that no other node can take its address
    Value value;
  };
  std::unordered_map<const Expr*, Known> known_;  // looked up only, never walked
};

}  // namespace usmp::tir
