// SPDX-License-Identifier: Apache-2.0
// Two roundings of a product, to 31 bits and then by a power of two, without branches.
#include "tflite/arithmetic.hpp"

#include <algorithm>
#include <cassert>
#include <cmath>
#include <limits>

namespace usmp::tflite {
namespace {

constexpr int most_right = 31;
constexpr std::int64_t two_to_31 = std::int64_t{1} << 31;

// x · 2^left as an int32, as 32 bits hold it.
Num shifted_left(const Num& x, int left, std::int64_t bound) {
  if (left == 0) return x;
  if (left < 31 && bound < (two_to_31 >> left)) return x << left;
  return cast(tir::int32_type, wide(x) << left);
}

// (h + 2^(right − 1) + (h >> 31)) >> right, where h is used twice.
Num divided(Nest& nest, const Num& product, int right, std::int64_t bound) {
  if (right == 0) return product;
  const Num h = nest.let("h", product);
  const std::int64_t half = std::int64_t{1} << (right - 1);
  if (bound + half < two_to_31) return (h + (h >> 31) + Num(half)) >> right;
  return cast(tir::int32_type, (wide(h) + wide(h >> 31) + literal(half, tir::int64_type)) >> right);
}

}  // namespace

Multiplier multiplier_of(double factor) {
  if (factor < 0) {
    Multiplier result = multiplier_of(-factor);
    result.multiplier = -result.multiplier;
    return result;
  }
  if (!(factor > 0)) return {};
  Multiplier result;
  const double fraction = std::frexp(factor, &result.shift);
  auto whole = static_cast<std::int64_t>(std::round(fraction * static_cast<double>(two_to_31)));
  if (whole == two_to_31) {
    whole /= 2;
    ++result.shift;
  }
  if (result.shift < -most_right) return {};
  if (result.shift > 30) return {std::numeric_limits<std::int32_t>::max(), 30};
  result.multiplier = static_cast<std::int32_t>(whole);
  return result;
}

std::int32_t doubling_high_product(std::int32_t a, std::int32_t b) {
  if (a == b && a == std::numeric_limits<std::int32_t>::min()) return std::numeric_limits<std::int32_t>::max();
  const std::int64_t product = std::int64_t{a} * b;
  return static_cast<std::int32_t>((product + (std::int64_t{1} << 30)) >> 31);
}

std::int32_t rounding_divide(std::int32_t x, int exponent) {
  if (exponent == 0) return x;
  const std::int64_t half = std::int64_t{1} << (exponent - 1);
  return static_cast<std::int32_t>((x + half - (x < 0 ? 1 : 0)) >> exponent);
}

std::int32_t multiplied(std::int64_t x, Multiplier by) {
  const int left = std::max(by.shift, 0);
  const int right = std::max(-by.shift, 0);
  return rounding_divide(
      doubling_high_product(static_cast<std::int32_t>(static_cast<std::uint64_t>(x) << left), by.multiplier), right);
}

Num high_product(const Num& x, const Num& multiplier) {
  return call(tir::int32_type, tir::Op::q_multiply_shift, {x, multiplier, 31, 0});
}

Num rounding_shift(Nest& nest, const Num& x, int exponent) { return divided(nest, x, exponent, 0); }

Num multiplied(Nest& nest, const Num& x, Multiplier by, std::int64_t bound) {
  if (by.multiplier == 0) return 0;
  const int left = std::max(by.shift, 0);
  const std::int64_t whole = left < 31 && bound < (two_to_31 >> left) ? bound << left : two_to_31;
  return divided(nest, high_product(shifted_left(x, left, bound), by.multiplier), std::max(-by.shift, 0), whole);
}

namespace {

struct Narrow {
  std::int64_t multiplier;
  int shift;  // to the right
};
Narrow narrowed(Multiplier by) {
  const std::int64_t multiplier =
      by.multiplier < 0x7FFF0000 ? (std::int64_t{by.multiplier} + (1 << 15)) >> 16 : std::int64_t{0x7FFF};
  return {multiplier, 15 - by.shift};
}

}  // namespace

Num multiplied_wide(Nest& /*nest*/, const Num& x, Multiplier by) {
  const Narrow narrow = narrowed(by);
  const Num product = wide(x) * literal(narrow.multiplier, tir::int64_type);
  const Num rounded = product + literal(std::int64_t{1} << (narrow.shift - 1), tir::int64_type);
  return cast(tir::int32_type, rounded >> narrow.shift);
}

Rescale::Rescale(Nest& nest, std::vector<Multiplier> factors, std::int64_t bound)
    : factors_(std::move(factors)), bound_(bound) {
  is_one_ = std::ranges::all_of(factors_, [&](const Multiplier& one) { return one == factors_.front(); });
  if (is_one_) return;
  std::vector<std::int64_t> multipliers;
  std::vector<std::int64_t> lefts;
  std::vector<std::int64_t> rights;
  std::vector<std::int64_t> rounds;
  for (const Multiplier& one : factors_) {
    const int right = std::max(-one.shift, 0);
    multipliers.push_back(one.multiplier);
    lefts.push_back(std::int64_t{1} << std::max(one.shift, 0));
    rights.push_back(right);
    rounds.push_back(std::min(right, 1));
    left_ = std::max(left_, one.shift);
    right_ = std::max(right_, right);
  }
  const auto differ = [](const std::vector<std::int64_t>& list) {
    return std::ranges::any_of(list, [&](std::int64_t one) { return one != list.front(); });
  };
  multipliers_ = nest.constant("multiplier", tir::int32_type, multipliers);
  if (differ(lefts)) lefts_ = nest.constant("left", left_ < 31 ? tir::int32_type : tir::int64_type, lefts);
  if (differ(rights)) {
    rights_ = nest.constant("right", tir::int32_type, rights);
    if (differ(rounds)) rounds_ = nest.constant("round", tir::int32_type, rounds);
  }
}

Num Rescale::operator()(Nest& nest, const Num& x, const Num& channel) const {
  if (is_one_) return multiplied(nest, x, factors_.front(), bound_);
  Num wider = shifted_left(x, left_, bound_);
  const bool fits = left_ < 31 && bound_ < (two_to_31 >> left_);
  if (lefts_) {
    const Num power = nest.load(*lefts_, channel);
    wider = fits ? x * power : cast(tir::int32_type, wide(x) * wide(power));
  }
  const Num product = high_product(wider, nest.load(*multipliers_, channel));
  const std::int64_t bound = fits ? bound_ << left_ : two_to_31;
  if (!rights_) return divided(nest, product, right_, bound);
  const Num h = nest.let("h", product);
  const Num right = nest.load(*rights_, channel);
  const bool is_narrow = bound + (std::int64_t{1} << std::max(right_ - 1, 0)) < two_to_31;
  const tir::DataType type = is_narrow ? tir::int32_type : tir::int64_type;
  // With some shifts of 0: half is (2^right) / 2, and the sign counts only where something is shifted.
  Num sign = cast(type, h >> 31);
  Num half;
  const Num one = literal(1, type);
  if (rounds_) {
    sign = sign * cast(type, nest.load(*rounds_, channel));
    half = call(type, tir::Op::shift_right, {call(type, tir::Op::shift_left, {one, cast(type, right)}), one});
  } else {
    half = call(type, tir::Op::shift_left, {one, cast(type, right) - one});
  }
  return cast(tir::int32_type, (cast(type, h) + sign + half) >> cast(type, right));
}

WideRescale::WideRescale(Nest& nest, std::vector<Multiplier> factors) : factors_(std::move(factors)) {
  if (std::ranges::all_of(factors_, [&](const Multiplier& one) { return one == factors_.front(); })) return;
  std::vector<std::int64_t> multipliers;
  std::vector<std::int64_t> shifts;
  for (const Multiplier& one : factors_) {
    multipliers.push_back(narrowed(one).multiplier);
    shifts.push_back(narrowed(one).shift);
  }
  multipliers_ = nest.constant("multiplier", tir::int32_type, multipliers);
  shifts_ = nest.constant("shift", tir::int32_type, shifts);
}

Num WideRescale::operator()(Nest& nest, const Num& x, const Num& channel) const {
  if (!multipliers_) return multiplied_wide(nest, x, factors_.front());
  const Num one = literal(1, tir::int64_type);
  const Num shift = nest.let("s", wide(nest.load(*shifts_, channel)));
  const Num half = call(tir::int64_type, tir::Op::shift_left, {one, shift - one});
  return cast(tir::int32_type, (wide(x) * wide(nest.load(*multipliers_, channel)) + half) >> shift);
}

Interval range_of(Type type) {
  switch (type) {
    case Type::int8:
      return {INT8_MIN, INT8_MAX};
    case Type::uint8:
      return {0, UINT8_MAX};
    case Type::int16:
      return {INT16_MIN, INT16_MAX};
    default:
      return {INT32_MIN, INT32_MAX};
  }
}

std::int64_t quantized(float value, float scale, std::int64_t zero_point) {
  const float rounded = std::round(value / scale);
  constexpr float most = 2147483520.0F;  // the largest float below 2^31
  return zero_point + static_cast<std::int64_t>(std::clamp(rounded, -most, most));
}

std::optional<Interval> activation_range(Activation activation, const Value& output) {
  Interval range = range_of(output.type);
  const auto at = [&](float value) {
    return quantized(value, output.quantization.scales.front(), output.zero_point());
  };
  switch (activation) {
    case Activation::none:
      return range;
    case Activation::relu:
      range.low = std::max(range.low, at(0));
      return range;
    case Activation::relu6:
      return Interval{std::max(range.low, at(0)), std::min(range.high, at(6))};
    case Activation::relu_n1_to_1:
      return Interval{std::max(range.low, at(-1)), std::min(range.high, at(1))};
    default:
      return std::nullopt;
  }
}

Num activated(const Num& value, Activation activation) {
  switch (activation) {
    case Activation::relu:
      return max(value, float_literal(0));
    case Activation::relu6:
      return min(max(value, float_literal(0)), float_literal(6));
    case Activation::relu_n1_to_1:
      return min(max(value, float_literal(-1)), float_literal(1));
    default:
      return value;
  }
}

}  // namespace usmp::tflite
