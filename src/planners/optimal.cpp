// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// The best plan, and the proof that it is the best: heuristics, then exact search between them and the lower bounds.
//
// Idea: most real problems are solved by first fit in a good order, and the load proves it. What is left is a gap
// between the best plan found and the best lower bound; exact search closes it (exact/search.hpp, exact/engine.hpp),
// one group of pools after another (groups share no buffer). A group of one pool asks for its least peak; several pools
// also for who goes where (exact/pools.hpp). Where buffers may share bytes (Problem::distances), a pool has a search of
// its own (exact/disjunctive.hpp). Of thousands of buffers, most of the work is done before (large.cpp).
// Cost: exponential in the worst case, bounded by Options::node_limit; a node costs up to the number of conflicts.
// Guarantee: `optimal` and `infeasible` are proofs, and so is every entry of PlanResult::bound. The same problem, seed
// and node limit give the same result on every machine; a time limit does not.
// Source: see exact/engine.hpp; the heuristics are those of hill_climb.cpp and fast.cpp.
// Tests: tests/planners/optimal_test.cpp, exact_*_test.cpp, and those of every algorithm.
#include <algorithm>
#include <chrono>
#include <functional>
#include <optional>
#include <utility>
#include <vector>

#include "planners/exact/disjunctive.hpp"
#include "planners/exact/packing.hpp"
#include "planners/exact/pools.hpp"
#include "planners/exact/tiling.hpp"
#include "planners/hill_climb.hpp"
#include "planners/large.hpp"
#include "planners/orders.hpp"
#include "planners/proof.hpp"
#include "usmp/planners/planner.hpp"

namespace usmp::planners {
namespace {

// Without a limit of the user's: both are worth about ten seconds of a processor of 2026.
constexpr std::uint64_t default_nodes = 2'000'000;
constexpr std::uint64_t default_work = 2'000'000'000;
// Where buffers may share bytes: half a second for plans that share, each node is about ten microseconds, and a fifth
// for those that do not.
constexpr std::uint64_t spaced_nodes = 50'000;
constexpr std::uint64_t apart_work = 40'000'000;
// Looks at neighbours that heuristics may take: where a placement of all buffers takes many, the search does better.
constexpr std::uint64_t heuristic_work = 200'000;
constexpr std::uint64_t climbing_iterations = 100;  // cheap changes that often close a small gap
// Beyond so many pairs that are live together, searches by pairs take minutes and gigabytes.
constexpr std::uint64_t most_pairs = 4'000'000;

// At least the number of pairs; those that meet in several ranges count several times.
std::uint64_t pairs_live_together(const Problem& problem) {
  std::vector<std::pair<Tick, std::int64_t>> events;  // ends, being negative, come first
  for (const Buffer& buffer : problem.buffers) {
    for (const LiveRange& range : buffer.live) {
      events.emplace_back(range.begin, 1);
      events.emplace_back(range.end, -1);
    }
  }
  std::sort(events.begin(), events.end());
  std::uint64_t pairs = 0;
  std::uint64_t live = 0;
  for (const auto& [tick, change] : events) {
    if (change > 0) pairs += live;
    live += static_cast<std::uint64_t>(change);
  }
  return pairs;
}

// The part of the plan that is one group's.
Plan part_of(const Plan& plan, const Group& group) {
  Plan part{std::vector<Allocation>(plan.allocations.size())};
  for (const BufferId id : group.buffers) part.allocations[id.index()] = plan.of(id);
  return part;
}

// A group's best plan so far, and what is proved of it.
struct Solved {
  Plan plan;  // of the group's buffers only
  Cost cost;
  Cost bound;               // as PlanResult::bound, for the group alone
  bool complete = false;    // every buffer has a place within the capacities
  bool impossible = false;  // proved
};

// Whether nothing but the clock, or somebody, is to end a search.
bool has_time_limit_only(const Options& options) { return options.node_limit == 0 && options.time_limit; }

class OptimalPlanner {
 public:
  // `first` is a plan to be improved, if it has one. `work`: a limit of the search if the user has set none.
  OptimalPlanner(const Problem& problem, const Options& options, const PlanResult& first,
                 std::uint64_t work = default_work)
      : problem_(problem),
        options_(options),
        first_(first),
        conflicts_(problem),
        groups_(split_by_pools(problem)),
        placer_(problem, conflicts_, groups_),
        random_(options.seed),
        budget_(options.node_limit > 0         ? options.node_limit
                : has_time_limit_only(options) ? exact::Budget::unlimited
                                               : default_nodes,
                options.time_limit, options.interrupted) {
    if (options.node_limit == 0 && !options.time_limit) budget_.limit_work(work);
  }

