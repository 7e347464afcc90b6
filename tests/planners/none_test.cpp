// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// Plans without sharing: no two buffers have a byte in common.
#include <doctest/doctest.h>

#include "planning_support/random_problem.hpp"
#include "usmp/planners/planner.hpp"

namespace usmp::planners::none_test {

TEST_CASE("none shares no byte, not even between buffers that never meet") {
  test::ProblemMaker maker(5);
  int planned = 0;
  for (int i = 0; i < 100; ++i) {
    const Problem problem = maker.make({.buffers = 8, .pools = 2, .bounded = i % 2 == 0});
    const PlanResult result = planners::none(problem, {});
    if (!result.has_plan()) continue;
    ++planned;
    for (std::size_t a = 0; a < problem.buffers.size(); ++a) {
      for (std::size_t b = a + 1; b < problem.buffers.size(); ++b) {
        const Allocation& one = result.plan.allocations[a];
        const Allocation& other = result.plan.allocations[b];
        if (one.pool != other.pool || problem.buffers[a].size == 0 || problem.buffers[b].size == 0) continue;
        const bool apart = one.offset + problem.buffers[a].size <= other.offset ||
                           other.offset + problem.buffers[b].size <= one.offset;
        CHECK(apart);
      }
    }
  }
  CHECK(planned > 40);
}

TEST_CASE("none stacks buffers in id order and falls back to the next pool") {
  Problem problem;
  problem.pools = {{.name = "fast", .kind = PoolKind::workspace, .capacity = 20, .alignment = 8},
                   {.name = "slow", .kind = PoolKind::workspace, .capacity = 30, .alignment = 1}};
  problem.horizon = 10;
  for (int i = 0; i < 3; ++i) {
    Buffer buffer;
    buffer.name = "b" + std::to_string(i);
    buffer.size = 10;
    buffer.alignment = 4;
    buffer.candidates = {PoolId(0), PoolId(1)};
    buffer.live = {{i, i + 1}};
    problem.buffers.push_back(buffer);
  }
  const PlanResult result = planners::none(problem, {});
  CHECK(result.status == PlanStatus::feasible);
  CHECK(result.plan.allocations == std::vector<Allocation>{{PoolId(0), 0}, {PoolId(1), 0}, {PoolId(1), 12}});

  // Sharing would find room, so this is no proof that there is none.
  problem.pools[1].capacity = 21;
  const PlanResult failed = planners::none(problem, {});
  CHECK(failed.status == PlanStatus::not_found);
  REQUIRE(failed.shortage.has_value());
  CHECK(failed.shortage->buffer == BufferId(2));
  REQUIRE(failed.shortage->pools.size() == 2);
  CHECK(failed.shortage->pools[0].required == 26);
  CHECK(failed.shortage->pools[0].available == 20);
  CHECK(failed.shortage->pools[1].required == 22);
  CHECK(failed.shortage->pools[1].missing() == 1);
  CHECK(planners::hill_climb(problem, {}).has_plan());
}

}  // namespace usmp::planners::none_test
