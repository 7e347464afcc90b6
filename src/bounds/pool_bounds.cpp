// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
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
#include <map>
#include <numeric>
#include <optional>

#include "usmp/bounds/bounds.hpp"

namespace usmp::bounds {
namespace {

using Possible = std::vector<std::vector<PoolId>>;  // by BufferId, see possible_pools

std::vector<BufferId> confined_to(const Possible& possible, PoolId pool) {
  std::vector<BufferId> buffers;
  for (std::size_t i = 0; i < possible.size(); ++i) {
    if (possible[i] == std::vector{pool}) buffers.emplace_back(i);
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

// Whether the bound is where a pinned buffer ends, and would be lower without pins.
bool comes_of_pins(const Problem& problem, const std::vector<BufferId>& buffers, PoolId pool, const Load& bound) {
  const bool ends_there = std::any_of(buffers.begin(), buffers.end(), [&](BufferId id) {
    const Buffer& buffer = problem.buffer(id);
    return buffer.pinned && *buffer.pinned + buffer.size == bound.bytes;
  });
  if (!ends_there) return false;
  Problem free = problem;
  for (Buffer& buffer : free.buffers) buffer.pinned.reset();
  return packing_bound(free, buffers, free.pool(pool)).bytes < bound.bytes;
}

std::string packing_reason(const Problem& problem, const std::vector<BufferId>& buffers, PoolId pool,
                           const Load& bound) {
  if (buffers.empty()) return "each buffer may be elsewhere";
  if (comes_of_pins(problem, buffers, pool, bound)) return "end of a pinned buffer";
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

// What all pools need to know of the problem, and what they ask for again and again.
class OverflowBounds {
 public:
  OverflowBounds(const Problem& problem, const Possible& possible)
      : problem_(problem),
        possible_(possible),
        inhabitants_(problem.pools.size()),
        unbounded_(possible.size(), 0),
        rooms_(problem.pools.size()) {
    for (std::size_t i = 0; i < possible.size(); ++i) {
      for (const PoolId pool : possible[i]) {
        inhabitants_[pool.index()].emplace_back(i);
        if (!problem.pool(pool).capacity) ++unbounded_[i];
      }
    }
  }

  [[nodiscard]] Bytes of(PoolId pool) {
    const Overflow overflow = tied_to(pool);
    Bytes granule = 0;
    for (std::size_t i = 0; i < problem_.pools.size(); ++i) {
      if (overflow.tied[i])
        granule = std::gcd(granule, common_alignment(problem_, overflow.buffers, problem_.pools[i]));
    }
    if (overflow.buffers != buffers_) {
      buffers_ = overflow.buffers;
      loads_.clear();
    }
    return std::max(beyond(overflow, pool, 1), beyond(overflow, pool, granule));
  }

 private:
  [[nodiscard]] Overflow tied_to(PoolId pool) const {
    Overflow result{.tied = std::vector<bool>(problem_.pools.size(), false), .buffers = {}};
    result.tied[pool.index()] = true;
    const bool is_bounded = problem_.pool(pool).capacity.has_value();
    std::vector<bool> seen(possible_.size(), false);
    std::vector<PoolId> reached = {pool};
    for (std::size_t next = 0; next < reached.size(); ++next) {
      for (const BufferId id : inhabitants_[reached[next].index()]) {
        const std::vector<PoolId>& pools = possible_[id.index()];
        if (seen[id.index()]) continue;
        seen[id.index()] = true;
        const bool may_be_here = !is_bounded && std::find(pools.begin(), pools.end(), pool) != pools.end();
        if (unbounded_[id.index()] > (may_be_here ? 1U : 0U)) continue;
        result.buffers.push_back(id);
        for (const PoolId other : pools) {
          if (!result.tied[other.index()]) reached.push_back(other);
          result.tied[other.index()] = true;
        }
      }
    }
    std::sort(result.buffers.begin(), result.buffers.end());
    return result;
  }

  // What the tied pools cannot hold without `pool`, with sizes rounded up to `granule`.
  [[nodiscard]] Bytes beyond(const Overflow& overflow, PoolId pool, Bytes granule) {
    Bytes bytes = load_of_buffers(granule) - (granule - 1);
    for (std::size_t i = 0; i < problem_.pools.size(); ++i) {
      if (!overflow.tied[i] || i == pool.index()) continue;
      const Bytes room = granule == 1 ? room_of(PoolId(i)) : room_in(problem_.pools[i], granule);
      bytes = std::max<Bytes>(0, bytes - room);
    }
    return bytes == 0 ? 0 : bytes + align_up(problem_.pool(pool).reserved, granule);
  }

  [[nodiscard]] Bytes load_of_buffers(Bytes granule) {
    const auto [found, is_new] = loads_.emplace(granule, 0);
    if (is_new) found->second = load(problem_, buffers_, granule).bytes;
    return found->second;
  }

  [[nodiscard]] Bytes room_of(PoolId pool) {
    std::optional<Bytes>& room = rooms_[pool.index()];
    if (!room) room = usable_room(problem_, pool);
    return *room;
  }

  const Problem& problem_;
  const Possible& possible_;
  std::vector<std::vector<BufferId>> inhabitants_;  // by PoolId
  std::vector<std::size_t> unbounded_;              // by BufferId, of the pools that are possible
  std::vector<std::optional<Bytes>> rooms_;         // by PoolId
  std::vector<BufferId> buffers_;                   // of the overflow at hand: often that of the pool before
  std::map<Bytes, Bytes> loads_;                    // of these, by granule
};

}  // namespace

std::vector<PoolBound> pool_bounds(const Problem& problem) {
  Possible possible;
  for (std::size_t i = 0; i < problem.buffers.size(); ++i) possible.push_back(possible_pools(problem, BufferId(i)));
  OverflowBounds overflow(problem, possible);
  std::vector<PoolBound> bounds;
  for (std::size_t i = 0; i < problem.pools.size(); ++i) {
    const PoolId pool(i);
    const std::vector<BufferId> confined = confined_to(possible, pool);
    const Load packed = packing_bound(problem, confined, problem.pool(pool));
    PoolBound& bound = bounds.emplace_back(PoolBound{packed.bytes, packing_reason(problem, confined, pool, packed)});
    const auto raise = [&](Bytes bytes, const char* reason) {
      if (bytes > bound.bytes) bound = {bytes, reason};
    };
    raise(odd_ring_bound(problem, confined, problem.pool(pool)), "odd ring of buffers");
    raise(overflow.of(pool), "live bytes beyond the bounded pools");
    if (bound.bytes > 0) {
      raise(Heights(problem, possible_in(problem, pool), problem.pool(pool)).at_least(bound.bytes), "sums of sizes");
    }
  }
  return bounds;
}

}  // namespace usmp::bounds
