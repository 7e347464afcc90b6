// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// Thousands of buffers, as in the training of networks: some orders for first fit, then better ones made of the best.
//
// Idea: graphs of training keep tensors of the forward pass for the backward pass, so that thousands are live at the
// peak; the lists of conflicts of the other algorithms would take gigabytes. First fit without such lists
// (scan_fit.hpp) is fast enough for a portfolio of orders: by area, size, the load that a buffer stands in, life time,
// number of conflicts, and outwards from the peak, where few very large buffers leave no other way to fill it. The best
// order is then improved: buffers that stand near the top are the ones that suffer from it, they move forward, and the
// buffers are placed again. Cost: O(n²) looks an order, a nanosecond or two each,
// or less where many are done in one step; `most_work` looks in all, or
// `work_of_node` of them a node of Options::node_limit. Orders that would take more are left out. Guarantee: none on
// the distance from the optimum. Deterministic without a time limit. Source: orders of Pisarchyk and Lee, "Efficient
// Memory Management for Deep Neural Net Inference" (2020), and of the first-fit-decreasing family; Joslin and Clements,
// "Squeaky Wheel Optimization", JAIR 10 (1999). Tests: tests/planners/large_test.cpp.
#include "planners/large.hpp"

#include <algorithm>
#include <bit>
#include <functional>
#include <limits>
#include <optional>
#include <utility>
#include <vector>

#include "planners/outcome.hpp"
#include "planners/proof.hpp"
#include "planners/scan_fit.hpp"

namespace usmp::planners {
namespace {

constexpr std::uint64_t most_work = 3'000'000'000;  // some seconds
constexpr std::uint64_t work_of_node = 20'000;
constexpr int most_rounds = 12;  // of improvement without a better plan
constexpr Bytes top_share = 4;   // buffers in so large a part of the gap, from above, suffer

std::uint64_t work_for(const Options& options) {
  const bool is_limited = options.node_limit > 0 && options.node_limit < most_work / work_of_node;
  return is_limited ? options.node_limit * work_of_node : most_work;
}

// The largest load while a buffer is live.
class Breadths {
 public:
  Breadths(const Problem& problem, const std::vector<BufferId>& buffers) {
    std::vector<std::pair<Tick, Bytes>> changes;
    for (const BufferId id : buffers) {
      for (const LiveRange& range : problem.buffer(id).live) {
        changes.emplace_back(range.begin, problem.buffer(id).size);
        changes.emplace_back(range.end, -problem.buffer(id).size);
      }
    }
    std::ranges::sort(changes);
    std::vector<Bytes> loads;
    Bytes load = 0;
    for (const auto& [tick, change] : changes) {
      load += change;
      if (ticks_.empty() || ticks_.back() != tick) {
        ticks_.push_back(tick);
        loads.push_back(load);
      }
      loads.back() = load;
    }
    most_.push_back(std::move(loads));
    for (std::size_t width = 1; 2 * width <= ticks_.size(); width *= 2) {
      const std::vector<Bytes>& half = most_.back();
      std::vector<Bytes> most(ticks_.size() - 2 * width + 1);
      for (std::size_t i = 0; i < most.size(); ++i) most[i] = std::max(half[i], half[i + width]);
      most_.push_back(std::move(most));
    }
  }

  // The first tick of the largest load; 0: there are no buffers.
  [[nodiscard]] Tick peak() const {
    const std::vector<Bytes>& loads = most_.front();
    if (loads.empty()) return 0;
    return ticks_[static_cast<std::size_t>(std::ranges::max_element(loads) - loads.begin())];
  }

  [[nodiscard]] Bytes of(const LiveRange& range) const {
    const auto index = [&](Tick tick) {
      return static_cast<std::size_t>(std::ranges::lower_bound(ticks_, tick) - ticks_.begin());
    };
    const std::size_t begin = index(range.begin);
    const std::size_t end = index(range.end);
    const auto level = static_cast<std::size_t>(std::bit_width(end - begin)) - 1;
    return std::max(most_[level][begin], most_[level][end - (std::size_t{1} << level)]);
  }

