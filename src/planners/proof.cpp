#include "planners/proof.hpp"

#include <algorithm>
#include <numeric>
#include <set>

#include "usmp/problem/load.hpp"

namespace usmp::planners {
namespace {

// A pool never has to be larger than everything there is; this also keeps sums of capacities from overflowing as
// long as there are fewer than 2^6 pools, and checked_add below covers the rest.
Bytes useful_capacity(const Pool& pool) {
  return std::min(pool.capacity.value_or(Problem::max_total_bytes), Problem::max_total_bytes);
}

// Whether the buffers, confined to the pools (bounded, sorted), are more than fits at some tick.
bool overfull(const Problem& problem, const std::vector<PoolId>& pools, const std::vector<BufferId>& buffers) {
  if (pools.size() == 1) {
    const Pool& pool = problem.pool(pools.front());
    return packing_bound(problem, buffers, pool).bytes > *pool.capacity;
  }
  Bytes granule = 0;
  for (const PoolId pool : pools) granule = std::gcd(granule, common_alignment(problem, buffers, problem.pool(pool)));
  // Offsets are multiples of the granule, so the rounded sizes fit into the rounded capacities, as the plain sizes
  // fit into the plain ones.
  for (const Bytes unit : {Bytes{1}, granule}) {
    Bytes room = 0;
    for (const PoolId pool : pools) {
      const auto capacity = checked_align_up(useful_capacity(problem.pool(pool)), unit);
      const auto sum = capacity ? checked_add(room, *capacity) : std::nullopt;
      if (!sum) return false;
      room = *sum;
    }
    if (load(problem, buffers, unit).bytes > room) return true;
  }
  return false;
}

bool all_bounded(const Problem& problem, const std::vector<PoolId>& pools) {
  return std::all_of(pools.begin(), pools.end(), [&](PoolId pool) { return problem.pool(pool).capacity.has_value(); });
}

}  // namespace

PoolId home(const Problem& problem, BufferId id) {
  const std::vector<PoolId> pools = possible_pools(problem, id);
  return pools.empty() ? PoolId() : pools.front();
}

Ideal ideal(const Problem& problem, const Group& group) {
  Ideal result{.used = std::vector<Bytes>(problem.pools.size(), 0)};
  std::vector<std::vector<BufferId>> inhabitants(problem.pools.size());
  for (const BufferId id : group.buffers) {
    const PoolId pool = home(problem, id);
    if (!pool.valid()) continue;
    inhabitants[pool.index()].push_back(id);
    const auto& candidates = problem.buffer(id).candidates;
    const auto rank = std::find(candidates.begin(), candidates.end(), pool) - candidates.begin();
    result.spilled += problem.buffer(id).size * static_cast<Bytes>(rank);
  }
  for (const PoolId pool : group.pools) {
    result.used[pool.index()] = packing_bound(problem, inhabitants[pool.index()], problem.pool(pool)).bytes;
  }
  return result;
}

bool meets(const Score& score, const Ideal& ideal) {
  if (score.unplaced > 0 || score.spilled > ideal.spilled) return false;
  for (std::size_t i = 0; i < ideal.used.size(); ++i) {
    if (score.used[i] > ideal.used[i]) return false;
  }
  return true;
}

bool proved_infeasible(const Problem& problem) {
  std::vector<std::vector<PoolId>> possible;  // by BufferId, ascending
  std::set<std::vector<PoolId>> lists;
  std::set<PoolId> bounded;
  for (std::size_t i = 0; i < problem.buffers.size(); ++i) {
    std::vector<PoolId>& list = possible.emplace_back(possible_pools(problem, BufferId(i)));
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
