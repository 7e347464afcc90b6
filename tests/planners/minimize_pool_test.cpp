// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// The smallest size of one pool, against exhaustive search.
#include "usmp/planners/minimize_pool.hpp"

#include <doctest/doctest.h>

#include <atomic>
#include <vector>

#include "planning_support/oracle.hpp"
#include "planning_support/random_problem.hpp"
#include "usmp/verify/verify.hpp"

namespace usmp::planners::minimize_pool_test {

using planners::minimize_pool;
using planners::Options;

namespace {

PlanResult exhaustive(const Problem& problem, const Options& /*options*/) {
  const test::Truth truth = test::truth_of(problem);
  if (!truth.best) return {.status = PlanStatus::infeasible, .plan = {}};
  return {.status = PlanStatus::optimal, .plan = truth.best_plan, .iterations = 1};
}

// Right answers, but it never proves anything.
PlanResult shy(const Problem& problem, const Options& options) {
  PlanResult result = exhaustive(problem, options);
  result.status = result.has_plan() ? PlanStatus::feasible : PlanStatus::not_found;
  return result;
}

// The best cost among the plans that use no more of the pool than has to be.
Cost truth_with_least(const Problem& problem, PoolId pool, const test::Truth& truth) {
  Problem capped = problem;
  capped.pools[pool.index()].capacity = truth.least_used[pool.index()];
  return *test::truth_of(capped).best;
}

void check_claims(const Problem& problem, PoolId pool, const PlanResult& result, const test::Truth& truth) {
  CHECK(truth.best.has_value());
  CHECK(verify::check(problem, result.plan).empty());
  REQUIRE(result.bound.has_value());
  const Cost cost = cost_of(problem, result.plan);
  const Bytes least = truth.least_used[pool.index()];
  CHECK(result.bound->used[pool.index()] <= least);
  CHECK(cost.used[pool.index()] >= least);
  const Cost best = truth_with_least(problem, pool, truth);
  if (result.status == PlanStatus::optimal) {
    CHECK((cost == best));
    CHECK((*result.bound == cost));
  }
  if (cost.used[pool.index()] > least) return;
  // The first entry that differs from the best plan's is where the bound says something of the best plan.
  CHECK(result.bound->spilled <= best.spilled);
}

struct Tally {
  int planned = 0;
  int infeasible = 0;
  int optimal = 0;
  int least = 0;  // uses as little of the pool as possible
};

Tally compare(std::uint64_t seed, int count, const test::Shape& shape, const planners::Planner& plan) {
  test::ProblemMaker maker(seed);
  Tally tally;
  for (int i = 0; i < count; ++i) {
    const Problem problem = maker.make(shape);
    const test::Truth truth = test::truth_of(problem);
    for (std::size_t p = 0; p < problem.pools.size(); ++p) {
      INFO("seed ", seed, " problem ", i, " pool ", p);
      const PoolId pool(p);
      const PlanResult result = minimize_pool(problem, pool, plan, {});
      if (result.status == PlanStatus::infeasible) {
        CHECK_FALSE(truth.best.has_value());
        ++tally.infeasible;
      }
      if (!result.has_plan()) continue;
      check_claims(problem, pool, result, truth);
      ++tally.planned;
      if (result.status == PlanStatus::optimal) ++tally.optimal;
      if (cost_of(problem, result.plan).used[p] == truth.least_used[p]) ++tally.least;
    }
  }
  return tally;
}

const std::vector<test::Shape> shapes = {{.buffers = 5, .pools = 2, .bounded = true},
                                         {.buffers = 4, .pools = 3, .bounded = true},
                                         {.buffers = 5, .pools = 2, .bounded = true, .pins = true},
                                         {.buffers = 5, .pools = 2, .bounded = true, .sharing = true},
                                         {.buffers = 5, .pools = 1, .bounded = true, .pins = true}};

Problem two_pools(Bytes capacity) {
  Problem problem;
  problem.pools = {{.name = "dtcm", .capacity = 100}, {.name = "sram", .capacity = capacity}};
  problem.horizon = 2;
  for (const Bytes size : {60, 40, 30}) {
    Buffer buffer;
    buffer.size = size;
    buffer.candidates = {PoolId(0), PoolId(1)};
    buffer.live = {{0, 2}};
    problem.buffers.push_back(buffer);
  }
  return problem;
}

// Two pools as above, the second with 75 bytes. The first needs 60; but as far as sums of sizes tell, the second could
// be full to the last byte (70 and 5), and the first 58 high.
Problem with_a_gap() {
  Problem problem = two_pools(75);
  problem.horizon = 3;
  for (std::size_t pool = 0; pool < 2; ++pool) {
    Buffer buffer;
    buffer.size = pool == 0 ? 58 : 5;
    buffer.candidates = {PoolId(pool)};
    buffer.live = {{2, 3}};
    problem.buffers.push_back(buffer);
  }
  return problem;
}

}  // namespace

TEST_CASE("with an exact algorithm the smallest size is found and proved, and the rest is the best there is") {
  for (std::size_t i = 0; i < shapes.size(); ++i) {
    const Tally tally = compare(100 + i, 60, shapes[i], exhaustive);
    CAPTURE(i);
    CHECK(tally.planned > 30);
    CHECK(tally.optimal == tally.planned);
    CHECK(tally.least == tally.planned);
    CHECK(tally.planned + tally.infeasible == 60 * static_cast<int>(shapes[i].pools));
  }
}

TEST_CASE("an algorithm that proves nothing leads to the smallest size without a claim") {
  for (std::size_t i = 0; i < shapes.size(); ++i) {
    const Tally tally = compare(100 + i, 60, shapes[i], shy);
    CAPTURE(i);
    CHECK(tally.least == tally.planned);
    CHECK(tally.optimal == 0);
    CHECK(tally.infeasible == 0);
  }
}

TEST_CASE("heuristics claim nothing false") {
  for (const planners::Algorithm& algorithm : planners::algorithms()) {
    CAPTURE(algorithm.name);
    for (std::size_t i = 0; i < shapes.size(); ++i) {
      const Tally tally = compare(200 + i, 60, shapes[i], algorithm.plan);
      if (algorithm.name == "hill_climb") CHECK(tally.least > tally.planned * 9 / 10);
    }
  }
}

TEST_CASE("the other pools take what they can") {
  const Problem problem = two_pools(70);
  const PlanResult result = minimize_pool(problem, PoolId(0), exhaustive, {});
  CHECK(result.status == PlanStatus::optimal);
  CHECK(cost_of(problem, result.plan).used == std::vector<Bytes>{60, 70});
  const PlanResult second = minimize_pool(problem, PoolId(1), exhaustive, {});
  CHECK(cost_of(problem, second.plan).used == std::vector<Bytes>{100, 30});
  CHECK(minimize_pool(two_pools(29), PoolId(0), exhaustive, {}).status == PlanStatus::infeasible);
}

TEST_CASE("a limit that is met again and again ends the search, with the best plan and what was proved") {
  const Problem problem = with_a_gap();
  int runs = 0;
  const planners::Planner limited = [&](const Problem& query, const Options& options) {
    ++runs;
    CHECK(options.node_limit == 7);
    PlanResult result = exhaustive(query, options);
    result.iterations = 7;
    if (result.status == PlanStatus::infeasible) {
      result.status = PlanStatus::not_found;
      result.stopped = StopReason::node_limit;
    }
    return result;
  };
  const PlanResult result = minimize_pool(problem, PoolId(0), limited, {.node_limit = 7});
  CHECK(result.status == PlanStatus::feasible);
  CHECK(result.stopped == StopReason::node_limit);
  CHECK(result.iterations == static_cast<std::uint64_t>(runs) * 7);
  CHECK(result.bound->used[0] == 58);
  CHECK(runs <= planners::most_limited + 8);
}

TEST_CASE("an interruption ends it at once with the best plan so far") {
  const Problem problem = with_a_gap();
  std::atomic<bool> interrupted = false;
  int runs = 0;
  const planners::Planner plan = [&](const Problem& query, const Options& options) {
    ++runs;
    REQUIRE(options.interrupted == &interrupted);
    PlanResult result = exhaustive(query, options);
    if (!result.has_plan()) return PlanResult{.status = PlanStatus::not_found, .plan = {}};
    interrupted = true;
    result.status = PlanStatus::feasible;
    result.stopped = StopReason::interrupted;
    return result;
  };
  const PlanResult result = minimize_pool(problem, PoolId(0), plan, {.interrupted = &interrupted});
  CHECK(result.status == PlanStatus::feasible);
  CHECK(result.stopped == StopReason::interrupted);
  CHECK(verify::check(problem, result.plan).empty());
  CHECK(runs == 2);
}

TEST_CASE("the runs share the time limit") {
  const Problem problem = two_pools(75);
  std::vector<std::chrono::milliseconds> limits;
  const planners::Planner plan = [&](const Problem& query, const Options& options) {
    limits.push_back(options.time_limit.value());
    return exhaustive(query, options);
  };
  CHECK(minimize_pool(problem, PoolId(0), plan, {.time_limit = std::chrono::milliseconds(60000)}).has_plan());
  REQUIRE(limits.size() >= 2);
  CHECK(limits.front() <= std::chrono::milliseconds(30000));
  CHECK(limits.back() <= std::chrono::milliseconds(60000));
  CHECK(limits.back() > std::chrono::milliseconds(30000));  // the last run has all that is left
}

TEST_CASE("what is missing is told in the buffer's own order of pools") {
  Problem problem = two_pools(30);
  problem.pools[0].capacity = 35;
  const PlanResult result = minimize_pool(problem, PoolId(0), planners::hill_climb, {});
  CHECK(result.status == PlanStatus::infeasible);
  REQUIRE(result.shortage.has_value());
  REQUIRE(result.shortage->pools.size() == 2);
  CHECK(result.shortage->pools[0].pool == PoolId(0));
  CHECK(result.shortage->pools[1].pool == PoolId(1));
}

TEST_CASE("progress tells the pool's own bounds once there is a plan") {
  const Problem problem = two_pools(75);
  std::vector<planners::Progress> shown;
  const planners::Planner plan = [](const Problem& query, const Options& options) {
    options.progress({PoolId(1), 1, 2, 5});
    PlanResult result = exhaustive(query, options);
    result.iterations = 10;
    return result;
  };
  Options options;
  options.progress = [&](const planners::Progress& progress) { shown.push_back(progress); };
  const PlanResult result = minimize_pool(problem, PoolId(0), plan, options);
  REQUIRE(shown.size() == result.iterations / 10);
  CHECK(shown.front().pool == PoolId(1));
  CHECK(shown.back().pool == PoolId(0));
  CHECK(shown.back().lower == 60);
  CHECK(shown.back().upper == 60);
  CHECK(shown.back().nodes == result.iterations - 5);
}

}  // namespace usmp::planners::minimize_pool_test
