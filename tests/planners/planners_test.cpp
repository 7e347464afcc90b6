// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// What every algorithm of the table owes: plans that the verifier accepts, no false claim, the same result each time.
#include <doctest/doctest.h>

#include <map>
#include <string>
#include <vector>

#include "planning_support/claims.hpp"
#include "planning_support/oracle.hpp"
#include "planning_support/random_problem.hpp"
#include "usmp/bounds/bounds.hpp"
#include "usmp/planners/planner.hpp"
#include "usmp/verify/verify.hpp"

namespace usmp::planners::planners_test {

using planners::Algorithm;
using planners::algorithms;

using test::check_against;
using test::check_right;
using test::check_shortage;

namespace {

struct Tally {
  int best = 0;        // as good as the oracle
  int optimal = 0;     // and says so
  int not_found = 0;   // although there is a plan
  int infeasible = 0;  // proved
  int planned = 0;
};

std::map<std::string, Tally> run_all(std::uint64_t seed, int count, const test::Shape& shape, int& feasible) {
  test::ProblemMaker maker(seed);
  std::map<std::string, Tally> tallies;
  feasible = 0;
  for (int i = 0; i < count; ++i) {
    const Problem problem = maker.make(shape);
    INFO("seed ", seed, " problem ", i);
    REQUIRE_FALSE(invalid_reason(problem).has_value());
    const test::Truth truth = test::truth_of(problem);
    if (truth.best) ++feasible;
    for (const Algorithm& algorithm : algorithms()) {
      INFO("algorithm ", algorithm.name);
      const PlanResult result = algorithm.plan(problem, {});
      check_against(problem, result, truth);
      Tally& tally = tallies[std::string(algorithm.name)];
      if (result.has_plan()) ++tally.planned;
      if (result.has_plan() && cost_of(problem, result.plan) == *truth.best) ++tally.best;
      if (result.status == PlanStatus::optimal) ++tally.optimal;
      if (result.status == PlanStatus::not_found && truth.best) ++tally.not_found;
      if (result.status == PlanStatus::infeasible) ++tally.infeasible;
    }
  }
  return tallies;
}

std::string describe(const std::map<std::string, Tally>& tallies, int feasible) {
  std::string text = std::to_string(feasible) + " feasible;";
  for (const auto& [name, tally] : tallies) {
    text += " " + name + ": planned " + std::to_string(tally.planned) + ", best " + std::to_string(tally.best) +
            ", called optimal " + std::to_string(tally.optimal) + ", not found " + std::to_string(tally.not_found) +
            ", infeasible " + std::to_string(tally.infeasible) + ";";
  }
  return text;
}

}  // namespace

TEST_CASE("one unbounded pool against the oracle") {
  int feasible = 0;
  auto tallies = run_all(1, 300, {.buffers = 6}, feasible);
  CAPTURE(describe(tallies, feasible));
  CHECK(feasible == 300);
  for (const auto& [name, tally] : tallies) CHECK(tally.planned == 300);
  CHECK(tallies["hill_climb"].best == 300);
  CHECK(tallies["hill_climb"].optimal > 150);
  CHECK(tallies["optimal"].optimal == 300);
  CHECK(tallies["greedy_by_size"].best > 50);
  CHECK(tallies["none"].best < tallies["greedy_by_size"].best);
}

TEST_CASE("one bounded pool against the oracle") {
  int feasible = 0;
  auto tallies = run_all(2, 300, {.buffers = 6, .bounded = true}, feasible);
  CAPTURE(describe(tallies, feasible));
  CHECK(feasible > 100);
  CHECK(feasible < 300);
  CHECK(tallies["hill_climb"].not_found == 0);
  CHECK(tallies["hill_climb"].infeasible > 20);
  CHECK(tallies["optimal"].optimal == feasible);
  CHECK(tallies["optimal"].infeasible == 300 - feasible);
}

TEST_CASE("several pools against the oracle") {
  for (const std::size_t pools : {std::size_t{2}, std::size_t{3}}) {
    int feasible = 0;
    auto tallies = run_all(2 + pools, 150, {.buffers = 5, .pools = pools, .bounded = true}, feasible);
    CAPTURE(describe(tallies, feasible));
    CHECK(feasible > 50);
    CHECK(tallies["hill_climb"].not_found <= feasible / 50);
    CHECK(tallies["hill_climb"].best >= feasible * 9 / 10);
    CHECK(tallies["optimal"].optimal == feasible);
    CHECK(tallies["optimal"].infeasible == 150 - feasible);
  }
}

TEST_CASE("buffers that may share bytes against the oracle") {
  int feasible = 0;
  auto tallies = run_all(21, 300, {.buffers = 6, .pools = 1, .sharing = true}, feasible);
  CAPTURE(describe(tallies, feasible));
  CHECK(feasible == 300);
  CHECK(tallies["hill_climb"].best >= 290);
  CHECK(tallies["hill_climb"].optimal >= 50);
  CHECK(tallies["optimal"].optimal == 300);
  CHECK(tallies["greedy_by_size"].best > 50);
  tallies = run_all(22, 200, {.buffers = 5, .pools = 2, .bounded = true, .sharing = true, .pins = true}, feasible);
  CAPTURE(describe(tallies, feasible));
  CHECK(feasible > 80);
  CHECK(tallies["optimal"].best >= feasible * 9 / 10);
}

TEST_CASE("pins and reserved bytes against the oracle") {
  int feasible = 0;
  auto tallies = run_all(11, 300, {.buffers = 6, .pools = 1, .bounded = false, .pins = true}, feasible);
  CAPTURE(describe(tallies, feasible));
  CHECK(feasible == 300);
  CHECK(tallies["hill_climb"].best >= 295);
  CHECK(tallies["optimal"].optimal == 300);
  tallies = run_all(12, 200, {.buffers = 5, .pools = 2, .bounded = true, .pins = true}, feasible);
  CAPTURE(describe(tallies, feasible));
  CHECK(feasible > 80);
  CHECK(tallies["hill_climb"].best >= feasible * 9 / 10);
  CHECK(tallies["optimal"].optimal == feasible);
}

TEST_CASE("large random problems are planned right, and the greedy algorithms are never ahead") {
  test::ProblemMaker maker(7);
  for (int i = 0; i < 40; ++i) {
    const Problem problem = maker.make({.buffers = 60,
                                        .pools = 1 + maker.below(3),
                                        .bounded = maker.below(2) == 0,
                                        .pins = maker.below(3) == 0,
                                        .most_ranges = 1 + maker.below(4),
                                        .horizon = 60,
                                        .largest = 4000});
    CAPTURE(i);
    REQUIRE_FALSE(invalid_reason(problem).has_value());
    const PlanResult climbed = planners::hill_climb(problem, {.seed = 1, .iterations = 100});
    const PlanResult best = planners::optimal(problem, {.seed = 1, .iterations = 100, .node_limit = 500});
    const auto bounds = bounds::pool_bounds(problem);
    for (const Algorithm& algorithm : algorithms()) {
      CAPTURE(algorithm.name);
      const PlanResult result = algorithm.plan(problem, {.seed = 1, .iterations = 100, .node_limit = 500});
      check_right(problem, result);
      check_shortage(problem, result);
      if (!result.has_plan()) continue;
      const Cost cost = cost_of(problem, result.plan);
      for (std::size_t p = 0; p < bounds.size(); ++p) CHECK(cost.used[p] >= bounds[p].bytes);
      const bool in_portfolio = algorithm.name == "greedy_by_size" || algorithm.name == "greedy_by_conflicts";
      if (!in_portfolio && algorithm.name != "none" && algorithm.name != "hill_climb") continue;
      REQUIRE(best.has_plan());
      CHECK_FALSE(cost < cost_of(problem, best.plan));
      REQUIRE(climbed.has_plan());
      CHECK_FALSE(cost < cost_of(problem, climbed.plan));
    }
  }
}

TEST_CASE("the same problem and seed give the same result") {
  const Problem problem =
      test::ProblemMaker(3).make({.buffers = 50, .pools = 2, .bounded = true, .horizon = 40, .largest = 1000});
  for (const Algorithm& algorithm : algorithms()) {
    CAPTURE(algorithm.name);
    const PlanResult first = algorithm.plan(problem, {.seed = 5, .iterations = 200});
    const PlanResult second = algorithm.plan(problem, {.seed = 5, .iterations = 200});
    CHECK(first.status == second.status);
    CHECK((first.plan == second.plan));
    CHECK(first.iterations == second.iterations);
  }
}

TEST_CASE("a problem without buffers has the empty plan") {
  Problem problem;
  problem.pools = {{.name = "sram", .kind = PoolKind::workspace, .capacity = 0, .alignment = 1}};
  for (const Algorithm& algorithm : algorithms()) {
    CAPTURE(algorithm.name);
    const PlanResult result = algorithm.plan(problem, {});
    CHECK(result.has_plan());
    CHECK(result.plan.allocations.empty());
  }
}

TEST_CASE("the largest valid sizes do not overflow") {
  Problem problem;
  problem.pools = {{.name = "sram", .kind = PoolKind::workspace, .capacity = 1000, .alignment = 8},
                   {.name = "dram", .kind = PoolKind::workspace, .capacity = {}, .alignment = 4096}};
  problem.horizon = 4;
  for (int i = 0; i < 3; ++i) {
    Buffer buffer;
    buffer.size = (Problem::max_total_bytes >> 2) - i;
    buffer.alignment = 3;
    buffer.candidates = {PoolId(0), PoolId(1)};
    buffer.live = {{i, i + 2}};
    problem.buffers.push_back(buffer);
  }
  REQUIRE_FALSE(invalid_reason(problem).has_value());
  for (const Algorithm& algorithm : algorithms()) {
    CAPTURE(algorithm.name);
    const PlanResult result = algorithm.plan(problem, {});
    REQUIRE(result.has_plan());
    check_right(problem, result);
  }
}

TEST_CASE("the table names every algorithm once, the default first") {
  REQUIRE_FALSE(algorithms().empty());
  CHECK(algorithms().front().name == "optimal");
  for (const Algorithm& algorithm : algorithms()) {
    CHECK(planners::find_algorithm(algorithm.name) == &algorithm);
    CHECK_FALSE(algorithm.summary.empty());
    CHECK(algorithm.summary.find('\n') == std::string_view::npos);
  }
  for (const char* name : {"hill_climb", "greedy_by_size", "greedy_by_conflicts", "greedy_by_breadth", "shared_objects",
                           "gmem", "fast", "none"}) {
    CHECK(planners::find_algorithm(name) != nullptr);
  }
  CHECK(planners::find_algorithm("greedy") == nullptr);
  CHECK(planners::find_algorithm("") == nullptr);
}

}  // namespace usmp::planners::planners_test
