// Lower bounds from the load: what is live at one tick has to be somewhere.
//
// Confined buffers (no other candidate, or none that is large enough): the pool holds them all, see packing_bound.
// Overflow of bounded pools: let Q be bounded pools, and count the buffers that can only be in the pool or in
// Q. At each tick Q holds at most the sum of its capacities of them, and the pool has to hold the rest. With g a
// common divisor of all alignments, the same is true of sizes rounded up to g and capacities rounded up to g, except
// that the topmost buffer of the pool may end unrounded, by less than g. Q is every bounded pool that is tied to this
// one through buffers that may be in both, directly or through others; a tie through an unbounded pool says nothing.
// Cost: O(pools · n log n).
// Tests: tests/bounds, against exhaustive search.
#include <algorithm>
#include <numeric>

#include "usmp/bounds/bounds.hpp"

namespace usmp::bounds {
namespace {

std::vector<BufferId> confined_to(const Problem& problem, PoolId pool) {
  std::vector<BufferId> buffers;
  for (std::size_t i = 0; i < problem.buffers.size(); ++i) {
    if (possible_pools(problem, BufferId(i)) == std::vector{pool}) buffers.emplace_back(i);
  }
  return buffers;
}

std::string packing_reason(const Problem& problem, const std::vector<BufferId>& buffers, const Load& bound) {
  if (buffers.empty()) return "no buffer has to be here";
  const Load plain = load(problem, buffers);
  const auto constant = [&](BufferId id) {
    const Buffer& buffer = problem.buffer(id);
    return buffer.kind == BufferKind::constant && overlap(buffer.live, {{bound.at, bound.at + 1}});
  };
  if (std::all_of(buffers.begin(), buffers.end(), constant)) return "all constants are live";
  if (plain.bytes == bound.bytes) return "load";
  const bool one_buffer =
      std::any_of(buffers.begin(), buffers.end(), [&](BufferId id) { return problem.buffer(id).size == bound.bytes; });
  return one_buffer ? "largest buffer" : "aligned load";
}

// Pools are tied when a buffer may be in both; only buffers that no other unbounded pool can take count.
struct Overflow {
  std::vector<bool> tied;  // pool and Q, by PoolId
  std::vector<BufferId> buffers;
};

Overflow tied_to(const Problem& problem, PoolId pool) {
  Overflow result{.tied = std::vector<bool>(problem.pools.size(), false), .buffers = {}};
  result.tied[pool.index()] = true;
  std::vector<std::vector<PoolId>> possible;  // by BufferId
  std::vector<BufferId> relevant;
  for (std::size_t i = 0; i < problem.buffers.size(); ++i) {
    const auto& pools = possible.emplace_back(possible_pools(problem, BufferId(i)));
    const bool bounded = std::all_of(pools.begin(), pools.end(),
                                     [&](PoolId id) { return id == pool || problem.pool(id).capacity.has_value(); });
    if (bounded) relevant.emplace_back(i);
  }
  const auto touches = [&](BufferId id) {
    const auto& pools = possible[id.index()];
    return std::any_of(pools.begin(), pools.end(), [&](PoolId other) { return result.tied[other.index()]; });
  };
  for (bool grew = true; grew;) {
    grew = false;
    for (const BufferId id : relevant) {
      if (!touches(id)) continue;
      for (const PoolId other : possible[id.index()]) {
        grew = grew || !result.tied[other.index()];
        result.tied[other.index()] = true;
      }
    }
  }
  std::copy_if(relevant.begin(), relevant.end(), std::back_inserter(result.buffers), touches);
  return result;
}

// What the tied pools cannot hold without `pool`, with sizes rounded up to `granule`.
Bytes beyond(const Problem& problem, const Overflow& overflow, PoolId pool, Bytes granule) {
  Bytes bytes = load(problem, overflow.buffers, granule).bytes - (granule - 1);
  for (std::size_t i = 0; i < problem.pools.size(); ++i) {
    if (!overflow.tied[i] || i == pool.index()) continue;
    bytes = std::max<Bytes>(0, bytes - room_in(problem.pools[i], granule));
  }
  return bytes == 0 ? 0 : bytes + align_up(problem.pool(pool).reserved, granule);
}

Bytes overflow_bound(const Problem& problem, PoolId pool) {
  const Overflow overflow = tied_to(problem, pool);
  Bytes granule = 0;
  for (std::size_t i = 0; i < problem.pools.size(); ++i) {
    if (overflow.tied[i]) granule = std::gcd(granule, common_alignment(problem, overflow.buffers, problem.pools[i]));
  }
  return std::max(beyond(problem, overflow, pool, 1), beyond(problem, overflow, pool, granule));
}

}  // namespace

std::vector<PoolBound> pool_bounds(const Problem& problem) {
  std::vector<PoolBound> bounds;
  for (std::size_t i = 0; i < problem.pools.size(); ++i) {
    const PoolId pool(i);
    const std::vector<BufferId> confined = confined_to(problem, pool);
    const Load packed = packing_bound(problem, confined, problem.pool(pool));
    const Bytes overflow = overflow_bound(problem, pool);
    if (overflow > packed.bytes) {
      bounds.push_back({overflow, "load beyond the bounded pools"});
    } else {
      bounds.push_back({packed.bytes, packing_reason(problem, confined, packed)});
    }
  }
  return bounds;
}

}  // namespace usmp::bounds
