// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// What `optimal` owes beyond what every algorithm does: true bounds at every limit, and limits that it keeps.
#include <doctest/doctest.h>

#include <algorithm>
#include <atomic>
#include <chrono>

#include "planning_support/claims.hpp"
#include "planning_support/generators.hpp"
#include "planning_support/oracle.hpp"
#include "planning_support/random_problem.hpp"
#include "usmp/bounds/bounds.hpp"
#include "usmp/planners/planner.hpp"
#include "usmp/verify/verify.hpp"

namespace usmp::planners::optimal_test {

using planners::optimal;
using planners::Options;

namespace {

// Heuristics do not get near the load of these 301 buffers.
Problem hard() { return test::pinwheel(301, 1); }

// No packing without a hole, which is found in another way.
Problem holed() {
  Problem problem = test::guillotine(301, 2);
  problem.buffers.resize(299);
  return problem;
}

// Each buffer has another one that may lie on the same bytes.
Problem with_twins(Problem problem) {
  const std::size_t count = problem.buffers.size();
  for (std::size_t i = 0; i < count; ++i) {
    problem.buffers.push_back(problem.buffers[i]);
    problem.distances.push_back({BufferId(i), BufferId(count + i), 0});
  }
  return problem;
}

Problem bounded(Problem problem, Bytes capacity) {
  problem.pools.front().capacity = capacity;
  return problem;
}

// Two groups. In the first, either 5 bytes leave their first choice, and the second as well, or 7 bytes the first only.
// The second is hard: 10 to 39 buffers, most of which do not fit into their first choice.
Problem two_groups(test::ProblemMaker& maker) {
  Problem problem = maker.make(
      {.buffers = 10 + maker.below(30), .pools = 1, .most_ranges = 1 + maker.below(2), .horizon = 12, .largest = 15});
  for (Buffer& buffer : problem.buffers) {
    buffer.alignment = 1;
    buffer.candidates = {PoolId(4), PoolId(5)};
  }
  const auto capacity = 20 + static_cast<Bytes>(maker.below(30));
  problem.pools = {{.name = "first", .capacity = 7},  {.name = "second", .capacity = 7},      {.name = "last"},
                   {.name = "narrow", .capacity = 4}, {.name = "fast", .capacity = capacity}, {.name = "slow"}};
  Buffer five;
  five.name = "five";
  five.size = 5;
  five.candidates = {PoolId(0), PoolId(3), PoolId(2)};
  five.live = {{0, problem.horizon}};
  Buffer seven = five;
  seven.name = "seven";
  seven.size = 7;
  seven.candidates[1] = PoolId(1);
  problem.buffers.insert(problem.buffers.begin(), {five, seven});
  return problem;
}

}  // namespace

TEST_CASE("with few nodes the claims are weaker, and never false") {
  test::ProblemMaker maker(61);
  int unsettled = 0;
  for (int i = 0; i < 600; ++i) {
    const Problem problem =
        maker.make({.buffers = 5, .pools = 1 + maker.below(4), .bounded = i % 4 != 0, .pins = i % 5 == 0});
    CAPTURE(i);
    const test::Truth truth = test::truth_of(problem);
    for (const std::uint64_t nodes : {1U, 4U, 30U}) {
      CAPTURE(nodes);
      const PlanResult result = optimal(problem, {.iterations = 1, .node_limit = nodes});
      test::check_against(problem, result, truth);
      CHECK(result.iterations <= nodes);
      if (result.has_plan()) CHECK(result.bound.has_value());
      if (result.status == PlanStatus::feasible) {
        ++unsettled;
        CHECK(result.stopped == StopReason::node_limit);
      }
    }
  }
  CHECK(unsettled > 20);
}

TEST_CASE("a perfect packing is found and proved; the node limit alone decides what comes out") {
  const Problem problem = hard();
  const PlanResult whole = optimal(problem, {});
  CHECK(whole.status == PlanStatus::optimal);
  CHECK(whole.stopped == StopReason::finished);
  test::check_right(problem, whole);
  CHECK(used_bytes(problem, whole.plan).front() == test::square);
  const PlanResult first = optimal(problem, {.node_limit = 1000});
  const PlanResult second = optimal(problem, {.node_limit = 1000});
  CHECK(first.status == PlanStatus::feasible);
  CHECK(first.stopped == StopReason::node_limit);
  CHECK(first.iterations == 1000);
  CHECK((first.plan == second.plan));
  REQUIRE(first.bound.has_value());
  CHECK(first.bound->used.front() == test::square);
}

TEST_CASE("interrupted or out of time, it keeps the best plan so far") {
  const Problem problem = hard();
  const std::atomic<bool> interrupted = true;
  const PlanResult stopped = optimal(problem, {.interrupted = &interrupted});
  CHECK(stopped.status == PlanStatus::feasible);
  CHECK(stopped.stopped == StopReason::interrupted);
  test::check_right(problem, stopped);
  const PlanResult late = optimal(problem, {.time_limit = std::chrono::milliseconds(0)});
  CHECK(late.status == PlanStatus::feasible);
  CHECK(late.stopped == StopReason::time_limit);
  test::check_right(problem, late);
}

TEST_CASE("a capacity is met or refuted; feasibility alone is less work") {
  const Problem fits = bounded(holed(), test::square * 6 / 5);
  const PlanResult any = optimal(fits, {.feasibility_only = true});
  const PlanResult best = optimal(fits, {});
  CHECK(any.has_plan());
  test::check_right(fits, any);
  CHECK(best.status == PlanStatus::optimal);
  CHECK(any.iterations < best.iterations);
  for (const Problem& problem : {hard(), holed()}) {
    const PlanResult refuted = optimal(bounded(problem, test::square - 1), {});
    CHECK(refuted.status == PlanStatus::infeasible);
    CHECK(refuted.shortage.has_value());
  }
}

TEST_CASE("progress tells bounds that close in") {
  for (const Problem& problem : {hard(), holed()}) {
    Bytes lower = 0;
    Bytes upper = Problem::max_total_bytes;
    std::uint64_t nodes = 0;
    int told = 0;
    const PlanResult result = optimal(problem, {.progress = [&](const planners::Progress& progress) {
                                        ++told;
                                        CHECK(progress.pool == PoolId(0));
                                        CHECK(progress.lower >= lower);
                                        CHECK(progress.upper <= upper);
                                        CHECK(progress.nodes >= nodes);
                                        lower = progress.lower;
                                        upper = progress.upper;
                                        nodes = progress.nodes;
                                      }});
    CHECK(told > 0);
    CHECK(upper == used_bytes(problem, result.plan).front());
  }
}

TEST_CASE("half of the nodes are for plans in which no buffers share bytes, if such a plan may be better") {
  Problem problem = hard();
  const PlanResult apart = optimal(problem, {.iterations = 1});
  REQUIRE(apart.status == PlanStatus::optimal);
  // A byte of each pair that meets: no bound proves the plan any more, and the few nodes that are left find no better.
  for (std::size_t below = 0; below < problem.buffers.size(); ++below) {
    for (std::size_t above = 0; above < problem.buffers.size(); ++above) {
      const Buffer& low = problem.buffers[below];
      if (below == above || low.size < 2 || !overlap(low.live, problem.buffers[above].live)) continue;
      problem.distances.push_back({BufferId(below), BufferId(above), low.size - 1});
    }
  }
  REQUIRE(!invalid_reason(problem));
  const std::uint64_t limit = 2 * apart.iterations + 2;
  const PlanResult shared = optimal(problem, {.iterations = 1, .node_limit = limit});
  REQUIRE(shared.has_plan());
  CHECK(cost_of(problem, shared.plan) <= cost_of(problem, apart.plan));
  CHECK(shared.iterations > apart.iterations);
  CHECK(shared.iterations <= limit);
}

TEST_CASE("where a plan that shares bytes is below what is live at once without, none is sought that does not share") {
  const Problem problem = with_twins(test::pinwheel(101, 1));
  REQUIRE(!invalid_reason(problem));
  Problem apart = problem;
  apart.distances.clear();
  const PlanResult shared = optimal(problem, {.node_limit = 50});
  REQUIRE(shared.has_plan());
  CHECK(used_bytes(problem, shared.plan)[0] < bounds::pool_bounds(apart)[0].bytes);
  CHECK(shared.iterations == 50);
  CHECK(optimal(problem, {.node_limit = 2'000}).iterations == 2'000);
}

// The default, which is that of the documents (docs/planning.md, "When a search ends"): another number changes both.
constexpr std::uint64_t half_a_second = 50'000;

TEST_CASE("without limits, a search of plans that share bytes ends after half a second's nodes, with the best so far") {
  const Problem problem = with_twins(test::pinwheel(101, 1));
  Bytes least = Problem::max_total_bytes;
  int improved = 0;
  const auto tell = [&](const planners::Progress& progress) {
    if (progress.upper < least && least < Problem::max_total_bytes) ++improved;
    least = std::min(least, progress.upper);
  };
  const PlanResult result = optimal(problem, {.progress = tell});
  CHECK(result.stopped == StopReason::node_limit);
  CHECK(result.iterations == half_a_second);
  REQUIRE(result.status == PlanStatus::feasible);
  CHECK(improved > 0);
  const Bytes used = used_bytes(problem, result.plan).front();
  CHECK(used <= least);
  CHECK(used < used_bytes(problem, optimal(problem, {.node_limit = 1}).plan).front());
}

TEST_CASE("a time limit alone allows more nodes than the default") {
  // An hour would be enough for any number: somebody interrupts it at one that the default does not reach.
  std::atomic<bool> interrupted = false;
  const auto tell = [&](const planners::Progress& progress) {
    if (progress.nodes > half_a_second + half_a_second / 5) interrupted = true;
  };
  const PlanResult result =
      optimal(with_twins(test::pinwheel(101, 1)),
              {.time_limit = std::chrono::hours(1), .interrupted = &interrupted, .progress = tell});
  CHECK(result.stopped == StopReason::interrupted);
  CHECK(result.iterations > half_a_second);
  CHECK(result.has_plan());
}

TEST_CASE("a short climb does not take the place of what fast finds") {
  for (std::uint64_t seed = 1; seed <= 3; ++seed) {
    Problem problem = test::random_lives(500, seed);
    const std::vector<Buffer>& buffers = problem.buffers;
    const auto meets = [&](const Buffer& other) { return other.size > 1 && overlap(buffers[0].live, other.live); };
    const auto other = std::find_if(buffers.begin() + 1, buffers.end(), meets) - buffers.begin();
    problem.distances = {{BufferId(0), BufferId(static_cast<std::size_t>(other)), problem.buffers[0].size - 1}};
    REQUIRE(!invalid_reason(problem));
    const PlanResult result = optimal(problem, {.iterations = 1, .node_limit = 1});
    REQUIRE(result.has_plan());
    CHECK(cost_of(problem, result.plan) <= cost_of(problem, planners::fast(problem, {}).plan));
  }
}

TEST_CASE("beyond millions of pairs it leaves the work to fast") {
  const Problem problem = test::random_lives(6000, 1);
  const PlanResult result = optimal(problem, {.node_limit = 1});
  CHECK((result.plan == planners::fast(problem, {.node_limit = 1}).plan));
}

TEST_CASE("a bound behind an unsettled sum also holds where one group is worse for the sake of another") {
  test::ProblemMaker maker(1);
  int better = 0;
  for (int i = 0; i < 30; ++i) {
    const Problem problem = two_groups(maker);
    REQUIRE(!invalid_reason(problem));
    CAPTURE(i);
    const PlanResult best = planners::optimal(problem, {});
    REQUIRE(best.has_plan());
    Plan other = best.plan;  // the first group's worse way, which spills nothing beyond the second choice
    other.allocations[0] = {PoolId(0), 0};
    other.allocations[1] = {PoolId(1), 0};
    REQUIRE(verify::check(problem, other).empty());
    const Cost cost = cost_of(problem, other);
    for (const std::uint64_t nodes : {1U, 10U, 100U}) {
      const PlanResult hasty = planners::optimal(problem, {.node_limit = nodes});
      REQUIRE(hasty.bound.has_value());
      CHECK(hasty.bound->spilled[0] <= cost.spilled[0]);
      if (cost.spilled[0] > cost_of(problem, hasty.plan).spilled[0]) continue;
      ++better;
      CHECK(hasty.bound->spilled[1] <= cost.spilled[1]);
    }
  }
  CHECK(better > 5);
}

TEST_CASE("what a plan without a bound takes is enough for a pool whose buffers may share bytes") {
  test::ProblemMaker maker(97);
  int unproved = 0;
  int not_found = 0;
  for (int i = 0; i < 12; ++i) {
    Problem problem = maker.make({.buffers = 40, .sharing = true, .pins = false, .horizon = 24, .largest = 900});
    problem.pools.resize(1);
    problem.pools.front().capacity.reset();
    for (Buffer& buffer : problem.buffers) buffer.candidates = {PoolId(0)};
    CAPTURE(i);
    Options options;
    options.node_limit = 60;
    const PlanResult unbounded = optimal(problem, options);
    REQUIRE(unbounded.has_plan());
    if (unbounded.status == PlanStatus::optimal) continue;
    ++unproved;
    const Bytes used = used_bytes(problem, unbounded.plan).front();
    options.node_limit *= 4;
    const PlanResult result = optimal(bounded(problem, used), options);
    REQUIRE(result.has_plan());
    CHECK(verify::check(bounded(problem, used), result.plan).empty());
    CHECK(result.iterations <= options.node_limit);
    CHECK(result.bound->used.front() <= used);
    options.node_limit = 20;
    const PlanResult less = optimal(bounded(problem, used - used / 8), options);
    if (less.has_plan()) CHECK(verify::check(bounded(problem, used - used / 8), less.plan).empty());
    not_found += less.status == PlanStatus::not_found ? 1 : 0;
  }
  CHECK(unproved > 8);
  CHECK(not_found > 4);
}

}  // namespace usmp::planners::optimal_test
