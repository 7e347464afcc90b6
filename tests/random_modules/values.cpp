// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// Rounds halves and bfloats by hand, and converts scalars to bits and back.
#include "random_modules/values.hpp"

#include <bit>
#include <cmath>
#include <limits>

namespace usmp::random_modules {
namespace {

using tir::DataType;
using tir::TypeCode;

bool is_half(DataType type) { return type.is_float() && type.bits == 16; }

struct HalfFormat {
  int fraction_bits;
  int least_exponent;  // of normal numbers
  double largest;
};

HalfFormat half_format(DataType type) {
  if (type.code == TypeCode::bfloat) return {7, -126, std::ldexp(255.0, 120)};
  return {10, -14, 65504.0};
}

double round_half(double value, DataType type) {
  if (!std::isfinite(value) || value == 0) return value;
  const HalfFormat format = half_format(type);
  const int exponent = std::max(std::ilogb(value), format.least_exponent);
  const double unit = std::ldexp(1.0, exponent - format.fraction_bits);
  const double nearest = std::nearbyint(value / unit) * unit;
  return std::fabs(nearest) > format.largest ? std::copysign(std::numeric_limits<double>::infinity(), value) : nearest;
}

std::uint64_t half_bits(double value, DataType type) {
  const HalfFormat format = half_format(type);
  const std::uint64_t sign = std::signbit(value) ? 0x8000U : 0U;
  const std::uint64_t infinity = type.code == TypeCode::bfloat ? 0x7f80U : 0x7c00U;
  if (std::isnan(value)) return infinity | (std::uint64_t{1} << (format.fraction_bits - 1));
  if (std::isinf(value)) return sign | infinity;
  if (value == 0) return sign;
  const int exponent = std::max(std::ilogb(value), format.least_exponent);
  const auto scaled = static_cast<std::uint64_t>(std::fabs(value) / std::ldexp(1.0, exponent - format.fraction_bits));
  // The leading bit of a normal number adds one to the exponent that is below it.
  return sign | ((static_cast<std::uint64_t>(exponent - format.least_exponent) << format.fraction_bits) + scaled);
}

double half_value(std::uint64_t bits, DataType type) {
  const HalfFormat format = half_format(type);
  const double sign = (bits & 0x8000U) != 0 ? -1.0 : 1.0;
  const std::uint64_t fraction = bits & ((std::uint64_t{1} << format.fraction_bits) - 1);
  const auto exponent = static_cast<int>((bits & 0x7fffU) >> format.fraction_bits);
  const int greatest = type.code == TypeCode::bfloat ? 255 : 31;
  if (exponent == greatest) {
    return fraction == 0 ? sign * std::numeric_limits<double>::infinity() : std::numeric_limits<double>::quiet_NaN();
  }
  const auto leading = exponent == 0 ? std::uint64_t{0} : std::uint64_t{1} << format.fraction_bits;
  const int power = std::max(exponent, 1) - 1 + format.least_exponent - format.fraction_bits;
  return sign * std::ldexp(static_cast<double>(leading | fraction), power);
}

}  // namespace

double rounded(double value, DataType type) {
  if (is_half(type)) return round_half(value, type);
  return type.bits == 32 ? static_cast<double>(static_cast<float>(value)) : value;
}

std::uint64_t bits_of(Scalar value, DataType type) {
  if (is_half(type)) return half_bits(value.real, type);
  if (type.is_float() && type.bits == 32) {
    const auto single = static_cast<float>(value.real);
    return std::isnan(value.real) ? 0x7fc00000U : std::bit_cast<std::uint32_t>(single);
  }
  if (type.is_float()) {
    return std::isnan(value.real) ? 0x7ff8000000000000U : std::bit_cast<std::uint64_t>(value.real);
  }
  return static_cast<std::uint64_t>(value.integer);
}

Scalar scalar_of(std::uint64_t bits, DataType type) {
  if (is_half(type)) return real(half_value(bits & 0xffffU, type));
  if (type.is_float() && type.bits == 32) {
    return real(static_cast<double>(std::bit_cast<float>(static_cast<std::uint32_t>(bits))));
  }
  if (type.is_float()) return real(std::bit_cast<double>(bits));
  if (type.is_bool()) return integer((bits & 0xffU) != 0 ? 1 : 0);
  return integer(wrapped(static_cast<Wide>(bits), type));
}

}  // namespace usmp::random_modules
