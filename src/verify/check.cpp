// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// Looks at every buffer and at every pair that may share bytes, and shares no code with the planners or the conflict
// graph, so that one fault does not hide in both. Which pairs these are is found in two ways: all of them, or those
// that a sweep over time meets; what is wrong with a pair is said by the same comparison of its live ranges. Nothing a
// plan claims may overflow.
// Tests: tests/verify, where each kind of fault is put into a right plan, and both ways are compared.
#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <utility>

#include "usmp/support/text.hpp"
#include "usmp/verify/verify.hpp"
#include "verify/sharing.hpp"

namespace usmp::verify {
namespace {

std::string span_of(Bytes begin, Bytes size) {
  return "[" + std::to_string(begin) + ", " + std::to_string(begin + size) + ")";
}

// Its end can be expressed, so that comparing it means something.
bool well_placed(const Problem& problem, const Allocation& at, const Buffer& buffer) {
  return at.pool.index() < problem.pools.size() && at.offset >= 0 && checked_add(at.offset, buffer.size).has_value();
}

bool share_as_they_may(const Problem& problem, const Plan& plan, BufferId a, BufferId b) {
  return may_share(problem, a, plan.of(a).offset, b, plan.of(b).offset);
}

std::size_t live_ranges(const Problem& problem) {
  std::size_t count = 0;
  for (const Buffer& buffer : problem.buffers) count += buffer.live.size();
  return count;
}

using Pair = std::pair<BufferId, BufferId>;  // the smaller id first

// Live buffers of one pool. A layer holds buffers that share no byte, by their offsets; a right plan has one layer.
class Layers {
 public:
  explicit Layers(const Problem& problem, const Plan& plan) : problem_(problem), plan_(plan) {}

  void insert(BufferId id, std::set<Pair>& met) {
    Layer* home = nullptr;
    for (Layer& layer : layers_) {
      if (!meet(layer, id, met) && home == nullptr) home = &layer;
    }
    if (home == nullptr) home = &layers_.emplace_back();
    home->emplace(plan_.of(id).offset, id);
  }

  void remove(BufferId id) {
    for (Layer& layer : layers_) {
      const auto found = layer.find(plan_.of(id).offset);
      if (found == layer.end() || found->second != id) continue;
      layer.erase(found);
      break;
    }
    std::erase_if(layers_, [](const Layer& layer) { return layer.empty(); });
  }

 private:
  using Layer = std::map<Bytes, BufferId>;

  // Whether the buffer shares bytes with one of the layer, be it allowed or not.
  bool meet(const Layer& layer, BufferId id, std::set<Pair>& met) const {
    bool any = false;
    const Bytes begin = plan_.of(id).offset;
    auto other = layer.lower_bound(begin + problem_.buffer(id).size);
    while (other != layer.begin()) {
      --other;
      if (other->first + problem_.buffer(other->second).size <= begin) break;
      any = true;
      if (share_as_they_may(problem_, plan_, id, other->second)) continue;
      met.emplace(std::min(id, other->second), std::max(id, other->second));
    }
    return any;
  }

  const Problem& problem_;
  const Plan& plan_;
  std::vector<Layer> layers_;
};

// The pairs that share bytes of a pool while both are live and may not; stops when it has `most` or more. O(n log n)
// for n live ranges if there are none; k buffers on top of each other cost k times as much, and each pair a step for
// every tick at which it begins anew.
std::set<Pair> pairs_that_meet(const Problem& problem, const Plan& plan, std::size_t most) {
  struct Event {
    Tick tick;
    bool begins;
    BufferId buffer;
  };
  std::vector<Event> events;
  for (std::size_t i = 0; i < problem.buffers.size(); ++i) {
    const Buffer& buffer = problem.buffers[i];
    if (buffer.size == 0 || !well_placed(problem, plan.allocations[i], buffer)) continue;
    for (const LiveRange& range : buffer.live) {
      events.push_back({range.begin, true, BufferId(i)});
      events.push_back({range.end, false, BufferId(i)});
    }
  }
  // Ends come before begins at one tick: ranges are half-open.
  std::stable_sort(events.begin(), events.end(), [](const Event& a, const Event& b) {
    return a.tick != b.tick ? a.tick < b.tick : !a.begins && b.begins;
  });
  std::vector<Layers> pools(problem.pools.size(), Layers(problem, plan));
  std::set<Pair> pairs;
  for (const Event& event : events) {
    if (pairs.size() >= most) break;
    Layers& pool = pools[plan.of(event.buffer).pool.index()];
    if (event.begins) {
      pool.insert(event.buffer, pairs);
    } else {
      pool.remove(event.buffer);
    }
  }
  return pairs;
}

class Checker {
 public:
  Checker(const Problem& problem, const Plan& plan, std::size_t most) : problem_(problem), plan_(plan), most_(most) {}

  std::vector<Violation> run(Method method) {
    if (plan_.allocations.size() != problem_.buffers.size()) {
      add(ViolationKind::wrong_count, {}, {},
          "the plan has " + std::to_string(plan_.allocations.size()) + " allocations for " +
              std::to_string(problem_.buffers.size()) + " buffers");
      return std::move(violations_);
    }
    const std::set<Pair> pairs = method == Method::sweep ? pairs_that_meet(problem_, plan_, most_) : std::set<Pair>{};
    auto pair = pairs.begin();
    for (std::size_t i = 0; i < problem_.buffers.size() && !is_full(); ++i) {
      check_buffer(BufferId(i));
      for (; pair != pairs.end() && pair->first.index() == i; ++pair) check_pair(pair->first, pair->second);
      if (method == Method::sweep) continue;
      for (std::size_t j = i + 1; j < problem_.buffers.size() && !is_full(); ++j) check_pair(BufferId(i), BufferId(j));
    }
    return std::move(violations_);
  }

