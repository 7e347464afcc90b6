// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// Splits variables into digits at the divisors of the index, sorts these by factor, and compares each with those below.
#include "usmp/loops/coverage.hpp"

#include <algorithm>
#include <utility>

#include "usmp/support/checked.hpp"

namespace usmp::loops {
namespace {

std::vector<Digit> ascending(std::vector<Digit> digits) {
  std::erase_if(digits, [](const Digit& digit) { return digit.extent == 1; });
  std::sort(digits.begin(), digits.end(), [](const Digit& a, const Digit& b) { return a.factor < b.factor; });
  return digits;
}

struct Quotient {
  tir::VarId var;
  std::int64_t by = 1;
};
using Quotients = std::map<std::int64_t, std::int64_t>;  // of one variable: the factor by the divisor

// The variable itself, its floor quotient, or what an atom is the remainder of.
std::optional<Quotient> as_quotient(const arith::Atom& atom) {
  Quotient result;
  const arith::Atom* at = &atom;
  bool divides = atom.kind == arith::Atom::Kind::quotient;
  while (at->kind != arith::Atom::Kind::var) {
    if (divides) {
      const auto by = checked_mul(result.by, at->by);
      if (!by) return std::nullopt;
      result.by = *by;
    }
    const arith::Affine& whole = *at->whole;
    if (whole.terms.size() != 1 || whole.constant != 0 || whole.terms.begin()->second != 1) return std::nullopt;
    at = &whole.terms.begin()->first;
    divides = true;
    if (at->kind == arith::Atom::Kind::remainder) return std::nullopt;
  }
  result.var = at->var;
  return result;
}

bool add(Quotients& quotients, std::int64_t by, std::int64_t factor) {
  const auto sum = checked_add(quotients[by], factor);
  if (sum) quotients[by] = *sum;
  return sum.has_value();
}

// Adds the digits of a variable from 0 to below the extent.
bool add_digits(MixedRadix& numbers, const Quotients& quotients, std::int64_t extent) {
  std::vector<std::int64_t> places = {1};
  for (const auto& [by, factor] : quotients) {
    if (by > places.back()) places.push_back(by);
  }
  places.push_back(extent);
  for (std::size_t i = 0; i + 1 < places.size(); ++i) {
    const std::int64_t place = places[i];
    if (places[i + 1] % place != 0) return false;
    std::int64_t total = 0;  // v / by has place / by of the digit at the place, none if that is smaller
    for (const auto& [by, factor] : quotients) {
      const auto term = checked_mul(factor, place / by);
      const auto sum = term ? checked_add(total, *term) : std::nullopt;
      if (!sum) return false;
      total = *sum;
    }
    numbers.digits.push_back({.factor = total, .extent = places[i + 1] / place});
  }
  return true;
}

// Neighbours become one.
void merge(std::vector<Interval>& intervals) {
  std::sort(intervals.begin(), intervals.end(), [](const Interval& a, const Interval& b) { return a.low < b.low; });
  std::size_t kept = 0;
  for (const Interval& next : intervals) {
    if (kept > 0 && (next.low <= intervals[kept - 1].high || next.low - 1 == intervals[kept - 1].high)) {
      intervals[kept - 1].high = std::max(intervals[kept - 1].high, next.high);
    } else {
      intervals[kept++] = next;
    }
  }
  intervals.resize(kept);
}

// Between the interval and itself moved by the factor.
bool has_no_gap(const Interval& interval, std::int64_t factor) {
  const auto length = checked_sub(interval.high, interval.low);
  return length && *length >= factor - 1;
}

// The interval moved by so many factors; nothing: it leaves int64.
std::optional<Interval> moved(const Interval& interval, std::int64_t factor, std::int64_t times) {
  const auto by = checked_mul(factor, times);
  const auto low = by ? checked_add(interval.low, *by) : std::nullopt;
  const auto high = by ? checked_add(interval.high, *by) : std::nullopt;
  return low && high ? std::optional(Interval{*low, *high}) : std::nullopt;
}

}  // namespace

std::optional<Interval> constant_range(const tir::For& loop) {
  const auto min = tir::as_int(*loop.min);
  const auto extent = tir::as_int(*loop.extent);
  const auto last = min && extent && *extent >= 1 ? checked_add(*min, *extent - 1) : std::nullopt;
  return last ? std::optional(Interval{*min, *last}) : std::nullopt;
}

std::optional<MixedRadix> mixed_radix(const arith::Affine& index, const std::map<tir::VarId, Interval>& ranges) {
  MixedRadix numbers{.start = index.constant, .digits = {}};
  std::map<tir::VarId, Quotients> quotients;
  for (const auto& [atom, factor] : index.terms) {
    const auto quotient = as_quotient(atom);
    if (!quotient || !ranges.contains(quotient->var)) return std::nullopt;
    Quotients& of_var = quotients[quotient->var];
    if (!add(of_var, quotient->by, factor)) return std::nullopt;
    if (atom.kind != arith::Atom::Kind::remainder) continue;
    // v mod b = v - b · (v / b)
    const auto by = checked_mul(quotient->by, atom.by);
    const auto less = checked_mul(factor, -atom.by);
    if (!by || !less || !add(of_var, *by, *less)) return std::nullopt;
  }
  for (const auto& [var, range] : ranges) {
    const Quotients& of_var = quotients[var];
    const auto last = checked_sub(range.high, range.low);
    const auto extent = last ? checked_add(*last, 1) : std::nullopt;
    if (!extent) return std::nullopt;
    if (of_var.size() > 1 || (of_var.size() == 1 && of_var.begin()->first > 1)) {
      if (range.low != 0 || !add_digits(numbers, of_var, *extent)) return std::nullopt;
      continue;
    }
    const std::int64_t factor = of_var.empty() ? 0 : of_var.begin()->second;
    const auto first = checked_mul(range.low, factor);
    const auto start = first ? checked_add(numbers.start, *first) : std::nullopt;
    if (!start) return std::nullopt;
    numbers.start = *start;
    numbers.digits.push_back({.factor = factor, .extent = *extent});
  }
  return numbers;
}

bool is_injective(const MixedRadix& numbers) {
  std::int64_t reach = 1;  // of the digits below
  for (const Digit& digit : ascending(numbers.digits)) {
    if (digit.factor < reach) return false;
    const auto next = checked_mul(digit.factor, digit.extent);
    if (!next) return false;
    reach = *next;
  }
  return true;
}

std::optional<Interval> dense_values(const MixedRadix& numbers) {
  std::int64_t count = 1;
  for (const Digit& digit : ascending(numbers.digits)) {
    if (digit.factor == 0) continue;
    const auto next = digit.factor == count ? checked_mul(count, digit.extent) : std::nullopt;
    if (!next) return std::nullopt;
    count = *next;
  }
  const auto last = checked_add(numbers.start, count - 1);
  return last ? std::optional(Interval{numbers.start, *last}) : std::nullopt;
}

std::optional<Copies> copies_of(const MixedRadix& numbers) {
  Copies copies{.first = {numbers.start, numbers.start}, .digits = {}};
  std::vector<Digit> digits = numbers.digits;
  for (Digit& digit : digits) {
    if (digit.factor >= 0) continue;
    const auto first = moved(copies.first, digit.factor, digit.extent - 1);  // counted down instead
    if (!first || digit.factor == INT64_MIN) return std::nullopt;
    copies.first = *first;
    digit.factor = -digit.factor;
  }
  for (const Digit& digit : ascending(std::move(digits))) {
    if (digit.factor == 0) continue;
    const auto last = moved(copies.first, digit.factor, digit.extent - 1);
    if (!last) return std::nullopt;
    if (has_no_gap(copies.first, digit.factor)) {
      copies.first.high = last->high;
    } else {
      copies.digits.push_back(digit);
    }
  }
  return copies;
}

std::vector<Interval> covered_values(std::vector<Interval> firsts, const std::vector<Digit>& digits) {
  std::vector<Interval> intervals = std::move(firsts);
  merge(intervals);
  for (const Digit& digit : digits) {
    std::vector<Interval> all;
    for (const Interval& interval : intervals) {
      const auto last = moved(interval, digit.factor, digit.extent - 1);
      if (!last) return {};
      if (has_no_gap(interval, digit.factor)) {
        all.push_back({interval.low, last->high});
        continue;
      }
      all.push_back(interval);
      const bool are_few = static_cast<std::size_t>(digit.extent) <= most_intervals / intervals.size();
      for (std::int64_t i = 1; are_few && i < digit.extent; ++i) all.push_back(*moved(interval, digit.factor, i));
    }
    intervals = std::move(all);
    merge(intervals);
  }
  return intervals;
}

}  // namespace usmp::loops
