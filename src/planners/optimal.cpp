// The best plan, and the proof that it is the best: heuristics, then exact search between them and the lower bounds.
//
// Idea: most real problems are solved by first fit in a good order, and the load proves it. What is left is a gap
// between the best plan found and the best lower bound; exact search closes it (exact/search.hpp, exact/engine.hpp),
// one group of pools after another (groups share no buffer). A group of one pool asks for its least peak; several pools
// also for who goes where. Cost: exponential in the worst case, bounded by Options::node_limit; a node costs up to the
// number of conflicts. Guarantee: never worse than the greedy algorithms. `optimal` and `infeasible` are proofs, and so
// is every entry of PlanResult::bound. The same problem, seed and node limit give the same result on every machine; a
// time limit does not. Source: see exact/engine.hpp; the heuristics are those of hill_climb.cpp. Tests:
// tests/planners/optimal_test.cpp, exact_*_test.cpp, and those of every algorithm.
#include <algorithm>
#include <utility>

#include "planners/exact/packing.hpp"
#include "planners/hill_climb.hpp"
#include "planners/orders.hpp"
#include "planners/proof.hpp"
#include "usmp/planners/planner.hpp"

namespace usmp::planners {
namespace {

constexpr std::uint64_t default_nodes = 100'000;
constexpr std::uint64_t climbing_iterations = 100;  // cheap changes that often close a small gap

// What is known of one group.
struct Solved {
  std::vector<std::pair<BufferId, Allocation>> allocations;
  Cost cost;
  Cost bound;
  bool complete = false;    // every buffer has a place within the capacities
  bool impossible = false;  // proved
};

class Planner {
 public:
  Planner(const Problem& problem, const Options& options)
      : problem_(problem),
        options_(options),
        conflicts_(problem),
        groups_(split_by_pools(problem)),
        placer_(problem, conflicts_, groups_),
        random_(options.seed),
        budget_(options.node_limit > 0 ? options.node_limit : default_nodes, options.time_limit, options.interrupted) {}

  PlanResult run() {
    PlanResult result{.status = PlanStatus::optimal, .plan = {std::vector<Allocation>(problem_.buffers.size())}};
    Cost bound = cost_of(problem_, result.plan);
    bool complete = true;
    bool impossible = false;
    for (const Group& group : groups_) {
      const Solved solved = solve(group);
      for (const auto& [id, allocation] : solved.allocations) result.plan.allocations[id.index()] = allocation;
      for (std::size_t r = 0; r < bound.spilled.size(); ++r) bound.spilled[r] += solved.bound.spilled[r];
      for (const PoolId pool : group.pools) bound.used[pool.index()] = solved.bound.used[pool.index()];
      if (!solved.complete && !result.shortage) result.shortage = placer_.shortage(start_);
      complete = complete && solved.complete;
      impossible = impossible || solved.impossible;
      if (!solved.complete || solved.cost != solved.bound) result.status = PlanStatus::feasible;
    }
    result.iterations = budget_.spent();
    result.stopped = budget_.reason();
    if (complete) {
      result.bound = std::move(bound);
    } else {
      result.plan = {};
      result.status = impossible || proved_infeasible(problem_) ? PlanStatus::infeasible : PlanStatus::not_found;
    }
    return result;
  }

 private:
  Solved solve(const Group& group) {
    start_ = best_attempt(placer_, group, first_attempts(problem_, conflicts_, group));
    const Cost goal = ideal(problem_, group);
    Score score = placer_.run(start_);
    if (!meets(score, goal)) {
      Climbed climbed =
          climb(placer_, group, start_, random_, options_.iterations > 0 ? options_.iterations : climbing_iterations);
      start_ = std::move(climbed.attempt);
      score = placer_.run(start_);
    }
    Solved solved{.allocations = {}, .cost = score.cost, .bound = goal, .complete = score.unplaced == 0};
    for (const BufferId id : group.buffers) solved.allocations.emplace_back(id, placer_.of(id));
    // The ideal's pools hold what is at home; they say nothing of plans that spill more.
    if (score.cost.spilled != goal.spilled) std::fill(solved.bound.used.begin(), solved.bound.used.end(), 0);
    if (meets(score, goal) || group.pools.size() > 1) return solved;
    return pack(group, std::move(solved));
  }

  // One pool: its least peak.
  Solved pack(const Group& group, Solved solved) {
    const PoolId pool = group.pools.front();
    const exact::Packing packing = exact::packing_of(problem_, group.buffers, pool);
    std::vector<Bytes> start;
    for (const auto& [id, allocation] : solved.allocations) start.push_back(allocation.offset);
    if (!solved.complete) start = exact::stacked(packing);
    exact::Goal goal;
    if (problem_.pool(pool).capacity) goal.hopeless = *problem_.pool(pool).capacity;
    if (options_.feasibility_only) goal.enough = goal.hopeless;
    const auto tell = [&](const exact::Minimum& minimum) {
      if (options_.progress) options_.progress({pool, minimum.lower, minimum.upper, budget_.spent()});
    };
    const exact::Minimum minimum =
        exact::minimise(packing, solved.bound.used[pool.index()], std::move(start), goal, budget_, tell);
    for (std::size_t i = 0; i < group.buffers.size(); ++i) {
      solved.allocations[i] = {group.buffers[i], {pool, minimum.offsets[i]}};
    }
    solved.cost.used[pool.index()] = minimum.upper;
    solved.bound.used[pool.index()] = minimum.lower;
    solved.complete = minimum.upper <= goal.hopeless;
    solved.impossible = minimum.lower > goal.hopeless;
    return solved;
  }

  const Problem& problem_;
  const Options& options_;
  Conflicts conflicts_;
  std::vector<Group> groups_;
  FirstFit placer_;
  Random random_;
  exact::Budget budget_;
  Attempt start_;  // of the group at hand
};

}  // namespace

PlanResult optimal(const Problem& problem, const Options& options) { return Planner(problem, options).run(); }

}  // namespace usmp::planners
