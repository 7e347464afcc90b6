// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// Plans of several algorithms side by side, as text. test_schema.py holds compare.json against
// docs/schema/compare.schema.json.
#include "usmp/report/compare.hpp"

#include <doctest/doctest.h>

#include "plan_support/golden.hpp"
#include "plan_support/runs.hpp"

namespace usmp::report::compare_test {

using compare::AlgorithmResult;
using compare::Comparison;
using compare::ModuleComparison;
using namespace usmp::plan_support::runs;

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

TEST_CASE("what is spilled is explained where anything is") {
  Comparison comparison;
  comparison.modules.push_back(
      compare::compare_runs("m", {run("a", {PlanStatus::feasible, 0, {64, 100, 10}, {60, 90, 10}})}));
  CHECK(compare_text(comparison, false).find("pilled") == std::string::npos);
  CHECK(compare_text(example(), false).find("\nSpilled: bytes of all buffers ") != std::string::npos);
  CHECK(compare_markdown(example()).find("\nSpilled: bytes of all buffers ") != std::string::npos);
}

TEST_CASE("a plan that is a byte above its bound never looks as if it met it") {
  Comparison comparison;
  comparison.modules.push_back(
      compare::compare_runs("m", {run("a", {PlanStatus::feasible, 0, {1000001, 100, 10}, {1000000, 100, 10}})}));
  CHECK(compare_text(comparison, false).find(" 1000001       1.001 ") != std::string::npos);
}

}  // namespace usmp::report::compare_test
