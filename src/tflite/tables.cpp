// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// LOGISTIC, TANH, HARD_SWISH, ELU, LEAKY_RELU, RELU, ABS, RSQRT, EXP, NEG.
#include "tflite/tables.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdlib>
#include <limits>
#include <optional>

#include "tflite/arithmetic.hpp"
#include "tflite/broadcast.hpp"
#include "tflite/fixed_point.hpp"

namespace usmp::tflite {
namespace {

void check_pair(Emitter& e, std::initializer_list<Type> types) {
  const Value& in = e.input(0);
  e.require_type(in, types);
  e.require_type(e.output(), {in.type});
  if (in.type == Type::float32) return;
  e.require_scale(in);
  e.require_scale(e.output());
  if (in.type == Type::int16) {
    e.require(in.zero_point() == 0 && e.output().zero_point() == 0, "int16 with a zero point", "zero point 0");
  }
}

float scale_of(const Value& value) { return value.quantization.scales.front(); }

std::int64_t cut(std::int64_t value, Type type) {
  const Interval range = range_of(type);
  return std::clamp(value, range.low, range.high);
}

// n, if the values are clip(x + n, least, most).
std::optional<std::int64_t> as_sum(const std::vector<std::int64_t>& values, std::int64_t first) {
  const auto [least, most] = std::ranges::minmax_element(values);
  std::optional<std::int64_t> n;
  for (std::size_t i = 0; i < values.size(); ++i) {
    if (values[i] > *least && values[i] < *most) n = values[i] - (first + static_cast<std::int64_t>(i));
  }
  if (!n) return std::nullopt;
  for (std::size_t i = 0; i < values.size(); ++i) {
    const std::int64_t x = first + static_cast<std::int64_t>(i);
    if (values[i] != std::clamp(x + *n, *least, *most)) return std::nullopt;
  }
  return n;
}

// x · 2^27 for the scaled input: four integer bits.
struct Scaled {
  Multiplier factor;
  std::int64_t radius = 0;  // inputs of this magnitude leave four integer bits
};
Scaled scaled_input(Emitter& e) {
  constexpr int integer_bits = 4;
  const double real = e.input(0).scale() * static_cast<double>(1 << (31 - integer_bits));
  int shift = 0;
  (void)std::frexp(real, &shift);
  e.require(shift >= 0, "a scale of " + std::to_string(e.input(0).scale()), "scales from 2^-28 on");
  const double most = 15.0 * static_cast<double>(1 << (31 - integer_bits)) / std::ldexp(1.0, shift);
  return {.factor = multiplier_of(real), .radius = static_cast<std::int64_t>(std::floor(most))};
}

void emit_sigmoid_int8(Emitter& e, bool is_tanh) {
  const Value& in = e.input(0);
  e.require(e.output().zero_point() == (is_tanh ? 0 : -128), "an output with another zero point",
            is_tanh ? "zero point 0" : "zero point -128");
  const Scaled scaled = scaled_input(e);
  emit_function(e, [&](std::int64_t q) -> std::int64_t {
    const std::int64_t x = q - in.zero_point();
    if (x <= -scaled.radius) return -128;
    if (x >= scaled.radius) return 127;
    const std::int32_t fixed_x = multiplied(x, scaled.factor);
    if (is_tanh) return cut(rounding_divide(fixed::tanh(fixed_x, 4), 24), Type::int8);
    return cut(rounding_divide(fixed::logistic(fixed_x, 4), 23) - 128, Type::int8);
  });
}

std::optional<int> exact_log2(float x) {
  const float log2 = std::log(x) * (1.0F / std::log(2.0F));
  const float rounded = std::round(log2);
  if (!(std::abs(log2 - rounded) < 1e-3F)) return std::nullopt;
  return static_cast<int>(rounded);
}

// x · multiplier / 2^shift, in steps of 2^-12 / 3, of an int16 with the scale.
struct Argument {
  std::int64_t multiplier = 0;
  int shift = 0;
};
Argument argument_of(Emitter& e, float scale, bool is_tanh) {
  const auto log2 = exact_log2(scale);
  const int left = 12 + log2.value_or(0);
  if (log2 && (left == 0 || (is_tanh && left == 1))) return {std::int64_t{3} << left, 0};
  Argument result;
  double factor = static_cast<double>(scale) * 4096.0 * 3.0;
  for (; factor <= 32767.0 / 2.0 && result.shift <= 30; ++result.shift) factor *= 2.0;
  e.require(factor <= 32767.0, "a scale of " + std::to_string(scale), "smaller ones");
  result.multiplier = static_cast<std::int64_t>(factor);
  return result;
}

void emit_sigmoid_int16(Emitter& e, bool is_tanh) {
  e.require(exact_log2(scale_of(e.output())) == -15, "an output with the scale " + std::to_string(e.output().scale()),
            "1/32768");
  const Argument argument = argument_of(e, scale_of(e.input(0)), is_tanh);
  Nest& nest = e.nest();
  const Array samples = nest.constant("sigmoid", sigmoid_type, sigmoid_samples());
  for_each_element(
      e, [&](const Num& x) { return sigmoid_of(nest, samples, x, argument.multiplier, argument.shift, is_tanh); });
}

// The fixed-point product of 16 bits, rounded.
std::int64_t product16(std::int64_t a, std::int64_t b) {
  if (a == b && a == INT16_MIN) return INT16_MAX;
  return (a * b + (a * b >= 0 ? 1 << 14 : 1 - (1 << 14))) / (1 << 15);
}

std::int64_t narrowed16(std::int32_t multiplier) {
  constexpr std::int64_t half = 1 << 15;
  return multiplier >= INT32_MAX - half ? INT16_MAX : (multiplier + half) >> 16;
}

std::int64_t saturated16(std::int64_t value, int left) { return cut(value << left, Type::int16); }

// 1 / sqrt(x) · 2^31 with its shift to the left, by five Newton steps with three integer bits.
Multiplier inverse_root(std::int32_t x) {
  if (x <= 1) return {std::numeric_limits<std::int32_t>::max(), 0};
  int shift = 11;
  for (; x >= (1 << 29); x /= 4) ++shift;
  int pairs = 0;
  for (std::int32_t y = x; y < (1 << 27); y *= 4) ++pairs;
  shift -= pairs;
  x <<= 2 * pairs;
  const std::int32_t in = x >> 1;
  const std::int32_t half_in = rounding_divide(in, 1);
  constexpr std::int32_t three_halves = (1 << 28) + (1 << 27);
  std::int32_t y = 1 << 28;
  for (int step = 0; step < 5; ++step) {
    const std::int32_t cube = fixed::saturating_left(doubling_high_product(doubling_high_product(y, y), y), 6);
    y = fixed::saturating_left(doubling_high_product(three_halves, y) - doubling_high_product(half_in, cube), 3);
  }
  constexpr std::int32_t half_root_of_2 = 1518500250;
  y = doubling_high_product(y, half_root_of_2);
  if (shift < 0) {
    y = static_cast<std::int32_t>(static_cast<std::uint32_t>(y) << -shift);
    shift = 0;
  }
  return {y, -shift};
}

// Where TensorFlow Lite's table of 1 / (1 + exp(−i / 24)) is one above the nearest number.
constexpr std::array<int, 44> rounded_up = {4,  8,  12, 14, 15, 16, 17, 19, 20,  21,  22,  25,  27,  28, 29,
                                            30, 31, 33, 34, 35, 37, 39, 40, 41,  43,  44,  45,  46,  49, 50,
                                            54, 62, 63, 64, 66, 82, 86, 93, 100, 103, 112, 116, 135, 255};

}  // namespace

void emit_function(Emitter& e, const std::function<std::int64_t(std::int64_t x)>& function) {
  const Interval range = range_of(e.input(0).type);
  std::vector<std::int64_t> values;
  for (std::int64_t x = range.low; x <= range.high; ++x) values.push_back(function(x));
  if (const auto n = as_sum(values, range.low)) {
    const auto ends = std::minmax_element(values.begin(), values.end());
    const Interval result{*ends.first, *ends.second};
    return for_each_element(
        e, [&](const Num& x) { return clip(cast(tir::int32_type, x) + Num(*n), result.low, result.high); });
  }
  Nest& nest = e.nest();
  const Array table = nest.constant("table", data_type_of(e.output().type), values);
  for_each_element(e, [&](const Num& x) { return nest.load(table, cast(tir::int32_type, x) - Num(range.low)); });
}

std::vector<std::int64_t> samples_of(const std::function<float(float)>& function, float low, float high, float out_low,
                                     float out_high) {
  constexpr int steps = 512;
  const float step = (high - low) / steps;
  const float half_step = step / 2;
  const float scale = 65536.0F / (out_high - out_low);
  const auto cut16 = [](float value) {
    return static_cast<std::int64_t>(std::min(std::max(value, -32768.0F), 32767.0F));
  };
  std::vector<std::int64_t> samples;
  for (int i = 0; i < steps; ++i) {
    const float at = low + static_cast<float>(i) * step;
    const float value = function(at);
    const float middle = function(at + half_step);
    const float next = function(low + static_cast<float>(i + 1) * step);
    const float sample = std::round(value * scale);
    const float interpolated_middle = std::round((next * scale + std::round(value * scale)) / 2);
    const float error = interpolated_middle - std::round(middle * scale);
    samples.push_back(cut16(sample - std::round(error / 2)));
  }
  samples.push_back(cut16(std::round(function(high) * scale)));
  return samples;
}

Num interpolated(Nest& nest, const Array& samples, const Num& x) {
  const Num place = nest.let("place", (x >> 7) + Num(256));
  const Num base = nest.let("base", nest.load_int(samples, place));
  const Num slope = nest.load_int(samples, place + 1) - base;
  const Num offset = x - ((x >> 7) << 7);
  return base + ((slope * offset + Num(64)) >> 7);
}

std::vector<std::int64_t> sigmoid_samples() {
  std::vector<std::int64_t> samples(256);
  for (std::size_t i = 0; i < samples.size(); ++i) {
    samples[i] = std::llround(65536.0 / (1.0 + std::exp(-static_cast<double>(i) / 24.0)));
  }
  for (const int i : rounded_up) ++samples[static_cast<std::size_t>(i)];
  return samples;
}

Num sigmoid_of(Nest& nest, const Array& samples, const Num& in, std::int64_t multiplier, int shift, bool is_tanh) {
  const int bits = is_tanh ? 8 : 9;
  const std::int64_t rounding = shift > 0 ? std::int64_t{1} << (shift - 1) : 0;
  const Num product = wide(in) * literal(multiplier, tir::int64_type) + literal(rounding, tir::int64_type);
  const Num x = nest.let("x", cast(tir::int32_type, product >> shift));
  const Num magnitude = nest.let("magnitude", max(x, 0 - x));
  const Num place = nest.let("place", min(magnitude >> bits, 254));
  const Num first = nest.let("first", nest.load_int(samples, place));
  const Num rest = magnitude - place * Num(1 << bits);
  const Num between = first * Num(1 << bits) + rest * (nest.load_int(samples, place + 1) - first);
  const std::int64_t last = is_tanh ? 0xFFFF << 8 : 0x7FFF << 10;
  const Num value = nest.let("value", select(less(magnitude, 255 << bits), between, last));
  if (is_tanh) {
    constexpr std::int64_t one = std::int64_t{1} << 23;
    return select(less(x, 0), Num(one + 128 - 1) - value, value + Num(128 - one)) >> 8;
  }
  return select(less(x, 0), Num((1 << 25) + (1 << 9) - 1) - value, value + Num(1 << 9)) >> 10;
}

void logistic(Emitter& e) {
  check_pair(e, {Type::float32, Type::int8, Type::int16});
  if (e.input(0).type == Type::int8) return emit_sigmoid_int8(e, false);
  if (e.input(0).type == Type::int16) return emit_sigmoid_int16(e, false);
  // Above the largest argument the result is 1, below the least one it is exp(x).
  for_each_element(e, [&](const Num& x) {
    constexpr float most = 16.619047164916992F;
    constexpr float least = -9.0F;
    const Num one = float_literal(1);
    const Num inner = one / (one + call(float32_type, tir::Op::exp, {float_literal(0) - x}));
    return if_then_else(less(float_literal(most), x), one,
                        if_then_else(less(x, float_literal(least)), call(float32_type, tir::Op::exp, {x}), inner));
  });
}

void tanh(Emitter& e) {
  check_pair(e, {Type::float32, Type::int8, Type::int16});
  if (e.input(0).type == Type::int8) return emit_sigmoid_int8(e, true);
  if (e.input(0).type == Type::int16) return emit_sigmoid_int16(e, true);
  for_each_element(e, [&](const Num& x) { return call(float32_type, tir::Op::tanh, {x}); });
}

void hard_swish(Emitter& e) {
  check_pair(e, {Type::float32, Type::int8});
  const Value& in = e.input(0);
  if (in.type == Type::float32) {
    return for_each_element(e, [&](const Num& x) {
      return x * min(float_literal(6), max(float_literal(0), x + float_literal(3))) / float_literal(6);
    });
  }
  const float hires = (1.0F / 128.0F) * scale_of(in);
  const Multiplier to_out = multiplier_of(static_cast<double>(hires / scale_of(e.output())));
  const Multiplier reluish = multiplier_of(static_cast<double>(hires / (3.0F / 32768.0F)));
  e.require(to_out.shift <= 0, "a scale of the output that is less than 1/128 of the input's", "larger ones");
  emit_function(e, [&](std::int64_t q) {
    const std::int64_t x = (q - in.zero_point()) * 128;
    const std::int64_t scaled = product16(x, narrowed16(to_out.multiplier));
    std::int64_t gate = x;
    if (reluish.shift > 0) gate = saturated16(gate, reluish.shift - 1);
    gate = product16(gate, narrowed16(reluish.multiplier));
    if (reluish.shift > 0) gate = saturated16(gate, 1);
    if (reluish.shift < 0) gate = rounding_divide(static_cast<std::int32_t>(gate), -reluish.shift);
    gate = (gate + (1 << 15)) >> 1;
    const std::int64_t product = gate == scaled && gate == INT16_MIN ? INT16_MAX : gate * scaled / (1 << 15);
    const std::int64_t result = rounding_divide(static_cast<std::int32_t>(product), -to_out.shift);
    return cut(result + e.output().zero_point(), Type::int8);
  });
}

void leaky_relu(Emitter& e) {
  check_pair(e, {Type::float32, Type::int8, Type::int16});
  const Value& in = e.input(0);
  const float alpha = e.options().alpha;
  if (in.type == Type::float32) {
    return for_each_element(
        e, [&](const Num& x) { return select(less(float_literal(0), x), x, x * float_literal(alpha)); });
  }
  const Value& out = e.output();
  const Multiplier below = multiplier_of(static_cast<double>(scale_of(in) * alpha / scale_of(out)));
  const Multiplier above = multiplier_of(static_cast<double>(scale_of(in) / scale_of(out)));
  if (in.type == Type::int8) {
    return emit_function(e, [&](std::int64_t q) {
      const std::int64_t x = q - in.zero_point();
      return cut(out.zero_point() + multiplied(x, x >= 0 ? above : below), Type::int8);
    });
  }
  Nest& nest = e.nest();
  for_each_element(e, [&](const Num& q) {
    const Num x = cast(tir::int32_type, q);
    const Num value = select(less(x, 0), multiplied(nest, x, below, 1 << 15), multiplied(nest, x, above, 1 << 15));
    return clip(value, INT16_MIN, INT16_MAX);
  });
}

void elu(Emitter& e) {
  check_pair(e, {Type::float32, Type::int8});
  const Value& in = e.input(0);
  if (in.type == Type::float32) {
    return for_each_element(e, [&](const Num& x) {
      // exp(x) − 1 of numbers near 0 needs more bits than a float has.
      constexpr tir::DataType wide_float{tir::TypeCode::float_, 64, 1};
      const Num one = Num(tir::Tree{tir::make_float(1, wide_float)});
      const Num below = cast(float32_type, call(wide_float, tir::Op::exp, {cast(wide_float, x)}) - one);
      return if_then_else(less(x, float_literal(0)), below, x);
    });
  }
  const float inverse = 1 / scale_of(e.output());
  emit_function(e, [&](std::int64_t q) {
    const float x = scale_of(in) * static_cast<float>(q - in.zero_point());
    const float y = x < 0.0F ? std::exp(x) - 1.0F : x;
    const float rounded = std::round(y * inverse) + static_cast<float>(e.output().zero_point());
    return cut(static_cast<std::int64_t>(std::clamp(rounded, -1e9F, 1e9F)), Type::int8);
  });
}

void relu(Emitter& e) {
  check_pair(e, {Type::float32, Type::int8, Type::int16});
  const Value& in = e.input(0);
  const Value& out = e.output();
  constexpr std::int32_t code_relu = 19;
  constexpr std::int32_t code_relu6 = 21;
  const std::int32_t code = e.node().kind->code;
  if (in.type == Type::float32) {
    const Activation activation = code == code_relu    ? Activation::relu
                                  : code == code_relu6 ? Activation::relu6
                                                       : Activation::relu_n1_to_1;
    return for_each_element(e, [&](const Num& x) { return activated(x, activation); });
  }
  e.require(code == code_relu || code == code_relu6, "integers", "float32");
  if (code == code_relu6) {
    const std::int64_t six = cut(quantized(6, scale_of(in), in.zero_point()), in.type);
    return for_each_element(e, [&](const Num& x) { return clip(cast(tir::int32_type, x), in.zero_point(), six); });
  }
  const Multiplier factor = multiplier_of(in.scale() / out.scale());
  const Interval range{std::max(range_of(out.type).low, out.zero_point()), range_of(out.type).high};
  if (in.type == Type::int8) {
    return emit_function(e, [&](std::int64_t q) {
      return std::clamp(out.zero_point() + multiplied(q - in.zero_point(), factor), range.low, range.high);
    });
  }
  Nest& nest = e.nest();
  for_each_element(e, [&](const Num& x) {
    return clip(multiplied(nest, cast(tir::int32_type, x), factor, 1 << 15), range.low, range.high);
  });
}

void abs(Emitter& e) {
  check_pair(e, {Type::float32, Type::int8, Type::int16});
  const Value& in = e.input(0);
  const Value& out = e.output();
  if (in.type == Type::float32) {
    return for_each_element(e, [&](const Num& x) { return call(float32_type, tir::Op::fabs, {x}); });
  }
  const bool rescales = in.scale() != out.scale();
  const Multiplier factor = multiplier_of(in.scale() / out.scale());
  if (in.type == Type::int8) {
    return emit_function(e, [&](std::int64_t q) {
      const std::int64_t x = std::abs(q - in.zero_point());
      return cut((rescales ? multiplied(x, factor) : x) + out.zero_point(), Type::int8);
    });
  }
  Nest& nest = e.nest();
  for_each_element(e, [&](const Num& q) {
    const Num x = cast(tir::int32_type, q);
    const Num magnitude = max(x, 0 - x);
    return clip(rescales ? multiplied(nest, magnitude, factor, 1 << 15) : magnitude, INT16_MIN, INT16_MAX);
  });
}

void neg(Emitter& e) {
  check_pair(e, {Type::float32});
  for_each_element(e, [&](const Num& x) { return x * float_literal(-1); });
}

void exp(Emitter& e) {
  check_pair(e, {Type::float32});
  for_each_element(e, [&](const Num& x) { return call(float32_type, tir::Op::exp, {x}); });
}

void rsqrt(Emitter& e) {
  check_pair(e, {Type::float32, Type::int8});
  const Value& in = e.input(0);
  const Value& out = e.output();
  if (in.type == Type::float32) {
    return for_each_element(e, [&](const Num& x) { return float_literal(1) / call(float32_type, tir::Op::sqrt, {x}); });
  }
  constexpr int shift = 20;
  const Multiplier factor = multiplier_of(1.0 / (std::sqrt(in.scale()) * out.scale()));
  // Numbers that are not positive have none: the largest stands there.
  emit_function(e, [&](std::int64_t q) -> std::int64_t {
    const std::int64_t x = q - in.zero_point();
    if (x <= 0) return 127;
    const Multiplier inverse = inverse_root(static_cast<std::int32_t>(x));
    const std::int64_t data = multiplied(1, {inverse.multiplier, inverse.shift + shift});
    return cut(multiplied(data, {factor.multiplier, factor.shift - shift}) + out.zero_point(), Type::int8);
  });
}

}  // namespace usmp::tflite
