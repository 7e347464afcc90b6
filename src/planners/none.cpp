// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// Every buffer gets bytes of its own: what a plan without sharing needs, the reference for all others.
//
// Buffers are stacked in id order, each in its first candidate pool that still has room above what is there; pinned
// buffers are there from the beginning.
// Cost: O(n). Guarantee: no two buffers share a byte, whether they conflict or not. Infeasible is claimed as for the
// other algorithms (no plan exists at all), not because sharing was given up.
// Tests: tests/planners/none_test.cpp.
#include <limits>

#include "planners/proof.hpp"
#include "usmp/planners/planner.hpp"

namespace usmp::planners {

PlanResult none(const Problem& problem, const Options&) {
  PlanResult result{.status = PlanStatus::feasible,
                    .plan = {std::vector<Allocation>(problem.buffers.size())},
                    .shortage = {},
                    .iterations = problem.buffers.size()};
  std::vector<Bytes> tops(problem.pools.size(), 0);
  for (std::size_t i = 0; i < problem.buffers.size(); ++i) {
    const Buffer& buffer = problem.buffers[i];
    if (!buffer.pinned) continue;
    const PoolId pool = buffer.candidates.front();
    result.plan.allocations[i] = {pool, *buffer.pinned};
    tops[pool.index()] = std::max(tops[pool.index()], *buffer.pinned + buffer.size);
  }
  for (std::size_t i = 0; i < problem.buffers.size(); ++i) {
    const Buffer& buffer = problem.buffers[i];
    if (buffer.pinned) continue;
    Shortage shortage{.buffer = BufferId(i), .pools = {}};
    for (const PoolId id : buffer.candidates) {
      const Pool& pool = problem.pool(id);
      // An empty buffer has no bytes to share, so it need not stand above anything.
      const Bytes top = buffer.size == 0 ? 0 : tops[id.index()];
      const Bytes offset = std::max(first_offset(buffer, pool), align_up(top, alignment_in(buffer, pool)));
      const Bytes capacity = pool.capacity.value_or(std::numeric_limits<Bytes>::max());
      if (offset + buffer.size <= capacity) {
        result.plan.allocations[i] = {id, offset};
        tops[id.index()] = std::max(tops[id.index()], offset + buffer.size);
        break;
      }
      shortage.pools.push_back({id, offset + buffer.size, capacity});
    }
    if (result.plan.allocations[i].placed()) continue;
    result.shortage = std::move(shortage);
    result.status = proved_infeasible(problem) ? PlanStatus::infeasible : PlanStatus::not_found;
    return result;
  }
  return result;
}

}  // namespace usmp::planners
