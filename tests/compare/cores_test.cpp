// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// Rows of cores against the plans that they are taken from.
#include "usmp/compare/cores.hpp"

#include <doctest/doctest.h>

#include "plan_support/runs.hpp"

namespace usmp::compare::cores_test {

using namespace usmp::plan_support::runs;

TEST_CASE("a core's row is what its plan says, with the kernels of all operators; without a plan, that there is none") {
  plan_file::PlanDocument plan = *run("a", {PlanStatus::optimal, 32, {48, 100, 10}, {48, 100, 10}}).plan;
  plan.workspace_used = 148;
  plan.constant_bytes = 1000;
  plan.instructions = 77;
  plan.calls.resize(3);
  plan.calls[0].kernels = {"lane_run", "dot_run"};
  plan.calls[2].kernels = {"dot4", "dot_run"};
  const ModuleCores cores = cores_of("m", {{"cortex-m4", plan}, {"rv32imc", std::nullopt}});
  CHECK(cores.module == "m");
  REQUIRE(cores.points.size() == 2);
  const CorePoint& point = cores.points[0];
  CHECK(point.core == "cortex-m4");
  CHECK(point.status == PlanStatus::optimal);
  CHECK(point.instructions == 77);
  CHECK(point.workspace == 148);
  CHECK(point.constants == 1000);
  CHECK(point.kernels == std::vector<std::string>{"dot4", "dot_run", "lane_run"});
  CHECK(cores.points[1].core == "rv32imc");
  CHECK_FALSE(cores.points[1].status);
}

}  // namespace usmp::compare::cores_test
