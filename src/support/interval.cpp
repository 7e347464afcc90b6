// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// Takes the extremes of what the operands' ends give; those of remainders by periods of the divisor.
#include "usmp/support/interval.hpp"

namespace usmp {
namespace {

std::optional<Interval> between(std::optional<std::int64_t> low, std::optional<std::int64_t> high) {
  if (!low || !high) return std::nullopt;
  return Interval{*low, *high};
}

}  // namespace

std::optional<Interval> sum(const Interval& a, const Interval& b) {
  return between(checked_add(a.low, b.low), checked_add(a.high, b.high));
}

std::optional<Interval> difference(const Interval& a, const Interval& b) {
  return between(checked_sub(a.low, b.high), checked_sub(a.high, b.low));
}

std::optional<Interval> product(const Interval& a, const Interval& b) {
  std::optional<Interval> result;
  for (const std::int64_t x : {a.low, a.high}) {
    for (const std::int64_t y : {b.low, b.high}) {
      const auto corner = checked_mul(x, y);
      if (!corner) return std::nullopt;
      result = result ? hull(*result, {*corner, *corner}) : Interval{*corner, *corner};
    }
  }
  return result;
}

Interval quotient(Rounding rounding, const Interval& a, const Interval& by) {
  const auto rounded = [rounding](std::int64_t x, std::int64_t y) {
    return rounding == Rounding::down ? floor_quotient(x, y) : x / y;
  };
  return {std::min(rounded(a.low, by.low), rounded(a.low, by.high)),
          std::max(rounded(a.high, by.low), rounded(a.high, by.high))};
}

// Within one period of one divisor the remainders follow one another; else all may occur that there are.
Interval remainder(Rounding rounding, const Interval& a, const Interval& by) {
  const bool truncates = rounding == Rounding::toward_zero;
  const std::int64_t most = by.high - 1;
  if (by.is_point()) {
    const std::int64_t n = by.low;
    if (!truncates && floor_quotient(a.low, n) == floor_quotient(a.high, n)) {
      return {floor_remainder(a.low, n), floor_remainder(a.high, n)};
    }
    const bool has_one_sign = a.low >= 0 || a.high <= 0;
    if (truncates && has_one_sign && a.low / n == a.high / n) return {a.low % n, a.high % n};
  }
  if (truncates) return {a.low < 0 ? std::max(-most, a.low) : 0, a.high > 0 ? std::min(most, a.high) : 0};
  return {0, a.low >= 0 ? std::min(most, a.high) : most};
}

}  // namespace usmp