 private:
  std::vector<Tick> ticks_;
  std::vector<std::vector<Bytes>> most_;  // by the logarithm of a number of ticks, and the first of them
};

using Key = std::vector<Bytes>;  // by index into the movable buffers

// Buffers of one group that has one pool.
class LargeGroup {
 public:
  // `tell` gets the lowest peak so far after each order.
  LargeGroup(const Problem& problem, const Group& group, exact::Budget& budget, std::function<void(Bytes)> tell)
      : problem_(problem), fit_(problem, group.buffers, group.pools.front()), budget_(budget), tell_(std::move(tell)) {}

  // The lowest peak found, if one is below `peak`; ends at `goal`.
  std::optional<Bytes> run(Bytes peak, Bytes goal) {
    const Bytes start = peak;
    best_peak_ = peak;
    goal_ = goal;
    for (const auto& order : portfolio()) {
      if (!try_order(order)) break;
    }
    improve();
    if (best_peak_ >= start) return std::nullopt;
    return best_peak_;
  }

  [[nodiscard]] Bytes offset(BufferId id) const { return best_offsets_[id.index()]; }

 private:
  [[nodiscard]] bool is_done() const { return best_peak_ <= goal_ || budget_.exhausted(); }

  // False: nothing is left to be done.
  bool try_order(const std::vector<BufferId>& order) {
    if (is_done()) return false;
    const std::optional<Bytes> peak = fit_.run(order, budget_);
    if (!peak) return false;
    tell_(std::min(*peak, best_peak_));
    if (order_.empty() || *peak < order_peak_) {
      order_ = order;
      order_peak_ = *peak;
    }
    if (*peak >= best_peak_) return true;
    best_peak_ = *peak;
    best_offsets_ = fit_.offsets();
    return !is_done();
  }

  [[nodiscard]] std::vector<std::vector<BufferId>> portfolio() const {
    const std::vector<BufferId>& buffers = fit_.movable();
    const Breadths breadths(problem_, buffers);
    std::vector<Tick> begins;
    std::vector<Tick> ends;
    for (const BufferId id : buffers) {
      begins.push_back(problem_.buffer(id).live.front().begin);
      ends.push_back(problem_.buffer(id).live.back().end);
    }
    std::ranges::sort(begins);
    std::ranges::sort(ends);
    Key size;
    Key life;
    Key area;
    Key breadth;
    Key conflicts;
    Key near;  // to the peak
    Key late;
    const Tick peak = breadths.peak();
    for (const BufferId id : buffers) {
      const Buffer& buffer = problem_.buffer(id);
      const LiveRange hull{buffer.live.front().begin, buffer.live.back().end};
      Tick ticks = 0;
      for (const LiveRange& range : buffer.live) ticks += range.end - range.begin;
      size.push_back(buffer.size);
      life.push_back(ticks);
      area.push_back(checked_mul(buffer.size, ticks).value_or(std::numeric_limits<Bytes>::max()));
      breadth.push_back(breadths.of(hull));
      const std::ptrdiff_t begun = std::ranges::lower_bound(begins, hull.end) - begins.begin();
      const std::ptrdiff_t ended = std::ranges::upper_bound(ends, hull.begin) - ends.begin();
      conflicts.push_back(begun - ended);
      near.push_back(-std::max({hull.begin - peak, peak - (hull.end - 1), Tick{0}}));
      late.push_back(hull.begin);
    }
    return {descending(area, size),    descending(near, late), descending(size, conflicts), descending(breadth, life),
            descending(breadth, size), descending(near, life), descending(conflicts, size), descending(life, size)};
  }

  // Largest first by `major`, equals by `minor`, then by id.
  [[nodiscard]] std::vector<BufferId> descending(const Key& major, const Key& minor) const {
    std::vector<std::size_t> order(major.size());
    for (std::size_t i = 0; i < order.size(); ++i) order[i] = i;
    std::ranges::sort(order, [&](std::size_t a, std::size_t b) {
      if (major[a] != major[b]) return major[a] > major[b];
      return minor[a] != minor[b] ? minor[a] > minor[b] : a < b;
    });
    std::vector<BufferId> result;
    result.reserve(order.size());
    for (const std::size_t i : order) result.push_back(fit_.movable()[i]);
    return result;
  }

