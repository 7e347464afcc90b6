// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// Reads instructions, memory and the kernels of all calls off each plan.
#include "usmp/compare/cores.hpp"

#include <set>

namespace usmp::compare {

ModuleCores cores_of(const std::string& module, const std::vector<CoreRun>& runs) {
  ModuleCores cores{module, {}};
  for (const CoreRun& run : runs) {
    CorePoint& point = cores.points.emplace_back();
    point.core = run.core;
    if (!run.plan) continue;
    const plan_file::PlanDocument& plan = *run.plan;
    point.status = plan.status;
    point.instructions = plan.instructions;
    std::set<std::string> kernels;
    for (const auto& call : plan.calls) kernels.insert(call.kernels.begin(), call.kernels.end());
    point.kernels.assign(kernels.begin(), kernels.end());
    point.workspace = plan.workspace_used;
    point.constants = plan.constant_bytes;
  }
  return cores;
}

}  // namespace usmp::compare
