// Plans of several algorithms side by side. test_schema.py holds compare.json against docs/schema/compare.schema.json.
#include "usmp/report/compare.hpp"

#include <doctest/doctest.h>

#include "fixtures.hpp"
#include "golden.hpp"

namespace usmp::report::compare_test {
namespace {

// The example with other figures: used bytes and bounds of dtcm, sram and flash, and what is spilled.
struct Figures {
  PlanStatus status = PlanStatus::feasible;
  Bytes spilled = 0;
  std::vector<Bytes> used;
  std::vector<Bytes> bounds;
};

AlgorithmRun run(const std::string& algorithm, const Figures& figures) {
  Planned planned;
  fill_example(planned);
  PlanDocument plan = plan_document(planned.finish());
  plan.algorithm = algorithm;
  plan.status = figures.status;
  REQUIRE(plan.spilled.size() == 1);
  plan.spilled[0].bytes = figures.spilled;
  for (std::size_t i = 0; i < plan.pools.size(); ++i) {
    plan.pools[i].used = figures.used[i];
    plan.pools[i].lower_bound = figures.bounds[i];
  }
  return {algorithm, plan, std::chrono::microseconds(1500)};
}

AlgorithmRun without_plan(const std::string& algorithm) {
  return {algorithm, std::nullopt, std::chrono::microseconds(7)};
}

std::vector<std::optional<Bytes>> bounds_of(const AlgorithmResult& result) {
  std::vector<std::optional<Bytes>> bounds;
  for (const PoolResult& pool : result.pools) bounds.push_back(pool.lower_bound);
  return bounds;
}

using Bounds = std::vector<std::optional<Bytes>>;

Comparison example() {
  Comparison comparison;
  comparison.archive = "net|1.tar";
  comparison.modules.push_back(compare_runs(
      "default", {run("optimal", {PlanStatus::optimal, 0, {64, 100, 10}, {64, 100, 10}}),
                  run("greedy", {PlanStatus::feasible, 0, {64, 103, 10}, {60, 90, 10}}),
                  run("exec:a,\"b\"", {PlanStatus::feasible, 32, {48, 190, 10}, {48, 95, 10}}), without_plan("fast")}));
  comparison.modules.push_back(compare_runs("other", {without_plan("optimal")}));
  return comparison;
}

}  // namespace

TEST_CASE("what one algorithm proves of a pool counts for plans that are as good in all that is more important") {
  const Figures proved{PlanStatus::feasible, 0, {64, 100, 10}, {64, 100, 10}};
  const auto second = [&](const Figures& figures) {
    return compare_runs("m", {run("a", proved), run("b", figures)}).results[1];
  };
  // Of the first pool everything counts that spills as much; of the second what also has the first pool as large.
  CHECK(bounds_of(second({PlanStatus::feasible, 0, {64, 120, 10}, {60, 90, 5}})) == Bounds{64, 100, 5});
  CHECK(bounds_of(second({PlanStatus::feasible, 0, {70, 120, 10}, {60, 90, 5}})) == Bounds{64, 90, 5});
  CHECK(bounds_of(second({PlanStatus::feasible, 8, {64, 120, 10}, {60, 90, 5}})) == Bounds{60, 90, 5});
  // Constants stand in a pool of another kind, which may be in front of it in the problem.
  CHECK(bounds_of(second({PlanStatus::feasible, 0, {64, 120, 12}, {60, 90, 5}})) == Bounds{60, 90, 5});
  // A better bound of its own stays.
  CHECK(bounds_of(second({PlanStatus::feasible, 0, {64, 120, 10}, {60, 110, 10}})) == Bounds{64, 110, 10});
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

TEST_CASE("a comparison in every format") {
  const Comparison comparison = example();
  check_golden("compare.txt", compare_text(comparison, false));
  check_golden("compare.md", compare_markdown(comparison));
  check_golden("compare.json", compare_json(comparison));
  check_golden("compare.csv", compare_csv(comparison));
}

TEST_CASE("without times there is no column of them") {
  Comparison comparison = example();
  for (ModuleComparison& module : comparison.modules) {
    for (AlgorithmResult& result : module.results) result.time.reset();
  }
  CHECK(compare_text(comparison, false).find(" ms") == std::string::npos);
  CHECK(compare_markdown(comparison).find(" ms ") == std::string::npos);
  CHECK(compare_csv(comparison).find("seconds") == std::string::npos);
  CHECK(compare_json(comparison).find("0.0015") == std::string::npos);
  CHECK(compare_text(example(), false).find(" ms\n") != std::string::npos);
  CHECK(compare_text(example(), false).find(" 1.500\n") != std::string::npos);
}

TEST_CASE("a plan that is a byte above its bound never looks as if it met it") {
  Comparison comparison;
  comparison.modules.push_back(
      compare_runs("m", {run("a", {PlanStatus::feasible, 0, {1000001, 100, 10}, {1000000, 100, 10}})}));
  CHECK(compare_text(comparison, false).find(" 1000001     1.001 ") != std::string::npos);
}

}  // namespace usmp::report::compare_test