  // The same problem without distances, and what plans it, called at most once: for groups in which such a plan could
  // be better than the best that shares bytes so far. Of `nodes` it may take so many from this search's budget.
  using PlanApart = std::function<PlanResult(std::uint64_t nodes)>;
  void set_apart(const Problem* apart, PlanApart plan_apart) {
    apart_ = apart;
    plan_apart_ = std::move(plan_apart);
  }

  PlanResult run() {
    PlanResult result{.status = PlanStatus::optimal, .plan = {std::vector<Allocation>(problem_.buffers.size())}};
    const Cost nothing = cost_of(problem_, result.plan);
    Cost cost = nothing;
    Cost bound = nothing;
    bool complete = true;
    bool impossible = false;
    for (const Group& group : groups_) {
      const Solved solved = solve(group);
      for (const BufferId id : group.buffers) result.plan.allocations[id.index()] = solved.plan.of(id);
      exact::add(cost, solved.cost);
      exact::add(bound, solved.bound);
      if (!solved.complete && !result.shortage) result.shortage = placer_.shortage(start_);
      complete = complete && solved.complete;
      impossible = impossible || solved.impossible;
    }
    result.iterations = budget_.spent();
    result.stopped = stopped_ == StopReason::finished ? budget_.reason() : stopped_;
    if (!complete) {
      result.plan = {};
      result.status = impossible || proved_infeasible(problem_) ? PlanStatus::infeasible : PlanStatus::not_found;
      if (result.status == PlanStatus::infeasible) result.stopped = StopReason::finished;
      return result;
    }
    bound = exact::bound_of_all(problem_, groups_, std::move(bound), cost);
    result.status = bound == cost ? PlanStatus::optimal : PlanStatus::feasible;
    if (result.status == PlanStatus::optimal) result.stopped = StopReason::finished;
    result.bound = std::move(bound);
    return result;
  }

 private:
  Solved solve(const Group& group) {
    const Cost goal = ideal(problem_, group);
    Solved solved = start(group, goal);
    if (solved.complete && (solved.cost <= goal || options_.feasibility_only)) return solved;
    const std::vector<exact::Spacing> spacings = exact::spacings_among(problem_, group.buffers);
    if (!spacings.empty()) {
      solved = climbed(group, goal, std::move(solved));
      if (solved.complete && solved.cost <= goal) return solved;
      solved = compared_with_apart(group, goal, std::move(solved));
    }
    if (group.pools.size() > 1) return distribute(group, std::move(solved));
    return spacings.empty() ? pack(group, std::move(solved)) : pack_spaced(group, std::move(solved), spacings);
  }

  // The best that heuristics find.
  Solved start(const Group& group, const Cost& goal) {
    std::uint64_t work = 1;  // of one attempt
    for (const BufferId id : group.buffers) work += 1 + placer_.neighbours(id).size();
    std::vector<Attempt> attempts = first_attempts(problem_, conflicts_, group);
    attempts.resize(std::clamp<std::size_t>(heuristic_work / work, 1, attempts.size()));
    start_ = best_attempt(placer_, group, attempts);
    Score score = placer_.run(start_);
    if (!meets(score, goal)) {
      const std::uint64_t affordable = std::min(climbing_iterations, heuristic_work / work);
      const std::uint64_t limit = options_.iterations > 0 ? options_.iterations : affordable;
      start_ = climb(placer_, group, start_, random_, limit, [&] { return budget_.is_over(); }).attempt;
      score = placer_.run(start_);
    }
    Solved solved{
        .plan = part_of(placer_.plan(), group), .cost = score.cost, .bound = goal, .complete = score.unplaced == 0};
    if (first_.has_plan()) {
      Plan plan = part_of(first_.plan, group);
      Cost cost = cost_of(problem_, plan);
      if (!solved.complete || cost < solved.cost) solved = {std::move(plan), std::move(cost), goal, true};
    }
    keep_what_holds(solved, goal);
    return solved;
  }

