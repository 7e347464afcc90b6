// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// Idea: a pair has to share only if the pool would be too small without: as far as the load tells, that is so where
// both are live. Distances are dropped one by one as long as the load of the rest fits into what the plan uses; then
// the algorithm plans once more with those that are left, into pools of that size. If it finds no plan, the old one
// stays.
// Tests: tests/planners/share_less_test.cpp.
#include "usmp/planners/share_less.hpp"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <utility>
#include <vector>

#include "usmp/bounds/load.hpp"

namespace usmp::planners {
namespace {

constexpr std::uint64_t most_nodes = 20'000;
constexpr std::size_t most_distances = 2'000;
constexpr std::size_t most_looks_at_loads = 5'000'000;  // at buffers and distances, of all loads together

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

// Whether a search was told to end by now.
class ShareClock {
 public:
  explicit ShareClock(const Options& options) : options_(options), start_(std::chrono::steady_clock::now()) {}

  [[nodiscard]] std::chrono::milliseconds passed() const {
    return std::chrono::duration_cast<std::chrono::milliseconds>(std::chrono::steady_clock::now() - start_);
  }
  [[nodiscard]] bool is_over() const {
    if (options_.interrupted != nullptr && options_.interrupted->load()) return true;
    return options_.time_limit && passed() >= *options_.time_limit;
  }

 private:
  const Options& options_;
  std::chrono::steady_clock::time_point start_;
};

}  // namespace

PlanResult share_less(const Problem& problem, PlanResult result, const Planner& plan, const Options& options) {
  if (!result.has_plan() || problem.distances.empty() || problem.distances.size() > most_distances) return result;
  const ShareClock clock(options);
  Problem less = problem;
  std::erase_if(less.distances, [&](const Distance& distance) { return !shares(problem, result.plan, distance); });
  const std::size_t shared = less.distances.size();
  const std::vector<Bytes> used = used_bytes(problem, result.plan);
  const std::vector<std::vector<BufferId>> buffers = by_pool(problem, result.plan);
  std::size_t tries = most_looks_at_loads / (1 + problem.buffers.size() + shared);
  for (std::size_t i = shared; i-- > 0 && tries > 0; --tries) {
    if (clock.is_over()) return result;
    const Distance dropped = less.distances[i];
    const PoolId pool = result.plan.of(dropped.below).pool;
    less.distances.erase(less.distances.begin() + static_cast<std::ptrdiff_t>(i));
    const bool fits =
        bounds::packing_bound(less, buffers[pool.index()], problem.pool(pool)).bytes <= used[pool.index()];
    if (!fits) less.distances.insert(less.distances.begin() + static_cast<std::ptrdiff_t>(i), dropped);
  }
  if (less.distances.size() == shared || clock.is_over()) return result;
  for (std::size_t p = 0; p < used.size(); ++p) less.pools[p].capacity = used[p];
  if (invalid_reason(less)) return result;  // pins that share
  Options brief = options;
  brief.feasibility_only = true;
  brief.node_limit = options.node_limit > 0 ? std::min(options.node_limit, most_nodes) : most_nodes;
  if (options.time_limit) {
    brief.time_limit = std::max(std::chrono::milliseconds(1), *options.time_limit - clock.passed());
  }
  brief.progress = {};
  PlanResult again = plan(less, brief);
  if (again.has_plan() && cost_of(problem, again.plan) <= cost_of(problem, result.plan)) {
    result.plan = std::move(again.plan);
  }
  return result;
}

}  // namespace usmp::planners
