// Tests: tests/transform/inplace_test.cpp; the distances themselves: tests/liveness/distances_test.cpp.
#include "transform/inplace.hpp"

#include <algorithm>
#include <map>
#include <string>
#include <vector>

#include "usmp/bounds/load.hpp"

namespace usmp::transform {
namespace {

using liveness::StorageDistance;

// The load when buffers share what they may.
Bytes load_with(const tir::Module& module, const std::vector<StorageDistance>& distances) {
  const liveness::Analysis analysis = liveness::analyse(module);
  Problem problem;
  problem.pools.push_back({.name = "workspace"});
  problem.horizon = analysis.horizon;
  std::map<tir::VarId, BufferId> buffers;
  std::vector<BufferId> all;
  for (const liveness::Site& site : analysis.sites) {
    if (site.kind == BufferKind::constant) continue;
    all.emplace_back(problem.buffers.size());
    buffers.emplace(site.var, all.back());
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
  return bounds::load(problem, all).bytes;
}

}  // namespace

StepResult describe_shared_bytes(const tir::Module& module, const std::vector<StorageDistance>& distances, Bytes load) {
  StepResult result{Step::inplace, load, distances.empty() ? load : load_with(module, distances), {}};
  for (const StorageDistance& distance : distances) {
    const auto name = [&](tir::VarId var) { return "'" + module.var(var).name + "'"; };
    result.changes.push_back({Step::inplace, module.functions[distance.function].name,
                              name(distance.above) + " may start " + std::to_string(distance.bytes) + " bytes above " +
                                  name(distance.below)});
  }
  return result;
}

}  // namespace usmp::transform