  // The ideal's pools hold what is at home; they say nothing of plans that spill more.
  static void keep_what_holds(Solved& solved, const Cost& goal) {
    if (solved.cost.spilled != goal.spilled) std::fill(solved.bound.used.begin(), solved.bound.used.end(), 0);
  }

  // What a long climb finds from where the short one ended.
  Solved climbed(const Group& group, const Cost& goal, Solved solved) {
    const std::uint64_t limit = options_.iterations > 0 ? options_.iterations : climb_limit(placer_, group);
    const Climbed found = climb(placer_, group, start_, random_, limit, [&] { return budget_.is_over(); });
    const Score score = placer_.run(found.attempt);
    if (score.unplaced > 0 || (solved.complete && solved.cost <= score.cost)) return solved;
    start_ = found.attempt;
    solved = {.plan = part_of(placer_.plan(), group), .cost = score.cost, .bound = goal, .complete = true};
    keep_what_holds(solved, goal);
    return solved;
  }

  // The better of the plan and of one in which no buffers share bytes, if that can be better at all.
  Solved compared_with_apart(const Group& group, const Cost& goal, Solved solved) {
    if (apart_ == nullptr || (solved.complete && solved.cost <= ideal(*apart_, group))) return solved;
    if (!apart_result_) {
      apart_result_ = plan_apart_(std::max<std::uint64_t>(1, budget_.left() / 2));
      static_cast<void>(budget_.spend(std::min(apart_result_->iterations, budget_.left() - 1)));
    }
    if (!apart_result_->has_plan()) return solved;
    Plan plan = part_of(apart_result_->plan, group);
    Cost cost = cost_of(problem_, plan);
    if (solved.complete && solved.cost <= cost) return solved;
    solved = {.plan = std::move(plan), .cost = std::move(cost), .bound = goal, .complete = true};
    keep_what_holds(solved, goal);
    return solved;
  }

  // One pool in which buffers may share bytes: its least peak.
  Solved pack_spaced(const Group& group, Solved solved, const std::vector<exact::Spacing>& spacings) {
    const PoolId pool = group.pools.front();
    const Bytes lower = solved.bound.used[pool.index()];
    return improved(
        group, std::move(solved),
        [&](const exact::Packing& packing, std::vector<Bytes> offsets, const exact::Goal& goal) {
          exact::Budget share =
              budget_.share(options_.node_limit > 0 || options_.time_limit ? budget_.left() : spaced_nodes);
          const auto tell = [&](const exact::Minimum& found) {
            if (options_.progress) {
              options_.progress({pool, found.lower, found.upper, budget_.spent() + share.spent(), first_.has_plan()});
            }
          };
          exact::Minimum minimum =
              exact::minimise_spaced(packing, spacings, lower, std::move(offsets), goal, share, tell);
          budget_.charge(share);
          if (share.exhausted() && stopped_ == StopReason::finished) stopped_ = share.reason();
          return minimum;
        });
  }

  // One pool: its least peak.
  Solved pack(const Group& group, Solved solved) {
    const PoolId pool = group.pools.front();
    const Bytes lower = solved.bound.used[pool.index()];
    const auto tell = [&](const exact::Minimum& minimum) {
      if (options_.progress)
        options_.progress({pool, minimum.lower, minimum.upper, budget_.spent(), first_.has_plan()});
    };
    return improved(group, std::move(solved),
                    [&](const exact::Packing& packing, std::vector<Bytes> offsets, const exact::Goal& goal) {
                      if (auto tiled = exact::tile(packing, lower, budget_)) {
                        exact::Minimum minimum{.lower = lower, .upper = lower, .offsets = std::move(*tiled)};
                        tell(minimum);
                        return minimum;
                      }
                      return exact::minimise(packing, lower, std::move(offsets), goal, budget_, tell);
                    });
  }

