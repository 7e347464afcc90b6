// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// Checks buffers, pools, pins and distances, finds conflicts in a sweep over time, and computes costs.
#include "usmp/problem/problem.hpp"

#include <algorithm>
#include <cassert>
#include <map>
#include <numeric>
#include <set>

#include "usmp/support/text.hpp"

namespace usmp {
namespace {

std::optional<std::string> invalid_live_ranges(const Buffer& buffer, Tick horizon) {
  const LiveRange* previous = nullptr;
  for (const LiveRange& range : buffer.live) {
    if (range.begin < 0 || range.begin >= range.end || range.end > horizon) {
      return "buffer " + in_quotes(buffer.name) + ": live range [" + std::to_string(range.begin) + ", " +
             std::to_string(range.end) + ") is empty or outside [0, " + std::to_string(horizon) + ")";
    }
    if (previous != nullptr && range.begin <= previous->end) {
      return "buffer " + in_quotes(buffer.name) + ": live ranges are not sorted, disjoint and apart";
    }
    previous = &range;
  }
  return std::nullopt;
}

std::optional<std::string> invalid_buffer(const Buffer& buffer, std::size_t pool_count) {
  if (buffer.size < 0) return "buffer " + in_quotes(buffer.name) + ": negative size " + std::to_string(buffer.size);
  if (buffer.alignment < 1) {
    return "buffer " + in_quotes(buffer.name) + ": alignment " + std::to_string(buffer.alignment) + " is below 1";
  }
  if (buffer.candidates.empty()) return "buffer " + in_quotes(buffer.name) + ": no candidate pool";
  if (buffer.pinned && buffer.candidates.size() != 1) {
    return "buffer " + in_quotes(buffer.name) + " is pinned, but not to one pool";
  }
  std::set<PoolId> seen;
  for (const PoolId pool : buffer.candidates) {
    if (pool.index() >= pool_count) return "buffer " + in_quotes(buffer.name) + ": candidate pool does not exist";
    if (!seen.insert(pool).second) return "buffer " + in_quotes(buffer.name) + ": candidate pool named twice";
  }
  return std::nullopt;
}

std::optional<std::string> invalid_charges(const Problem& problem) {
  Bytes total = 0;
  for (const Buffer& buffer : problem.buffers) {
    if (buffer.charges.size() != (problem.charged ? buffer.candidates.size() : 0)) {
      return "buffer " + in_quotes(buffer.name) + " has " + std::to_string(buffer.charges.size()) +
             " charges, but not one for each candidate pool of a charged problem";
    }
    if (buffer.charges.empty()) continue;
    if (buffer.charges.front() < 0 || !std::is_sorted(buffer.charges.begin(), buffer.charges.end())) {
      return "buffer " + in_quotes(buffer.name) + ": charges are negative or do not ascend";
    }
    const auto sum = checked_add(total, buffer.charges.back());
    if (!sum || *sum > Problem::max_total_bytes) {
      return "the charges of the buffers are more than " + std::to_string(Problem::max_total_bytes) + " in total";
    }
    total = *sum;
  }
  return std::nullopt;
}

std::optional<std::string> invalid_pools(const std::vector<Pool>& pools) {
  if (pools.size() > Problem::max_pools) {
    return "there are " + std::to_string(pools.size()) + " pools, more than the limit of " +
           std::to_string(Problem::max_pools);
  }
  std::set<std::string> names;
  for (const Pool& pool : pools) {
    if (pool.alignment < 1) return "pool " + in_quotes(pool.name) + ": alignment is below 1";
    if (pool.capacity && *pool.capacity < 0) return "pool " + in_quotes(pool.name) + ": negative capacity";
    if (pool.reserved < 0) return "pool " + in_quotes(pool.name) + ": negative reserved bytes";
    if (!names.insert(pool.name).second) return "pool " + in_quotes(pool.name) + " appears twice";
  }
  return std::nullopt;
}

// Upper bound of the bytes that any placement one above the other can reach; nothing if over the limit.
std::optional<Bytes> total_bytes(const Problem& problem) {
  Bytes pool_alignment = 1;
  for (const Pool& pool : problem.pools) pool_alignment = std::max(pool_alignment, pool.alignment);
  Bytes total = 0;  // what stands below everything else: reserved bytes, and pins, which may be anywhere
  for (const Pool& pool : problem.pools) total = std::max(total, pool.reserved);
  for (const Buffer& buffer : problem.buffers) {
    const auto end = buffer.pinned ? checked_add(*buffer.pinned, buffer.size) : std::optional<Bytes>(0);
    if (!end) return std::nullopt;
    total = std::max(total, *end);
  }
  if (total > Problem::max_total_bytes) return std::nullopt;
  for (const Buffer& buffer : problem.buffers) {
    const auto step = checked_mul(buffer.alignment, pool_alignment);
    const auto padded = step ? checked_add(buffer.size, *step) : std::nullopt;
    const auto sum = padded ? checked_add(total, *padded) : std::nullopt;
    if (!sum || *sum > Problem::max_total_bytes) return std::nullopt;
    total = *sum;
  }
  return total;
}

std::string pin_text(const Buffer& buffer, const Pool& pool) {
  return "buffer " + in_quotes(buffer.name) + " is pinned to offset " + std::to_string(*buffer.pinned) + " of pool " +
         in_quotes(pool.name);
}

std::optional<std::string> invalid_distances(const Problem& problem) {
  const Distance* previous = nullptr;
  for (const Distance& distance : problem.distances) {
    if (distance.below.index() >= problem.buffers.size() || distance.above.index() >= problem.buffers.size()) {
      return "a distance is between buffers that do not exist";
    }
    const Buffer& below = problem.buffer(distance.below);
    const std::string who = "the distance from buffer " + in_quotes(below.name) + " to buffer " +
                            in_quotes(problem.buffer(distance.above).name);
    if (distance.below == distance.above) return who + ": both are the same buffer";
    if (distance.bytes < 0 || distance.bytes >= below.size) {
      return who + " is " + std::to_string(distance.bytes) + ", not in [0, " + std::to_string(below.size) + ")";
    }
    const auto key = [](const Distance& one) { return std::pair(one.below, one.above); };
    if (previous != nullptr && key(*previous) >= key(distance)) return who + " appears twice or out of order";
    previous = &distance;
  }
  return std::nullopt;
}

// One pin by itself; total_bytes has bounded its end.
std::optional<std::string> invalid_pin(const Problem& problem, const Buffer& buffer) {
  const Pool& pool = problem.pool(buffer.candidates.front());
  const std::string pin = pin_text(buffer, pool);
  if (*buffer.pinned < pool.reserved && buffer.size > 0) {
    return pin + ", but its first " + std::to_string(pool.reserved) + " bytes are reserved";
  }
  if (*buffer.pinned % alignment_in(buffer, pool) != 0) {
    return pin + ", which is not a multiple of its alignment " + std::to_string(alignment_in(buffer, pool));
  }
  if (pool.capacity && *buffer.pinned + buffer.size > *pool.capacity) {
    return pin + " and has " + std::to_string(buffer.size) + " bytes, but the pool's capacity is " +
           std::to_string(*pool.capacity);
  }
  return std::nullopt;
}

bool pins_collide(const Problem& problem, BufferId a, BufferId b) {
  const Buffer& one = problem.buffer(a);
  const Buffer& other = problem.buffer(b);
  return one.candidates == other.candidates && !far_enough(problem, a, *one.pinned, b, *other.pinned) &&
         overlap(one.live, other.live);
}

// Live pinned buffers of one pool. A layer holds buffers that share no byte; without distances there is one.
class PinnedLayers {
 public:
  explicit PinnedLayers(const Problem& problem) : problem_(problem) {}