  // Goes on from an order that is no better, too, so that it does not turn in circles.
  void improve() {
    if (is_done() || order_.empty()) return;
    std::vector<BufferId> order = order_;
    if (!try_order(order)) return;  // so that fit_ has its offsets
    Bytes peak = order_peak_;
    for (int round = 0; round < most_rounds && !is_done(); ++round) {
      const Bytes before = order_peak_;
      order = moved_forward(order, peak - std::max<Bytes>(1, (peak - goal_) / top_share));
      if (!try_order(order)) return;
      peak = 0;
      for (const BufferId id : fit_.movable()) peak = std::max(peak, fit_.end(id));
      if (order_peak_ < before) round = -1;
    }
  }

  // Those that end above `top` at half of their place; of those that come to one place, they come first.
  [[nodiscard]] std::vector<BufferId> moved_forward(const std::vector<BufferId>& order, Bytes top) const {
    std::vector<std::pair<std::size_t, BufferId>> places;
    for (std::size_t i = 0; i < order.size(); ++i) {
      const bool is_high = fit_.end(order[i]) > top;
      places.emplace_back(is_high ? 2 * (i / 2) : 2 * i + 1, order[i]);
    }
    std::ranges::stable_sort(places, {}, &std::pair<std::size_t, BufferId>::first);
    std::vector<BufferId> result;
    result.reserve(places.size());
    for (const auto& [place, id] : places) result.push_back(id);
    return result;
  }

  const Problem& problem_;
  ScanFit fit_;
  exact::Budget& budget_;
  std::function<void(Bytes)> tell_;
  Bytes goal_ = 0;
  Bytes best_peak_ = 0;
  std::vector<Bytes> best_offsets_;  // by BufferId
  std::vector<BufferId> order_;      // the best one tried, although it may be no better than what was there before
  Bytes order_peak_ = 0;
};

bool has_pin(const Buffer& buffer) { return buffer.pinned.has_value(); }

}  // namespace

PlanResult improve_large(const Problem& problem, const Options& options, PlanResult first) {
  if (first.status == PlanStatus::optimal || first.status == PlanStatus::infeasible) return first;
  const std::vector<Group> groups = split_by_pools(problem);
  const bool is_simple = std::ranges::all_of(groups, [](const Group& group) { return group.pools.size() == 1; });
  if (!first.has_plan() && !is_simple) return first;
  exact::Budget budget(exact::Budget::unlimited, options.time_limit, options.interrupted);
  const std::uint64_t work = work_for(options);
  budget.limit_work(work);
  Plan plan = first.plan;
  if (!first.has_plan()) place_fixed(problem, plan);
  // First fit shares no bytes: it cannot be better than the bound of buffers that stand apart. Pins may share bytes.
  std::optional<Problem> without_sharing;
  if (!problem.distances.empty() && std::ranges::none_of(problem.buffers, has_pin)) {
    without_sharing = problem;
    without_sharing->distances.clear();
  }
  for (const Group& group : groups) {
    const std::uint64_t half = group.buffers.size() / 2;
    if (group.pools.size() != 1 || half * half > work) continue;  // not one order would come to its end
    const PoolId pool = group.pools.front();
    const Bytes capacity = problem.pool(pool).capacity.value_or(Problem::max_total_bytes);
    Bytes peak = capacity == Problem::max_total_bytes ? capacity : capacity + 1;
    if (first.has_plan()) {
      peak = 0;
      for (const BufferId id : group.buffers) peak = std::max(peak, plan.of(id).offset + problem.buffer(id).size);
    }
    const Bytes bound = ideal(problem, group).used[pool.index()];
    LargeGroup large(problem, group, budget, [&](Bytes found) {
      if (options.progress) options.progress({pool, bound, found, first.iterations, first.has_plan()});
    });
    const Bytes goal = without_sharing ? std::max(bound, ideal(*without_sharing, group).used[pool.index()]) : bound;
    if (!large.run(peak, goal)) continue;
    for (const BufferId id : group.buffers) plan.allocations[id.index()] = {pool, large.offset(id)};
  }
  PlanResult result = outcome(problem, std::move(plan), first.shortage, first.iterations);
  if (!result.has_plan()) return first;
  if (result.status != PlanStatus::optimal) result.stopped = budget.reason();
  return result;
}

}  // namespace usmp::planners
