// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// Bounds of pools on examples with their reasons, and on random problems against the best plans.
#include "usmp/bounds/bounds.hpp"

#include <doctest/doctest.h>

#include <limits>

#include "planning_support/oracle.hpp"
#include "planning_support/random_problem.hpp"
#include "usmp/bounds/proved.hpp"

namespace usmp::bounds::bounds_test {

using bounds::pool_bounds;

namespace {

Problem pools(std::vector<std::optional<Bytes>> capacities) {
  Problem problem;
  for (const auto& capacity : capacities) {
    problem.pools.push_back({"pool" + std::to_string(problem.pools.size()), PoolKind::workspace, capacity, 1});
  }
  problem.horizon = 10;
  return problem;
}

Buffer& add(Problem& problem, Bytes size, LiveRange live, std::vector<std::size_t> candidates) {
  Buffer buffer;
  buffer.name = "b" + std::to_string(problem.buffers.size());
  buffer.size = size;
  for (const std::size_t pool : candidates) buffer.candidates.emplace_back(pool);
  buffer.live = {live};
  problem.buffers.push_back(buffer);
  return problem.buffers.back();
}

void check_bound(const bounds::PoolBound& bound, Bytes bytes, const char* reason) {
  CHECK(bound.bytes == bytes);
  CHECK(bound.reason == reason);
}

}  // namespace

TEST_CASE("only buffers without a choice count towards the load") {
  Problem problem = pools({{}, {}});
  add(problem, 10, {0, 5}, {0});
  add(problem, 20, {3, 9}, {0});
  add(problem, 40, {3, 9}, {0, 1});
  const auto found = pool_bounds(problem);
  REQUIRE(found.size() == 2);
  check_bound(found[0], 30, "load");
  check_bound(found[1], 0, "each buffer may be elsewhere");
  const bounds::Load load = bounds::load(problem, std::vector{BufferId(0), BufferId(1), BufferId(2)});
  CHECK(load.bytes == 70);
  CHECK(load.at == 3);
}

TEST_CASE("reasons of bounds on one pool") {
  Problem problem = pools({{}});
  add(problem, 10, {0, 5}, {0}).alignment = 16;
  add(problem, 20, {3, 9}, {0}).alignment = 16;
  check_bound(pool_bounds(problem)[0], 36, "aligned load");
  add(problem, 100, {3, 9}, {0}).live.clear();
  check_bound(pool_bounds(problem)[0], 100, "largest buffer");
  for (Buffer& buffer : problem.buffers) {
    buffer.kind = BufferKind::constant;
    buffer.live = {{0, 10}};
  }
  check_bound(pool_bounds(problem)[0], 130, "all constants are live");
  problem.buffers[2].alignment = 16;
  check_bound(pool_bounds(problem)[0], 16 + 32 + 112 - 12, "all constants are live");
}

TEST_CASE("a bound that a pin raises says so") {
  Problem problem = pools({{}});
  add(problem, 20, {0, 9}, {0});
  add(problem, 10, {0, 5}, {0}).pinned = 0;
  check_bound(pool_bounds(problem)[0], 30, "load");
  problem.buffers[1].pinned = 20;
  check_bound(pool_bounds(problem)[0], 30, "load");
  problem.buffers[1].pinned = 100;
  check_bound(pool_bounds(problem)[0], 110, "end of a pinned buffer");
  for (Buffer& buffer : problem.buffers) {
    buffer.kind = BufferKind::constant;
    buffer.live = {{0, 10}};
  }
  check_bound(pool_bounds(problem)[0], 110, "end of a pinned buffer");
}

TEST_CASE("what bounded pools cannot hold has to be in the other one") {
  Problem problem = pools({30, {}, 50, 1000});
  for (int i = 0; i < 4; ++i) add(problem, 20, {i, 9}, {0, 1});
  add(problem, 7, {0, 9}, {3});
  // One buffer takes 20 of 30 bytes, and there is none for the rest.
  check_bound(pool_bounds(problem)[1], 60, "live bytes beyond the bounded pools");
  // A buffer confined to the fast pool takes room there.
  add(problem, 10, {8, 9}, {0});
  check_bound(pool_bounds(problem)[1], 60, "live bytes beyond the bounded pools");
  // A third pool that takes them, too, makes the rest smaller; an unbounded one makes it vanish.
  problem.buffers[0].candidates = {PoolId(0), PoolId(1), PoolId(2)};
  check_bound(pool_bounds(problem)[1], 40, "live bytes beyond the bounded pools");
  problem.pools[2].capacity.reset();
  check_bound(pool_bounds(problem)[1], 40, "live bytes beyond the bounded pools");
}

TEST_CASE("a buffer that is too large for its other pools has no choice") {
  Problem problem = pools({30, {}});
  add(problem, 31, {0, 5}, {0, 1});
  add(problem, 30, {0, 5}, {0, 1});
  check_bound(pool_bounds(problem)[1], 31, "load");
  problem.pools[0].capacity = 29;
  check_bound(pool_bounds(problem)[1], 61, "load");
}

TEST_CASE("the rest beyond bounded pools counts alignment") {
  Problem problem = pools({30, {}});
  for (int i = 0; i < 4; ++i) add(problem, 9, {0, 9}, {0, 1}).alignment = 16;
  // 4 times 16, less the capacity rounded up to 32, less what the topmost one may save: 17. But one buffer ends at 9,
  // and the next at 25.
  check_bound(pool_bounds(problem)[1], 25, "sums of sizes");
}

TEST_CASE("a bounded pool holds no more than some sum of sizes") {
  Problem problem = pools({30, {}});
  for (int i = 0; i < 4; ++i) add(problem, 16, {0, 9}, {0, 1}).alignment = 16;
  check_bound(pool_bounds(problem)[1], 48, "live bytes beyond the bounded pools");
}

TEST_CASE("a bound rises to the next sum of sizes") {
  Problem problem = pools({10, {}});
  add(problem, 9, {0, 9}, {0, 1});
  add(problem, 8, {0, 9}, {0, 1});
  add(problem, 3, {0, 9}, {0, 1});
  problem.buffers[2].alignment = 2;
  // 20 bytes are live and 10 fit into the first pool.
  check_bound(pool_bounds(problem)[1], 10, "live bytes beyond the bounded pools");
  problem.buffers[2].alignment = 1;
  check_bound(pool_bounds(problem)[1], 11, "live bytes beyond the bounded pools");
}

TEST_CASE("huge capacities do not overflow") {
  Problem problem = pools({std::numeric_limits<Bytes>::max(), std::numeric_limits<Bytes>::max(), {}});
  add(problem, 9, {0, 9}, {0, 1, 2}).alignment = 16;
  for (const auto& bound : pool_bounds(problem)) CHECK(bound.bytes == 0);
}

TEST_CASE("what an algorithm has proved raises bounds, what it has only found does not") {
  Problem problem = pools({{}, {}});
  add(problem, 20, {0, 5}, {0});
  add(problem, 10, {5, 9}, {0});
  add(problem, 8, {0, 5}, {1});
  PlanResult result;
  result.plan.allocations = {{PoolId(0), 0}, {PoolId(0), 20}, {PoolId(1), 0}};
  const std::vector<PoolBound> loads = {{20, "load"}, {8, "load"}};
  const auto check = [&](Bytes bytes, const char* reason) {
    const ProvedBounds found = proved_bounds(problem, result, "test", loads);
    REQUIRE(found.pools.size() == 2);
    check_bound(found.pools[0], bytes, reason);
    check_bound(found.pools[1], 8, "load");
  };
  result.status = PlanStatus::feasible;
  check(20, "load");
  result.status = PlanStatus::optimal;
  check(30, "proved by test");
  result.status = PlanStatus::feasible;
  result.bound = cost_of(problem, result.plan);
  result.bound->used = {25, 0};
  check(25, "proved by test");
}

TEST_CASE("bounds are sound, and often tight") {
  test::ProblemMaker maker(51);
  int tight = 0;
  int beyond = 0;
  int sums = 0;
  for (int i = 0; i < 1500; ++i) {
    const Problem problem = maker.make({.buffers = 5,
                                        .pools = 1 + maker.below(i < 400 ? 3 : 2),
                                        .bounded = true,
                                        .sharing = i % 4 == 1,
                                        .pins = i % 3 == 0,
                                        .largest = 6 + static_cast<Bytes>(maker.below(35))});
    CAPTURE(i);
    const test::Truth truth = test::truth_of(problem);
    if (!truth.best) continue;
    const auto found = pool_bounds(problem);
    REQUIRE(found.size() == problem.pools.size());
    for (std::size_t p = 0; p < found.size(); ++p) {
      CHECK(found[p].bytes <= truth.least_used[p]);
      if (found[p].bytes == truth.least_used[p] && found[p].bytes > 0) ++tight;
      if (found[p].reason == "live bytes beyond the bounded pools") ++beyond;
      if (found[p].reason == "sums of sizes") ++sums;
    }
  }
  CHECK(tight > 50);
  CHECK(beyond > 5);
  CHECK(sums > 5);
}

}  // namespace usmp::bounds::bounds_test
