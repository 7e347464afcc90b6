// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// One attempt of the algorithm `fast` (src/planners/fast.cpp explains it): places a group of buffers in a sweep over
// time that starts at a chosen tick and goes from there to the end and to the beginning.
// Tests: tests/planners/fast_test.cpp.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "planners/first_fit.hpp"
#include "planners/live_blocks.hpp"
#include "planners/obstacles.hpp"
#include "usmp/problem/problem.hpp"

namespace usmp::planners {

// In which order the buffers that are live at the start are stacked.
enum class Stacking {
  by_slope,    // those that began recently at the bottom, those that end soon at the top
  by_balance,  // the same, but by the difference of the times before and after the start, not by their ratio
  by_end,      // those that end last at the bottom
};

struct SweepOptions {
  Tick start = 0;
  Stacking stacking = Stacking::by_slope;
  std::size_t choices = 16;  // gaps that are weighed for a buffer; 1: best fit
};

struct SweepResult {
  Score score;
  Plan plan;                              // buffers of other groups, and those without room, are not placed
  std::optional<Shortage> shortage = {};  // of the first buffer without room
  Tick highest_at = 0;                    // a tick at which the highest end is live
};

class Sweep {
 public:
  // Both must outlive this object.
  Sweep(const Problem& problem, const Group& group);

  // O(n log n); with d pieces of pinned buffers or of such with several live ranges O((n + d) log² d) more, unless
  // they leave next to no room between them.
  [[nodiscard]] SweepResult run(const SweepOptions& options);

  // The first tick at which the sum of the live sizes is the largest; 0 if nothing is ever live.
  [[nodiscard]] Tick peak() const { return peak_; }
  [[nodiscard]] std::size_t pieces() const { return spans_.size(); }
  [[nodiscard]] bool has_obstacles() const { return any_fixed_; }  // something is pinned or has several live ranges

 private:
  // A piece of time in which a buffer is live.
  struct Span {
    Tick begin;
    Tick end;
    std::uint32_t buffer;
  };
  struct Place {
    Bytes offset = 0;
    std::uint32_t below = LiveBlocks::none;
  };
  // A gap that holds a buffer at each aligned offset from low to high.
  struct Weighed {
    Bytes cost;
    Bytes low;
    Bytes high;
    std::uint32_t below;
    bool join_above;  // the neighbour above ends nearer to the buffer's end than the one below
  };
  enum class Direction { forward, backward };

  void find_sharing_pins();
  void collect_spans();
  void sort_spans();
  void find_peak();
  void prepare();
  void prepare_obstacles();
  void place_idle(BufferId id);
  void stack_live();
  void restack_live();
  void sweep(Direction direction);
  template <class Iterator>
  void run_through(Iterator begin, Iterator last_begin, Iterator end, Iterator last_end);
  void enter(const Span& span);
  void leave(const Span& span);
  void will_need(const Span& span) const;
  void place(const Span& span);
  void settle(std::uint32_t id, PoolId pool, Bytes offset);
  void refuse(std::uint32_t id, Shortage shortage);
  [[nodiscard]] std::optional<Place> find(PoolId pool, const Span& span);
  [[nodiscard]] std::optional<Place> find_gap(PoolId pool, const Span& span);
  void weigh_gaps(PoolId pool, const Span& span, Bytes least);
  [[nodiscard]] Place above_all(PoolId pool, std::uint32_t id) const;

  // When a buffer counts as live.
  [[nodiscard]] std::span<const LiveRange> times(std::uint32_t id) const {
    return hulls_.empty() || problem_.buffers[id].pinned ? std::span(problem_.buffers[id].live)
                                                         : std::span(hulls_).subspan(id, 1);
  }
  [[nodiscard]] bool fixed(std::uint32_t id) const { return problem_.buffers[id].pinned || times(id).size() > 1; }
  [[nodiscard]] bool shares_pinned_bytes(std::uint32_t id) const {
    return !shares_pinned_bytes_.empty() && shares_pinned_bytes_[id];
  }
  [[nodiscard]] bool live_at_start(const Span& span) const {
    return span.begin <= options_.start && options_.start < span.end;
  }
  [[nodiscard]] bool straddles_start(std::uint32_t id) const;
  [[nodiscard]] Tick begin_of(const Span& s) const { return direction_ == Direction::forward ? s.begin : -s.end; }
  [[nodiscard]] Tick end_of(const Span& s) const { return direction_ == Direction::forward ? s.end : -s.begin; }

  const Problem& problem_;
  const Group& group_;
  std::vector<LiveRange> hulls_;  // by BufferId: from the first tick to the last; empty if lives are taken as they are
  std::vector<Span> spans_;       // in order of their beginnings, larger buffers first
  std::vector<Span> by_end_;      // the same in order of their ends, larger buffers last
  std::vector<LiveBlocks::Block> blocks_;
  // By BufferId: pinned to bytes of another pin, as distances allow. Obstacles, but no blocks: blocks lie side by side.
  // Empty if there are none.
  std::vector<bool> shares_pinned_bytes_;
  bool any_fixed_ = false;
  Tick peak_ = 0;

  // The current run.
  SweepOptions options_;
  Direction direction_ = Direction::forward;
  std::vector<LiveBlocks> pools_;     // by PoolId
  std::vector<Obstacles> obstacles_;  // by PoolId; nothing in it unless any_fixed_
  bool any_straddle_ = false;
  std::vector<bool> refused_;     // by BufferId
  std::vector<Weighed> weighed_;  // scratch of find_gap
  Bytes highest_ = 0;
  SweepResult result_;
};

}  // namespace usmp::planners
