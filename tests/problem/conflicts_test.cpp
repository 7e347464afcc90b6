// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// Conflicts of random problems against all pairs at every tick.
#include <doctest/doctest.h>

#include "planning_support/random_problem.hpp"
#include "usmp/problem/problem.hpp"

namespace usmp::problem::conflicts_test {
namespace {

bool share_a_tick(const Buffer& a, const Buffer& b, Tick horizon) {
  const auto live_at = [](const Buffer& buffer, Tick tick) {
    return std::any_of(buffer.live.begin(), buffer.live.end(),
                       [&](const LiveRange& range) { return range.begin <= tick && tick < range.end; });
  };
  for (Tick tick = 0; tick < horizon; ++tick) {
    if (live_at(a, tick) && live_at(b, tick)) return true;
  }
  return false;
}

}  // namespace

TEST_CASE("ranges that only touch do not overlap") {
  CHECK_FALSE(overlap({{0, 2}}, {{2, 4}}));
  CHECK_FALSE(overlap({{2, 4}}, {{0, 2}}));
  CHECK(overlap({{0, 3}}, {{2, 4}}));
  CHECK(overlap({{0, 1}, {5, 6}}, {{2, 3}, {5, 9}}));
  CHECK_FALSE(overlap({{0, 1}, {5, 6}}, {{2, 3}, {6, 9}}));
  CHECK_FALSE(overlap({}, {{0, 9}}));
}

TEST_CASE("conflicts are what comparing every pair at every tick gives") {
  test::ProblemMaker maker(31);
  for (int i = 0; i < 100; ++i) {
    const Problem problem = maker.make({.buffers = 12, .most_ranges = 4, .horizon = 16});
    CAPTURE(i);
    const Conflicts conflicts(problem);
    std::size_t pairs = 0;
    for (std::size_t a = 0; a < problem.buffers.size(); ++a) {
      std::vector<BufferId> expected;
      for (std::size_t b = 0; b < problem.buffers.size(); ++b) {
        const Buffer& one = problem.buffers[a];
        const Buffer& other = problem.buffers[b];
        const bool conflict = a != b && share_a_tick(one, other, problem.horizon);
        if (conflict) expected.emplace_back(b);
        if (conflict && a < b) ++pairs;
        CHECK(conflicts.between(BufferId(a), BufferId(b)) == conflict);
        if (a != b) CHECK(overlap(one.live, other.live) == conflict);
      }
      CHECK(conflicts.of(BufferId(a)) == expected);
    }
    CHECK(conflicts.pairs() == pairs);
  }
}

}  // namespace usmp::problem::conflicts_test
