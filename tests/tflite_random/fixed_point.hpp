// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// Numbers as TensorFlow Lite's reference kernels multiply and round them, written as divisions and branches.
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

namespace usmp::tflite_random {

[[nodiscard]] inline double wide(float x) { return static_cast<double>(x); }

// A real number: multiplier / 2^31 · 2^shift.
struct Factor {
  std::int32_t multiplier = 0;
  int shift = 0;
};
[[nodiscard]] Factor factor_of(double real);

// As 32 bits. Throws Undefined if it has more.
[[nodiscard]] std::int32_t narrow(std::int64_t x);

// x · y / 2^31, to nearest.
[[nodiscard]] std::int32_t high_product(std::int32_t x, std::int32_t y);
// x / 2^exponent, to nearest, ties away from zero.
[[nodiscard]] std::int32_t rounded_half(std::int32_t x, int exponent);

// x · factor, of sums of 32 bits and of 64.
[[nodiscard]] std::int32_t scaled(std::int64_t x, Factor by);
[[nodiscard]] std::int32_t scaled_wide(std::int64_t x, Factor by);

// Take a fixed-point number with `integer_bits` bits in front of the point (sign apart); results have none.
[[nodiscard]] std::int32_t exp_of_negative(std::int32_t x, int integer_bits);
[[nodiscard]] std::int32_t logistic_of(std::int32_t x, int integer_bits);
[[nodiscard]] std::int32_t tanh_of(std::int32_t x, int integer_bits);
// 1 / (1 + x), x in [0, 1).
[[nodiscard]] std::int32_t reciprocal_of_one_plus(std::int32_t x);
// 1 / sqrt(x), x > 0.
[[nodiscard]] Factor inverse_root(std::int32_t x);

// The largest integer that a multiplication by 2^shift leaves within a type of `integer_bits`.
[[nodiscard]] std::int64_t input_radius(int integer_bits, int shift);

// 512 pieces of a function of 16 bits, and the end of the last; looked up with interpolation.
[[nodiscard]] std::vector<std::int32_t> pieces_of(const std::function<float(float)>& function, float low, float high);
[[nodiscard]] std::int32_t looked_up(const std::vector<std::int32_t>& pieces, std::int32_t x);

// The logistic function and tanh of 16 bits, whose input is x · 3 / 2^shift (multiplier 0) or x · multiplier / 2^shift.
struct ShortInput {
  std::int32_t multiplier = 0;
  int shift = 0;
};
[[nodiscard]] std::int32_t logistic_of_short(std::int32_t x, ShortInput input);
[[nodiscard]] std::int32_t tanh_of_short(std::int32_t x, ShortInput input);

}  // namespace usmp::tflite_random
