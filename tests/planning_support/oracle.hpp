// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// The truth about tiny problems, by trying everything. It shares no code with the planners.
//
// Why trying all orders of first fit is exact: take any complete plan, fix its choice of pools, and place the buffers
// by first fit in order of their offsets in that plan. By induction no buffer ends up higher than in the plan: those
// before it that conflict end at or below its offset there, and so they do here; its own offset in the plan is
// therefore free and aligned, and first fit takes the lowest such place. So some order and some choice of pools uses,
// in every pool, no more than the plan does. Where buffers may share bytes, "end at or below" becomes "are far enough
// below"; of two at one offset the one that has to be below goes first. Pinned buffers are in place before the first
// one; the argument is the same.
#pragma once

#include <algorithm>
#include <numeric>
#include <optional>
#include <vector>

#include "usmp/problem/problem.hpp"

namespace usmp::test {

// What planners minimise (usmp::Cost), computed here once more.
inline Cost truth_cost_of(const Problem& problem, const Plan& plan) {
  std::size_t longest = 1;
  for (const Buffer& buffer : problem.buffers) longest = std::max(longest, buffer.candidates.size());
  Cost cost{.spilled = std::vector<Bytes>(longest - 1, 0), .used = std::vector<Bytes>(problem.pools.size(), 0)};
  for (std::size_t i = 0; i < problem.buffers.size(); ++i) {
    const Buffer& buffer = problem.buffers[i];
    const Allocation& at = plan.allocations[i];
    for (std::size_t rank = 0; buffer.candidates[rank] != at.pool; ++rank) cost.spilled[rank] += buffer.size;
    Bytes& used = cost.used[at.pool.index()];
    used = std::max(used, at.offset + buffer.size);
  }
  if (!problem.charged) return cost;
  Bytes charged = 0;
  for (std::size_t i = 0; i < problem.buffers.size(); ++i) {
    const Buffer& buffer = problem.buffers[i];
    for (std::size_t rank = 0; rank < buffer.candidates.size(); ++rank) {
      if (buffer.candidates[rank] == plan.allocations[i].pool) charged += buffer.charges[rank];
    }
  }
  cost.spilled.insert(cost.spilled.begin(), charged);
  return cost;
}

struct Truth {
  std::optional<Cost> best;       // nothing: infeasible
  Plan best_plan;                 // of cost `best`
  std::vector<Bytes> least_used;  // per pool, over all complete plans
};

class Oracle {
 public:
  explicit Oracle(const Problem& problem) : problem_(problem) { plan_.allocations.resize(problem.buffers.size()); }

  Truth run() {
    std::size_t pinned = 0;
    for (std::size_t i = 0; i < problem_.buffers.size(); ++i) {
      if (!problem_.buffers[i].pinned) continue;
      plan_.allocations[i] = {problem_.buffers[i].candidates.front(), *problem_.buffers[i].pinned};
      ++pinned;
    }
    extend(pinned);
    return truth_;
  }

 private:
  static bool live_at(const Buffer& buffer, Tick tick) {
    return std::any_of(buffer.live.begin(), buffer.live.end(),
                       [&](const LiveRange& range) { return range.begin <= tick && tick < range.end; });
  }

  bool live_together(const Buffer& a, const Buffer& b) const {
    for (Tick tick = 0; tick < problem_.horizon; ++tick) {
      if (live_at(a, tick) && live_at(b, tick)) return true;
    }
    return false;
  }

  bool may_share(std::size_t i, Bytes offset_i, std::size_t j, Bytes offset_j) const {
    return std::any_of(problem_.distances.begin(), problem_.distances.end(), [&](const Distance& known) {
      const bool upward = known.below.index() == i && known.above.index() == j;
      const bool downward = known.below.index() == j && known.above.index() == i;
      return (upward && offset_j - offset_i >= known.bytes) || (downward && offset_i - offset_j >= known.bytes);
    });
  }

  bool free_at(std::size_t i, PoolId pool, Bytes offset) const {
    const Buffer& buffer = problem_.buffers[i];
    for (std::size_t j = 0; j < problem_.buffers.size(); ++j) {
      const Buffer& other = problem_.buffers[j];
      const Allocation& at = plan_.allocations[j];
      if (j == i || !at.placed() || at.pool != pool || !live_together(buffer, other)) continue;
      if (std::max(offset, at.offset) >= std::min(offset + buffer.size, at.offset + other.size)) continue;
      if (!may_share(i, offset, j, at.offset)) return false;
    }
    return true;
  }

  Bytes lowest_offset(std::size_t i, PoolId pool) const {
    const Bytes step = std::lcm(problem_.buffers[i].alignment, problem_.pool(pool).alignment);
    Bytes offset = 0;
    while (problem_.buffers[i].size > 0 && offset < problem_.pool(pool).reserved) offset += step;
    while (!free_at(i, pool, offset)) offset += step;
    return offset;
  }

  void extend(std::size_t placed) {
    if (placed == problem_.buffers.size()) {
      note();
      return;
    }
    for (std::size_t i = 0; i < problem_.buffers.size(); ++i) {
      if (plan_.allocations[i].placed()) continue;
      for (const PoolId pool : problem_.buffers[i].candidates) {
        const Bytes offset = lowest_offset(i, pool);
        const auto capacity = problem_.pool(pool).capacity;
        if (capacity && offset + problem_.buffers[i].size > *capacity) continue;
        plan_.allocations[i] = {pool, offset};
        extend(placed + 1);
        plan_.allocations[i] = {};
      }
    }
  }

  void note() {
    Cost cost = truth_cost_of(problem_, plan_);
    if (truth_.least_used.empty()) truth_.least_used = cost.used;
    for (std::size_t p = 0; p < cost.used.size(); ++p) {
      truth_.least_used[p] = std::min(truth_.least_used[p], cost.used[p]);
    }
    if (truth_.best && *truth_.best <= cost) return;
    truth_.best = std::move(cost);
    truth_.best_plan = plan_;
  }

  const Problem& problem_;
  Plan plan_;
  Truth truth_;
};

inline Truth truth_of(const Problem& problem) { return Oracle(problem).run(); }

}  // namespace usmp::test
