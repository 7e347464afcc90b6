// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// Compares packing bounds with used bytes, and the load of buffers confined to some pools with the room of these.
#include "planners/proof.hpp"

#include <algorithm>
#include <numeric>
#include <set>

#include "usmp/bounds/load.hpp"

namespace usmp::planners {
namespace {

// Whether the buffers, confined to the pools (bounded, sorted), are more than fits at some tick.
bool overfull(const Problem& problem, const std::vector<PoolId>& pools, const std::vector<BufferId>& buffers) {
  if (pools.size() == 1) {
    const Pool& pool = problem.pool(pools.front());
    return bounds::packing_bound(problem, buffers, pool).bytes > *pool.capacity;
  }
  Bytes granule = 0;
  for (const PoolId pool : pools)
    granule = std::gcd(granule, bounds::common_alignment(problem, buffers, problem.pool(pool)));
  // Offsets are multiples of the granule, so the rounded sizes fit into the rounded capacities, as the plain sizes
  // fit into the plain ones.
  for (const Bytes unit : {Bytes{1}, granule}) {
    Bytes room = 0;
    for (const PoolId pool : pools) {
      const auto sum = checked_add(room, bounds::room_in(problem.pool(pool), unit));
      if (!sum) return false;
      room = *sum;
    }
    if (bounds::load(problem, buffers, unit).bytes > room) return true;
  }
  return false;
}

bool all_bounded(const Problem& problem, const std::vector<PoolId>& pools) {
  return std::all_of(pools.begin(), pools.end(), [&](PoolId pool) { return problem.pool(pool).capacity.has_value(); });
}

}  // namespace

PoolId home(const Problem& problem, BufferId id) {
  const std::vector<PoolId> pools = bounds::possible_pools(problem, id);
  return pools.empty() ? PoolId() : pools.front();
}

Cost ideal(const Problem& problem, const Group& group) {
  Cost result = cost_of(problem, {std::vector<Allocation>(problem.buffers.size())});
  std::vector<std::vector<BufferId>> inhabitants(problem.pools.size());
  for (const BufferId id : group.buffers) {
    const PoolId pool = home(problem, id);
    if (!pool.valid()) continue;
    inhabitants[pool.index()].push_back(id);
    const auto& candidates = problem.buffer(id).candidates;
    const auto rank = std::find(candidates.begin(), candidates.end(), pool) - candidates.begin();
    add_choice(problem, problem.buffer(id), static_cast<std::size_t>(rank), result.spilled);
  }
  for (const PoolId pool : group.pools) {
    result.used[pool.index()] = bounds::packing_bound(problem, inhabitants[pool.index()], problem.pool(pool)).bytes;
  }
  return result;
}

bool meets(const Score& score, const Cost& ideal) { return score.unplaced == 0 && score.cost <= ideal; }

bool proved_infeasible(const Problem& problem) {
  std::vector<std::vector<PoolId>> possible;  // by BufferId, ascending
  std::set<std::vector<PoolId>> lists;
  std::set<PoolId> bounded;
  for (std::size_t i = 0; i < problem.buffers.size(); ++i) {
    std::vector<PoolId>& list = possible.emplace_back(bounds::possible_pools(problem, BufferId(i)));
    if (list.empty()) return true;
    std::sort(list.begin(), list.end());
    if (!all_bounded(problem, list)) continue;
    bounded.insert(list.begin(), list.end());
    lists.insert(list);
  }
  if (!bounded.empty()) lists.insert({bounded.begin(), bounded.end()});
  for (const std::vector<PoolId>& list : lists) {
    std::vector<BufferId> confined;
    for (std::size_t i = 0; i < possible.size(); ++i) {
      if (std::includes(list.begin(), list.end(), possible[i].begin(), possible[i].end())) confined.emplace_back(i);
    }
    if (overfull(problem, list, confined)) return true;
  }
  return false;
}

}  // namespace usmp::planners
