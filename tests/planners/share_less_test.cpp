// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// The wrapper that takes sharing back where the size does not ask for it.
#include "usmp/planners/share_less.hpp"

#include <doctest/doctest.h>

#include "planning_support/claims.hpp"
#include "planning_support/random_problem.hpp"

namespace usmp::planners::share_less_test {
namespace {

std::size_t sharing_pairs(const Problem& problem, const Plan& plan) {
  Problem apart = problem;
  apart.distances.clear();
  return verify::check(apart, plan).size();
}

}  // namespace

TEST_CASE("the cost stays, the claims stay true, and no more buffers share") {
  test::ProblemMaker maker(81);
  std::size_t before = 0;
  std::size_t after = 0;
  for (int i = 0; i < 300; ++i) {
    const Problem problem =
        maker.make({.buffers = 6, .pools = 1 + maker.below(2), .sharing = true, .pins = i % 3 == 0, .largest = 30});
    CAPTURE(i);
    const PlanResult result = planners::optimal(problem, {});
    const PlanResult less = planners::share_less(problem, result, planners::optimal, {});
    REQUIRE(less.has_plan() == result.has_plan());
    if (!result.has_plan()) continue;
    test::check_against(problem, less, test::truth_of(problem));
    CHECK(cost_of(problem, less.plan) <= cost_of(problem, result.plan));
    before += sharing_pairs(problem, result.plan);
    after += sharing_pairs(problem, less.plan);
  }
  CHECK(before > 100);
  CHECK(after < before * 19 / 20);
}

TEST_CASE("it keeps to what the search was allowed") {
  Problem problem;
  problem.pools = {{.name = "sram"}};
  problem.horizon = 2;
  for (const Bytes size : {100, 40}) {
    Buffer buffer;
    buffer.size = size;
    buffer.candidates = {PoolId(0)};
    buffer.live = {{0, 2}};
    problem.buffers.push_back(buffer);
  }
  problem.distances = {{BufferId(0), BufferId(1), 10}};
  const PlanResult wide{.status = PlanStatus::feasible, .plan = {{{PoolId(0), 200}, {PoolId(0), 210}}}};
  std::vector<planners::Options> asked;
  const planners::Planner plan = [&](const Problem& less, const planners::Options& options) {
    asked.push_back(options);
    return planners::optimal(less, options);
  };
  CHECK(planners::share_less(problem, wide, plan, {}).plan != wide.plan);
  CHECK(planners::share_less(problem, wide, plan, {.node_limit = 7}).plan != wide.plan);
  CHECK(planners::share_less(problem, wide, plan, {.time_limit = std::chrono::hours(1)}).plan != wide.plan);
  REQUIRE(asked.size() == 3);
  CHECK(asked[0].node_limit == 20000);
  CHECK(asked[1].node_limit == 7);
  CHECK(asked[2].time_limit.value() <= std::chrono::hours(1));
  const std::atomic<bool> interrupted = true;
  CHECK(planners::share_less(problem, wide, plan, {.interrupted = &interrupted}).plan == wide.plan);
  CHECK(planners::share_less(problem, wide, plan, {.time_limit = std::chrono::milliseconds(0)}).plan == wide.plan);
  CHECK(asked.size() == 3);
}

TEST_CASE("only the pair at the peak goes on sharing") {
  Problem problem;
  problem.pools = {{.name = "sram"}};
  problem.horizon = 6;
  const auto add = [&](Bytes size, LiveRange live) {
    Buffer buffer;
    buffer.size = size;
    buffer.candidates = {PoolId(0)};
    buffer.live = {live};
    problem.buffers.push_back(buffer);
  };
  add(100, {0, 2});
  add(100, {1, 3});
  add(40, {3, 5});
  add(40, {4, 6});
  problem.distances = {{BufferId(1), BufferId(0), 10}, {BufferId(3), BufferId(2), 10}};
  PlanResult result{.status = PlanStatus::optimal,
                    .plan = {{{PoolId(0), 10}, {PoolId(0), 0}, {PoolId(0), 10}, {PoolId(0), 0}}}};
  const PlanResult less = planners::share_less(problem, result, planners::optimal, {});
  CHECK(less.status == PlanStatus::optimal);
  CHECK(used_bytes(problem, less.plan).front() == 110);
  CHECK(sharing_pairs(problem, less.plan) == 1);
}

}  // namespace usmp::planners::share_less_test
