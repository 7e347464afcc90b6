#include "usmp/problem/problem.hpp"

#include <algorithm>
#include <cassert>
#include <numeric>
#include <set>

namespace usmp {
namespace {

std::string quoted(const std::string& name) { return "'" + name + "'"; }

std::optional<std::string> invalid_live_ranges(const Buffer& buffer, Tick horizon) {
  const LiveRange* previous = nullptr;
  for (const LiveRange& range : buffer.live) {
    if (range.begin < 0 || range.begin >= range.end || range.end > horizon) {
      return "buffer " + quoted(buffer.name) + ": live range [" + std::to_string(range.begin) + ", " +
             std::to_string(range.end) + ") is empty or outside [0, " + std::to_string(horizon) + ")";
    }
    if (previous != nullptr && range.begin <= previous->end) {
      return "buffer " + quoted(buffer.name) + ": live ranges are not sorted, disjoint and apart";
    }
    previous = &range;
  }
  return std::nullopt;
}

std::optional<std::string> invalid_buffer(const Buffer& buffer, std::size_t pool_count) {
  if (buffer.size < 0) return "buffer " + quoted(buffer.name) + ": negative size " + std::to_string(buffer.size);
  if (buffer.alignment < 1) {
    return "buffer " + quoted(buffer.name) + ": alignment " + std::to_string(buffer.alignment) + " is below 1";
  }
  if (buffer.candidates.empty()) return "buffer " + quoted(buffer.name) + ": no candidate pool";
  std::set<PoolId> seen;
  for (const PoolId pool : buffer.candidates) {
    if (pool.index() >= pool_count) return "buffer " + quoted(buffer.name) + ": candidate pool does not exist";
    if (!seen.insert(pool).second) return "buffer " + quoted(buffer.name) + ": candidate pool named twice";
  }
  return std::nullopt;
}

std::optional<std::string> invalid_pools(const std::vector<Pool>& pools) {
  std::set<std::string> names;
  for (const Pool& pool : pools) {
    if (pool.alignment < 1) return "pool " + quoted(pool.name) + ": alignment is below 1";
    if (pool.capacity && *pool.capacity < 0) return "pool " + quoted(pool.name) + ": negative capacity";
    if (!names.insert(pool.name).second) return "pool " + quoted(pool.name) + " stands twice";
  }
  return std::nullopt;
}

// Upper bound of the bytes that any placement one above the other can reach; nothing if over the limit.
std::optional<Bytes> total_bytes(const Problem& problem) {
  Bytes pool_alignment = 1;
  for (const Pool& pool : problem.pools) pool_alignment = std::max(pool_alignment, pool.alignment);
  Bytes total = 0;
  for (const Buffer& buffer : problem.buffers) {
    const auto step = checked_mul(buffer.alignment, pool_alignment);
    const auto padded = step ? checked_add(buffer.size, *step) : std::nullopt;
    const auto sum = padded ? checked_add(total, *padded) : std::nullopt;
    if (!sum || *sum > Problem::max_total_bytes) return std::nullopt;
    total = *sum;
  }
  return total;
}

}  // namespace

const char* to_string(BufferKind kind) {
  switch (kind) {
    case BufferKind::tensor:
      return "tensor";
    case BufferKind::scratch:
      return "scratch";
    case BufferKind::input:
      return "input";
    case BufferKind::output:
      return "output";
    case BufferKind::constant:
      return "constant";
  }
  return "?";
}

const char* to_string(PlanStatus status) {
  switch (status) {
    case PlanStatus::feasible:
      return "feasible";
    case PlanStatus::optimal:
      return "optimal";
    case PlanStatus::infeasible:
      return "infeasible";
    case PlanStatus::not_found:
      return "not_found";
  }
  return "?";
}

std::optional<std::string> invalid_reason(const Problem& problem) {
  if (auto reason = invalid_pools(problem.pools)) return reason;
  if (problem.horizon < 0) return "negative horizon";
  for (const Buffer& buffer : problem.buffers) {
    if (auto reason = invalid_buffer(buffer, problem.pools.size())) return reason;
    if (auto reason = invalid_live_ranges(buffer, problem.horizon)) return reason;
  }
  if (!total_bytes(problem)) {
    return "the buffers need more than " + std::to_string(Problem::max_total_bytes) + " bytes in all";
  }
  return std::nullopt;
}

Bytes alignment_in(const Buffer& buffer, const Pool& pool) { return std::lcm(buffer.alignment, pool.alignment); }

bool overlap(const std::vector<LiveRange>& a, const std::vector<LiveRange>& b) {
  auto i = a.begin();
  auto j = b.begin();
  while (i != a.end() && j != b.end()) {
    if (i->end <= j->begin) {
      ++i;
    } else if (j->end <= i->begin) {
      ++j;
    } else {
      return true;
    }
  }
  return false;
}

Conflicts::Conflicts(const Problem& problem) : neighbours_(problem.buffers.size()) {
  struct Event {
    Tick tick;
    bool begins;
    BufferId buffer;
  };
  std::vector<Event> events;
  for (std::size_t i = 0; i < problem.buffers.size(); ++i) {
    for (const LiveRange& range : problem.buffers[i].live) {
      events.push_back({range.begin, true, BufferId(i)});
      events.push_back({range.end, false, BufferId(i)});
    }
  }
  // Ends come before begins at one tick: ranges are half-open.
  std::sort(events.begin(), events.end(), [](const Event& a, const Event& b) {
    if (a.tick != b.tick) return a.tick < b.tick;
    if (a.begins != b.begins) return !a.begins;
    return a.buffer < b.buffer;
  });
  std::set<BufferId> live;
  for (const Event& event : events) {
    if (!event.begins) {
      live.erase(event.buffer);
      continue;
    }
    for (const BufferId other : live) {
      neighbours_[other.index()].push_back(event.buffer);
      neighbours_[event.buffer.index()].push_back(other);
    }
    live.insert(event.buffer);
  }
  for (auto& list : neighbours_) {
    std::sort(list.begin(), list.end());
    list.erase(std::unique(list.begin(), list.end()), list.end());
  }
}

bool Conflicts::between(BufferId a, BufferId b) const { return std::binary_search(of(a).begin(), of(a).end(), b); }

std::size_t Conflicts::pairs() const {
  std::size_t ends = 0;
  for (const auto& list : neighbours_) ends += list.size();
  return ends / 2;
}

std::vector<Bytes> used_bytes(const Problem& problem, const Plan& plan) {
  assert(plan.allocations.size() == problem.buffers.size());
  std::vector<Bytes> used(problem.pools.size(), 0);
  for (std::size_t i = 0; i < problem.buffers.size(); ++i) {
    const Allocation& allocation = plan.allocations[i];
    if (!allocation.placed()) continue;
    Bytes& end = used[allocation.pool.index()];
    end = std::max(end, allocation.offset + problem.buffers[i].size);
  }
  return used;
}

}  // namespace usmp
