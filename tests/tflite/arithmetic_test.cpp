// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// Multipliers and products against gemmlowp's definitions; exp, logistic and tanh against doubles.
#include "tflite/arithmetic.hpp"

#include <doctest/doctest.h>

#include <cmath>
#include <limits>

#include "tflite/fixed_point.hpp"
#include "tflite/tables.hpp"
#include "usmp/support/random.hpp"

namespace usmp::tflite::arithmetic_test {
namespace {

// As gemmlowp states it: away from zero on both sides.
std::int32_t rounded_twice(std::int64_t x, Multiplier by) {
  const int left = by.shift > 0 ? by.shift : 0;
  const int right = by.shift > 0 ? 0 : -by.shift;
  const std::int64_t product = x * (std::int64_t{1} << left) * by.multiplier;
  const std::int64_t nudge = product >= 0 ? std::int64_t{1} << 30 : 1 - (std::int64_t{1} << 30);
  const std::int64_t high = (product + nudge) / (std::int64_t{1} << 31);
  if (right == 0) return static_cast<std::int32_t>(high);
  const std::int64_t mask = (std::int64_t{1} << right) - 1;
  const std::int64_t threshold = (mask >> 1) + (high < 0 ? 1 : 0);
  return static_cast<std::int32_t>((high >> right) + ((high & mask) > threshold ? 1 : 0));
}

TEST_CASE("arithmetic: multipliers") {
  CHECK(multiplier_of(0.5) == Multiplier{1 << 30, 0});
  CHECK(multiplier_of(1.0) == Multiplier{1 << 30, 1});
  CHECK(multiplier_of(0.0) == Multiplier{0, 0});
  CHECK(multiplier_of(std::ldexp(1.0, -40)) == Multiplier{0, 0});
  CHECK(multiplier_of(1.0 - std::ldexp(1.0, -40)) == Multiplier{1 << 30, 1});  // rounded up to 2^31
  CHECK(multiplier_of(-0.75) == Multiplier{-1610612736, 0});
  CHECK(multiplier_of(0.0003).shift == -11);
  // A quotient of scales that a float does not hold is as large as there are any.
  constexpr double infinite = std::numeric_limits<double>::infinity();
  CHECK(multiplier_of(std::ldexp(1.0, 40)) == Multiplier{std::numeric_limits<std::int32_t>::max(), 30});
  CHECK(multiplier_of(infinite) == multiplier_of(std::ldexp(1.0, 40)));
  CHECK(multiplier_of(-infinite) == multiplier_of(-std::ldexp(1.0, 40)));
}

TEST_CASE("arithmetic: products are rounded twice, halves away from zero") {
  Random random(7);
  for (int i = 0; i < 200000; ++i) {
    const auto bits = static_cast<int>(random.next() % 30);
    const auto x =
        static_cast<std::int64_t>(random.next() % (std::uint64_t{1} << bits)) - (std::int64_t{1} << bits) / 2;
    Multiplier by{static_cast<std::int32_t>((1 << 30) + static_cast<std::int64_t>(random.next() % (1 << 30))),
                  static_cast<int>(random.next() % 32) - 31};
    CHECK(multiplied(x, by) == rounded_twice(x, by));
  }
  CHECK(multiplied(3, {1 << 30, 0}) == 2);     // 1.5
  CHECK(multiplied(-3, {1 << 30, 0}) == -1);   // the high product rounds -1.5 up
  CHECK(multiplied(-6, {1 << 30, -1}) == -2);  // and the second rounding away from zero
}

TEST_CASE("arithmetic: limits of activations") {
  Value output;
  output.type = Type::int8;
  output.quantization = {.scales = {0.05F}, .zero_points = {-20}, .dimension = 0};
  CHECK(activation_range(Activation::none, output) == Interval{-128, 127});
  CHECK(activation_range(Activation::relu, output) == Interval{-20, 127});
  CHECK(activation_range(Activation::relu6, output) == Interval{-20, 100});
  CHECK(activation_range(Activation::relu_n1_to_1, output) == Interval{-40, 0});
  CHECK(!activation_range(Activation::tanh, output));
}

TEST_CASE("fixed point: exp, logistic and tanh are near those of doubles") {
  for (int i = 0; i < 2000; ++i) {
    const double x = -16.0 * i / 2000;
    const auto raw = static_cast<std::int32_t>(std::llround(x * (1 << 26)));
    CHECK(fixed::exp_on_negative_values(raw, 5) / 2147483648.0 == doctest::Approx(std::exp(x)).epsilon(1e-4));
    const auto raw4 = static_cast<std::int32_t>(std::llround(x / 2 * (1 << 27)));
    CHECK(fixed::logistic(raw4, 4) / 2147483648.0 == doctest::Approx(1 / (1 + std::exp(-x / 2))).epsilon(1e-3));
    CHECK(fixed::tanh(-raw4, 4) / 2147483648.0 == doctest::Approx(std::tanh(-x / 2)).epsilon(1e-4));
  }
  CHECK(fixed::exp_on_negative_values(0, 5) == std::numeric_limits<std::int32_t>::max());
  CHECK(fixed::logistic(0, 4) == 1 << 30);
  CHECK(fixed::tanh(0, 4) == 0);
}

TEST_CASE("tables: the logistic function of TensorFlow Lite") {
  const std::vector<std::int64_t> samples = sigmoid_samples();
  REQUIRE(samples.size() == 256);
  CHECK(samples[0] == 32768);
  CHECK(samples[4] == 35493);
  CHECK(samples[100] == 64536);
  CHECK(samples[255] == 65535);
}

}  // namespace
}  // namespace usmp::tflite::arithmetic_test
