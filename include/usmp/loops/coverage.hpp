// SPDX-License-Identifier: Apache-2.0
// Which values an index takes in a loop nest: whether it repeats one, and whether it omits one.
//
// Idea: an affine index is a mixed-radix number, one digit per loop. With the digits in ascending order, no value
// repeats if each factor is at least the number of values of the digits below, and none is omitted if it is exactly
// that.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <vector>

#include "usmp/arith/affine.hpp"
#include "usmp/support/interval.hpp"
#include "usmp/tir/ir.hpp"

namespace usmp::loops {

struct Digit {
  std::int64_t factor = 0;
  std::int64_t extent = 1;  // counts of the loop, at least 1
};

// The numbers start + sum of factor · count, each count from 0 to below its digit's extent.
struct MixedRadix {
  std::int64_t start = 0;
  std::vector<Digit> digits;
};

// The values of the index while each variable takes all values of its range; a variable that the index does not mention
// is a digit of factor 0. Nothing: the index has other terms, or a number overflows int64.
[[nodiscard]] std::optional<MixedRadix> mixed_radix(const arith::Affine& index,
                                                    const std::map<tir::VarId, Interval>& ranges);

// Whether different counts give different numbers, as the ascending order shows: factors are positive. O(n log n).
[[nodiscard]] bool is_injective(const MixedRadix& numbers);

// The numbers, if they are exactly an interval, each at least once. O(n log n).
[[nodiscard]] std::optional<Interval> dense_values(const MixedRadix& numbers);

}  // namespace usmp::loops
