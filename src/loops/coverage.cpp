// SPDX-License-Identifier: Apache-2.0
#include "usmp/loops/coverage.hpp"

#include <algorithm>

#include "usmp/support/checked.hpp"

namespace usmp::loops {
namespace {

std::vector<Digit> ascending(std::vector<Digit> digits) {
  std::erase_if(digits, [](const Digit& digit) { return digit.extent == 1; });
  std::sort(digits.begin(), digits.end(), [](const Digit& a, const Digit& b) { return a.factor < b.factor; });
  return digits;
}

}  // namespace

std::optional<MixedRadix> mixed_radix(const arith::Affine& index, const std::map<tir::VarId, Interval>& ranges) {
  MixedRadix numbers{.start = index.constant, .digits = {}};
  for (const auto& [atom, factor] : index.terms) {
    if (atom.kind != arith::Atom::Kind::var || !ranges.contains(atom.var)) return std::nullopt;
  }
  for (const auto& [var, range] : ranges) {
    const std::int64_t factor = index.factor(var);
    const auto first = checked_mul(range.low, factor);
    const auto start = first ? checked_add(numbers.start, *first) : std::nullopt;
    const auto last = checked_sub(range.high, range.low);
    const auto extent = last ? checked_add(*last, 1) : std::nullopt;
    if (!start || !extent) return std::nullopt;
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

}  // namespace usmp::loops
