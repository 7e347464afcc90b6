// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// Idea: with one pool that is a group by itself, the least capacity is what an optimal plan of the unbounded pool uses.
// With several, it is what the pool is minimised to, whatever that costs in the others. Guarantee: both bounds are
// right, whatever ended the search. Tests: tests/planners/capacity_range_test.cpp, against exhaustive search.
#include "usmp/planners/capacity_range.hpp"

#include <algorithm>
#include <utility>

#include "planners/first_fit.hpp"
#include "usmp/bounds/bounds.hpp"
#include "usmp/planners/minimize_pool.hpp"

namespace usmp::planners {
namespace {

// The group's buffers alone, in all pools.
Problem problem_of(const Problem& problem, const Group& group) {
  Problem part{.pools = problem.pools, .buffers = {}, .horizon = problem.horizon};
  std::vector<BufferId> renumbered(problem.buffers.size());
  for (const BufferId id : group.buffers) {
    renumbered[id.index()] = BufferId(part.buffers.size());
    part.buffers.push_back(problem.buffer(id));
  }
  for (const Distance& distance : problem.distances) {  // stays sorted: the order of buffers does
    const BufferId below = renumbered[distance.below.index()];
    const BufferId above = renumbered[distance.above.index()];
    if (below.valid() && above.valid()) part.distances.push_back({below, above, distance.bytes});
  }
  return part;
}

}  // namespace

CapacityRange capacity_range(const Problem& problem, PoolId pool, const Options& options) {
  const std::vector<Group> groups = split_by_pools(problem);
  const auto group = std::ranges::find_if(
      groups, [&](const Group& one) { return std::ranges::find(one.pools, pool) != one.pools.end(); });
  if (group == groups.end()) return {.lower = 0, .upper = 0};
  Problem part = problem_of(problem, *group);
  part.pools[pool.index()].capacity.reset();
  CapacityRange range{.lower = bounds::pool_bounds(part)[pool.index()].bytes};
  Options wanted = options;
  wanted.feasibility_only = group->pools.size() > 1;
  const PlanResult result =
      wanted.feasibility_only ? minimize_pool(part, pool, optimal, wanted) : optimal(part, wanted);
  range.impossible = result.status == PlanStatus::infeasible;
  if (!result.has_plan()) return range;
  range.upper = used_bytes(part, result.plan)[pool.index()];
  if (result.bound) range.lower = std::max(range.lower, result.bound->used[pool.index()]);
  return range;
}

std::vector<std::vector<PoolId>> pool_groups(const Problem& problem) {
  std::vector<std::vector<PoolId>> groups;
  for (Group& group : split_by_pools(problem)) groups.push_back(std::move(group.pools));
  return groups;
}

}  // namespace usmp::planners
