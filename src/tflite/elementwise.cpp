// SPDX-License-Identifier: Apache-2.0
// Operators on pairs of elements, broadcast as in numpy: ADD, SUB, MUL, DIV, MAXIMUM, MINIMUM, comparisons, PRELU.
#include <algorithm>
#include <cmath>

#include "tflite/arithmetic.hpp"
#include "tflite/broadcast.hpp"
#include "tflite/operators.hpp"

namespace usmp::tflite {
namespace {

void check_quantized(Emitter& e, const Value& value) {
  e.require_scale(value);
  e.require(value.type == Type::int8 || value.zero_point() == 0, "int16 with a zero point", "zero point 0");
}

Interval output_range(Emitter& e) {
  const auto range = activation_range(e.options().activation, e.output());
  e.require(range.has_value(), "another activation", "none, RELU, RELU_N1_TO_1 or RELU6");
  return range.value();
}

// Of values less the zero point, in magnitude.
std::int64_t magnitude(const Value& value) {
  const Interval range = range_of(value.type);
  return std::max(range.high - value.zero_point(), value.zero_point() - range.low);
}

void add_or_sub(Emitter& e, bool is_sub) {
  const Value& a = e.input(0);
  const Value& b = e.input(1);
  const Value& out = e.output();
  e.require_type(a, {Type::float32, Type::int8, Type::int16, Type::int32});
  e.require_type(b, {a.type});
  e.require_type(out, {a.type});
  Nest& nest = e.nest();
  if (a.type == Type::float32) {
    return for_each_pair(
        e, [&](const Num& x, const Num& y) { return activated(is_sub ? x - y : x + y, e.options().activation); });
  }
  if (a.type == Type::int32) {
    e.refuse("int32", "float32, int8 and int16");
  }
  for (const Value* value : {&a, &b, &out}) check_quantized(e, *value);
  const int left = a.type == Type::int8 ? 20 : 15;
  const double twice = 2 * std::max(a.scale(), b.scale());
  const Multiplier to_a = multiplier_of(a.scale() / twice);
  const Multiplier to_b = multiplier_of(b.scale() / twice);
  const Multiplier to_out = multiplier_of(twice / ((1 << left) * out.scale()));
  const Interval range = output_range(e);
  for_each_pair(e, [&](const Num& x, const Num& y) {
    const auto scaled = [&](const Num& value, const Value& of, Multiplier by) {
      const Num shifted = (cast(tir::int32_type, value) - Num(of.zero_point())) << left;
      return multiplied(nest, shifted, by, magnitude(of) << left);
    };
    const Num p = scaled(x, a, to_a);
    const Num q = scaled(y, b, to_b);
    const std::int64_t bound = (magnitude(a) << (left - 1)) + (magnitude(b) << (left - 1)) + 2;
    const Num sum = nest.let("sum", is_sub ? p - q : p + q);
    return clip(multiplied(nest, sum, to_out, bound) + Num(out.zero_point()), range.low, range.high);
  });
}

}  // namespace

void add(Emitter& e) { add_or_sub(e, false); }
void sub(Emitter& e) { add_or_sub(e, true); }

}  // namespace usmp::tflite
