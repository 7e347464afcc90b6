// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// Functions of one number as tables: 256 values of an int8, 513 of an int16 between which is interpolated.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <vector>

#include "tflite/operators.hpp"

namespace usmp::tflite {

// Output 0 = function(input 0) for int8 or uint8 inputs; the function gives values of the output's type. Where it is
// clip(x + n), that, else a table.
void emit_function(Emitter& e, const std::function<std::int64_t(std::int64_t x)>& function);

// 513 samples of the function over [low, high], which stand for −2^15 … 2^15 − 1, scaled so that [out_low, out_high]
// fills 16 bits; each is shifted to halve the error in the middle. In float32, as TensorFlow Lite computes them.
[[nodiscard]] std::vector<std::int64_t> samples_of(const std::function<float(float)>& function, float low, float high,
                                                   float out_low, float out_high);

// The interpolated value at x, an int32 in the range of an int16.
[[nodiscard]] Num interpolated(Nest& nest, const Array& samples, const Num& x);

// 1 / (1 + exp(−i / 24)) as 0.16 bits, for i in [0, 256).
[[nodiscard]] std::vector<std::int64_t> sigmoid_samples();
inline constexpr tir::DataType sigmoid_type{tir::TypeCode::uint, 16, 1};

// The logistic function or tanh, 15 fraction bits, of an int16 x: interpolated in these samples at x · multiplier /
// 2^shift, whose unit is 2^−12 / 3.
[[nodiscard]] Num sigmoid_of(Nest& nest, const Array& samples, const Num& x, std::int64_t multiplier, int shift,
                             bool is_tanh);

}  // namespace usmp::tflite
