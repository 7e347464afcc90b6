// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// Best fit in a sweep over time that starts at the peak: for as many buffers as one likes.
//
// Idea: what is live at the tick of the largest load is stacked without a gap; no other tick needs so much. From there
// the sweep goes forward and backward in time. On the way outward the load falls more than it rises, so what begins
// fits into what ended; each buffer takes, of the smallest gaps that hold it, one where it leaves little and where a
// neighbour ends when it does. The order of the stack matters: what began recently is at the bottom, what ends soon at
// the top, by the ratio of the times before and after the peak. So the bytes that become free soon after the
// start are next to each other in either direction, and not slivers all over the stack.
// Pinned buffers and further live ranges of buffers that are placed already are obstacles, which every choice evades
// (src/planners/obstacles.hpp). Pools are tried in the buffer's order of preference. Small problems get several
// attempts, from other ticks (the one where the best attempt was highest among them) and with other orders of the
// stack, and the best is kept.
// Cost: O(n log n) time and O(n) memory for an attempt; no list of conflicts is made. Problems with more than 2^15
// pieces of buffers with several live ranges take such buffers to be live from the first to the last of their ticks.
// Guarantee: none on the distance from the optimum (docs/performance.md has measurements); a result that meets the
// lower bound is called optimal.
// Source: best fit for dynamic storage allocation with known life times; the sweep out of the peak and the order of its
// stack are our own.
// Tests: tests/planners/fast_test.cpp, tests/planners/planners_test.cpp.
#include <algorithm>
#include <utility>

#include "planners/proof.hpp"
#include "planners/sweep.hpp"
#include "usmp/planners/planner.hpp"

namespace usmp::planners {
namespace {

constexpr std::size_t work = std::size_t{1} << 19U;         // pieces that all attempts together may place
constexpr std::size_t most_attempts = 16;                   // of these a group
constexpr std::size_t wide_choice = std::size_t{1} << 18U;  // pieces up to which many gaps are weighed
constexpr std::size_t small_group = std::size_t{1} << 12U;  // pieces up to which every byte is worth an attempt
constexpr Bytes good_enough = 512;                          // otherwise, one part in so many above the bound is good

std::vector<SweepOptions> first_attempts(const Sweep& sweep, Tick horizon) {
  const std::size_t choices = sweep.pieces() <= wide_choice ? 16 : 4;
  std::vector<SweepOptions> attempts;
  for (const Stacking stacking : {Stacking::by_slope, Stacking::by_end, Stacking::by_balance}) {
    attempts.push_back({sweep.peak(), stacking, choices});
  }
  attempts.push_back({sweep.peak(), Stacking::by_slope, 4});
  attempts.push_back({-1, Stacking::by_slope, choices});       // all forward
  attempts.push_back({horizon, Stacking::by_slope, choices});  // all backward
  return attempts;
}

// Whether further attempts are not worth their time.
bool satisfies(const Score& score, const Cost& goal, std::size_t pieces) {
  if (meets(score, goal)) return true;
  if (pieces <= small_group || score.unplaced > 0 || score.cost.spilled > goal.spilled) return false;
  for (std::size_t p = 0; p < goal.used.size(); ++p) {
    if (score.cost.used[p] > goal.used[p] + goal.used[p] / good_enough) return false;
  }
  return true;
}

SweepResult best_of(Sweep& sweep, const Problem& problem, const Cost& goal, const Options& options,
                    std::uint64_t& iterations) {
  const std::size_t weight = sweep.has_obstacles() ? 16 : 1;
  std::size_t left =
      std::clamp<std::size_t>(work / std::max<std::size_t>(1, sweep.pieces() * weight), 1, most_attempts);
  std::vector<SweepOptions> attempts = first_attempts(sweep, problem.horizon);
  std::optional<SweepResult> best;
  for (std::size_t i = 0; i < attempts.size() && left > 0; ++i, --left) {
    SweepResult result = sweep.run(attempts[i]);
    iterations += sweep.pieces();
    if (!best || result.score < best->score) {
      best = std::move(result);
      if (i > 0) attempts.push_back({best->highest_at, attempts[i].stacking, attempts[i].choices});
    }
    if (satisfies(best->score, goal, sweep.pieces())) break;
    if (options.interrupted != nullptr && options.interrupted->load()) break;
    if (i + 1 < attempts.size()) continue;
    for (const Stacking stacking : {Stacking::by_slope, Stacking::by_end}) {
      attempts.push_back({best->highest_at, stacking, attempts[i].choices});
    }
  }
  return std::move(*best);
}

}  // namespace

PlanResult fast(const Problem& problem, const Options& options) {
  PlanResult result{.status = PlanStatus::optimal,
                    .plan = {std::vector<Allocation>(problem.buffers.size())},
                    .shortage = {},
                    .iterations = 0};
  for (const Group& group : split_by_pools(problem)) {
    const Cost goal = ideal(problem, group);
    Sweep sweep(problem, group);
    SweepResult best = best_of(sweep, problem, goal, options, result.iterations);
    if (best.score.unplaced > 0 || best.shortage) {
      result.status = proved_infeasible(problem) ? PlanStatus::infeasible : PlanStatus::not_found;
      result.shortage = std::move(best.shortage);
      result.plan = {};
      return result;
    }
    if (!meets(best.score, goal)) result.status = PlanStatus::feasible;
    for (const BufferId id : group.buffers) result.plan.allocations[id.index()] = best.plan.of(id);
  }
  return result;
}

}  // namespace usmp::planners
