// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// What must not change the best cost, what may only raise it, and what may only lower it. These hold without an oracle,
// so the problems can be larger than what can be tried out.
#include <doctest/doctest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "planning_support/claims.hpp"
#include "planning_support/random_problem.hpp"
#include "usmp/bounds/bounds.hpp"
#include "usmp/planners/planner.hpp"

namespace usmp::planners::properties_test {
namespace {

// Problems of every kind: pins, reserved bytes, several bounded pools, pauses in the lives of buffers.
Problem any_problem(test::ProblemMaker& maker) {
  return maker.make({.buffers = 4 + maker.below(9),
                     .pools = 1 + maker.below(3),
                     .bounded = maker.below(3) != 0,
                     .pins = maker.below(3) == 0,
                     .most_ranges = 1 + maker.below(3),
                     .horizon = 14,
                     .largest = 12 + static_cast<Bytes>(maker.below(30))});
}

// The best cost, or nothing if there is no plan. Both are proved.
std::optional<Cost> best_cost(const Problem& problem) {
  const auto reason = invalid_reason(problem);
  REQUIRE(reason.value_or("") == "");
  const PlanResult result = planners::optimal(problem, {.iterations = 50});
  test::check_right(problem, result);
  if (!result.has_plan()) {
    REQUIRE(result.status == PlanStatus::infeasible);
    return std::nullopt;
  }
  REQUIRE(result.status == PlanStatus::optimal);
  return cost_of(problem, result.plan);
}

// No cost is worse than none. Problems with shorter lists of candidates have shorter costs.
bool is_no_better(std::optional<Cost> a, std::optional<Cost> b) {
  if (!a) return true;
  if (!b) return false;
  const std::size_t ranks = std::max(a->spilled.size(), b->spilled.size());
  a->spilled.resize(ranks, 0);
  b->spilled.resize(ranks, 0);
  return *a >= *b;
}

template <class Change>
Problem changed(Problem problem, Change change) {
  change(problem);
  return problem;
}

Problem shuffled(Problem problem, test::ProblemMaker& maker) {
  for (std::size_t i = problem.buffers.size(); i > 1; --i) {
    std::swap(problem.buffers[i - 1], problem.buffers[maker.below(i)]);
  }
  return problem;
}

Problem reversed(Problem problem) {
  for (Buffer& buffer : problem.buffers) {
    std::reverse(buffer.live.begin(), buffer.live.end());
    for (LiveRange& range : buffer.live) range = {problem.horizon - range.end, problem.horizon - range.begin};
  }
  return problem;
}

Problem at_times(Problem problem, Tick factor, Tick shift) {
  for (Buffer& buffer : problem.buffers) {
    for (LiveRange& range : buffer.live) range = {factor * range.begin + shift, factor * range.end + shift};
  }
  problem.horizon = factor * problem.horizon + shift;
  return problem;
}

Problem scaled(Problem problem, Bytes factor) {
  for (Pool& pool : problem.pools) {
    pool.alignment *= factor;
    pool.reserved *= factor;
    if (pool.capacity) *pool.capacity *= factor;
  }
  for (Buffer& buffer : problem.buffers) {
    buffer.size *= factor;
    buffer.alignment *= factor;
    if (buffer.pinned) *buffer.pinned *= factor;
  }
  return problem;
}

std::optional<Cost> scaled(std::optional<Cost> cost, Bytes factor) {
  if (!cost) return cost;
  for (Bytes& bytes : cost->spilled) bytes *= factor;
  for (Bytes& bytes : cost->used) bytes *= factor;
  return cost;
}

// Makes some buffer live at one more tick.
void lengthen_a_life(Problem& problem, test::ProblemMaker& maker) {
  Buffer& buffer = problem.buffers[maker.below(problem.buffers.size())];
  std::vector<bool> live(static_cast<std::size_t>(problem.horizon), false);
  for (const LiveRange& range : buffer.live) {
    for (Tick t = range.begin; t < range.end; ++t) live[static_cast<std::size_t>(t)] = true;
  }
  live[maker.below(live.size())] = true;
  buffer.live.clear();
  for (std::size_t t = 0; t < live.size(); ++t) {
    const auto tick = static_cast<Tick>(t);
    if (!live[t]) continue;
    if (t > 0 && live[t - 1]) {
      ++buffer.live.back().end;
    } else {
      buffer.live.push_back({tick, tick + 1});
    }
  }
}

}  // namespace

TEST_CASE("the best cost does not depend on order, names, direction and unit of time, or the unit of bytes") {
  test::ProblemMaker maker(91);
  int feasible = 0;
  for (int i = 0; i < 600; ++i) {
    const Problem problem = any_problem(maker);
    CAPTURE(i);
    const std::optional<Cost> best = best_cost(problem);
    if (best) ++feasible;
    CHECK((best_cost(shuffled(problem, maker)) == best));
    CHECK((best_cost(reversed(problem)) == best));
    CHECK((best_cost(at_times(problem, 3, 1000)) == best));
    CHECK((best_cost(scaled(problem, 8)) == scaled(best, 8)));
  }
  CHECK(feasible > 300);
}

TEST_CASE("no algorithm looks at names, or at where the clock starts") {
  test::ProblemMaker maker(92);
  for (int i = 0; i < 200; ++i) {
    const Problem problem = any_problem(maker);
    const Problem renamed = changed(problem, [](Problem& p) {
      for (Buffer& buffer : p.buffers) buffer.name = buffer.function = "same";
      for (Pool& pool : p.pools) pool.name.insert(0, "a ");
    });
    CAPTURE(i);
    for (const planners::Algorithm& algorithm : planners::algorithms()) {
      CAPTURE(algorithm.name);
      const PlanResult result = algorithm.plan(problem, {.iterations = 50});
      for (const Problem& other : {renamed, at_times(problem, 1, 500)}) {
        const PlanResult again = algorithm.plan(other, {.iterations = 50});
        CHECK(again.status == result.status);
        CHECK((again.plan == result.plan));
      }
    }
  }
}

TEST_CASE("more to keep apart, stricter alignment and less room never lower the best cost") {
  test::ProblemMaker maker(93);
  int raised = 0;
  for (int i = 0; i < 600; ++i) {
    const Problem problem = any_problem(maker);
    CAPTURE(i);
    const std::optional<Cost> best = best_cost(problem);
    const std::vector<Problem> harder = {
        changed(problem, [&](Problem& p) { lengthen_a_life(p, maker); }),
        changed(problem, [&](Problem& p) { p.buffers[maker.below(p.buffers.size())].alignment *= 4; }),
        changed(problem, [&](Problem& p) { ++p.buffers[maker.below(p.buffers.size())].size; }),
        changed(problem, [&](Problem& p) { ++p.pools[maker.below(p.pools.size())].reserved; }),
        changed(problem, [&](Problem& p) {
          Pool& pool = p.pools[maker.below(p.pools.size())];
          pool.capacity = pool.capacity ? std::max<Bytes>(0, *pool.capacity - 1) : 40;
        })};
    for (std::size_t k = 0; k < harder.size(); ++k) {
      CAPTURE(k);
      if (invalid_reason(harder[k])) continue;  // pins that contradict each other now
      const std::optional<Cost> other = best_cost(harder[k]);
      CHECK(is_no_better(other, best));
      if (other != best) ++raised;
    }
  }
  CHECK(raised > 500);
}

TEST_CASE("a buffer less never raises the best cost, and no bound is above what is left") {
  test::ProblemMaker maker(94);
  int lowered = 0;
  for (int i = 0; i < 600; ++i) {
    const Problem problem = any_problem(maker);
    const std::size_t gone = maker.below(problem.buffers.size());
    const Problem rest =
        changed(problem, [&](Problem& p) { p.buffers.erase(p.buffers.begin() + static_cast<std::ptrdiff_t>(gone)); });
    CAPTURE(i);
    const std::optional<Cost> all = best_cost(problem);
    const std::optional<Cost> fewer = best_cost(rest);
    CHECK(is_no_better(all, fewer));
    if (all != fewer) ++lowered;
    if (!all || !fewer) continue;
    const auto bounds = bounds::pool_bounds(rest);
    for (std::size_t p = 0; p < bounds.size(); ++p) CHECK(bounds[p].bytes <= fewer->used[p]);
  }
  CHECK(lowered > 200);
}

}  // namespace usmp::planners::properties_test
