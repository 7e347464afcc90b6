// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// Stacks the buffers that are live at the start, then gives each that begins a gap that fits or a place above all.
#include "planners/sweep.hpp"

#include <algorithm>
#include <cassert>
#include <iterator>
#include <limits>
#include <numeric>

namespace usmp::planners {
namespace {

constexpr Bytes unlimited = std::numeric_limits<Bytes>::max();
// More pieces of buffers with several live ranges than this would take too long to evade.
constexpr std::size_t most_pieces = std::size_t{1} << 15U;
constexpr int bumps_in_gap = 4;    // obstacles in a gap that are evaded before it is given up
constexpr int bumps_above = 4096;  // obstacles above all blocks that are evaded before a place above them is taken
constexpr std::size_t most_misaligned = 32;  // gaps where alignment leaves too little, before larger ones are tried

// 1024 · a / b for a >= 0 and b >= 1, which is all the precision that weighing gaps needs.
Bytes ratio(Bytes a, Bytes b) {
  constexpr Bytes most = Bytes{1} << 52U;
  while (a >= most) {
    a >>= 1U;
    b = std::max<Bytes>(1, b >> 1U);
  }
  return a * 1024 / b;
}

Bytes align_down(Bytes value, Bytes alignment) { return value - value % alignment; }

// The lowest aligned offset from `low` up to `high` that no obstacle takes while the buffer is live.
std::optional<Bytes> clear_offset(const Obstacles& obstacles, std::span<const LiveRange> times, const Buffer& buffer,
                                  Bytes alignment, Bytes low, Bytes high, int bumps) {
  for (Bytes offset = align_up(low, alignment); offset <= high; --bumps) {
    const Bytes raised = obstacles.raised(times, offset, buffer.size);
    if (raised == offset) return offset;
    if (bumps == 0) break;
    offset = align_up(raised, alignment);
  }
  return std::nullopt;
}

}  // namespace

Sweep::Sweep(const Problem& problem, const Group& group)
    : problem_(problem), group_(group), blocks_(problem.buffers.size()) {
  find_sharing_pins();
  collect_spans();
  sort_spans();
  find_peak();
}

void Sweep::find_sharing_pins() {
  for (const Distance& distance : problem_.distances) {
    const Buffer& below = problem_.buffer(distance.below);
    const Buffer& above = problem_.buffer(distance.above);
    if (!below.pinned || !above.pinned || below.candidates.front() != above.candidates.front()) continue;
    if (*below.pinned + below.size <= *above.pinned || *above.pinned + above.size <= *below.pinned) continue;
    shares_pinned_bytes_.resize(problem_.buffers.size());
    shares_pinned_bytes_[distance.below.index()] = true;
    shares_pinned_bytes_[distance.above.index()] = true;
  }
}

void Sweep::collect_spans() {
  std::size_t pieces = 0;
  for (const BufferId id : group_.buffers) {
    const Buffer& buffer = problem_.buffer(id);
    if (!buffer.pinned && buffer.size > 0 && buffer.live.size() > 1) pieces += buffer.live.size();
  }
  if (pieces > most_pieces) {
    hulls_.resize(problem_.buffers.size());
    for (const BufferId id : group_.buffers) {
      const auto& live = problem_.buffer(id).live;
      if (!live.empty()) hulls_[id.index()] = {live.front().begin, live.back().end};
    }
  }
  for (const BufferId id : group_.buffers) {
    if (problem_.buffer(id).size == 0 || problem_.buffer(id).live.empty()) continue;
    any_fixed_ = any_fixed_ || fixed(id.value);
    for (const LiveRange& range : times(id.value)) spans_.push_back({range.begin, range.end, id.value});
  }
}

void Sweep::sort_spans() {
  const auto before = [&](const Span& a, const Span& b) {
    const Bytes a_size = problem_.buffers[a.buffer].size;
    const Bytes b_size = problem_.buffers[b.buffer].size;
    return a_size != b_size ? a_size > b_size : a.buffer < b.buffer;
  };
  std::sort(spans_.begin(), spans_.end(),
            [&](const Span& a, const Span& b) { return a.begin != b.begin ? a.begin < b.begin : before(a, b); });
  by_end_ = spans_;
  std::sort(by_end_.begin(), by_end_.end(),
            [&](const Span& a, const Span& b) { return a.end != b.end ? a.end < b.end : before(b, a); });
}

void Sweep::find_peak() {
  Bytes sum = 0;
  Bytes most = 0;
  auto ended = by_end_.begin();
  for (const Span& span : spans_) {
    for (; ended->end <= span.begin; ++ended) sum -= problem_.buffers[ended->buffer].size;
    sum += problem_.buffers[span.buffer].size;
    if (sum <= most) continue;
    most = sum;
    peak_ = span.begin;
  }
}

SweepResult Sweep::run(const SweepOptions& options) {
  options_ = options;
  prepare();
  direction_ = Direction::forward;
  stack_live();
  sweep(Direction::forward);
  restack_live();
  sweep(Direction::backward);
  result_.score.cost = cost_of(problem_, result_.plan);
  return std::move(result_);
}

void Sweep::prepare() {
  result_ = {};
  result_.plan.allocations.resize(problem_.buffers.size());
  highest_ = 0;
  refused_.assign(problem_.buffers.size(), false);
  pools_.clear();
  for (const Pool& pool : problem_.pools) pools_.emplace_back(blocks_, pool.reserved, any_fixed_);
  prepare_obstacles();
  for (const BufferId id : group_.buffers) {
    const Buffer& buffer = problem_.buffer(id);
    if (buffer.pinned) {
      settle(id.value, buffer.candidates.front(), *buffer.pinned);
    } else if (buffer.size == 0 || buffer.live.empty()) {
      place_idle(id);
    }
  }
}

bool Sweep::straddles_start(std::uint32_t id) const {
  const auto live = times(id);
  return !problem_.buffers[id].pinned && live.front().begin < options_.start && live.back().end > options_.start &&
         !overlap({live.begin(), live.end()}, {{options_.start, options_.start + 1}});
}

void Sweep::prepare_obstacles() {
  any_straddle_ = any_fixed_ && std::any_of(spans_.begin(), spans_.end(),
                                            [&](const Span& span) { return straddles_start(span.buffer); });
  std::vector<Tick> ticks;
  for (const Span& span : spans_) {
    if (!fixed(span.buffer) && !(any_straddle_ && live_at_start(span))) continue;
    ticks.push_back(span.begin);
    ticks.push_back(span.end);
  }
  const Obstacles nothing({});
  obstacles_.assign(problem_.pools.size(), nothing);
  if (!any_fixed_) return;
  const Obstacles none_yet(std::move(ticks));
  for (const PoolId pool : group_.pools) obstacles_[pool.index()] = none_yet;
}

// Buffers that conflict with nothing.
void Sweep::place_idle(BufferId id) {
  const Buffer& buffer = problem_.buffer(id);
  Shortage shortage{.buffer = id, .pools = {}};
  for (const PoolId pool : buffer.candidates) {
    const Bytes capacity = problem_.pool(pool).capacity.value_or(unlimited);
    const Bytes offset = first_offset(buffer, problem_.pool(pool));
    if (offset + buffer.size <= capacity) {
      result_.plan.allocations[id.index()] = {pool, offset};
      return;
    }
    shortage.pools.push_back({pool, offset + buffer.size, capacity});
  }
  refuse(id.value, std::move(shortage));
}

void Sweep::stack_live() {
  std::vector<Span> pinned;
  std::vector<std::pair<double, Span>> others;
  for (const Span& span : spans_) {
    if (!live_at_start(span)) continue;
    if (problem_.buffers[span.buffer].pinned) {
      pinned.push_back(span);
      continue;
    }
    const auto before = static_cast<double>(options_.start - span.begin + 1);
    const auto after = static_cast<double>(span.end - options_.start);
    switch (options_.stacking) {
      case Stacking::by_slope:
        others.emplace_back(before / after, span);
        break;
      case Stacking::by_balance:
        others.emplace_back(before - after, span);
        break;
      case Stacking::by_end:
        others.emplace_back(-after, span);
        break;
    }
  }
  std::stable_sort(others.begin(), others.end(), [](const auto& a, const auto& b) { return a.first < b.first; });
  for (const Span& span : pinned) enter(span);
  for (const auto& [key, span] : others) {
    enter(span);
    // A buffer that lives before and after the start, but not at it, is placed in the forward sweep and must not
    // meet these where they live before the start.
    const Allocation& at = result_.plan.allocations[span.buffer];
    if (!any_straddle_ || !at.placed()) continue;
    obstacles_[at.pool.index()].add({span.begin, span.end}, at.offset, at.offset + problem_.buffers[span.buffer].size);
  }
}

// The buffers that are live at the start once more, now with the ends that they have in a sweep backward.
void Sweep::restack_live() {
  direction_ = Direction::backward;
  for (LiveBlocks& pool : pools_) pool.clear();
  std::vector<Span> live;
  for (const Span& span : spans_) {
    if (live_at_start(span) && result_.plan.allocations[span.buffer].placed()) live.push_back(span);
  }
  std::sort(live.begin(), live.end(), [&](const Span& a, const Span& b) {
    return result_.plan.allocations[a.buffer].offset < result_.plan.allocations[b.buffer].offset;
  });
  for (const Span& span : live) enter(span);
}

template <class Iterator>
void Sweep::run_through(Iterator begin, Iterator last_begin, Iterator end, Iterator last_end) {
  constexpr std::ptrdiff_t ahead = 12;
  for (; begin != last_begin; ++begin) {
    if (last_begin - begin > ahead) will_need(begin[ahead]);
    for (; end_of(*end) <= begin_of(*begin); ++end) {
      if (last_end - end > ahead) will_need(end[ahead]);
      leave(*end);
    }
    enter(*begin);
  }
}

void Sweep::sweep(Direction direction) {
  direction_ = direction;
  // What begins behind the start, and what ends there.
  const std::span<const Span> begins(spans_);
  const std::span<const Span> ends(by_end_);
  const auto first =
      std::partition_point(begins.begin(), begins.end(), [&](const Span& s) { return s.begin <= options_.start; });
  const auto last =
      std::partition_point(ends.begin(), ends.end(), [&](const Span& s) { return s.end <= options_.start; });
  if (direction == Direction::forward) {
    run_through(first, begins.end(), last, ends.end());
  } else {
    run_through(std::reverse_iterator(last), ends.rend(), std::reverse_iterator(first), begins.rend());
  }
}

// What the sweep will touch a few steps later lies anywhere in memory; by then it is in the cache.
void Sweep::will_need(const Span& span) const {
  __builtin_prefetch(&problem_.buffers[span.buffer].size);
  __builtin_prefetch(&result_.plan.allocations[span.buffer]);
  __builtin_prefetch(&blocks_[span.buffer]);
}

void Sweep::enter(const Span& span) {
  const Allocation& at = result_.plan.allocations[span.buffer];
  if (shares_pinned_bytes(span.buffer)) return;
  if (at.placed()) {
    pools_[at.pool.index()].insert(span.buffer, at.offset, problem_.buffers[span.buffer].size, end_of(span));
  } else if (!refused_[span.buffer]) {
    place(span);
  }
}

void Sweep::leave(const Span& span) {
  const Allocation& at = result_.plan.allocations[span.buffer];
  if (at.placed() && !shares_pinned_bytes(span.buffer)) pools_[at.pool.index()].remove(span.buffer);
}

void Sweep::place(const Span& span) {
  const Buffer& buffer = problem_.buffers[span.buffer];
  for (const PoolId pool : buffer.candidates) {
    const std::optional<Place> found = find(pool, span);
    if (!found) continue;
    pools_[pool.index()].insert_above(found->below, span.buffer, found->offset, buffer.size, end_of(span));
    settle(span.buffer, pool, found->offset);
    if (found->offset + buffer.size > highest_) {
      highest_ = found->offset + buffer.size;
      result_.highest_at = direction_ == Direction::forward ? span.begin : span.end - 1;
    }
    return;
  }
  Shortage shortage{.buffer = BufferId(span.buffer), .pools = {}};
  for (const PoolId pool : buffer.candidates) {
    const Bytes required = above_all(pool, span.buffer).offset + buffer.size;
    shortage.pools.push_back({pool, required, problem_.pool(pool).capacity.value_or(unlimited)});
  }
  refuse(span.buffer, std::move(shortage));
}

void Sweep::settle(std::uint32_t id, PoolId pool, Bytes offset) {
  result_.plan.allocations[id] = {pool, offset};
  const Bytes size = problem_.buffers[id].size;
  if (!any_fixed_ || size == 0 || !fixed(id)) return;
  for (const LiveRange& range : times(id)) obstacles_[pool.index()].add(range, offset, offset + size);
}

void Sweep::refuse(std::uint32_t id, Shortage shortage) {
  refused_[id] = true;
  result_.score.unplaced += problem_.buffers[id].size;
  if (!result_.shortage) result_.shortage = std::move(shortage);
}

std::optional<Sweep::Place> Sweep::find(PoolId pool, const Span& span) {
  const Bytes capacity = problem_.pool(pool).capacity.value_or(unlimited);
  const Bytes size = problem_.buffers[span.buffer].size;
  if (size > capacity) return std::nullopt;
  if (const auto found = find_gap(pool, span)) return found;
  const Place above = above_all(pool, span.buffer);
  return above.offset + size <= capacity ? std::optional(above) : std::nullopt;
}

// Among the smallest gaps that hold the buffer, the one that is left with few bytes and has a neighbour that ends when
// the buffer does: then the room of both becomes free together.
std::optional<Sweep::Place> Sweep::find_gap(PoolId pool, const Span& span) {
  const auto cheaper = [](const Weighed& a, const Weighed& b) { return a.cost < b.cost; };
  const Obstacles& obstacles = obstacles_[pool.index()];
  const Buffer& buffer = problem_.buffers[span.buffer];
  weigh_gaps(pool, span, buffer.size);
  if (obstacles.empty()) {
    const auto best = std::min_element(weighed_.begin(), weighed_.end(), cheaper);
    return best == weighed_.end() ? std::nullopt
                                  : std::optional(Place{best->join_above ? best->high : best->low, best->below});
  }
  const Bytes alignment = alignment_in(buffer, problem_.pool(pool));
  const auto live = times(span.buffer);
  // Where obstacles leave no room in the smallest gaps, there may be some in larger ones.
  for (Bytes least = buffer.size; !weighed_.empty(); weigh_gaps(pool, span, least *= 2)) {
    std::stable_sort(weighed_.begin(), weighed_.end(), cheaper);
    for (const Weighed& gap : weighed_) {
      if (gap.join_above && obstacles.raised(live, gap.high, buffer.size) == gap.high)
        return Place{gap.high, gap.below};
      const auto offset = clear_offset(obstacles, live, buffer, alignment, gap.low, gap.high, bumps_in_gap);
      if (offset) return Place{*offset, gap.below};
    }
  }
  return std::nullopt;
}

// Fills weighed_ with the smallest gaps of at least so many bytes that hold the buffer.
void Sweep::weigh_gaps(PoolId pool, const Span& span, Bytes least) {
  const Bytes size = problem_.buffers[span.buffer].size;
  const Bytes alignment = alignment_in(problem_.buffers[span.buffer], problem_.pool(pool));
  const Tick end = end_of(span);
  const Tick now = direction_ == Direction::forward ? options_.start : -options_.start;
  const Bytes life = std::max<Tick>(1, end - std::max(begin_of(span), now));
  const GapIndex& gaps = pools_[pool.index()].gaps();
  weighed_.clear();
  std::size_t misaligned = 0;
  auto position = gaps.at_least(least);
  for (const Gap* gap = gaps.get(position); gap != nullptr && weighed_.size() < options_.choices;) {
    const Bytes low = align_up(gap->begin, alignment);
    const Bytes high = align_down(gap->begin + gap->size - size, alignment);
    if (low <= high) {
      const Tick below = gap->below == LiveBlocks::none ? 0 : std::abs(gap->below_ends - end);
      const Tick above = std::abs(gap->above_ends - end);
      const Bytes cost = 2 * ratio(gap->size - size, size) + ratio(std::min(below, above), life);
      weighed_.push_back({cost, low, high, gap->below, above < below});
      if (gap->size == size) break;
    } else if (++misaligned == most_misaligned && gap->size < size + alignment - 1) {
      position = gaps.at_least(size + alignment - 1);  // these hold it wherever they begin
      gap = gaps.get(position);
      continue;
    }
    gaps.advance(position);
    gap = gaps.get(position);
  }
}

Sweep::Place Sweep::above_all(PoolId pool, std::uint32_t id) const {
  const Buffer& buffer = problem_.buffers[id];
  const LiveBlocks& blocks = pools_[pool.index()];
  const Obstacles& obstacles = obstacles_[pool.index()];
  const Bytes alignment = alignment_in(buffer, problem_.pool(pool));
  const auto offset = clear_offset(obstacles, times(id), buffer, alignment, blocks.top(), unlimited, bumps_above);
  return {offset.value_or(align_up(std::max(blocks.top(), obstacles.top()), alignment)), blocks.topmost()};
}

}  // namespace usmp::planners
