// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// Sets of integers between two ends, and their arithmetic: the smallest interval that contains every result, or nothing
// where an end overflows int64.
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>

#include "usmp/support/checked.hpp"

namespace usmp {

struct Interval {  // both ends inclusive; low <= high
  std::int64_t low = 0;
  std::int64_t high = 0;

  [[nodiscard]] bool is_point() const { return low == high; }
  [[nodiscard]] bool within(const Interval& other) const { return low >= other.low && high <= other.high; }
  friend bool operator==(const Interval&, const Interval&) = default;
};

enum class Rounding : std::uint8_t { toward_zero, down };  // of quotients: C's, and floor division's

// b > 0.
[[nodiscard]] constexpr std::int64_t floor_quotient(std::int64_t a, std::int64_t b) {
  return a / b - (a % b < 0 ? 1 : 0);
}
[[nodiscard]] constexpr std::int64_t floor_remainder(std::int64_t a, std::int64_t b) {
  return a % b + (a % b < 0 ? b : 0);
}

// What is in both; nothing: no number is.
[[nodiscard]] inline std::optional<Interval> intersection(const Interval& a, const Interval& b) {
  const Interval both{std::max(a.low, b.low), std::min(a.high, b.high)};
  return both.low <= both.high ? std::optional(both) : std::nullopt;
}

// The smallest interval that contains both.
[[nodiscard]] inline Interval hull(const Interval& a, const Interval& b) {
  return {std::min(a.low, b.low), std::max(a.high, b.high)};
}

[[nodiscard]] std::optional<Interval> sum(const Interval& a, const Interval& b);
[[nodiscard]] std::optional<Interval> difference(const Interval& a, const Interval& b);
[[nodiscard]] std::optional<Interval> product(const Interval& a, const Interval& b);

// Requires by.low > 0.
[[nodiscard]] Interval quotient(Rounding rounding, const Interval& a, const Interval& by);
[[nodiscard]] Interval remainder(Rounding rounding, const Interval& a, const Interval& by);

}  // namespace usmp
