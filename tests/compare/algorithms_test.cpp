// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// Plans of several algorithms side by side.
#include "usmp/compare/algorithms.hpp"

#include <doctest/doctest.h>

#include "plan_support/runs.hpp"

namespace usmp::compare::algorithms_test {

using plan_file::PlanDocument;
using namespace usmp::plan_support::runs;

TEST_CASE("what one algorithm proves of a pool counts for plans that are as good in all that is more important") {
  const Figures proved{PlanStatus::feasible, 0, {64, 100, 10}, {64, 100, 10}};
  const auto second = [&](const Figures& figures) {
    return compare_runs("m", {run("a", proved), run("b", figures)}).results[1];
  };
  // For the first pool everything counts that spills as much; for the second what also has the first pool as large.
  CHECK(bounds_of(second({PlanStatus::feasible, 0, {64, 120, 10}, {60, 90, 5}})) == Bounds{64, 100, 5});
  CHECK(bounds_of(second({PlanStatus::feasible, 0, {70, 120, 10}, {60, 90, 5}})) == Bounds{64, 90, 5});
  CHECK(bounds_of(second({PlanStatus::feasible, 8, {64, 120, 10}, {60, 90, 5}})) == Bounds{60, 90, 5});
  // A later pool does not count, nor what the document lists behind: a pool that only the module names, as sram here,
  // stands behind the parameter pools of the file.
  CHECK(bounds_of(second({PlanStatus::feasible, 0, {64, 120, 12}, {60, 90, 5}})) == Bounds{64, 100, 5});
  const auto reordered = [&](const Figures& figures) {
    std::vector<AlgorithmRun> runs = {run("a", proved), run("b", figures)};
    for (AlgorithmRun& one : runs) one.pool_order = {"dtcm", "flash", "sram"};
    return compare_runs("m", runs).results[1];
  };
  CHECK(bounds_of(reordered({PlanStatus::feasible, 0, {64, 120, 12}, {60, 90, 5}})) == Bounds{64, 90, 10});
  CHECK(bounds_of(reordered({PlanStatus::feasible, 0, {64, 120, 10}, {60, 90, 5}})) == Bounds{64, 100, 10});
  // A better bound of its own stays.
  CHECK(bounds_of(second({PlanStatus::feasible, 0, {64, 120, 10}, {60, 110, 10}})) == Bounds{64, 110, 10});
}

TEST_CASE("a pool that is minimised counts before all else") {
  const auto second = [](const std::string& pool, const Figures& figures) {
    std::vector<AlgorithmRun> runs = {run("a", {PlanStatus::feasible, 0, {64, 100, 10}, {64, 100, 10}}),
                                      run("b", figures)};
    for (AlgorithmRun& one : runs) one.plan->search = PlanDocument::Search{.minimized = pool};
    return compare_runs("m", runs).results[1];
  };
  CHECK(bounds_of(second("sram", {PlanStatus::feasible, 8, {70, 120, 12}, {60, 90, 5}})) == Bounds{60, 100, 5});
  CHECK(bounds_of(second("sram", {PlanStatus::feasible, 0, {64, 120, 10}, {60, 90, 5}})) == Bounds{60, 100, 5});
  CHECK(bounds_of(second("sram", {PlanStatus::feasible, 0, {64, 100, 10}, {60, 90, 5}})) == Bounds{64, 100, 10});
  // So it also measures a plan that spills more.
  CHECK(second("sram", {PlanStatus::feasible, 8, {70, 120, 12}, {60, 90, 5}}).pools[1].ratio() == 1.2);
}

TEST_CASE("a plan that spills more than another is not measured by bounds") {
  const ModuleComparison comparison =
      compare_runs("m", {run("less", {PlanStatus::feasible, 8, {64, 100, 10}, {60, 90, 10}}),
                         run("more", {PlanStatus::feasible, 32, {48, 60, 12}, {40, 50, 10}})});
  CHECK(comparison.results[0].pools[1].ratio().has_value());
  CHECK_FALSE(comparison.results[1].pools[0].ratio());
  CHECK_FALSE(comparison.results[1].pools[1].ratio());
  CHECK(comparison.results[1].pools[2].ratio() == 1.2);  // constants have no choice
  CHECK(comparison.results[1].pools[1].lower_bound == 50);
}

TEST_CASE("a plan is optimal if it, or one that costs as much, is proved to be") {
  const Figures best{PlanStatus::optimal, 0, {64, 100, 10}, {64, 100, 10}};
  Figures same = best;
  same.status = PlanStatus::feasible;
  Figures larger = same;
  larger.used[1] = 101;
  Figures spills = same;
  spills.spilled = 1;
  const ModuleComparison comparison =
      compare_runs("m", {run("larger", larger), run("same", same), run("best", best), run("spills", spills)});
  CHECK_FALSE(comparison.results[0].optimal);
  CHECK(comparison.results[1].optimal);
  CHECK(comparison.results[2].optimal);
  CHECK_FALSE(comparison.results[3].optimal);
  CHECK_FALSE(compare_runs("m", {run("same", same)}).results[0].optimal);
}

TEST_CASE("ratios are to the best bound that is known, and none without one") {
  CHECK(PoolResult{103, 100}.ratio() == 1.03);
  CHECK_FALSE(PoolResult{103, std::nullopt}.ratio());
  CHECK_FALSE(PoolResult{0, 0}.ratio());
  CHECK(PoolResult{0, 0}.proved());
  CHECK_FALSE(PoolResult{103, std::nullopt}.proved());
}

}  // namespace usmp::compare::algorithms_test
