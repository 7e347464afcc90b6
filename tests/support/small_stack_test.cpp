// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// A small stack against a vector, below and above its room.
#include "usmp/support/small_stack.hpp"

#include <doctest/doctest.h>

#include <random>
#include <vector>

namespace usmp::support::small_stack_test {

TEST_CASE("a small stack is a stack, however many elements it has") {
  std::mt19937 random(3);
  SmallStack<int, 4> stack;
  std::vector<int> expected;
  for (int step = 0; step < 2000; ++step) {
    const bool grows = (step / 20) % 2 == 0;
    if (expected.empty() || (random() % 4 == 0) != grows) {
      stack.push(step);
      expected.push_back(step);
    } else {
      stack.pop();
      expected.pop_back();
    }
    REQUIRE(stack.size() == expected.size());
    REQUIRE(stack.empty() == expected.empty());
    if (!expected.empty()) REQUIRE(stack.back() == expected.back());
  }
}

}  // namespace usmp::support::small_stack_test
