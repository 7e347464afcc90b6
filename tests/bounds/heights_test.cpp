// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// Heights of small pools against sums of rounded sizes, and against the least heights of random problems.
#include <doctest/doctest.h>

#include "planning_support/oracle.hpp"
#include "planning_support/random_problem.hpp"
#include "usmp/bounds/bounds.hpp"

namespace usmp::bounds::heights_test {

using bounds::Heights;

namespace {

std::vector<BufferId> all(const Problem& problem) {
  std::vector<BufferId> ids;
  for (std::size_t i = 0; i < problem.buffers.size(); ++i) ids.emplace_back(i);
  return ids;
}

Problem one_pool(std::vector<Bytes> sizes, Bytes alignment) {
  Problem problem;
  problem.pools.push_back({.name = "pool"});
  problem.horizon = 10;
  for (const Bytes size : sizes) {
    Buffer buffer;
    buffer.size = size;
    buffer.alignment = alignment;
    buffer.candidates = {PoolId(0)};
    buffer.live = {{0, 10}};
    problem.buffers.push_back(buffer);
  }
  return problem;
}

Heights heights_of(const Problem& problem) { return {problem, all(problem), problem.pools[0]}; }

}  // namespace

TEST_CASE("heights without alignment are sums of sizes") {
  const Heights heights = heights_of(one_pool({7, 10, 30}, 1));
  CHECK(heights.at_least(0) == 0);
  CHECK(heights.at_least(1) == 7);
  CHECK(heights.at_least(11) == 17);
  CHECK(heights.at_least(18) == 30);
  CHECK(heights.at_most(29) == 17);
  CHECK(heights.at_most(39) == 37);
  CHECK(heights.at_most(1000) == 47);
  CHECK(heights.at_most(6) == 0);
}

TEST_CASE("all but the topmost are rounded up to a common alignment") {
  const Heights heights = heights_of(one_pool({10, 20}, 16));
  CHECK(heights.at_least(21) == 26);  // 10 on the space of 10: sums do not know that there is one of it
  CHECK(heights.at_least(27) == 36);
  CHECK(heights.at_least(37) == 42);
  CHECK(heights.at_most(35) == 26);
}

TEST_CASE("piles stand on reserved bytes and on pins") {
  Problem problem = one_pool({10, 20, 5}, 1);
  problem.pools[0].reserved = 100;
  problem.buffers[2].pinned = 203;
  const Heights heights = heights_of(problem);
  CHECK(heights.at_least(101) == 110);
  CHECK(heights.at_least(131) == 208);
  CHECK(heights.at_least(150) == 208);
  CHECK(heights.at_least(209) == 218);
}

TEST_CASE("with different alignments the unit of all counts") {
  Problem problem = one_pool({24, 40}, 8);
  problem.buffers[1].alignment = 4;
  const Heights heights = heights_of(problem);
  CHECK(heights.at_least(25) == 28);
  CHECK(heights.at_most(31) == 28);
}

TEST_CASE("too many sums to list: the unit still counts") {
  const Heights heights = heights_of(one_pool({1'000'000'000, 2'000'000'002}, 2));
  CHECK(heights.at_least(1'000'001) == 1'000'002);
  CHECK(heights.at_most(5) == 4);
}

TEST_CASE("the least height of a pool is one that it can have") {
  test::ProblemMaker maker(61);
  int listed = 0;
  for (int i = 0; i < 3000; ++i) {
    Problem problem =
        maker.make({.buffers = 5, .pools = 1, .sharing = i % 5 == 4, .pins = i % 2 == 0, .horizon = 6, .largest = 20});
    if (i % 3 != 0) {
      for (Buffer& buffer : problem.buffers) {
        if (!buffer.pinned) buffer.alignment = problem.pools[0].alignment;
      }
    }
    INFO("problem ", i);
    const test::Truth truth = test::truth_of(problem);
    REQUIRE(truth.best.has_value());
    const Heights heights = heights_of(problem);
    const Bytes used = truth.least_used[0];
    CHECK(heights.at_least(used) == used);
    CHECK(heights.at_most(used) == used);
    CHECK(heights.at_least(used + 1) > used);
    if (heights.at_least(used + 1) > used + 1) ++listed;
  }
  CHECK(listed > 500);
}

}  // namespace usmp::bounds::heights_test
