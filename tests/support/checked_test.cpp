// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// Sums, products and alignments at the ends of int64.
#include "usmp/support/checked.hpp"

#include <doctest/doctest.h>

#include <limits>

namespace usmp::support::checked_test {

constexpr Bytes largest = std::numeric_limits<Bytes>::max();
constexpr Bytes smallest = std::numeric_limits<Bytes>::min();

TEST_CASE("checked sums, differences and products give nothing on overflow") {
  CHECK(checked_add(largest - 1, 1) == largest);
  CHECK_FALSE(checked_add(largest, 1).has_value());
  CHECK_FALSE(checked_add(smallest, -1).has_value());
  CHECK(checked_sub(smallest + 1, 1) == smallest);
  CHECK(checked_sub(-1, smallest) == largest);
  CHECK_FALSE(checked_sub(0, smallest).has_value());
  CHECK_FALSE(checked_sub(smallest, 1).has_value());
  CHECK(checked_mul(largest / 2, 2) == largest - 1);
  CHECK_FALSE(checked_mul(largest / 2 + 1, 2).has_value());
  CHECK_FALSE(checked_mul(smallest, -1).has_value());
  CHECK(checked_mul(0, largest) == 0);
}

TEST_CASE("rounding up to an alignment") {
  CHECK(align_up(0, 16) == 0);
  CHECK(align_up(1, 16) == 16);
  CHECK(align_up(16, 16) == 16);
  CHECK(align_up(17, 1) == 17);
  CHECK(align_up(10, 12) == 12);
  CHECK(align_up(13, 12) == 24);
  for (Bytes value = 0; value < 50; ++value) {
    for (Bytes alignment = 1; alignment < 20; ++alignment) {
      const Bytes rounded = align_up(value, alignment);
      CHECK(rounded % alignment == 0);
      CHECK(rounded >= value);
      CHECK(rounded < value + alignment);
      CHECK(checked_align_up(value, alignment) == rounded);
    }
  }
  CHECK(checked_align_up(largest, 1) == largest);
  CHECK_FALSE(checked_align_up(largest, 2).has_value());
  CHECK(checked_align_up(largest - 1, 2) == largest - 1);
}

}  // namespace usmp::support::checked_test
