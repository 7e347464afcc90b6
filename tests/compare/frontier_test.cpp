// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// Memory against work.
#include "usmp/compare/frontier.hpp"

#include <doctest/doctest.h>

#include "plan_support/runs.hpp"

namespace usmp::compare::frontier_test {

using namespace usmp::plan_support::runs;

namespace {

plan_file::PlanDocument::StepOutcome step(const std::string& name, std::optional<std::int64_t> extra) {
  plan_file::PlanDocument::StepOutcome outcome;
  outcome.step = name;
  outcome.extra_work_permille = extra;
  return outcome;
}

}  // namespace

TEST_CASE("a point is what its plan says; without a plan, that there is none") {
  plan_file::PlanDocument plan = *run("a", {PlanStatus::optimal, 32, {48, 100, 10}, {48, 100, 10}}).plan;
  plan.workspace_used = 148;
  plan.multiply_accumulates = 77;
  plan.transformed.clear();
  plan.transformed.push_back(step("rolling", 40));
  plan.transformed.push_back(step("recompute", 15));
  plan.transformed.push_back(step("inplace", std::nullopt));
  const ModuleFrontier frontier = frontier_of("m", {{10, plan}, {20, std::nullopt}});
  CHECK(frontier.module == "m");
  REQUIRE(frontier.points.size() == 2);
  const FrontierPoint& point = frontier.points[0];
  CHECK(point.percent == 10);
  CHECK(point.status == PlanStatus::optimal);
  CHECK(point.extra_work_permille == 55);
  CHECK(point.multiply_accumulates == 77);
  CHECK(point.workspace == 148);
  CHECK(point.spilled == 32);
  CHECK(frontier.points[1].percent == 20);
  CHECK_FALSE(frontier.points[1].status);
}

}  // namespace usmp::compare::frontier_test
