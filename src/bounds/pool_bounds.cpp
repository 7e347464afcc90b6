// Lower bounds from the load: what is live at one tick has to be somewhere.
//
// Confined buffers (no other candidate, or none that is large enough): the pool holds them all, see packing_bound.
// Odd rings: see bounds.hpp.
// Overflow of bounded pools: let Q be bounded pools, and count the buffers that can only be in the pool or in
// Q. At each tick Q holds at most the sum of its capacities of them, and the pool has to hold the rest. With g a
// common divisor of all alignments, the same is true of sizes rounded up to g and capacities rounded up to g, except
// that the topmost buffer of the pool may end unrounded, by less than g. Q is every bounded pool that is tied to this
// one through buffers that may be in both, directly or through others; a tie through an unbounded pool says nothing.
// Sums of sizes: a bound rises to the next height that the pool can have, and capacities shrink to one, see Heights.
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

std::vector<BufferId> possible_in(const Problem& problem, PoolId pool) {
  std::vector<BufferId> buffers;
  for (std::size_t i = 0; i < problem.buffers.size(); ++i) {
    const auto& candidates = problem.buffers[i].candidates;
    if (std::find(candidates.begin(), candidates.end(), pool) != candidates.end()) buffers.emplace_back(i);
  }
  return buffers;
}

// The pool's capacity, less what no pile of its buffers can reach.
Bytes usable_room(const Problem& problem, PoolId id) {
  const Pool& pool = problem.pool(id);
  const Bytes capacity = pool.reserved + room_in(pool);
  if (!pool.capacity || *pool.capacity > capacity) return room_in(pool);
  return std::max<Bytes>(0, Heights(problem, possible_in(problem, id), pool).at_most(capacity) - pool.reserved);
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
    const Bytes room = granule == 1 ? usable_room(problem, PoolId(i)) : room_in(problem.pools[i], granule);
    bytes = std::max<Bytes>(0, bytes - room);
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
    PoolBound& bound = bounds.emplace_back(PoolBound{packed.bytes, packing_reason(problem, confined, packed)});
    const auto raise = [&](Bytes bytes, const char* reason) {
      if (bytes > bound.bytes) bound = {bytes, reason};
    };
    raise(odd_ring_bound(problem, confined, problem.pool(pool)), "odd ring of buffers");
    raise(overflow_bound(problem, pool), "load beyond the bounded pools");
    if (bound.bytes > 0) {
      raise(Heights(problem, possible_in(problem, pool), problem.pool(pool)).at_least(bound.bytes), "sums of sizes");
    }
  }
  return bounds;
}

}  // namespace usmp::bounds
