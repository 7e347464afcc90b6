// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// exp by a polynomial of four terms on [−1/4, 0) and a factor for each bit of the rest; quotients by Newton steps.
#include "tflite/fixed_point.hpp"

#include <array>
#include <cstddef>
#include <limits>

#include "tflite/arithmetic.hpp"

namespace usmp::tflite::fixed {
namespace {

constexpr std::int32_t most = std::numeric_limits<std::int32_t>::max();

std::int32_t product(std::int32_t a, std::int32_t b) { return doubling_high_product(a, b); }

// As 32 bits wrap.
std::int32_t sum(std::int32_t a, std::int32_t b) {
  return static_cast<std::int32_t>(static_cast<std::uint32_t>(a) + static_cast<std::uint32_t>(b));
}

// exp(x) of x in [−1/4, 0), Q0.31: around −1/8.
std::int32_t exp_of_quarter(std::int32_t a) {
  constexpr std::int32_t exp_of_minus_eighth = 1895147668;
  constexpr std::int32_t third = 715827883;
  const std::int32_t x = a + (1 << 28);
  const std::int32_t x2 = product(x, x);
  const std::int32_t x3 = product(x2, x);
  const std::int32_t x4_over_4 = rounding_divide(product(x2, x2), 2);
  const std::int32_t rest = rounding_divide(sum(product(sum(x4_over_4, x3), third), x2), 1);
  return sum(exp_of_minus_eighth, product(exp_of_minus_eighth, sum(x, rest)));
}

// 1 / ((1 + x) / 2), Q2.29.
std::int32_t reciprocal_of_half_sum(std::int32_t x) {
  const auto half = static_cast<std::int32_t>((std::int64_t{x} + most + 1) / 2);
  std::int32_t y = sum(c_48_over_17, product(half, c_neg_32_over_17));
  for (int step = 0; step < 3; ++step) {
    const std::int32_t rest = sum(1 << 29, -product(half, y));
    y = sum(y, saturating_left(product(y, rest), 2));
  }
  return y;
}

}  // namespace

std::int32_t saturating_left(std::int32_t x, int bits) {
  const std::int32_t threshold = (std::int32_t{1} << (31 - bits)) - 1;
  if (x > threshold) return most;
  if (x < -threshold) return std::numeric_limits<std::int32_t>::min();
  return static_cast<std::int32_t>(static_cast<std::uint32_t>(x) << bits);
}

std::int32_t exp_on_negative_values(std::int32_t x, int integer_bits) {
  if (x == 0) return most;
  const int fraction_bits = 31 - integer_bits;
  const std::int32_t quarter = std::int32_t{1} << (fraction_bits - 2);
  const std::int32_t part = (x & (quarter - 1)) - quarter;
  std::int32_t result = exp_of_quarter(integer_bits == 0 ? part : saturating_left(part, integer_bits));
  const std::int32_t rest = sum(part, -x);
  // exp(−2^k) for k = −2 … 4.
  constexpr std::array<std::int32_t, 7> factors = {1672461947, 1302514674, 790015084, 290630308, 39332535, 720401, 242};
  for (std::size_t i = 0; i < factors.size(); ++i) {
    const int exponent = static_cast<int>(i) - 2;
    if (integer_bits <= exponent) break;
    if (((rest >> (fraction_bits + exponent)) & 1) != 0) result = product(result, factors[i]);
  }
  if (integer_bits > 5 && x < -(std::int32_t{1} << (36 - integer_bits))) return 0;
  return result;
}

std::int32_t one_over_one_plus(std::int32_t x) { return saturating_left(reciprocal_of_half_sum(x), 1); }

std::int32_t logistic(std::int32_t x, int integer_bits) {
  if (x == 0) return std::int32_t{1} << 30;
  const std::int32_t positive = one_over_one_plus(exp_on_negative_values(x > 0 ? -x : x, integer_bits));
  return x > 0 ? positive : most - positive;
}

std::int32_t tanh(std::int32_t x, int integer_bits) {
  if (x == 0) return 0;
  // (1 − exp(−2 |x|)) / (1 + exp(−2 |x|)): twice x has one integer bit more.
  const std::int32_t power = exp_on_negative_values(x < 0 ? x : -x, integer_bits + 1);
  const std::int32_t t = saturating_left(sum(reciprocal_of_half_sum(power), -(1 << 29)), 2);
  return x < 0 ? -t : t;
}

}  // namespace usmp::tflite::fixed
