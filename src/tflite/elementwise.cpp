// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// Operators on pairs of elements, stretched as in numpy: ADD, SUB, MUL, DIV, MAXIMUM, MINIMUM, SQUARED_DIFFERENCE,
// PRELU, comparisons; conversions: QUANTIZE, DEQUANTIZE, CAST.
#include <algorithm>
#include <cmath>

#include "tflite/arithmetic.hpp"
#include "tflite/broadcast.hpp"
#include "tflite/operators.hpp"
#include "tflite/tables.hpp"

namespace usmp::tflite {
namespace {

void check_quantized(Emitter& e, const Value& value) {
  e.require_scale(value);
  e.require(value.type == Type::int8 || value.zero_point() == 0, "int16 with a zero point", "zero point 0");
}

void check_types(Emitter& e, std::initializer_list<Type> types) {
  e.require_type(e.input(0), types);
  e.require_type(e.input(1), {e.input(0).type});
  e.require_type(e.output(), {e.input(0).type});
  if (e.input(0).type == Type::float32) return;
  for (const Value* value : {&e.input(0), &e.input(1), &e.output()}) check_quantized(e, *value);
}

void check_activation(Emitter& e) {
  e.require(e.options().activation <= Activation::relu6, "another activation", "none, RELU, RELU_N1_TO_1 or RELU6");
}

// (x − zero point) · 2^left, in the scale 2 · the larger of both.
Num scaled(Nest& nest, const Num& x, const Value& of, int left, Multiplier by) {
  const Num shifted = (cast(tir::int32_type, x) - Num(of.zero_point())) << left;
  return multiplied(nest, shifted, by, magnitude(of) << left);
}

struct SumFactors {
  Multiplier a;
  Multiplier b;
  Multiplier out;
};

// The reference kernel of ADD divides scales as doubles, that of SUB as floats.
SumFactors factors_of(bool is_sub, int left, const Value& a, const Value& b, const Value& out) {
  if (!is_sub) {
    const double twice = 2 * std::max(a.scale(), b.scale());
    return {multiplier_of(a.scale() / twice), multiplier_of(b.scale() / twice),
            multiplier_of(twice / ((1 << left) * out.scale()))};
  }
  const float of_a = a.quantization.scales.front();
  const float of_b = b.quantization.scales.front();
  const float twice = 2 * std::max(of_a, of_b);
  const float steps = static_cast<float>(1 << left) * out.quantization.scales.front();
  const auto factor = [](float real) { return multiplier_of(static_cast<double>(real)); };
  return {factor(of_a / twice), factor(of_b / twice), factor(twice / steps)};
}

void add_or_sub(Emitter& e, bool is_sub) {
  check_types(e, {Type::float32, Type::int8, Type::int16});
  check_activation(e);
  const Value& a = e.input(0);
  const Value& b = e.input(1);
  const Value& out = e.output();
  if (a.type == Type::float32) {
    return for_each_pair(
        e, [&](const Num& x, const Num& y) { return activated(is_sub ? x - y : x + y, e.options().activation); });
  }
  Nest& nest = e.nest();
  const int left = a.type == Type::int8 ? 20 : 15;
  const SumFactors factors = factors_of(is_sub, left, a, b, out);
  const Interval range = activation_range(e.options().activation, out).value();
  const std::int64_t bound = (magnitude(a) << (left - 1)) + (magnitude(b) << (left - 1)) + 2;
  for_each_pair(e, [&](const Num& x, const Num& y) {
    const Num p = scaled(nest, x, a, left, factors.a);
    const Num q = scaled(nest, y, b, left, factors.b);
    const Num sum = is_sub ? p - q : p + q;
    return clip(multiplied(nest, sum, factors.out, bound) + Num(out.zero_point()), range.low, range.high);
  });
}

void larger_or_smaller(Emitter& e, bool is_larger) {
  const Value& a = e.input(0);
  e.require_type(a, {Type::float32, Type::int8, Type::int16, Type::int32, Type::int64});
  e.require_type(e.input(1), {a.type});
  e.require_type(e.output(), {a.type});
  for_each_pair(
      e, [&](const Num& x, const Num& y) { return is_larger ? select(less(y, x), x, y) : select(less(x, y), x, y); });
}

}  // namespace

void add(Emitter& e) { add_or_sub(e, false); }
void sub(Emitter& e) { add_or_sub(e, true); }

void mul(Emitter& e) {
  check_types(e, {Type::float32, Type::int8, Type::int16});
  check_activation(e);
  const Value& a = e.input(0);
  const Value& b = e.input(1);
  const Value& out = e.output();
  if (a.type == Type::float32) {
    return for_each_pair(e, [&](const Num& x, const Num& y) { return activated(x * y, e.options().activation); });
  }
  Nest& nest = e.nest();
  const Multiplier factor = multiplier_of(a.scale() * b.scale() / out.scale());
  const Interval range = activation_range(e.options().activation, out).value();
  for_each_pair(e, [&](const Num& x, const Num& y) {
    const Num p = cast(tir::int32_type, x) - Num(a.zero_point());
    const Num q = cast(tir::int32_type, y) - Num(b.zero_point());
    const Num product = multiplied(nest, p * q, factor, magnitude(a) * magnitude(b));
    return clip(product + Num(out.zero_point()), range.low, range.high);
  });
}

void div(Emitter& e) {
  check_types(e, {Type::float32});
  check_activation(e);
  for_each_pair(e, [&](const Num& x, const Num& y) { return activated(x / y, e.options().activation); });
}

void maximum(Emitter& e) { larger_or_smaller(e, true); }
void minimum(Emitter& e) { larger_or_smaller(e, false); }

void squared_difference(Emitter& e) {
  check_types(e, {Type::float32, Type::int8, Type::int16});
  const Value& a = e.input(0);
  const Value& b = e.input(1);
  const Value& out = e.output();
  if (a.type == Type::float32) {
    Nest& nest = e.nest();
    return for_each_pair(e, [&](const Num& x, const Num& y) {
      const Num difference = nest.let("difference", x - y);
      return difference * difference;
    });
  }
  Nest& nest = e.nest();
  const int left = a.type == Type::int8 ? 7 : 0;
  const double twice = 2 * std::max(a.scale(), b.scale());
  const Multiplier to_a = multiplier_of(a.scale() / twice);
  const Multiplier to_b = multiplier_of(b.scale() / twice);
  const float out_scale = out.quantization.scales.front();
  const Multiplier to_out =
      multiplier_of(twice * twice / static_cast<double>(static_cast<float>(1 << (2 * left)) * out_scale));
  const Interval range = range_of(out.type);
  const std::int64_t most = ((magnitude(a) + magnitude(b)) << left) / 2 + 2;
  for_each_pair(e, [&](const Num& x, const Num& y) {
    const Num p = scaled(nest, x, a, left, to_a);
    const Num q = scaled(nest, y, b, left, to_b);
    const Num difference = nest.let("difference", p - q);
    const Num square = multiplied(nest, difference * difference, to_out, most * most);
    return clip(square + Num(out.zero_point()), range.low, range.high);
  });
}

void prelu(Emitter& e) {
  check_types(e, {Type::float32, Type::int8});
  const Value& in = e.input(0);
  const Value& alpha = e.input(1);
  const Value& out = e.output();
  e.require_shape(out, in.shape);
  if (in.type == Type::float32) {
    return for_each_pair(e,
                         [&](const Num& x, const Num& y) { return select(less_equal(float_literal(0), x), x, x * y); });
  }
  Nest& nest = e.nest();
  const Multiplier above = multiplier_of(in.scale() / out.scale());
  const Multiplier below = multiplier_of(in.scale() * alpha.scale() / out.scale());
  for_each_pair(e, [&](const Num& q, const Num& a) {
    const Num x = nest.let("x", cast(tir::int32_type, q) - Num(in.zero_point()));
    const Num product = x * (cast(tir::int32_type, a) - Num(alpha.zero_point()));
    const Num value = select(less(x, 0), multiplied(nest, product, below, magnitude(in) * magnitude(alpha)),
                             multiplied(nest, x, above, magnitude(in)));
    return clip(value + Num(out.zero_point()), INT8_MIN, INT8_MAX);
  });
}

void compare(Emitter& e) {
  const Value& a = e.input(0);
  const Value& b = e.input(1);
  const std::int32_t code = e.node().kind->code;
  constexpr std::int32_t code_less = 58;
  constexpr std::int32_t code_greater = 61;
  constexpr std::int32_t code_greater_equal = 62;
  constexpr std::int32_t code_less_equal = 63;
  constexpr std::int32_t code_equal = 71;
  const auto compared = [&](const Num& x, const Num& y) {
    switch (code) {
      case code_less:
        return less(x, y);
      case code_greater:
        return less(y, x);
      case code_greater_equal:
        return less_equal(y, x);
      case code_less_equal:
        return less_equal(x, y);
      case code_equal:
        return equal(x, y);
      default:
        return not_equal(x, y);
    }
  };
  e.require_type(a, {Type::float32, Type::int8, Type::int32, Type::int64});
  e.require_type(b, {a.type});
  e.require_type(e.output(), {Type::boolean});
  if (a.type != Type::int8) return for_each_pair(e, compared);
  e.require_scale(a);
  e.require_scale(b);
  Nest& nest = e.nest();
  const Multiplier to_a = multiplier_of(a.scale());
  const Multiplier to_b = multiplier_of(b.scale());
  e.require(to_a.shift <= 0 && to_b.shift <= 0, "a scale of 1 or more", "smaller ones");
  for_each_pair(e, [&](const Num& x, const Num& y) {
    return compared(scaled(nest, x, a, 8, to_a), scaled(nest, y, b, 8, to_b));
  });
}

void quantize(Emitter& e) {
  const Value& in = e.input(0);
  const Value& out = e.output();
  e.require_type(in, {Type::float32, Type::int8, Type::uint8, Type::int16, Type::int32});
  e.require_type(out, {Type::int8, Type::uint8, Type::int16, Type::int32});
  e.require_scale(out);
  const Interval range = range_of(out.type);
  if (in.type == Type::float32) {
    e.require(out.type != Type::int32, "float32 to int32", "int8, uint8 and int16");
    const float low = static_cast<float>(range.low - out.zero_point());
    const float high = static_cast<float>(range.high - out.zero_point());
    const Num scale = float_literal(out.quantization.scales.front());
    return for_each_element(e, [&](const Num& x) {
      const Num rounded = call(float32_type, tir::Op::round, {x / scale});
      const Num inside = max(min(rounded, float_literal(high)), float_literal(low));
      return cast(tir::int32_type, inside) + Num(out.zero_point());
    });
  }
  e.require_scale(in);
  const Multiplier factor = multiplier_of(in.scale() / out.scale());
  if (in.type == Type::int8 || in.type == Type::uint8) {
    return emit_function(e, [&](std::int64_t x) {
      return std::clamp(multiplied(x - in.zero_point(), factor) + out.zero_point(), range.low, range.high);
    });
  }
  Nest& nest = e.nest();
  e.require(in.type == Type::int16 || in.zero_point() == 0, "int32 with a zero point", "zero point 0");
  const std::int64_t bound = in.type == Type::int16 ? magnitude(in) : std::int64_t{1} << 31;
  for_each_element(e, [&](const Num& x) {
    const Num value = multiplied(nest, cast(tir::int32_type, x) - Num(in.zero_point()), factor, bound);
    if (out.type == Type::int32) return value + Num(out.zero_point());
    return clip(value + Num(out.zero_point()), range.low, range.high);
  });
}

void dequantize(Emitter& e) {
  const Value& in = e.input(0);
  e.require_type(in, {Type::int8, Type::uint8, Type::int16});
  e.require_type(e.output(), {Type::float32});
  e.require_scale(in);
  for_each_element(e, [&](const Num& x) {
    const Num value = cast(tir::int32_type, x) - Num(in.zero_point());
    return cast(float32_type, value) * float_literal(in.quantization.scales.front());
  });
}

void cast(Emitter& e) {
  const Value& in = e.input(0);
  const Value& out = e.output();
  e.require_type(in, {Type::int8, Type::uint8, Type::int16, Type::int32, Type::int64, Type::boolean, Type::float32});
  e.require_type(out, {Type::int8, Type::int16, Type::int32, Type::int64, Type::float32});
  if (in.type == Type::float32 && out.type != Type::float32) {
    // What C leaves undefined is cut.
    return for_each_element(e, [&](const Num& x) {
      const Num inside = max(min(x, float_literal(2147483520.0F)), float_literal(-2147483648.0F));
      return cast(data_type_of(out.type), cast(tir::int32_type, inside));
    });
  }
  for_each_element(e, [&](const Num& x) { return cast(data_type_of(out.type), x); });
}

}  // namespace usmp::tflite
