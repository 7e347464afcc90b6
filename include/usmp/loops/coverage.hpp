// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// Which values an index takes in a loop nest: whether it repeats one, and whether it omits one.
//
// Idea: an affine index is a mixed-radix number, one digit per loop. With the digits in ascending order, no value
// repeats if each factor is at least the number of values of the digits below, and none is omitted if it is exactly
// that.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <vector>

#include "usmp/arith/affine.hpp"
#include "usmp/support/interval.hpp"
#include "usmp/tir/ir.hpp"

namespace usmp::loops {

// The values of a loop's variable, if its bounds are constants and it runs at least once. Nothing also if the last
// value overflows int64.
[[nodiscard]] std::optional<Interval> constant_range(const tir::For& loop);

struct Digit {
  std::int64_t factor = 0;
  std::int64_t extent = 1;  // counts of the loop, at least 1

  friend bool operator==(const Digit&, const Digit&) = default;
};

// The numbers start + sum of factor · count, each count from 0 to below its digit's extent.
struct MixedRadix {
  std::int64_t start = 0;
  std::vector<Digit> digits;
};

// The values of the index while each variable takes all values of its range; a variable that the index does not mention
// is a digit of factor 0, and one of which the index has floor quotients and remainders several: 4·(i / 2) + i mod 2
// has the digits (1, 2) and (4, extent / 2). Nothing: the index has other terms, divisors do not divide each other and
// the variable's range, which begins at 0, or a number overflows int64.
[[nodiscard]] std::optional<MixedRadix> mixed_radix(const arith::Affine& index,
                                                    const std::map<tir::VarId, Interval>& ranges);

// Whether different counts give different numbers, as the ascending order shows: factors are positive. O(n log n).
[[nodiscard]] bool is_injective(const MixedRadix& numbers);

// The numbers, if they are exactly an interval, each at least once. O(n log n).
[[nodiscard]] std::optional<Interval> dense_values(const MixedRadix& numbers);

// The numbers first + sum of factor · count, for each number of the interval: the digits above it leave gaps between
// copies of the interval. Factors are positive and ascend.
struct Copies {
  Interval first;
  std::vector<Digit> digits;
};

// The same numbers, with as many digits as possible in the interval; nothing: a number overflows int64. O(n log n).
[[nodiscard]] std::optional<Copies> copies_of(const MixedRadix& numbers);

// Intervals, disjoint and ascending, of numbers that copies of one of the intervals hold: all of them, unless there are
// more intervals than `most_intervals`, or numbers overflow int64. Copies of one may fill the gaps between those of
// another: four stores to 4k, 4k + 1, 4k + 2 and 4k + 3. `digits` as in Copies. O((intervals + most_intervals) · digits
// · log).
inline constexpr std::size_t most_intervals = 4096;
[[nodiscard]] std::vector<Interval> covered_values(std::vector<Interval> firsts, const std::vector<Digit>& digits);

}  // namespace usmp::loops