  // With what `minimise` makes of the pool.
  template <class Minimise>
  Solved improved(const Group& group, Solved solved, const Minimise& minimise) {
    const PoolId pool = group.pools.front();
    const exact::Packing packing = exact::packing_of(problem_, group.buffers, pool);
    std::vector<Bytes> offsets;
    for (const BufferId id : group.buffers) offsets.push_back(solved.plan.of(id).offset);
    if (!solved.complete) offsets = exact::stacked(packing);
    exact::Goal goal;
    if (problem_.pool(pool).capacity) goal.hopeless = *problem_.pool(pool).capacity;
    if (options_.feasibility_only) goal.enough = goal.hopeless;
    const exact::Minimum minimum = minimise(packing, std::move(offsets), goal);
    for (std::size_t i = 0; i < group.buffers.size(); ++i) {
      solved.plan.allocations[group.buffers[i].index()] = {pool, minimum.offsets[i]};
    }
    solved.cost.used[pool.index()] = minimum.upper;
    solved.bound.used[pool.index()] = minimum.lower;
    solved.complete = minimum.upper <= goal.hopeless;
    solved.impossible = minimum.lower > goal.hopeless;
    return solved;
  }

  // Several pools: who goes where, and where there.
  Solved distribute(const Group& group, Solved solved) {
    const auto tell = [&](PoolId pool, Bytes lower, Bytes upper) {
      if (options_.progress) options_.progress({pool, lower, upper, budget_.spent(), first_.has_plan()});
    };
    PlanResult result = exact::plan_pools(problem_, group, solved.complete ? &solved.plan : nullptr, budget_,
                                          {.any_plan = options_.feasibility_only, .progress = tell});
    solved.impossible = result.status == PlanStatus::infeasible;
    if (result.stopped != StopReason::finished && stopped_ == StopReason::finished) stopped_ = result.stopped;
    if (!result.has_plan()) return solved;
    solved.plan = std::move(result.plan);
    solved.cost = cost_of(problem_, solved.plan);
    solved.bound = std::move(*result.bound);
    solved.complete = true;
    return solved;
  }

