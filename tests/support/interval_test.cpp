// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// Against brute force: the ends are those of all results.
#include "usmp/support/interval.hpp"

#include <doctest/doctest.h>

#include <limits>

namespace usmp::support::interval_test {
namespace {

constexpr std::int64_t most = std::numeric_limits<std::int64_t>::max();
constexpr std::int64_t least = std::numeric_limits<std::int64_t>::min();

template <class Compute>
Interval all_of(const Interval& a, const Interval& b, const Compute& compute) {
  Interval found{most, least};
  for (std::int64_t x = a.low; x <= a.high; ++x) {
    for (std::int64_t y = b.low; y <= b.high; ++y) found = hull(found, {compute(x, y), compute(x, y)});
  }
  return found;
}

TEST_CASE("intervals: sums, differences, products and quotients are exact, remainders within one period") {
  for (std::int64_t low = -9; low <= 9; ++low) {
    for (std::int64_t high = low; high <= 9; ++high) {
      const Interval a{low, high};
      for (const Interval& b : {Interval{-3, 4}, Interval{2, 2}, Interval{-5, -5}, Interval{0, 7}}) {
        CHECK(sum(a, b) == all_of(a, b, [](auto x, auto y) { return x + y; }));
        CHECK(difference(a, b) == all_of(a, b, [](auto x, auto y) { return x - y; }));
        CHECK(product(a, b) == all_of(a, b, [](auto x, auto y) { return x * y; }));
      }
      for (const Interval& by : {Interval{1, 1}, Interval{4, 4}, Interval{2, 5}}) {
        CHECK(quotient(Rounding::toward_zero, a, by) == all_of(a, by, [](auto x, auto y) { return x / y; }));
        CHECK(quotient(Rounding::down, a, by) == all_of(a, by, floor_quotient));
        const auto truncated = all_of(a, by, [](auto x, auto y) { return x % y; });
        const auto floored = all_of(a, by, floor_remainder);
        CHECK(truncated.within(remainder(Rounding::toward_zero, a, by)));
        CHECK(floored.within(remainder(Rounding::down, a, by)));
        const bool is_one_period = by.is_point() && floor_quotient(low, by.low) == floor_quotient(high, by.low);
        if (is_one_period) CHECK(remainder(Rounding::down, a, by) == floored);
        if (is_one_period && (low >= 0 || high < 0)) CHECK(truncated.within({-by.high + 1, by.high - 1}));
      }
    }
  }
  CHECK(remainder(Rounding::down, {8, 11}, {8, 8}) == Interval{0, 3});
  CHECK(remainder(Rounding::toward_zero, {8, 11}, {8, 8}) == Interval{0, 3});
  CHECK(remainder(Rounding::toward_zero, {-11, -9}, {8, 8}) == Interval{-3, -1});
  CHECK(remainder(Rounding::toward_zero, {-3, 20}, {8, 8}) == Interval{-3, 7});
}

TEST_CASE("intervals: what leaves int64 is nothing") {
  CHECK_FALSE(sum({0, most}, {0, 1}));
  CHECK_FALSE(sum({least, 0}, {-1, 0}));
  CHECK_FALSE(difference({least, 0}, {0, 1}));
  CHECK_FALSE(difference({0, 0}, {least, 0}));
  CHECK_FALSE(product({0, most}, {0, 2}));
  CHECK(product({least, most}, {1, 1}) == Interval{least, most});
  CHECK(quotient(Rounding::down, {least, most}, {1, most}) == Interval{least, most});
  CHECK(remainder(Rounding::down, {least, most}, {1, most}) == Interval{0, most - 1});
}

}  // namespace
}  // namespace usmp::support::interval_test
