#include "usmp/bounds/load.hpp"

#include <algorithm>
#include <cassert>
#include <map>
#include <numeric>
#include <set>
#include <utility>
#include <vector>

namespace usmp::bounds {
namespace {

struct Event {
  Tick tick;
  bool begins;
  BufferId buffer;
};

// Ends come before begins at one tick: ranges are half-open.
std::vector<Event> sorted_events(const Problem& problem, std::span<const BufferId> buffers) {
  std::vector<Event> events;
  for (const BufferId id : buffers) {
    for (const LiveRange& range : problem.buffer(id).live) {
      events.push_back({range.begin, true, id});
      events.push_back({range.end, false, id});
    }
  }
  std::sort(events.begin(), events.end(), [](const Event& a, const Event& b) {
    if (a.tick != b.tick) return a.tick < b.tick;
    if (a.begins != b.begins) return !a.begins;
    return a.buffer < b.buffer;
  });
  return events;
}

// What is live at one moment and may share bytes: how much less it needs than the sum of its sizes.
//
// Buffers that stand apart add up. Of two that may share, the bytes of both together are as many as if they were as
// close as they may be, at least. So in each connected part of the graph of those that may share, the pair that needs
// most counts, or the largest buffer, and beside it others that share with none of what counts.
class Sharing {
 public:
  // Without distances it holds nothing and costs nothing.
  Sharing(const Problem& problem, Bytes granule) : problem_(problem), granule_(granule) {
    if (problem.distances.empty()) return;
    partners_.resize(problem.buffers.size());
    live_.resize(problem.buffers.size(), false);
    for (const Distance& distance : problem.distances) {
      partners_[distance.below.index()].push_back(distance.above);
      partners_[distance.above.index()].push_back(distance.below);
    }
  }

  void begin(BufferId id) {
    if (partners_.empty()) return;
    live_[id.index()] = true;
    for (const BufferId partner : partners_[id.index()]) {
      if (live_[partner.index()]) is_old_ = pairs_.insert(std::minmax(id, partner)).second || is_old_;
    }
  }

  void end(BufferId id) {
    if (partners_.empty()) return;
    live_[id.index()] = false;
    for (const BufferId partner : partners_[id.index()])
      is_old_ = pairs_.erase(std::minmax(id, partner)) > 0 || is_old_;
  }

  [[nodiscard]] Bytes saved() {
    if (is_old_) saved_ = compute_saved();
    is_old_ = false;
    return saved_;
  }

 private:
  [[nodiscard]] Bytes compute_saved() const {
    std::map<BufferId, std::vector<BufferId>> shares;
    for (const auto& [a, b] : pairs_) {
      shares[a].push_back(b);
      shares[b].push_back(a);
    }
    Bytes saved = 0;
    std::set<BufferId> seen;
    for (const auto& [first, partners] : shares) {
      if (seen.contains(first)) continue;
      std::vector<BufferId> part = {first};
      seen.insert(first);
      for (std::size_t i = 0; i < part.size(); ++i) {
        for (const BufferId partner : shares[part[i]]) {
          if (seen.insert(partner).second) part.push_back(partner);
        }
      }
      for (const BufferId id : part) saved += rounded(id);
      saved -= needed(part, shares);
    }
    return saved;
  }

  [[nodiscard]] Bytes rounded(BufferId id) const { return align_up(problem_.buffer(id).size, granule_); }

  // Of two that may share bytes.
  [[nodiscard]] Bytes together(BufferId a, BufferId b) const {
    const Bytes closest = std::min(align_up(distance(problem_, a, b), granule_) + rounded(b),
                                   align_up(distance(problem_, b, a), granule_) + rounded(a));
    return std::max({closest, rounded(a), rounded(b)});
  }

  // The best of what can be begun with: one buffer, or two that share.
  [[nodiscard]] Bytes needed(std::vector<BufferId> part, std::map<BufferId, std::vector<BufferId>>& shares) const {
    // Beyond, one buffer and what stands beside it has to do.
    constexpr std::size_t most_compared = 32;
    std::sort(part.begin(), part.end(),
              [&](BufferId a, BufferId b) { return rounded(a) != rounded(b) ? rounded(a) > rounded(b) : a < b; });
    Bytes most = 0;
    if (part.size() > most_compared) return rounded(part.front()) + beside({part.front()}, part);
    for (std::size_t i = 0; i < part.size(); ++i) {
      const BufferId a = part[i];
      most = std::max(most, rounded(a) + beside({a}, part));
      for (const BufferId b : shares[a]) most = std::max(most, together(a, b) + beside({a, b}, part));
    }
    return most;
  }

