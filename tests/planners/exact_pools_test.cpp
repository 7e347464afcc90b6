// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// The exact search over several pools, against trying everything: it reaches the oracle's cost and says so, calls
// infeasible what is, and its bounds hold when its budget runs out.
#include "planners/exact/pools.hpp"

#include <doctest/doctest.h>

#include "planners/exact/assignment.hpp"
#include "planning_support/oracle.hpp"
#include "planning_support/random_problem.hpp"
#include "usmp/planners/planner.hpp"
#include "usmp/verify/verify.hpp"

namespace usmp::planners::exact_pools_test {

using planners::exact::Budget;
using planners::exact::plan_all_pools;

namespace {

struct Tally {
  int optimal = 0;
  int infeasible = 0;
  int spilled = 0;  // optimal plans that could not have everything in its first choice
};

void check_right(const Problem& problem, const PlanResult& result) {
  std::string messages;
  for (const auto& violation : verify::check(problem, result.plan)) messages += violation.message + "; ";
  REQUIRE(messages == "");
}

// The entries of a bound hold for the best plan up to the first in which that is better than ours.
void check_bound(const Cost& bound, const Cost& best, const Cost& ours) {
  for (std::size_t r = 0; r < bound.spilled.size(); ++r) {
    CHECK(bound.spilled[r] <= best.spilled[r]);
    if (best.spilled[r] < ours.spilled[r]) return;
  }
  for (std::size_t p = 0; p < bound.used.size(); ++p) {
    CHECK(bound.used[p] <= best.used[p]);
    if (best.used[p] < ours.used[p]) return;
  }
}

void check_against_oracle(const Problem& problem, const PlanResult& result, Tally& tally) {
  const test::Truth truth = test::truth_of(problem);
  if (!truth.best) {
    REQUIRE(result.status == PlanStatus::infeasible);
    ++tally.infeasible;
    return;
  }
  REQUIRE(result.status == PlanStatus::optimal);
  check_right(problem, result);
  const Cost cost = cost_of(problem, result.plan);
  CHECK((cost == *truth.best));
  REQUIRE(result.bound.has_value());
  CHECK((*result.bound == cost));
  CHECK(result.stopped == StopReason::finished);
  ++tally.optimal;
  if (!cost.spilled.empty() && cost.spilled.front() > 0) ++tally.spilled;
}

Tally compare(std::uint64_t seed, int count, const test::Shape& shape, bool with_start) {
  test::ProblemMaker maker(seed);
  Tally tally;
  for (int i = 0; i < count; ++i) {
    const Problem problem = maker.make(shape);
    INFO("seed ", seed, " problem ", i);
    REQUIRE_FALSE(invalid_reason(problem).has_value());
    const PlanResult start = with_start ? planners::greedy_by_size(problem, {}) : PlanResult{};
    Budget budget(1'000'000);
    check_against_oracle(problem, plan_all_pools(problem, start.has_plan() ? &start.plan : nullptr, budget), tally);
  }
  return tally;
}

Problem pools(std::vector<std::optional<Bytes>> capacities) {
  Problem problem;
  for (const auto& capacity : capacities) {
    problem.pools.push_back({"pool" + std::to_string(problem.pools.size()), PoolKind::workspace, capacity, 1});
  }
  problem.horizon = 20;
  return problem;
}

Buffer& add(Problem& problem, Bytes size, std::vector<LiveRange> live) {
  Buffer buffer;
  buffer.name = "b" + std::to_string(problem.buffers.size());
  buffer.size = size;
  for (std::size_t pool = 0; pool < problem.pools.size(); ++pool) buffer.candidates.emplace_back(pool);
  buffer.live = std::move(live);
  problem.buffers.push_back(buffer);
  return problem.buffers.back();
}

PlanResult solve(const Problem& problem, std::uint64_t nodes = 1'000'000) {
  Budget budget(nodes);
  return plan_all_pools(problem, nullptr, budget);
}

}  // namespace

TEST_CASE("two pools: the oracle's cost, proved") {
  const Tally tally = compare(301, 1500, {.buffers = 5, .pools = 2, .bounded = true}, false);
  CHECK(tally.optimal > 800);
  CHECK(tally.infeasible > 50);
  CHECK(tally.spilled > 100);
}

TEST_CASE("two tight pools with pins and reserved bytes: the oracle's cost, proved") {
  const Tally tally =
      compare(302, 1500, {.buffers = 5, .pools = 2, .bounded = true, .pins = true, .horizon = 6}, false);
  CHECK(tally.optimal > 500);
  CHECK(tally.infeasible > 50);
  CHECK(tally.spilled > 50);
}

TEST_CASE("three pools: the oracle's cost, proved, from a plan to start with") {
  const Tally tally = compare(303, 500, {.buffers = 5, .pools = 3, .bounded = true, .pins = true}, true);
  CHECK(tally.optimal > 250);
  CHECK(tally.spilled > 20);
}

TEST_CASE("pools in which buffers may share bytes: the oracle's cost, proved") {
  Tally tally = compare(307, 1500, {.buffers = 5, .pools = 2, .bounded = true, .sharing = true, .horizon = 6}, false);
  CHECK(tally.optimal > 800);
  CHECK(tally.infeasible > 50);
  CHECK(tally.spilled > 100);
  tally = compare(308, 400, {.buffers = 5, .pools = 3, .bounded = true, .sharing = true, .pins = true}, true);
  CHECK(tally.optimal > 200);
  CHECK(tally.spilled > 20);
}

TEST_CASE("what sharing lets into the fast pool") {
  Problem problem = pools({100, std::nullopt});
  add(problem, 60, {{0, 2}});
  add(problem, 60, {{1, 3}});
  CHECK(cost_of(problem, solve(problem).plan).spilled.front() == 60);
  problem.distances = {{BufferId(0), BufferId(1), 40}};
  const PlanResult result = solve(problem);
  REQUIRE(result.status == PlanStatus::optimal);
  CHECK((cost_of(problem, result.plan) == Cost{.spilled = {0}, .used = {100, 0}}));
  problem.distances.front().bytes = 41;
  CHECK(cost_of(problem, solve(problem).plan).spilled.front() == 60);
}

TEST_CASE("more buffers that are live once") {
  const Tally tally = compare(304, 200, {.buffers = 6, .pools = 2, .bounded = true, .most_ranges = 1}, false);
  CHECK(tally.optimal > 100);
}

TEST_CASE("with little budget: what is claimed holds, and it ends by the node limit") {
  test::ProblemMaker maker(305);
  int unproved = 0;
  for (int i = 0; i < 600; ++i) {
    const Problem problem = maker.make({.buffers = 5, .pools = 2 + maker.below(2), .bounded = true, .horizon = 6});
    INFO("problem ", i);
    const test::Truth truth = test::truth_of(problem);
    const PlanResult result = solve(problem, 1 + maker.below(30));
    if (!truth.best) {
      CHECK_FALSE(result.has_plan());
      continue;
    }
    CHECK(result.status != PlanStatus::infeasible);
    if (result.status != PlanStatus::optimal) CHECK(result.stopped == StopReason::node_limit);
    if (!result.has_plan()) continue;
    check_right(problem, result);
    const Cost cost = cost_of(problem, result.plan);
    REQUIRE(result.bound.has_value());
    check_bound(*result.bound, *truth.best, cost);
    if (result.status == PlanStatus::optimal) CHECK((cost == *truth.best));
    if (result.status == PlanStatus::feasible) ++unproved;
  }
  CHECK(unproved > 10);
}

TEST_CASE("small sizes, where many assignments cost the same") {
  const test::Shape shape{.buffers = 5, .pools = 2, .bounded = true, .pins = true, .horizon = 6, .largest = 4};
  CHECK(compare(306, 1500, shape, false).optimal > 500);
  test::Shape unaligned = shape;
  unaligned.pools = 3;
  CHECK(compare(307, 500, unaligned, false).optimal > 200);
}

TEST_CASE("with little budget and buffers that may share bytes: what is claimed holds") {
  test::ProblemMaker maker(309);
  int proved = 0;
  int open = 0;
  for (int i = 0; i < 400; ++i) {
    const Problem problem = maker.make({.buffers = 5, .pools = 2, .bounded = true, .sharing = true, .horizon = 6});
    const test::Truth truth = test::truth_of(problem);
    Budget budget(1 + maker.below(12));
    const PlanResult result = plan_all_pools(problem, nullptr, budget, {.patience = 1 + maker.below(3)});
    INFO("problem ", i);
    if (result.status == PlanStatus::infeasible) REQUIRE_FALSE(truth.best.has_value());
    if (!result.has_plan()) continue;
    check_right(problem, result);
    REQUIRE(truth.best.has_value());
    const Cost cost = cost_of(problem, result.plan);
    CHECK((*truth.best <= cost));
    check_bound(*result.bound, *truth.best, cost);
    if (result.status == PlanStatus::optimal) CHECK((cost == *truth.best));
    ++(result.status == PlanStatus::optimal ? proved : open);
  }
  CHECK(proved > 50);
  CHECK(open > 20);
}

TEST_CASE("impatience and few states: never a false claim") {
  test::ProblemMaker maker(309);
  int unproved = 0;
  for (int i = 0; i < 1500; ++i) {
    const bool impatient = i % 2 == 0;
    const Problem problem = maker.make(
        {.buffers = 5, .pools = 2 + maker.below(2), .bounded = true, .pins = i % 3 == 0, .horizon = 6, .largest = 9});
    INFO("problem ", i);
    Budget budget(impatient ? 10 + maker.below(100) : 10'000);
    const PlanResult result = plan_all_pools(problem, nullptr, budget,
                                             {.patience = impatient ? 0U : 2'000U, .states = impatient ? 1'000U : 2U});
    const test::Truth truth = test::truth_of(problem);
    if (!truth.best) {
      CHECK_FALSE(result.has_plan());
      continue;
    }
    CHECK(result.status != PlanStatus::infeasible);
    if (!result.has_plan()) continue;
    check_right(problem, result);
    const Cost cost = cost_of(problem, result.plan);
    check_bound(*result.bound, *truth.best, cost);
    if (result.status == PlanStatus::optimal) CHECK((cost == *truth.best));
    if (result.status == PlanStatus::feasible) ++unproved;
  }
  CHECK(unproved > 5);
}

// Larger problems than the oracle can take: what a search with little budget claims is held against one with enough.
TEST_CASE("questions that are given up make no claims") {
  test::ProblemMaker maker(308);
  int unproved = 0;
  int proved = 0;
  for (int i = 0; i < 400; ++i) {
    const Problem problem =
        maker.make({.buffers = 16, .pools = 2, .bounded = true, .most_ranges = 2, .horizon = 14, .largest = 12});
    INFO("problem ", i);
    const PlanResult truth = solve(problem);
    if (truth.status != PlanStatus::optimal && truth.status != PlanStatus::infeasible) continue;
    const std::uint64_t enough = std::max<std::uint64_t>(truth.iterations, 1);
    for (const std::uint64_t nodes : {enough / 8 + 1, enough / 3 + 1, enough * 9 / 10 + 1}) {
      const PlanResult result = solve(problem, nodes);
      if (truth.status == PlanStatus::infeasible) {
        CHECK_FALSE(result.has_plan());
        continue;
      }
      CHECK(result.status != PlanStatus::infeasible);
      if (!result.has_plan()) continue;
      check_right(problem, result);
      const Cost cost = cost_of(problem, result.plan);
      check_bound(*result.bound, *truth.bound, cost);
      if (result.status == PlanStatus::optimal) CHECK((cost == *truth.bound));
      ++(result.status == PlanStatus::optimal ? proved : unproved);
    }
  }
  CHECK(unproved > 30);
  CHECK(proved > 10);
}

TEST_CASE("a plan to start from is given up for a better one only") {
  test::ProblemMaker maker(310);
  int ended_early = 0;
  for (int i = 0; i < 300; ++i) {
    const Problem problem = maker.make({.buffers = 10, .pools = 2, .bounded = true, .horizon = 10, .largest = 12});
    INFO("problem ", i);
    const PlanResult best = solve(problem);
    if (best.status != PlanStatus::optimal) continue;
    for (const std::uint64_t nodes : {1U, 5U, 25U}) {
      Budget budget(nodes);
      const PlanResult result = plan_all_pools(problem, &best.plan, budget, {.patience = 1});
      REQUIRE(result.has_plan());
      CHECK((cost_of(problem, result.plan) == *best.bound));
      if (result.status == PlanStatus::feasible) ++ended_early;
    }
  }
  CHECK(ended_early > 20);
}

TEST_CASE("the choice is a knapsack when everything is live together") {
  Problem problem = pools({100, {}});
  for (const Bytes size : {60, 45, 30, 25, 20, 7}) add(problem, size, {{0, 20}});
  const PlanResult result = solve(problem);
  REQUIRE(result.status == PlanStatus::optimal);
  check_right(problem, result);
  CHECK((result.bound->spilled == std::vector<Bytes>{87}));  // 45 + 30 + 25 stay
  CHECK((result.bound->used == std::vector<Bytes>{100, 87}));
}

TEST_CASE("constants by the hundred: sums are what matters") {
  Problem problem = pools({5000, {}});
  for (Bytes i = 0; i < 150; ++i) {
    Buffer& buffer = add(problem, 64 + 16 * (i * i % 37), {{0, 20}});
    buffer.alignment = 16;
    buffer.kind = BufferKind::constant;
  }
  const PlanResult result = solve(problem, 20'000'000);
  REQUIRE(result.status == PlanStatus::optimal);
  check_right(problem, result);
  CHECK(result.bound->used.front() == 4992);
}

TEST_CASE("if any plan will do, the search ends with the first, and knows when there is none") {
  test::ProblemMaker maker(310);
  int not_best = 0;
  for (int i = 0; i < 400; ++i) {
    const Problem problem = maker.make({.buffers = 5, .pools = 2, .bounded = true, .horizon = 6});
    INFO("problem ", i);
    Budget budget(100'000);
    const PlanResult any = plan_all_pools(problem, nullptr, budget, {.any_plan = true});
    const PlanResult best = solve(problem);
    REQUIRE(any.has_plan() == best.has_plan());
    CHECK(any.stopped == StopReason::finished);
    if (!any.has_plan()) {
      CHECK(any.status == PlanStatus::infeasible);
      continue;
    }
    check_right(problem, any);
    CHECK(any.iterations <= best.iterations);
    const Cost cost = cost_of(problem, any.plan);
    check_bound(*any.bound, *best.bound, cost);
    if (cost != *best.bound) {
      CHECK(any.status == PlanStatus::feasible);
      ++not_best;
    }
  }
  CHECK(not_best > 10);
}

TEST_CASE("the fast pool takes the bytes that are live longest apart, and is no larger than it must be") {
  Problem problem = pools({10, {}});
  add(problem, 8, {{0, 4}});
  add(problem, 9, {{3, 8}});
  add(problem, 8, {{7, 12}});
  const PlanResult result = solve(problem);
  REQUIRE(result.status == PlanStatus::optimal);
  CHECK((result.bound->spilled == std::vector<Bytes>{9}));
  CHECK((result.bound->used == std::vector<Bytes>{8, 9}));
}

TEST_CASE("a buffer in two live ranges stays where it is between them") {
  Problem problem = pools({10, {}});
  add(problem, 6, {{0, 2}, {10, 12}});
  add(problem, 10, {{4, 6}});
  add(problem, 5, {{11, 14}});
  const PlanResult result = solve(problem);
  REQUIRE(result.status == PlanStatus::optimal);
  CHECK((result.bound->spilled == std::vector<Bytes>{5}));
  CHECK((result.bound->used == std::vector<Bytes>{10, 5}));
}

TEST_CASE("what is far too large is left as it is, with bounds") {
  Problem problem = pools({1'000, {}});
  problem.horizon = 10'000;
  for (Tick i = 0; i < 5'000; ++i) add(problem, 1 + i % 3, {{i, i + 2'500}});
  CHECK(solve(problem).status == PlanStatus::not_found);
  const PlanResult start = planners::greedy_by_size(problem, {});
  REQUIRE(start.has_plan());
  Budget budget(1'000);
  const PlanResult result = plan_all_pools(problem, &start.plan, budget);
  CHECK(result.status == PlanStatus::feasible);
  CHECK(result.stopped == StopReason::node_limit);
  CHECK((result.plan == start.plan));
  REQUIRE(result.bound.has_value());
  CHECK((*result.bound < cost_of(problem, result.plan)));
}

TEST_CASE("pairs that may share bytes count for what a search takes on") {
  Problem problem = pools({1000, std::nullopt});
  constexpr std::size_t lasting = 200;
  constexpr std::size_t brief = 200;
  for (std::size_t i = 0; i < lasting; ++i) add(problem, 10, {{0, 20}});
  for (std::size_t i = 0; i < brief; ++i) add(problem, 5, {{static_cast<Tick>(i), static_cast<Tick>(i) + 1}});
  problem.horizon = 200;
  for (std::size_t i = 0; i < lasting; ++i) problem.buffers[i].live = {{0, 200}};
  const Group group = split_by_pools(problem).front();
  const std::uint64_t entries = brief * (lasting + 1);
  CHECK(exact::section_entries(problem, group) == entries);
  problem.distances = {{BufferId(0), BufferId(1), 4}, {BufferId(1), BufferId(0), 4}, {BufferId(2), BufferId(200), 9}};
  CHECK(exact::section_entries(problem, group) == entries + 32 * (2 * brief + 1));
  problem.distances.clear();
  for (std::size_t a = 0; a < lasting; ++a) {
    for (std::size_t b = 0; b < lasting; ++b) {
      if (a != b) problem.distances.push_back({BufferId(a), BufferId(b), 4});
    }
  }
  const Plan start = planners::greedy_by_size(problem, {}).plan;
  Budget budget(1'000'000);
  const PlanResult result = plan_all_pools(problem, &start, budget);
  CHECK(result.status == PlanStatus::feasible);
  CHECK((result.plan == start));
  CHECK(budget.spent() == 0);
}

TEST_CASE("a plan to start from that is not complete is no plan") {
  Problem problem = pools({10, {}});
  add(problem, 6, {{0, 2}});
  add(problem, 6, {{1, 3}});
  const Plan nothing{std::vector<Allocation>(2)};
  Budget budget(1'000);
  const PlanResult result = plan_all_pools(problem, &nothing, budget);
  REQUIRE(result.status == PlanStatus::optimal);
  check_right(problem, result);
}

TEST_CASE("nothing is planned if one buffer has no room anywhere") {
  Problem problem = pools({10, 20});
  add(problem, 21, {{0, 2}});
  CHECK(solve(problem).status == PlanStatus::infeasible);
  problem.buffers.front().size = 20;
  CHECK(solve(problem).status == PlanStatus::optimal);
  add(problem, 11, {{0, 2}});
  CHECK(solve(problem).status == PlanStatus::infeasible);
}

// Buffers of a ring: each is live together with the next one only, so two bytes are live at a time, but an odd ring
// of one byte each needs three.
TEST_CASE("an odd ring fits by load only: one of its buffers has to leave") {
  Problem problem = pools({2, {}});
  for (Tick ring = 0; ring < 2; ++ring) {
    for (Tick i = 0; i < 5; ++i) {
      const Tick here = 10 * ring + 2 * i;
      const Tick last = 10 * ring + 2 * ((i + 4) % 5);
      add(problem, 1,
          {{std::min(here, last), std::min(here, last) + 1}, {std::max(here, last), std::max(here, last) + 1}});
    }
  }
  const PlanResult result = solve(problem);
  REQUIRE(result.status == PlanStatus::optimal);
  check_right(problem, result);
  CHECK((result.bound->spilled == std::vector<Bytes>{2}));
  CHECK((result.bound->used == std::vector<Bytes>{2, 1}));
  problem.pools[1].capacity = 0;
  CHECK(solve(problem).status == PlanStatus::infeasible);
  problem.pools[0].capacity = 3;
  const PlanResult wider = solve(problem);
  REQUIRE(wider.status == PlanStatus::optimal);
  CHECK((wider.bound->used == std::vector<Bytes>{3, 0}));
}

}  // namespace usmp::planners::exact_pools_test
