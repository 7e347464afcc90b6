// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// Arrays in one section, against every order.
#include "usmp/support/section_size.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <numeric>
#include <random>

namespace usmp::support::section_size_test {

namespace {

Bytes in_this_order(const std::vector<SectionArray>& arrays, const std::vector<std::size_t>& order) {
  Bytes end = 0;
  for (const std::size_t i : order) {
    if (arrays[i].size > 0) end = align_up(end, arrays[i].alignment) + arrays[i].size;
  }
  return end;
}

}  // namespace

TEST_CASE("no order needs more, and of equal alignments one needs as much") {
  std::mt19937 random(1);
  for (int round = 0; round < 500; ++round) {
    std::vector<SectionArray> arrays(random() % 5);
    const bool equal = round % 2 == 0;
    for (SectionArray& array : arrays)
      array = {static_cast<Bytes>(random() % 40), equal ? 16 : Bytes{1} << random() % 5};
    std::vector<std::size_t> order(arrays.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    Bytes most = 0;
    do {
      most = std::max(most, in_this_order(arrays, order));
    } while (std::next_permutation(order.begin(), order.end()));
    CHECK(section_size(arrays) >= most);
    if (equal) CHECK(section_size(arrays) == most);
  }
}

TEST_CASE("one array has no padding, and what is not there needs none") {
  CHECK(section_size({}) == 0);
  CHECK(section_size({{26072, 16}}) == 26072);
  CHECK(section_size({{26072, 16}, {0, 64}}) == 26072);
  CHECK(section_size({{26072, 16}, {15744, 16}}) == 41824);
}

}  // namespace usmp::support::section_size_test
