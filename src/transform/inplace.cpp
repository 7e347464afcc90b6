// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// Lists what may share bytes, with the words that reports have for it.
#include "transform/inplace.hpp"

#include <algorithm>
#include <map>
#include <string>
#include <vector>

#include "usmp/bounds/load.hpp"

namespace usmp::transform {
namespace {

using liveness::StorageDistance;

// The workspace buffers, with what they may share.
struct Workspace {
  Problem problem;
  std::vector<BufferId> all;
};

Workspace workspace_of(const liveness::Analysis& analysis, const std::vector<StorageDistance>& distances) {
  Workspace result;
  Problem& problem = result.problem;
  problem.pools.push_back({.name = "workspace"});
  problem.horizon = analysis.horizon;
  std::map<tir::VarId, BufferId> buffers;
  for (const liveness::Site& site : analysis.sites) {
    if (site.kind == BufferKind::constant) continue;
    result.all.emplace_back(problem.buffers.size());
    buffers.emplace(site.var, result.all.back());
    problem.buffers.push_back(
        {.name = site.name, .function = {}, .size = site.size, .candidates = {PoolId(0)}, .live = site.live});
  }
  for (const StorageDistance& distance : distances) {
    const auto below = buffers.find(distance.below);
    const auto above = buffers.find(distance.above);
    if (below == buffers.end() || above == buffers.end()) continue;
    problem.distances.push_back({below->second, above->second, distance.bytes});
  }
  std::sort(problem.distances.begin(), problem.distances.end());
  return result;
}

}  // namespace

std::vector<bounds::Load> load_over_time(const liveness::Analysis& analysis,
                                         const std::vector<StorageDistance>& distances) {
  const Workspace workspace = workspace_of(analysis, distances);
  return bounds::load_over_time(workspace.problem, workspace.all);
}

StepResult describe_shared_bytes(const tir::Module& module, const liveness::Analysis& analysis,
                                 const std::vector<StorageDistance>& distances, Bytes load) {
  StepResult result{Step::inplace, load, load, {}};
  if (!distances.empty()) {
    const Workspace workspace = workspace_of(analysis, distances);
    result.load_after = bounds::load(workspace.problem, workspace.all).bytes;
  }
  for (const StorageDistance& distance : distances) {
    const auto name = [&](tir::VarId var) { return "'" + module.var(var).name + "'"; };
    result.changes.push_back({Step::inplace, module.functions[distance.function].name,
                              name(distance.above) + " may start " + std::to_string(distance.bytes) + " bytes above " +
                                  name(distance.below)});
  }
  return result;
}

}  // namespace usmp::transform