  // False: the buffer collides with one that is live.
  bool insert(BufferId id) {
    Layer* home = nullptr;
    for (Layer& layer : layers_) {
      bool meets = false;
      if (!may_join(layer, id, meets)) return false;
      if (!meets && home == nullptr) home = &layer;
    }
    if (home == nullptr) home = &layers_.emplace_back();
    home->emplace(offset(id), id);
    return true;
  }

  void remove(BufferId id) {
    for (Layer& layer : layers_) {
      const auto found = layer.find(offset(id));
      if (found != layer.end() && found->second == id) return static_cast<void>(layer.erase(found));
    }
  }

 private:
  using Layer = std::map<Bytes, BufferId>;

  [[nodiscard]] Bytes offset(BufferId id) const { return *problem_.buffer(id).pinned; }
  [[nodiscard]] Bytes end(BufferId id) const { return offset(id) + problem_.buffer(id).size; }

  bool may_join(const Layer& layer, BufferId id, bool& meets) const {
    for (auto other = layer.lower_bound(end(id)); other != layer.begin();) {
      --other;
      if (end(other->second) <= offset(id)) return true;
      meets = true;
      if (pins_collide(problem_, id, other->second)) return false;
    }
    return true;
  }

  const Problem& problem_;
  std::vector<Layer> layers_;
};

// Whether two collide. O(n log n) for n live ranges, times the buffers that distances let lie on top of each other.
bool any_pins_collide(const Problem& problem) {
  struct Event {
    Tick tick;
    bool begins;  // ends come first: ranges are half-open
    BufferId buffer;
    auto operator<=>(const Event&) const = default;
  };
  std::vector<Event> events;
  std::map<PoolId, PinnedLayers> pools;
  for (std::size_t i = 0; i < problem.buffers.size(); ++i) {
    const Buffer& buffer = problem.buffers[i];
    if (!buffer.pinned || buffer.size == 0) continue;
    pools.emplace(buffer.candidates.front(), problem);
    for (const LiveRange& range : buffer.live) {
      events.push_back({range.begin, true, BufferId(i)});
      events.push_back({range.end, false, BufferId(i)});
    }
  }
  std::ranges::sort(events);
  return std::ranges::any_of(events, [&](const Event& event) {
    PinnedLayers& pool = pools.at(problem.buffer(event.buffer).candidates.front());
    if (event.begins) return !pool.insert(event.buffer);
    pool.remove(event.buffer);
    return false;
  });
}

// Says which is the first that cannot stand.
std::optional<std::string> invalid_pins(const Problem& problem) {
  std::vector<BufferId> pinned;
  const bool collide = any_pins_collide(problem);
  for (std::size_t i = 0; i < problem.buffers.size(); ++i) {
    const Buffer& buffer = problem.buffers[i];
    if (!buffer.pinned) continue;
    if (auto reason = invalid_pin(problem, buffer)) return reason;
    if (!collide) continue;
    for (const BufferId id : pinned) {
      if (!pins_collide(problem, BufferId(i), id)) continue;
      const Buffer& other = problem.buffer(id);
      return pin_text(buffer, problem.pool(buffer.candidates.front())) + " and overlaps buffer " +
             in_quotes(other.name) + ", pinned to offset " + std::to_string(*other.pinned) +
             " and live at the same time";
    }
    pinned.emplace_back(i);
  }
  return std::nullopt;
}

}  // namespace

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

const char* to_string(StopReason reason) {
  switch (reason) {
    case StopReason::finished:
      return "finished";
    case StopReason::node_limit:
      return "node_limit";
    case StopReason::time_limit:
      return "time_limit";
    case StopReason::interrupted:
      return "interrupted";
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
  if (auto reason = invalid_charges(problem)) return reason;
  if (!total_bytes(problem)) {
    return "the buffers need more than " + std::to_string(Problem::max_total_bytes) + " bytes in total";
  }
  if (auto reason = invalid_distances(problem)) return reason;
  return invalid_pins(problem);
}

Bytes alignment_in(const Buffer& buffer, const Pool& pool) { return std::lcm(buffer.alignment, pool.alignment); }

Bytes first_offset(const Buffer& buffer, const Pool& pool) {
  return buffer.size == 0 ? 0 : align_up(pool.reserved, alignment_in(buffer, pool));
}

Bytes distance(const Problem& problem, BufferId below, BufferId above) {
  const auto key = [](const Distance& one) { return std::pair(one.below, one.above); };
  const auto found = std::ranges::lower_bound(problem.distances, std::pair(below, above), {}, key);
  const bool is_known = found != problem.distances.end() && key(*found) == std::pair(below, above);
  return is_known ? found->bytes : problem.buffer(below).size;
}

bool far_enough(const Problem& problem, BufferId a, Bytes offset_a, BufferId b, Bytes offset_b) {
  if (problem.buffer(a).size == 0 || problem.buffer(b).size == 0) return true;
  return offset_b - offset_a >= distance(problem, a, b) || offset_a - offset_b >= distance(problem, b, a);
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

Cost cost_of(const Problem& problem, const Plan& plan) {
  std::size_t choices = 1;
  for (const Buffer& buffer : problem.buffers) choices = std::max(choices, buffer.candidates.size());
  Cost cost{.spilled = std::vector<Bytes>(choices - 1 + (problem.charged ? 1 : 0), 0),
            .used = used_bytes(problem, plan)};
  for (std::size_t i = 0; i < problem.buffers.size(); ++i) {
    const Buffer& buffer = problem.buffers[i];
    if (!plan.allocations[i].placed()) continue;
    const auto found = std::find(buffer.candidates.begin(), buffer.candidates.end(), plan.allocations[i].pool);
    const auto rank = static_cast<std::size_t>(found - buffer.candidates.begin());
    add_choice(problem, buffer, rank, cost.spilled);
  }
  return cost;
}

void add_choice(const Problem& problem, const Buffer& buffer, std::size_t rank, std::vector<Bytes>& spilled) {
  const std::size_t first = problem.charged ? 1 : 0;
  if (problem.charged) spilled.front() += buffer.charges[std::min(rank, buffer.charges.size() - 1)];
  for (std::size_t r = first; r < std::min(first + rank, spilled.size()); ++r) spilled[r] += buffer.size;
}

}  // namespace usmp
