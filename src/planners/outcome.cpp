// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// Compares a plan with the packing bounds of its pools, and counts what a buffer without a place lacks.
#include "planners/outcome.hpp"

#include <algorithm>
#include <limits>
#include <utility>

#include "planners/proof.hpp"
#include "usmp/bounds/load.hpp"

namespace usmp::planners {
namespace {

bool meets_bound(const Problem& problem, const Plan& plan) {
  const std::vector<Group> groups = split_by_pools(problem);
  return std::all_of(groups.begin(), groups.end(), [&](const Group& group) {
    Plan part{std::vector<Allocation>(problem.buffers.size())};
    for (const BufferId id : group.buffers) part.allocations[id.index()] = plan.of(id);
    return meets({.unplaced = 0, .cost = cost_of(problem, part)}, ideal(problem, group));
  });
}

}  // namespace

Shortage shortage_above(const Problem& problem, BufferId id, const std::vector<Bytes>& tops) {
  const Buffer& buffer = problem.buffer(id);
  Shortage shortage{.buffer = id, .pools = {}};
  for (const PoolId candidate : buffer.candidates) {
    const Pool& pool = problem.pool(candidate);
    const bool needs_top = buffer.size > 0 && !buffer.live.empty();
    const Bytes offset =
        needs_top ? align_up(tops[candidate.index()], alignment_in(buffer, pool)) : first_offset(buffer, pool);
    shortage.pools.push_back(
        {candidate, offset + buffer.size, pool.capacity.value_or(std::numeric_limits<Bytes>::max())});
  }
  return shortage;
}

std::vector<Bytes> tops_above_pins(const Problem& problem) {
  std::vector<Bytes> tops;
  for (const Pool& pool : problem.pools) tops.push_back(pool.reserved);
  for (const Buffer& buffer : problem.buffers) {
    if (!buffer.pinned || buffer.live.empty()) continue;
    Bytes& top = tops[buffer.candidates.front().index()];
    top = std::max(top, *buffer.pinned + buffer.size);
  }
  return tops;
}

void place_fixed(const Problem& problem, Plan& plan) {
  plan.allocations.resize(problem.buffers.size());
  for (std::size_t i = 0; i < problem.buffers.size(); ++i) {
    const Buffer& buffer = problem.buffers[i];
    if (buffer.pinned) {
      plan.allocations[i] = {buffer.candidates.front(), *buffer.pinned};
    } else if (buffer.size == 0 || buffer.live.empty()) {
      const std::vector<PoolId> pools = bounds::possible_pools(problem, BufferId(i));
      if (!pools.empty()) plan.allocations[i] = {pools.front(), first_offset(buffer, problem.pool(pools.front()))};
    }
  }
}

PlanResult outcome(const Problem& problem, Plan plan, std::optional<Shortage> shortage, std::uint64_t iterations) {
  PlanResult result{.status = PlanStatus::feasible, .plan = {}, .shortage = {}, .iterations = iterations};
  const bool complete =
      std::all_of(plan.allocations.begin(), plan.allocations.end(), [](const Allocation& at) { return at.placed(); });
  if (!complete) {
    result.shortage = std::move(shortage);
    result.status = proved_infeasible(problem) ? PlanStatus::infeasible : PlanStatus::not_found;
    return result;
  }
  if (meets_bound(problem, plan)) result.status = PlanStatus::optimal;
  result.plan = std::move(plan);
  return result;
}

}  // namespace usmp::planners