  // Bytes of the others that share neither with these nor with each other, the largest first.
  [[nodiscard]] Bytes beside(std::vector<BufferId> counted, const std::vector<BufferId>& part) const {
    Bytes bytes = 0;
    for (const BufferId id : part) {
      const auto shares_with = [&](BufferId other) { return id == other || pairs_.contains(std::minmax(id, other)); };
      if (std::any_of(counted.begin(), counted.end(), shares_with)) continue;
      bytes += rounded(id);
      counted.push_back(id);
    }
    return bytes;
  }

  const Problem& problem_;
  Bytes granule_;
  std::vector<std::vector<BufferId>> partners_;  // by BufferId
  std::vector<bool> live_;
  std::set<std::pair<BufferId, BufferId>> pairs_;  // both live; the smaller id first
  bool is_old_ = false;                            // `saved_` is not of these pairs
  Bytes saved_ = 0;
};

// The largest bytes that a tick asks for: the rounded sizes of what is live, less the largest rounding among them
// when the topmost buffer may end unrounded, less what may be shared.
Load sweep(const Problem& problem, std::span<const BufferId> buffers, Bytes granule, bool open_top) {
  Load best;
  Bytes sum = 0;
  std::map<Bytes, std::size_t> roundings;  // of the live buffers, with their number
  Sharing sharing(problem, granule);
  for (const Event& event : sorted_events(problem, buffers)) {
    const Bytes size = problem.buffer(event.buffer).size;
    const Bytes rounded = align_up(size, granule);
    if (!event.begins) {
      sharing.end(event.buffer);
      sum -= rounded;
      const auto found = roundings.find(rounded - size);
      if (--found->second == 0) roundings.erase(found);
      continue;
    }
    sharing.begin(event.buffer);
    sum += rounded;
    ++roundings[rounded - size];
    Bytes needed = open_top ? sum - roundings.rbegin()->first : sum;
    if (needed > best.bytes) needed -= sharing.saved();
    if (needed > best.bytes) best = {needed, event.tick};
  }
  return best;
}

}  // namespace

Load load(const Problem& problem, std::span<const BufferId> buffers, Bytes granule) {
  assert(granule >= 1);
  return sweep(problem, buffers, granule, false);
}

std::vector<Load> load_over_time(const Problem& problem, std::span<const BufferId> buffers) {
  std::vector<Load> steps = {{.bytes = 0, .at = 0}};
  Sharing sharing(problem, 1);
  Bytes sum = 0;
  const std::vector<Event> events = sorted_events(problem, buffers);
  for (std::size_t i = 0; i < events.size(); ++i) {
    const Event& event = events[i];
    const Bytes size = problem.buffer(event.buffer).size;
    sum += event.begins ? size : -size;
    event.begins ? sharing.begin(event.buffer) : sharing.end(event.buffer);
    if (i + 1 < events.size() && events[i + 1].tick == event.tick) continue;
    const Bytes needed = sum - sharing.saved();
    if (steps.back().at == event.tick) {
      steps.back().bytes = needed;
    } else if (steps.back().bytes != needed) {
      steps.push_back({.bytes = needed, .at = event.tick});
    }
  }
  return steps;
}

Bytes common_alignment(const Problem& problem, std::span<const BufferId> buffers, const Pool& pool) {
  Bytes common = 0;
  for (const BufferId id : buffers) {
    const Buffer& buffer = problem.buffer(id);
    if (buffer.size > 0) common = std::gcd(common, alignment_in(buffer, pool));
  }
  return std::max<Bytes>(common, 1);
}

Load packing_bound(const Problem& problem, std::span<const BufferId> buffers, const Pool& pool) {
  const Bytes granule = common_alignment(problem, buffers, pool);
  Load bound = sweep(problem, buffers, granule, true);
  if (bound.bytes > 0) bound.bytes += align_up(pool.reserved, granule);
  for (const BufferId id : buffers) {
    const Buffer& buffer = problem.buffer(id);
    bound.bytes = std::max(bound.bytes, buffer.pinned.value_or(first_offset(buffer, pool)) + buffer.size);
  }
  return bound;
}

Bytes room_in(const Pool& pool, Bytes granule) {
  const Bytes capacity = std::min(pool.capacity.value_or(Problem::max_total_bytes), Problem::max_total_bytes);
  return std::max<Bytes>(0, align_up(capacity, granule) - align_up(pool.reserved, granule));
}

std::vector<PoolId> possible_pools(const Problem& problem, BufferId id) {
  const Buffer& buffer = problem.buffer(id);
  std::vector<PoolId> pools;
  for (const PoolId pool : buffer.candidates) {
    const std::optional<Bytes>& capacity = problem.pool(pool).capacity;
    const bool fits = !capacity || buffer.pinned || first_offset(buffer, problem.pool(pool)) + buffer.size <= *capacity;
    if (fits) pools.push_back(pool);
  }
  return pools;
}

}  // namespace usmp::bounds
