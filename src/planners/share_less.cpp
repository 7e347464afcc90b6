// Idea: a pair has to share only if the pool would be too small without: as far as the load tells, that is so where
// both are live. Distances are dropped one by one as long as the load of the rest fits into what the plan uses; then
// the algorithm plans once more with those that are left, into pools of that size. If it finds no plan, the old one
// stays.
// Tests: tests/planners/share_less_test.cpp.
#include "usmp/planners/share_less.hpp"

#include <algorithm>
#include <utility>
#include <vector>

#include "usmp/bounds/load.hpp"

namespace usmp::planners {
namespace {

constexpr std::uint64_t most_nodes = 20'000;
constexpr std::size_t most_distances = 2'000;

bool shares(const Problem& problem, const Plan& plan, const Distance& distance) {
  const Allocation& below = plan.of(distance.below);
  const Allocation& above = plan.of(distance.above);
  return below.pool == above.pool && below.offset <= above.offset &&
         above.offset < below.offset + problem.buffer(distance.below).size;
}

// The buffers that the plan has in each pool.
std::vector<std::vector<BufferId>> by_pool(const Problem& problem, const Plan& plan) {
  std::vector<std::vector<BufferId>> buffers(problem.pools.size());
  for (std::size_t i = 0; i < plan.allocations.size(); ++i) {
    buffers[plan.allocations[i].pool.index()].emplace_back(i);
  }
  return buffers;
}

}  // namespace

PlanResult share_less(const Problem& problem, PlanResult result, const Planner& plan, const Options& options) {
  if (!result.has_plan() || problem.distances.empty() || problem.distances.size() > most_distances) return result;
  Problem less = problem;
  std::erase_if(less.distances, [&](const Distance& distance) { return !shares(problem, result.plan, distance); });
  const std::size_t shared = less.distances.size();
  const std::vector<Bytes> used = used_bytes(problem, result.plan);
  const std::vector<std::vector<BufferId>> buffers = by_pool(problem, result.plan);
  for (std::size_t i = less.distances.size(); i-- > 0;) {
    const Distance dropped = less.distances[i];
    const PoolId pool = result.plan.of(dropped.below).pool;
    less.distances.erase(less.distances.begin() + static_cast<std::ptrdiff_t>(i));
    const bool fits =
        bounds::packing_bound(less, buffers[pool.index()], problem.pool(pool)).bytes <= used[pool.index()];
    if (!fits) less.distances.insert(less.distances.begin() + static_cast<std::ptrdiff_t>(i), dropped);
  }
  if (less.distances.size() == shared) return result;
  for (std::size_t p = 0; p < used.size(); ++p) less.pools[p].capacity = used[p];
  if (invalid_reason(less)) return result;  // pins that share
  Options brief = options;
  brief.feasibility_only = true;
  brief.node_limit = most_nodes;
  brief.progress = {};
  PlanResult again = plan(less, brief);
  if (again.has_plan() && cost_of(problem, again.plan) <= cost_of(problem, result.plan)) {
    result.plan = std::move(again.plan);
  }
  return result;
}

}  // namespace usmp::planners
