// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// Reads off each plan its workspace, its bytes outside of first choices, and the extra work of its steps.
#include "usmp/compare/frontier.hpp"

namespace usmp::compare {

ModuleFrontier frontier_of(const std::string& module, const std::vector<AllowedRun>& runs) {
  ModuleFrontier frontier{module, {}};
  for (const AllowedRun& run : runs) {
    FrontierPoint& point = frontier.points.emplace_back();
    point.percent = run.percent;
    if (!run.plan) continue;
    const plan_file::PlanDocument& plan = *run.plan;
    point.status = plan.status;
    for (const auto& step : plan.transformed) point.extra_work_permille += step.extra_work_permille.value_or(0);
    point.multiply_accumulates = plan.multiply_accumulates;
    point.workspace = plan.workspace_used;
    if (!plan.spilled.empty()) point.spilled = plan.spilled.front().bytes;
  }
  return frontier;
}

}  // namespace usmp::compare