 private:
  [[nodiscard]] bool is_full() const { return violations_.size() >= most_; }

  void add(ViolationKind kind, BufferId buffer, BufferId other, std::string message) {
    if (is_full()) return;
    violations_.push_back({kind, buffer, other, std::move(message)});
  }

  void check_buffer(BufferId id) {
    const Buffer& buffer = problem_.buffer(id);
    const Allocation& at = plan_.of(id);
    const std::string who = "buffer " + in_quotes(buffer.name);
    if (!at.placed()) return add(ViolationKind::not_placed, id, {}, who + " has no place");
    if (at.pool.index() >= problem_.pools.size()) {
      return add(ViolationKind::unknown_pool, id, {},
                 who + " is in pool number " + std::to_string(at.pool.index()) + ", but there are " +
                     std::to_string(problem_.pools.size()));
    }
    const Pool& pool = problem_.pool(at.pool);
    const std::string where = who + " in pool " + in_quotes(pool.name);
    if (std::find(buffer.candidates.begin(), buffer.candidates.end(), at.pool) == buffer.candidates.end()) {
      add(ViolationKind::not_a_candidate, id, {}, who + " may not be in pool " + in_quotes(pool.name));
    }
    const std::string offset = std::to_string(at.offset);
    if (at.offset < 0) return add(ViolationKind::negative_offset, id, {}, where + " has the negative offset " + offset);
    for (const Bytes alignment : {buffer.alignment, pool.alignment}) {
      if (at.offset % alignment == 0) continue;
      add(ViolationKind::misaligned, id, {},
          std::string(where).append(" has offset ").append(offset).append(", not a multiple of ") +
              std::to_string(alignment));
      break;
    }
    if (at.offset < pool.reserved && buffer.size > 0) {
      add(ViolationKind::reserved, id, {},
          std::string(where).append(" has offset ").append(offset).append(", but the first ") +
              std::to_string(pool.reserved) + " bytes are reserved");
    }
    if (buffer.pinned && at.offset != *buffer.pinned) {
      add(ViolationKind::not_at_pin, id, {},
          std::string(where).append(" has offset ").append(offset).append(", but is pinned to ") +
              std::to_string(*buffer.pinned));
    }
    check_end(id, where);
  }

  void check_end(BufferId id, const std::string& where) {
    const Pool& pool = problem_.pool(plan_.of(id).pool);
    const auto end = checked_add(plan_.of(id).offset, problem_.buffer(id).size);
    if (!end) {
      add(ViolationKind::over_capacity, id, {},
          where + " ends beyond what an offset can express: " + std::to_string(plan_.of(id).offset) + " + " +
              std::to_string(problem_.buffer(id).size));
    } else if (pool.capacity && *end > *pool.capacity) {
      add(ViolationKind::over_capacity, id, {},
          where + " ends at " + std::to_string(*end) + ", beyond the capacity of " + std::to_string(*pool.capacity));
    }
  }

  void check_pair(BufferId id, BufferId other_id) {
    const Buffer& one = problem_.buffer(id);
    const Buffer& other = problem_.buffer(other_id);
    const Allocation& at = plan_.of(id);
    const Allocation& other_at = plan_.of(other_id);
    if (!well_placed(problem_, at, one) || !well_placed(problem_, other_at, other)) return;
    if (at.pool != other_at.pool || one.size == 0 || other.size == 0) return;
    if (at.offset + one.size <= other_at.offset || other_at.offset + other.size <= at.offset) return;
    const std::optional<Tick> tick = both_live(one, other);
    if (!tick || share_as_they_may(problem_, plan_, id, other_id)) return;
    add(ViolationKind::overlap, id, other_id,
        "buffers " + in_quotes(one.name) + " and " + in_quotes(other.name) + " overlap in pool " +
            in_quotes(problem_.pool(at.pool).name) + ": " + span_of(at.offset, one.size) + " and " +
            span_of(other_at.offset, other.size) + ", both live at " + std::to_string(*tick));
  }

  const Problem& problem_;
  const Plan& plan_;
  std::size_t most_;
  std::vector<Violation> violations_;
};

}  // namespace

std::vector<Violation> check(const Problem& problem, const Plan& plan, Method method, std::size_t most) {
  return Checker(problem, plan, most).run(method);
}

std::vector<Violation> check(const Problem& problem, const Plan& plan, std::size_t most) {
  const bool is_small = problem.buffers.size() <= most_paired && live_ranges(problem) <= 100 * most_paired;
  return check(problem, plan, is_small ? Method::pairs : Method::sweep, most);
}

std::optional<std::size_t> conflicting_pairs(const Problem& problem) {
  constexpr std::size_t most_compared = 200'000'000;
  if (live_ranges(problem) > most_compared / std::max<std::size_t>(problem.buffers.size(), 1)) return std::nullopt;
  std::size_t count = 0;
  for (std::size_t i = 0; i < problem.buffers.size(); ++i) {
    for (std::size_t j = 0; j < i; ++j) {
      if (overlap(problem.buffers[i].live, problem.buffers[j].live)) ++count;
    }
  }
  return count;
}

}  // namespace usmp::verify
