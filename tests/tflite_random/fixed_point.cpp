// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// Fixed-point arithmetic and functions as the reference kernels define them.
#include "tflite_random/fixed_point.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <limits>

#include "tflite_random/model.hpp"

namespace usmp::tflite_random {
namespace {

constexpr std::int32_t largest = std::numeric_limits<std::int32_t>::max();
constexpr std::int32_t smallest = std::numeric_limits<std::int32_t>::min();

// x · 2^exponent; what does not fit becomes the nearest that does.
std::int32_t saturated_shift(std::int32_t x, int exponent) {
  const std::int64_t y = std::int64_t{x} * (std::int64_t{1} << exponent);
  return static_cast<std::int32_t>(std::clamp<std::int64_t>(y, smallest, largest));
}

std::int32_t mean_with_one(std::int32_t x) {
  const std::int64_t sum = std::int64_t{x} + largest;
  return static_cast<std::int32_t>((sum + (sum >= 0 ? 1 : -1)) / 2);
}

// 1 / ((1 + x) / 2) with two integer bits, by Newton's method.
std::int32_t reciprocal_of_mean(std::int32_t mean) {
  constexpr std::int32_t one = 1 << 29;
  std::int32_t x = narrow(std::int64_t{1515870810} + high_product(mean, -1010580540));
  for (int i = 0; i < 3; ++i) {
    const std::int32_t rest = narrow(std::int64_t{one} - high_product(mean, x));
    x = narrow(std::int64_t{x} + saturated_shift(high_product(x, rest), 2));
  }
  return x;
}

// 65536 · logistic(i / 24), to nearest but for some that the kernels have one higher.
const std::array<std::uint32_t, 256>& sigmoid_samples() {
  static const std::array<std::uint32_t, 256> samples = [] {
    constexpr std::array higher = {4,  8,  12, 14, 15, 16, 17, 19, 20,  21,  22,  25,  27,  28, 29,
                                   30, 31, 33, 34, 35, 37, 39, 40, 41,  43,  44,  45,  46,  49, 50,
                                   54, 62, 63, 64, 66, 82, 86, 93, 100, 103, 112, 116, 135, 255};
    std::array<std::uint32_t, 256> result{};
    for (std::size_t i = 0; i < result.size(); ++i) {
      result[i] = static_cast<std::uint32_t>(std::round(65536.0 / (1.0 + std::exp(-static_cast<double>(i) / 24.0))));
    }
    for (const int i : higher) ++result[static_cast<std::size_t>(i)];
    return result;
  }();
  return samples;
}

std::int32_t short_input(std::int32_t x, ShortInput input) {
  if (input.multiplier == 0) return narrow(std::int64_t{x} * (3 << input.shift));
  const std::int64_t half = input.shift > 0 ? std::int64_t{1} << (input.shift - 1) : 0;
  return static_cast<std::int32_t>(narrow(std::int64_t{x} * input.multiplier + half) >> input.shift);
}

float rounded(float x) { return std::round(x); }

}  // namespace

Factor factor_of(double real) {
  if (real == 0) return {};
  Factor result;
  const double fraction = std::frexp(real, &result.shift);
  auto whole = static_cast<std::int64_t>(std::round(fraction * 2147483648.0));
  if (whole == std::int64_t{1} << 31) {
    whole /= 2;
    ++result.shift;
  }
  if (result.shift < -31) return {};
  result.multiplier = narrow(whole);
  return result;
}

std::int32_t narrow(std::int64_t x) {
  if (x < smallest || x > largest) throw Undefined("more than 32 bits");
  return static_cast<std::int32_t>(x);
}

std::int32_t high_product(std::int32_t x, std::int32_t y) {
  if (x == smallest && y == smallest) return largest;
  const std::int64_t product = std::int64_t{x} * y;
  const std::int64_t nudge = product >= 0 ? std::int64_t{1} << 30 : 1 - (std::int64_t{1} << 30);
  return static_cast<std::int32_t>((product + nudge) / (std::int64_t{1} << 31));
}

std::int32_t rounded_half(std::int32_t x, int exponent) {
  const std::int64_t mask = (std::int64_t{1} << exponent) - 1;
  const std::int64_t rest = x & mask;
  const std::int64_t threshold = (mask >> 1) + (x < 0 ? 1 : 0);
  return static_cast<std::int32_t>((std::int64_t{x} >> exponent) + (rest > threshold ? 1 : 0));
}

std::int32_t scaled(std::int64_t x, Factor by) {
  if (by.shift < -31) throw Undefined("a shift by more than 31 bits");
  const std::int32_t shifted = narrow(std::int64_t{narrow(x)} * (std::int64_t{1} << std::clamp(by.shift, 0, 31)));
  return rounded_half(high_product(shifted, by.multiplier), std::max(-by.shift, 0));
}

std::int32_t scaled_wide(std::int64_t x, Factor by) {
  if (by.shift < -31 || by.shift >= 8) throw Undefined("a shift of 64 bits");
  if (x < -(std::int64_t{1} << 47) || x >= std::int64_t{1} << 47) throw Undefined("a sum of more than 48 bits");
  const std::int64_t reduced = by.multiplier < 0x7FFF0000 ? (std::int64_t{by.multiplier} + (1 << 15)) >> 16 : 0x7FFF;
  const int total = 15 - by.shift;
  return narrow((x * reduced + (std::int64_t{1} << (total - 1))) >> total);
}

std::int32_t exp_of_negative(std::int32_t x, int integer_bits) {
  if (x == 0) return largest;
  const int fraction_bits = 31 - integer_bits;
  const std::int32_t quarter = 1 << (fraction_bits - 2);
  const std::int32_t in_quarter = (x & (quarter - 1)) - quarter;
  // exp on [-1/4, 0): a polynomial around -1/8.
  const std::int32_t y = saturated_shift(in_quarter, integer_bits) + (1 << 28);
  const std::int32_t y2 = high_product(y, y);
  const std::int32_t y3 = high_product(y2, y);
  const std::int32_t y4 = high_product(y2, y2);
  const std::int32_t third = high_product(narrow(std::int64_t{rounded_half(y4, 2)} + y3), 715827883);
  const std::int32_t rest = rounded_half(narrow(std::int64_t{third} + y2), 1);
  std::int32_t result = narrow(std::int64_t{1895147668} + high_product(1895147668, narrow(std::int64_t{y} + rest)));
  // Times exp(-2^k) for the bits of what is left.
  const std::array<std::int32_t, 7> powers = {1672461947, 1302514674, 790015084, 290630308, 39332535, 720401, 242};
  const std::int64_t remainder = std::int64_t{in_quarter} - x;
  for (int k = -2; k < integer_bits; ++k) {
    if (((remainder >> (fraction_bits + k)) & 1) != 0) {
      result = high_product(result, powers.at(static_cast<std::size_t>(std::int64_t{k} + 2)));
    }
  }
  return result;
}

std::int32_t reciprocal_of_one_plus(std::int32_t x) { return saturated_shift(reciprocal_of_mean(mean_with_one(x)), 1); }

std::int32_t logistic_of(std::int32_t x, int integer_bits) {
  if (x == 0) return 1 << 30;
  const std::int32_t positive = reciprocal_of_one_plus(exp_of_negative(x > 0 ? -x : x, integer_bits));
  return x > 0 ? positive : largest - positive;
}

std::int32_t tanh_of(std::int32_t x, int integer_bits) {
  if (x == 0) return 0;
  const std::int32_t power = exp_of_negative(x > 0 ? -x : x, integer_bits + 1);  // the same bits are twice the number
  const std::int32_t y = saturated_shift(narrow(std::int64_t{reciprocal_of_mean(mean_with_one(power))} - (1 << 29)), 2);
  return x > 0 ? y : -y;
}

Factor inverse_root(std::int32_t x) {
  if (x <= 1) return {largest, 0};
  int shift = 11;
  while (x >= 1 << 29) {
    x /= 4;
    ++shift;
  }
  const int pairs = (std::countl_zero(static_cast<std::uint32_t>(x)) - 1) / 2 - 1;
  shift -= pairs;
  x <<= 2 * pairs;
  const std::int32_t half = rounded_half(x >> 1, 1);
  constexpr std::int32_t three_halves = (1 << 28) + (1 << 27);
  std::int32_t y = 1 << 28;
  for (int i = 0; i < 5; ++i) {
    const std::int32_t cube = saturated_shift(high_product(high_product(y, y), y), 6);
    y = saturated_shift(narrow(std::int64_t{high_product(three_halves, y)} - high_product(half, cube)), 3);
  }
  y = high_product(y, 1518500250);
  if (shift < 0) {
    y <<= -shift;
    shift = 0;
  }
  return {y, -shift};
}

std::int64_t input_radius(int integer_bits, int shift) {
  const double most = 1.0 * ((1 << integer_bits) - 1) * std::ldexp(1.0, 31 - integer_bits - shift);
  return static_cast<std::int64_t>(std::floor(most));
}

std::vector<std::int32_t> pieces_of(const std::function<float(float)>& function, float low, float high) {
  constexpr int count = 512;
  constexpr float units = 32768.0F;  // of the output, whose range is [-1, 1)
  const float step = (high - low) / count;
  const float half = step / 2;
  const auto cut = [](float x) { return static_cast<std::int32_t>(std::clamp(x, -32768.0F, 32767.0F)); };
  std::vector<std::int32_t> result;
  for (int i = 0; i < count; ++i) {
    const float sample = rounded(function(low + static_cast<float>(i) * step) * units);
    const float next = function(low + static_cast<float>(i + 1) * step) * units;
    const float middle = rounded(function(low + static_cast<float>(i) * step + half) * units);
    const float bias = rounded((rounded((next + sample) / 2) - middle) / 2);
    result.push_back(cut(sample - bias));
  }
  result.push_back(cut(rounded(function(high) * units)));
  return result;
}

std::int32_t looked_up(const std::vector<std::int32_t>& pieces, std::int32_t x) {
  const auto index = static_cast<std::size_t>(std::int64_t{256} + (x >> 7));
  const std::int32_t slope = pieces.at(index + 1) - pieces[index];
  return pieces[index] + ((slope * (x & 0x7F) + 64) >> 7);
}

std::int32_t logistic_of_short(std::int32_t x, ShortInput input) {
  const std::int32_t y = short_input(x, input);
  const auto magnitude = static_cast<std::uint32_t>(std::abs(y));
  const std::uint32_t piece = magnitude >> 9;
  std::uint32_t result = 0x7FFFU << 10;
  if (piece < 255) {
    const std::uint32_t from = sigmoid_samples()[piece];
    result = (from << 9) + (magnitude & 0x1FF) * (sigmoid_samples()[piece + 1] - from);
  }
  result = y >= 0 ? result + (1U << 9) : (1U << 25) - result + (1U << 9) - 1;
  return static_cast<std::int32_t>(result >> 10);
}

std::int32_t tanh_of_short(std::int32_t x, ShortInput input) {
  const std::int32_t y = short_input(x, input);
  const auto magnitude = static_cast<std::uint32_t>(std::abs(y));
  const std::uint32_t piece = magnitude >> 8;
  std::int32_t result = 0xFFFF << 8;
  if (piece < 255) {
    const std::uint32_t from = sigmoid_samples()[piece];
    result = static_cast<std::int32_t>((from << 8) + (magnitude & 0xFF) * (sigmoid_samples()[piece + 1] - from));
  }
  result = y >= 0 ? result - (1 << 23) + (1 << 7) : -result + (1 << 23) + (1 << 7) - 1;
  return result >> 8;
}

}  // namespace usmp::tflite_random
