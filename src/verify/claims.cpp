// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// Why first fit in all orders is enough: take any complete plan, and place its buffers again, each in its pool, by
// first fit in the order of their offsets. By induction none gets higher: those before it that it meets end at or below
// its old offset, so that was free. So for every plan one of these uses no more of any pool. Pins are in place before.
// With distances "end" is where the next one may start; of two at one offset the one comes first that the other may
// not be below of. Done again and again this comes to a plan that it leaves as it is. So orders are enough in which
// offsets do not fall, one pool after the other: a pool's offsets depend on none of another pool.
// Tests: tests/verify/claims_test.cpp.
#include "usmp/verify/claims.hpp"

#include <algorithm>
#include <functional>

#include "verify/sharing.hpp"

namespace usmp::verify {
namespace {

// Leaves of the tree of orders and pools, at most.
double plans_to_try(const Problem& problem) {
  double count = 1;
  double left = 1;
  for (const Buffer& buffer : problem.buffers) {
    if (!buffer.pinned) count *= left++ * static_cast<double>(buffer.candidates.size());
  }
  return count;
}

class Exhaustion {
 public:
  explicit Exhaustion(const Problem& problem)
      : problem_(problem), plan_{std::vector<Allocation>(problem.buffers.size())} {
    for (std::size_t i = 0; i < problem.buffers.size(); ++i) {
      const Buffer& buffer = problem.buffers[i];
      if (buffer.pinned) plan_.allocations[i] = {buffer.candidates.front(), *buffer.pinned};
    }
  }

  // NOLINTNEXTLINE(misc-no-recursion): a level a buffer, and only problems of a few buffers are tried out.
  void for_each_plan(const std::function<void(const Plan&)>& visit, const Allocation& last = {PoolId(0), Bytes{}}) {
    bool complete = true;
    for (std::size_t i = 0; i < problem_.buffers.size(); ++i) {
      if (plan_.allocations[i].placed()) continue;
      complete = false;
      for (const PoolId pool : problem_.buffers[i].candidates) {
        const Bytes offset = first_fit(i, pool);
        const std::optional<Bytes>& capacity = problem_.pool(pool).capacity;
        if (capacity && offset + problem_.buffers[i].size > *capacity) continue;
        if (std::pair(pool, offset) < std::pair(last.pool, last.offset)) continue;
        plan_.allocations[i] = {pool, offset};
        for_each_plan(visit, plan_.allocations[i]);
        plan_.allocations[i] = {};
      }
    }
    if (complete) visit(plan_);
  }

 private:
  // The lowest offset is the first possible one, or directly on another buffer.
  Bytes first_fit(std::size_t i, PoolId pool) const {
    const Buffer& buffer = problem_.buffers[i];
    const Bytes lowest = first_offset(buffer, problem_.pool(pool));
    if (buffer.size == 0) return lowest;
    std::vector<Bytes> offsets{lowest};
    for (std::size_t j = 0; j < problem_.buffers.size(); ++j) {
      if (plan_.allocations[j].pool != pool) continue;
      const Bytes alignment = alignment_in(buffer, problem_.pool(pool));
      const Bytes begin = plan_.allocations[j].offset;
      offsets.push_back(align_up(begin + problem_.buffers[j].size, alignment));
      for (const Distance& known : problem_.distances) {
        const bool applies = known.below == BufferId(j) && known.above == BufferId(i);
        if (applies) offsets.push_back(align_up(begin + known.bytes, alignment));
      }
    }
    std::sort(offsets.begin(), offsets.end());
    const auto free = [&](Bytes offset) { return offset >= lowest && is_free(i, pool, offset); };
    return *std::find_if(offsets.begin(), offsets.end(), free);  // above everything is always free
  }

  bool is_free(std::size_t i, PoolId pool, Bytes offset) const {
    const Buffer& buffer = problem_.buffers[i];
    for (std::size_t j = 0; j < problem_.buffers.size(); ++j) {
      const Allocation& at = plan_.allocations[j];
      const Buffer& other = problem_.buffers[j];
      const bool apart = offset + buffer.size <= at.offset || at.offset + other.size <= offset || other.size == 0 ||
                         may_share(problem_, BufferId(i), offset, BufferId(j), at.offset);
      if (at.pool == pool && !apart && both_live(buffer, other)) return false;
    }
    return true;
  }

  const Problem& problem_;
  Plan plan_;
};

std::vector<Bytes> entries(const Cost& cost) {
  std::vector<Bytes> all = cost.spilled;
  all.insert(all.end(), cost.used.begin(), cost.used.end());
  return all;
}

std::string entry_name(const Problem& problem, const Cost& cost, std::size_t entry) {
  if (problem.charged && entry == 0) return "the charges";
  const std::size_t first = problem.charged ? 1 : 0;
  if (entry < cost.spilled.size()) return "bytes beyond the first " + std::to_string(entry - first + 1) + " choices";
  return "bytes used of pool '" + problem.pools[entry - cost.spilled.size()].name + "'";
}

// The first entry of the bound that a plan refutes, or none: it is no worse than `best` before, and has less there.
std::optional<std::size_t> refuted(const Cost& bound, const Cost& best, const Cost& other) {
  const std::vector<Bytes> bounds = entries(bound);
  const std::vector<Bytes> bests = entries(best);
  const std::vector<Bytes> others = entries(other);
  for (std::size_t i = 0; i < bounds.size(); ++i) {
    if (others[i] < bounds[i]) return i;
    if (others[i] > bests[i]) return std::nullopt;
  }
  return std::nullopt;
}

}  // namespace

std::vector<std::string> false_claims(const Problem& problem, const PlanResult& result) {
  std::vector<std::string> found;
  const auto add = [&](std::string claim) {
    if (std::find(found.begin(), found.end(), claim) == found.end()) found.push_back(std::move(claim));
  };
  if (!result.has_plan() && result.status != PlanStatus::infeasible) return found;
  const Cost cost = result.has_plan() ? cost_of(problem, result.plan) : Cost{};
  if (result.has_plan() && result.bound) {
    const std::vector<Bytes> bounds = entries(*result.bound);
    const std::vector<Bytes> costs = entries(cost);
    for (std::size_t i = 0; i < costs.size(); ++i) {
      if (bounds[i] <= costs[i]) continue;
      add("the bound of " + entry_name(problem, cost, i) + " is " + std::to_string(bounds[i]) + ", but the plan has " +
          std::to_string(costs[i]));
    }
    if (result.status == PlanStatus::optimal && *result.bound != cost) {
      add("the plan is called optimal, but its bounds leave room for a better one");
    }
  }
  if (plans_to_try(problem) > most_tried) return found;
  Exhaustion(problem).for_each_plan([&](const Plan& plan) {
    if (!result.has_plan()) return add("the problem is called infeasible, but there is a plan");
    const Cost other = cost_of(problem, plan);
    if (result.status == PlanStatus::optimal && other < cost)
      add("the plan is called optimal, but there is a better one");
    if (!result.bound) return;
    if (const auto entry = refuted(*result.bound, cost, other)) {
      add("the bound of " + entry_name(problem, cost, *entry) + " is refuted by a plan with less");
    }
  });
  return found;
}

}  // namespace usmp::verify
