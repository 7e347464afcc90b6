// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// Idea: whether a plan uses at most c bytes of the pool is the same problem with c for the pool's capacity. The
// smallest c is searched between a lower bound and the best plan's use: first the bound itself, which mostly is the
// answer, then by bisection. An answer `infeasible` raises what is proved; `not_found` raises only where the search
// goes on, and then the result is not called optimal. In these queries the pool is the last choice of every buffer:
// which choice comes first does not matter to whether a plan exists, and heuristics find one sooner. At last the
// problem is planned in its own order of preference with the capacity that was found, and the better plan of all is
// kept. Cost: O(log(use - bound)) runs of the algorithm. Guarantee: exact with an algorithm that always proves its
// answers; never worse in the pool than the algorithm alone. Source: the usual reduction of minimising to deciding.
// Tests: tests/planners/minimize_pool_test.cpp, against exhaustive search.
#include "usmp/planners/minimize_pool.hpp"

#include <algorithm>
#include <utility>

#include "usmp/bounds/bounds.hpp"

namespace usmp::planners {
namespace {

using Clock = std::chrono::steady_clock;

class Minimizer {
 public:
  Minimizer(const Problem& problem, PoolId pool, const planners::Planner& plan, const Options& options)
      : problem_(problem), pool_(pool), plan_(plan), options_(options), start_(Clock::now()) {}

  PlanResult run() {
    lower_ = bounds::pool_bounds(problem_)[pool_.index()].bytes;
    floor_ = lower_;
    const auto capacity = problem_.pool(pool_).capacity;
    if (!capacity || lower_ <= *capacity) try_capacity(lower_);
    if (!best_) {
      if (PlanResult none = first_plan(); !none.has_plan()) return with_totals(std::move(none));
    }
    while (floor_ < used(*best_) && may_ask()) try_capacity(floor_ + (used(*best_) - floor_) / 2);
    return with_totals(conclude());
  }

 private:
  // The problem with this capacity of the pool. Never below a pinned buffer's end, which every lower bound counts.
  [[nodiscard]] Problem capped(Bytes capacity) const {
    Problem result = problem_;
    result.pools[pool_.index()].capacity = capacity;
    return result;
  }

  [[nodiscard]] Problem pool_last(Problem problem) const {
    problem.charged = false;
    for (Buffer& buffer : problem.buffers) {
      buffer.charges.clear();
      const auto found = std::find(buffer.candidates.begin(), buffer.candidates.end(), pool_);
      if (found != buffer.candidates.end()) std::rotate(found, found + 1, buffer.candidates.end());
    }
    return problem;
  }

  // `share` of what is left of the time limit, if there is one. People see what is known of the pool all the while.
  PlanResult ask(const Problem& problem, double share) {
    Options options = options_;
    if (options_.progress) {
      options.progress = [this](const Progress& progress) {
        if (!best_) return options_.progress(progress);
        options_.progress({pool_, lower_, used(*best_), iterations_ + progress.nodes});
      };
    }
    if (options_.time_limit) {  // at least a millisecond, since none would be no limit
      const auto passed = std::chrono::duration_cast<std::chrono::milliseconds>(Clock::now() - start_);
      const auto left = std::max(std::chrono::milliseconds(2), *options_.time_limit - passed);
      options.time_limit =
          std::chrono::milliseconds(static_cast<std::int64_t>(static_cast<double>(left.count()) * share));
    }
    PlanResult result = plan_(problem, options);
    iterations_ += result.iterations;
    if (result.stopped != StopReason::finished) {
      stopped_ = result.stopped;
      ++limited_;
    }
    if (result.has_plan()) keep_better(result.plan);
    return result;
  }

  [[nodiscard]] Bytes used(const Plan& plan) const { return used_bytes(problem_, plan)[pool_.index()]; }

  void keep_better(const Plan& plan) {
    Cost cost = cost_of(problem_, plan);
    const bool better = !best_ || std::pair(used(plan), cost) < std::pair(used(*best_), cost_of(problem_, *best_));
    if (better) best_ = plan;
  }

  // Any plan: the reordered problem mostly has a good one, but a heuristic may need the original order.
  PlanResult first_plan() {
    PlanResult result = ask(pool_last(problem_), query_share);
    if (result.has_plan() || result.status == PlanStatus::infeasible) return result;
    return ask(problem_, query_share);
  }

  [[nodiscard]] bool may_ask() const { return stopped_ != StopReason::interrupted && limited_ < most_limited; }

  void try_capacity(Bytes capacity) {
    const PlanResult answer = ask(pool_last(capped(capacity)), query_share);
    if (answer.has_plan()) return;
    if (answer.status == PlanStatus::infeasible) lower_ = capacity + 1;
    floor_ = capacity + 1;
  }

  PlanResult conclude() {
    const Problem final_problem = capped(used(*best_));
    PlanResult last;
    if (stopped_ != StopReason::interrupted) last = ask(final_problem, 1.0);
    const Cost cost = cost_of(problem_, *best_);
    const bool smallest = cost.used[pool_.index()] == lower_;
    PlanResult result{.status = PlanStatus::feasible, .plan = *best_};
    if (smallest && last.status == PlanStatus::optimal) {
      result.status = PlanStatus::optimal;
      result.bound = cost;
      return result;
    }
    // What the last run proved holds for the plans that are no worse than its own. The loads hold for all within the
    // capacity.
    result.bound = zero(cost);
    if (last.has_plan() && last.plan == *best_) {
      result.bound = last.status == PlanStatus::optimal ? cost : last.bound.value_or(zero(cost));
    }
    const std::vector<bounds::PoolBound> loads = bounds::pool_bounds(final_problem);
    for (std::size_t i = 0; i < loads.size(); ++i) {
      result.bound->used[i] = std::max(result.bound->used[i], loads[i].bytes);
    }
    result.bound->used[pool_.index()] = lower_;
    return result;
  }

  static Cost zero(Cost cost) {
    std::fill(cost.spilled.begin(), cost.spilled.end(), 0);
    std::fill(cost.used.begin(), cost.used.end(), 0);
    return cost;
  }

  PlanResult with_totals(PlanResult result) const {
    if (result.shortage) restore_order(*result.shortage);
    result.iterations = iterations_;
    result.stopped = stopped_;
    return result;
  }

  // Sorts the pools as the buffer prefers them: the query may have had another order.
  void restore_order(Shortage& shortage) const {
    const std::vector<PoolId>& candidates = problem_.buffer(shortage.buffer).candidates;
    const auto rank = [&](PoolId id) { return std::find(candidates.begin(), candidates.end(), id); };
    std::sort(shortage.pools.begin(), shortage.pools.end(),
              [&](const auto& a, const auto& b) { return rank(a.pool) < rank(b.pool); });
  }

  static constexpr double query_share = 0.5;  // of the time that is left, so that the last run has some

  const Problem& problem_;
  PoolId pool_;
  const planners::Planner& plan_;
  const Options& options_;
  Clock::time_point start_;
  std::optional<Plan> best_;
  Bytes lower_ = 0;  // proved
  Bytes floor_ = 0;  // no smaller capacity is tried any more; above lower_ if an answer was no proof
  std::uint64_t iterations_ = 0;
  StopReason stopped_ = StopReason::finished;
  int limited_ = 0;
};

}  // namespace

PlanResult minimize_pool(const Problem& problem, PoolId pool, const Planner& plan, const Options& options) {
  return Minimizer(problem, pool, plan, options).run();
}

}  // namespace usmp::planners
