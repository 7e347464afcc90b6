// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// Sweeps over begins and ends of live ranges, with sizes rounded up to alignments that buffers have in common.
#include "usmp/bounds/load.hpp"

#include <algorithm>
#include <bit>
#include <cassert>
#include <functional>
#include <iterator>
#include <map>
#include <numeric>
#include <vector>

#include "bounds/sharing.hpp"

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

namespace {

constexpr std::size_t most_alignments = 8;

// The bound that the common alignment of these buffers gives.
Load packed(const Problem& problem, std::span<const BufferId> buffers, const Pool& pool) {
  const Bytes granule = common_alignment(problem, buffers, pool);
  Load bound = sweep(problem, buffers, granule, true);
  if (bound.bytes > 0) bound.bytes += align_up(pool.reserved, granule);
  for (const BufferId id : buffers) {
    const Buffer& buffer = problem.buffer(id);
    bound.bytes = std::max(bound.bytes, buffer.pinned.value_or(first_offset(buffer, pool)) + buffer.size);
  }
  return bound;
}

// The numbers that are in a set, some equal, and the sum of so many of the smallest.
class Smallest {
 public:
  explicit Smallest(std::vector<Bytes> numbers) : numbers_(std::move(numbers)) {
    std::sort(numbers_.begin(), numbers_.end());
    numbers_.erase(std::unique(numbers_.begin(), numbers_.end()), numbers_.end());
    count_.assign(numbers_.size() + 1, 0);
    sum_.assign(numbers_.size() + 1, 0);
  }

  void change(Bytes number, bool add) {
    const auto rank = std::lower_bound(numbers_.begin(), numbers_.end(), number) - numbers_.begin();
    for (auto i = static_cast<std::size_t>(rank) + 1; i < count_.size(); i += i & (~i + 1)) {
      count_[i] += add ? 1 : -1;
      sum_[i] += add ? number : -number;
    }
  }

  [[nodiscard]] Bytes sum_of(std::int64_t count) const {
    Bytes sum = 0;
    std::size_t at = 0;  // ranks below are taken in full
    for (std::size_t step = std::bit_floor(numbers_.size()); step > 0; step /= 2) {
      if (at + step >= count_.size() || count_[at + step] > count) continue;
      at += step;
      count -= count_[at];
      sum += sum_[at];
    }
    return at < numbers_.size() ? sum + count * numbers_[at] : sum;
  }

 private:
  std::vector<Bytes> numbers_;
  std::vector<std::int64_t> count_;  // Fenwick trees, by rank
  std::vector<Bytes> sum_;
};

// What fine and coarse buffers need together; see packing_bound. No two of them may share bytes.
Load mixed(const Problem& problem, std::span<const BufferId> buffers, const Pool& pool, Bytes granule, Bytes coarse) {
  const auto is_coarse = [&](BufferId id) { return alignment_in(problem.buffer(id), pool) % coarse == 0; };
  const auto rounding = [&](BufferId id) {
    const Bytes size = problem.buffer(id).size;
    return align_up(size, coarse) - align_up(size, granule);
  };
  std::vector<BufferId> taking;
  std::vector<Bytes> roundings;
  for (const BufferId id : buffers) {
    if (problem.buffer(id).size == 0) continue;
    taking.push_back(id);
    if (is_coarse(id)) roundings.push_back(rounding(id));
  }
  Smallest lost(std::move(roundings));
  Load best;
  Bytes sum = 0;
  std::int64_t to_lose = -1;  // coarse ones, less fine ones and the topmost
  for (const Event& event : sorted_events(problem, taking)) {
    const Bytes size = align_up(problem.buffer(event.buffer).size, granule);
    sum += event.begins ? size : -size;
    if (is_coarse(event.buffer)) {
      lost.change(rounding(event.buffer), event.begins);
      to_lose += event.begins ? 1 : -1;
    } else {
      to_lose -= event.begins ? 1 : -1;
    }
    if (!event.begins || to_lose <= 0) continue;
    // The topmost one may end unrounded.
    const Bytes needed = sum - (granule - 1) + lost.sum_of(to_lose);
    if (needed > best.bytes) best = {needed, event.tick};
  }
  if (best.bytes > 0) best.bytes += align_up(pool.reserved, granule);
  return best;
}

}  // namespace

Load packing_bound(const Problem& problem, std::span<const BufferId> buffers, const Pool& pool) {
  Load bound = packed(problem, buffers, pool);
  std::vector<Bytes> alignments;
  for (const BufferId id : buffers) {
    if (problem.buffer(id).size > 0) alignments.push_back(alignment_in(problem.buffer(id), pool));
  }
  std::sort(alignments.begin(), alignments.end(), std::greater());
  alignments.erase(std::unique(alignments.begin(), alignments.end()), alignments.end());
  if (alignments.size() < 2) return bound;
  alignments.resize(std::min(alignments.size(), most_alignments));
  for (const Bytes alignment : alignments) {
    std::vector<BufferId> coarse;
    std::copy_if(buffers.begin(), buffers.end(), std::back_inserter(coarse),
                 [&](BufferId id) { return alignment_in(problem.buffer(id), pool) % alignment == 0; });
    const Load alone = packed(problem, coarse, pool);
    if (alone.bytes > bound.bytes) bound = alone;
    if (coarse.size() == buffers.size() || !problem.distances.empty()) continue;
    const Load together = mixed(problem, buffers, pool, common_alignment(problem, buffers, pool), alignment);
    if (together.bytes > bound.bytes) bound = together;
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
