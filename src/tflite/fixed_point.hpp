// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// Functions of fixed-point numbers, as gemmlowp's fixedpoint.h defines them, for tables that are made while planning.
// A number of n integer bits is raw / 2^(31 − n).
#pragma once

#include <cstdint>

namespace usmp::tflite::fixed {

// All results are Q0.31.

// exp(x) of x <= 0 with the given integer bits.
[[nodiscard]] std::int32_t exp_on_negative_values(std::int32_t x, int integer_bits);
// 1 / (1 + x) of x in [0, 1), Q0.31.
[[nodiscard]] std::int32_t one_over_one_plus(std::int32_t x);
// 1 / (1 + exp(−x)).
[[nodiscard]] std::int32_t logistic(std::int32_t x, int integer_bits);
[[nodiscard]] std::int32_t tanh(std::int32_t x, int integer_bits);

// x · 2^bits, cut to 32 bits.
[[nodiscard]] std::int32_t saturating_left(std::int32_t x, int bits);

// The constants of three Newton steps to 1 / x for x in [0.5, 1), Q2.29.
inline constexpr std::int32_t c_48_over_17 = 1515870810;
inline constexpr std::int32_t c_neg_32_over_17 = -1010580540;

}  // namespace usmp::tflite::fixed
