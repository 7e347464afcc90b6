// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// Fixed-point arithmetic as TensorFlow Lite Micro's reference kernels round it: on numbers while planning, and as TIR.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "tflite/graph.hpp"
#include "tflite/nest.hpp"
#include "usmp/support/interval.hpp"

namespace usmp::tflite {

// A real factor: multiplier · 2^(shift − 31).
struct Multiplier {
  std::int32_t multiplier = 0;  // 0, or of a magnitude in [2^30, 2^31)
  int shift = 0;                // > 0: to the left; >= −31

  friend bool operator==(const Multiplier&, const Multiplier&) = default;
};
// To the nearest, halves away from zero; a magnitude below 2^−32 gives 0, one above 2^30 is cut.
[[nodiscard]] Multiplier multiplier_of(double factor);

// Rounds twice, as computed while planning.
[[nodiscard]] std::int32_t doubling_high_product(std::int32_t a, std::int32_t b);
[[nodiscard]] std::int32_t rounding_divide(std::int32_t x, int exponent);
[[nodiscard]] std::int32_t multiplied(std::int64_t x, Multiplier by);

// The same in TIR, plus `offset`. |x| <= bound.
[[nodiscard]] Num multiplied(Nest& nest, const Num& x, Multiplier by, std::int64_t bound, std::int64_t offset = 0);
// A value of 32 or 64 bits times the factor, rounded once (16x8), whose shift is at most that. The result is int32.
inline constexpr int most_wide_shift = 14;
[[nodiscard]] Num multiplied_wide(const Num& x, Multiplier by);

// (x · 2^31 with halves up) / 2^31 of x · multiplier, as int32.
[[nodiscard]] Num high_product(const Num& x, const Num& multiplier);
// x / 2^exponent to the nearest, halves away from zero; |x| + 2^exponent fits 32 bits.
[[nodiscard]] Num rounding_shift(Nest& nest, const Num& x, int exponent);

// One factor for each channel: literals where all are equal, else tables. Made outside of loops.
class Rescale {
 public:
  Rescale(Nest& nest, std::vector<Multiplier> factors, std::int64_t bound, std::int64_t offset);
  // x times the factor, plus the offset.
  [[nodiscard]] Num operator()(Nest& nest, const Num& x, const Num& channel) const;

 private:
  [[nodiscard]] Num divided_by_channel(Nest& nest, const Num& h, const Num& right, const Num& channel,
                                       std::int64_t bound) const;

  std::vector<Multiplier> factors_;
  std::int64_t bound_;
  std::int64_t offset_;
  bool is_one_ = false;  // factor
  std::optional<Array> multipliers_;
  std::optional<Array> lefts_;   // 2^left
  std::optional<Array> rights_;  // if split, less 1
  std::optional<Array> rounds_;  // min(right, 1)
  bool is_split_ = false;        // into all shifts but the last bit's, and that
  int left_ = 0;
  int right_ = 0;
  int least_right_ = 0;
};

// The same in one rounding (16x8), of values of that type: 32 or 64 bits.
class WideRescale {
 public:
  WideRescale(Nest& nest, std::vector<Multiplier> factors, tir::DataType type);
  [[nodiscard]] Num operator()(Nest& nest, const Num& x, const Num& channel) const;

 private:
  std::vector<Multiplier> factors_;
  std::optional<Array> multipliers_;
  std::optional<Array> shifts_;  // to the right
  bool is_fixed_ = false;        // as products in fixed point
};

// The largest magnitude of its values less the zero point.
[[nodiscard]] std::int64_t magnitude(const Value& value);
// What the activation leaves of them, with the tensor's scale and zero point. Nothing: TANH or SIGN_BIT.
[[nodiscard]] std::optional<Interval> activation_range(Activation activation, const Value& output);
// The same of floats: limits as literals.
[[nodiscard]] Num activated(const Num& value, Activation activation);

// round(value), halves away from zero, in float32 as TensorFlow Lite Micro computes it; cut to int32.
[[nodiscard]] std::int64_t quantized(float value, float scale, std::int64_t zero_point);

}  // namespace usmp::tflite