  const Problem& problem_;
  const Options& options_;
  const PlanResult& first_;
  Conflicts conflicts_;
  std::vector<Group> groups_;
  FirstFit placer_;
  Random random_;
  exact::Budget budget_;
  Attempt start_;  // of the group at hand
  StopReason stopped_ = StopReason::finished;
  const Problem* apart_ = nullptr;
  PlanApart plan_apart_;
  std::optional<PlanResult> apart_result_;
};

// The problem without the bounds of pools that share buffers with no other pool. Nothing: there are none.
std::optional<Problem> without_lone_bounds(const Problem& problem) {
  std::optional<Problem> result;
  for (const Group& group : split_by_pools(problem)) {
    const PoolId pool = group.pools.front();
    if (group.pools.size() > 1 || !problem.pool(pool).capacity) continue;
    if (!result) result = problem;
    result->pools[pool.index()].capacity.reset();
  }
  return result;
}

bool fits(const Problem& problem, const Plan& plan) {
  const std::vector<Bytes> used = used_bytes(problem, plan);
  for (std::size_t i = 0; i < used.size(); ++i) {
    if (problem.pools[i].capacity && used[i] > *problem.pools[i].capacity) return false;
  }
  return true;
}

// Whether a plan in which no buffers share bytes may be as good as any, for some of the groups in which they may.
bool may_be_best_apart(const Problem& problem, const Problem& apart) {
  const std::vector<Group> groups = split_by_pools(problem);
  return std::any_of(groups.begin(), groups.end(), [&](const Group& group) {
    return !exact::spacings_among(problem, group.buffers).empty() && ideal(apart, group) <= ideal(problem, group);
  });
}

// `work`: as OptimalPlanner's.
// NOLINTNEXTLINE(misc-no-recursion): once without distances, once without bounds.
PlanResult plan_within(const Problem& problem, const Options& options, std::uint64_t work) {
  const auto start = std::chrono::steady_clock::now();
  const auto time_left = [&]() -> std::optional<std::chrono::milliseconds> {
    if (!options.time_limit) return std::nullopt;
    const auto passed = std::chrono::steady_clock::now() - start;
    return std::max(std::chrono::milliseconds(0),
                    *options.time_limit - std::chrono::duration_cast<std::chrono::milliseconds>(passed));
  };
  PlanResult first = fast(problem, options);
  if (first.status == PlanStatus::optimal) {
    first.bound = cost_of(problem, first.plan);
    first.iterations = 0;  // nodes, as elsewhere
    return first;
  }
  const bool is_too_large = pairs_live_together(problem) > most_pairs;
  if (problem.buffers.size() >= large_problem && (is_too_large || problem.distances.empty())) {
    first = improve_large(problem, options, std::move(first));
    if (first.status == PlanStatus::optimal) {
      first.bound = cost_of(problem, first.plan);
      first.iterations = 0;
    }
  }
  if (first.status == PlanStatus::optimal || is_too_large) return first;
  if (problem.distances.empty()) return OptimalPlanner(problem, options, first, work).run();
  Problem apart = problem;
  apart.distances.clear();
  const bool may_stand_apart = !invalid_reason(apart);  // pins may share bytes, too
  // Half of the time, so that some is left.
  // NOLINTNEXTLINE(misc-no-recursion)
  const auto plan_apart = [&](std::uint64_t nodes) {
    Options half = options;
    half.node_limit = options.node_limit > 0 ? nodes : 0;
    if (options.time_limit) half.time_limit = std::max(std::chrono::milliseconds(1), *time_left() / 2);
    return plan_within(apart, half, apart_work);
  };
  const bool apart_first = may_stand_apart && may_be_best_apart(problem, apart);
  Options rest = options;
  if (apart_first) {
    PlanResult result = plan_apart(options.node_limit);
    if (options.node_limit > 0) {
      rest.node_limit =
          std::max<std::uint64_t>(1, options.node_limit - std::min(options.node_limit, result.iterations));
    }
    const bool is_better =
        result.has_plan() && (!first.has_plan() || cost_of(problem, result.plan) < cost_of(problem, first.plan));
    if (is_better) first = std::move(result);
  }
  const auto plan_sharing = [&](const Options& how) {
    OptimalPlanner planner(problem, how, first, work);
    if (may_stand_apart && !apart_first) planner.set_apart(&apart, plan_apart);
    return planner.run();
  };
  rest.time_limit = time_left();
  // Where buffers may share bytes, luck decides about plans that just fit: half of the nodes are for those of the pool
  // without its bound, so that the size that such a plan needs is enough for it.
  const std::optional<Problem> roomy = without_lone_bounds(problem);
  if (!roomy) return plan_sharing(rest);
  Options without_bounds = rest;
  if (rest.node_limit > 1) {
    rest.node_limit /= 2;
    without_bounds.node_limit -= rest.node_limit;
  }
  PlanResult result = plan_sharing(rest);
  if (result.status != PlanStatus::not_found || result.stopped != StopReason::node_limit) return result;
  without_bounds.time_limit = time_left();
  PlanResult unbounded = plan_within(*roomy, without_bounds, work);
  result.iterations += unbounded.iterations;
  unbounded.iterations = result.iterations;
  return unbounded.has_plan() && fits(problem, unbounded.plan) ? unbounded : result;
}

}  // namespace

PlanResult optimal(const Problem& problem, const Options& options) {
  return plan_within(problem, options, default_work);
}

}  // namespace usmp::planners
