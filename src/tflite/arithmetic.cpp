// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// Two roundings of a product, to 31 bits and then by a power of two, without branches.
#include "tflite/arithmetic.hpp"

#include <algorithm>
#include <cassert>
#include <cmath>
#include <cstdlib>
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

Num plus(const Num& x, std::int64_t offset) { return offset == 0 ? x : x + Num(offset); }

// ((h + 2^(right − 1) + (h >> 31)) >> right) + offset, where h is used twice.
Num divided(Nest& nest, const Num& product, int right, std::int64_t bound, std::int64_t offset = 0) {
  if (right == 0) return plus(product, offset);
  const Num h = nest.let("h", product);
  const std::int64_t half = std::int64_t{1} << (right - 1);
  const std::int64_t both = half + offset * (std::int64_t{1} << right);
  if (bound + half + std::abs(both) < two_to_31) return (h + (h >> 31) + Num(both)) >> right;
  if (bound + half < two_to_31) return plus((h + (h >> 31) + Num(half)) >> right, offset);
  return plus(cast(tir::int32_type, (wide(h) + wide(h >> 31) + literal(half, tir::int64_type)) >> right), offset);
}

}  // namespace

Multiplier multiplier_of(double factor) {
  if (factor == 0 || std::isnan(factor)) return {};
  if (std::isinf(factor)) factor = std::copysign(std::numeric_limits<double>::max(), factor);
  Multiplier result;
  const double fraction = std::frexp(std::abs(factor), &result.shift);
  auto whole = static_cast<std::int64_t>(std::round(fraction * static_cast<double>(two_to_31)));
  if (whole == two_to_31) {
    whole /= 2;
    ++result.shift;
  }
  if (result.shift < -most_right) return {};
  if (result.shift > 30) {
    whole = std::numeric_limits<std::int32_t>::max();
    result.shift = 30;
  }
  result.multiplier = static_cast<std::int32_t>(factor < 0 ? -whole : whole);
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

namespace {

// x · multiplier / 2^(31 − shift), halves up.
Num fixed_product(const Num& x, const Num& multiplier, int shift) {
  // One half is a factor that TVM shifts by instead, and rounds in 32 bits: it becomes a quarter.
  constexpr std::int64_t half = std::int64_t{1} << 30;
  const bool is_half = multiplier.literal() == half;
  const Num& factor = is_half ? Num(half / 2) : multiplier;
  return call(tir::int32_type, tir::Op::q_multiply_shift, {x, factor, is_half ? 30 : 31, shift});
}

}  // namespace

Num high_product(const Num& x, const Num& multiplier) { return fixed_product(x, multiplier, 0); }

namespace {

// x · 2^left · multiplier / 2^31, halves up. Where twice the factor fits, too: the upper half of a product, rounded.
bool is_upper_half(int left, std::int64_t bound) { return left < 30 && bound < (two_to_31 >> (left + 1)); }
Num upper_half(const Num& twice, const Num& multiplier) { return fixed_product(twice, multiplier, -1); }
Num high_product(const Num& x, int left, const Num& multiplier, std::int64_t bound) {
  if (is_upper_half(left, bound)) return upper_half(x << (left + 1), multiplier);
  return high_product(shifted_left(x, left, bound), multiplier);
}

}  // namespace

Num rounding_shift(Nest& nest, const Num& x, int exponent) { return divided(nest, x, exponent, 0); }

Num multiplied(Nest& nest, const Num& x, Multiplier by, std::int64_t bound, std::int64_t offset) {
  if (by.multiplier == 0) return offset;
  const int left = std::max(by.shift, 0);
  const std::int64_t whole = left < 31 && bound < (two_to_31 >> left) ? bound << left : two_to_31;
  return divided(nest, high_product(x, left, by.multiplier, bound), std::max(-by.shift, 0), whole, offset);
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

// Whether x · multiplier / 2^(31 − shift) is a product in fixed point, with the upper half of the factor.
bool is_fixed_product(const Num& x, int shift) { return x.type() == tir::int32_type && shift < 0 && shift >= -30; }

}  // namespace

Num multiplied_wide(const Num& x, Multiplier by) {
  const Narrow narrow = narrowed(by);
  if (is_fixed_product(x, by.shift)) return fixed_product(x, narrow.multiplier * (1 << 16), by.shift);
  const Num product = wide(x) * literal(narrow.multiplier, tir::int64_type);
  const Num rounded = product + literal(std::int64_t{1} << (narrow.shift - 1), tir::int64_type);
  return cast(tir::int32_type, rounded >> narrow.shift);
}

Rescale::Rescale(Nest& nest, std::vector<Multiplier> factors, std::int64_t bound, std::int64_t offset)
    : factors_(std::move(factors)), bound_(bound), offset_(offset) {
  is_one_ = std::ranges::all_of(factors_, [&](const Multiplier& one) { return one == factors_.front(); });
  if (is_one_) return;
  std::vector<std::int64_t> multipliers;
  std::vector<std::int64_t> lefts;
  std::vector<std::int64_t> rights;
  least_right_ = most_right;
  for (const Multiplier& one : factors_) {
    if (one.multiplier == 0) continue;  // 0 after any shift
    left_ = std::max(left_, one.shift);
    right_ = std::max(right_, -one.shift);
    least_right_ = std::min(least_right_, std::max(-one.shift, 0));
  }
  is_split_ = least_right_ > 0 && (bound_ >> (least_right_ - 1)) + 1 + 2 * std::abs(offset_) < two_to_31;
  for (const Multiplier& one : factors_) {
    const int right = one.multiplier == 0 ? right_ : std::max(-one.shift, 0);
    multipliers.push_back(one.multiplier);
    lefts.push_back(std::int64_t{1} << std::max(one.shift, 0));
    rights.push_back(right);
  }
  const auto differ = [](const std::vector<std::int64_t>& list) {
    return std::ranges::any_of(list, [&](std::int64_t one) { return one != list.front(); });
  };
  multipliers_ = nest.constant("multiplier", tir::int32_type, multipliers);
  if (differ(lefts)) lefts_ = nest.constant("left", left_ < 31 ? tir::int32_type : tir::int64_type, lefts);
  if (!differ(rights)) return;
  std::vector<std::int64_t> rounds;
  for (std::int64_t& right : rights) {
    rounds.push_back(std::min<std::int64_t>(right, 1));
    if (is_split_) --right;
  }
  rights_ = nest.constant(is_split_ ? "right_less_1" : "right", tir::int32_type, rights);
  if (differ(rounds)) rounds_ = nest.constant("round", tir::int32_type, rounds);
}

Num Rescale::operator()(Nest& nest, const Num& x, const Num& channel) const {
  if (is_one_) return multiplied(nest, x, factors_.front(), bound_, offset_);
  const bool fits = left_ < 31 && bound_ < (two_to_31 >> left_);
  const Num multiplier = nest.load(*multipliers_, channel);
  Num product;
  if (!lefts_) {
    product = high_product(x, left_, multiplier, bound_);
  } else if (is_upper_half(left_, bound_)) {
    product = upper_half(x * (nest.load(*lefts_, channel) << 1), multiplier);
  } else {
    const Num power = nest.load(*lefts_, channel);
    product = high_product(fits ? x * power : cast(tir::int32_type, wide(x) * wide(power)), multiplier);
  }
  const std::int64_t bound = fits ? bound_ << left_ : two_to_31;
  if (!rights_) return divided(nest, product, right_, bound, offset_);
  return divided_by_channel(nest, nest.let("h", product), nest.load(*rights_, channel), channel, bound);
}

Num Rescale::divided_by_channel(Nest& nest, const Num& h, const Num& right, const Num& channel,
                                std::int64_t bound) const {
  // All bits but the last, and this one with the half and the offset.
  if (is_split_) return (((h + (h >> 31)) >> right) + Num(1 + 2 * offset_)) >> 1;
  // 2^31 is no int32.
  const bool is_narrow =
      bound + (std::int64_t{1} << std::max(right_ - 1, 0)) < two_to_31 && (!rounds_ || right_ < most_right);
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
  return plus(cast(tir::int32_type, (cast(type, h) + sign + half) >> cast(type, right)), offset_);
}

WideRescale::WideRescale(Nest& nest, std::vector<Multiplier> factors, tir::DataType type)
    : factors_(std::move(factors)) {
  if (std::ranges::all_of(factors_, [&](const Multiplier& one) { return one == factors_.front(); })) return;
  is_fixed_ = type == tir::int32_type && std::ranges::all_of(factors_, [](const Multiplier& one) {
                return one.multiplier == 0 || (one.shift < 0 && one.shift >= -most_right);
              });
  std::vector<std::int64_t> multipliers;
  std::vector<std::int64_t> shifts;
  for (const Multiplier& one : factors_) {
    const Narrow narrow = narrowed(one);
    multipliers.push_back(is_fixed_ ? narrow.multiplier * (1 << 16) : narrow.multiplier);
    shifts.push_back(!is_fixed_ ? narrow.shift : one.multiplier == 0 ? most_right : -one.shift);
  }
  multipliers_ = nest.constant("multiplier", tir::int32_type, multipliers);
  shifts_ = nest.constant("shift", tir::int32_type, shifts);
}

Num WideRescale::operator()(Nest& nest, const Num& x, const Num& channel) const {
  if (!multipliers_) return multiplied_wide(x, factors_.front());
  const Num multiplier = nest.load(*multipliers_, channel);
  const Num shift = nest.load(*shifts_, channel);
  if (is_fixed_) {
    return call(tir::int32_type, tir::Op::q_multiply_shift_per_axis,
                {x, multiplier, 0, shift, 31, literal(0, tir::bool_type), literal(1, tir::bool_type)});
  }
  const Num one = literal(1, tir::int64_type);
  const Num right = nest.let("s", wide(shift));
  const Num half = call(tir::int64_type, tir::Op::shift_left, {one, right - one});
  return cast(tir::int32_type, (wide(x) * wide(multiplier) + half) >> right);
}

std::int64_t magnitude(const Value& value) {
  const Interval range = range_of(value.type);
  return std::max(range.high - value.zero_point(), value.zero_point() - range.low);
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

// The literal first: where the other one is no number, C's `a > b ? a : b` gives that, as the reference kernels do.
Num activated(const Num& value, Activation activation) {
  switch (activation) {
    case Activation::relu:
      return max(float_literal(0), value);
    case Activation::relu6:
      return min(float_literal(6), max(float_literal(0), value));
    case Activation::relu_n1_to_1:
      return min(float_literal(1), max(float_literal(-1), value));
    default:
      return value;
  }
}

}  // namespace usmp::tflite
