// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// Proofs that there is no plan, and costs that none is below, against exhaustive search.
#include "planners/proof.hpp"

#include <doctest/doctest.h>

#include <limits>

#include "planning_support/oracle.hpp"
#include "planning_support/random_problem.hpp"
#include "usmp/planners/planner.hpp"

namespace usmp::planners::proof_test {

using planners::proved_infeasible;

namespace {

Problem two_pools(std::optional<Bytes> fast, std::optional<Bytes> slow) {
  Problem problem;
  problem.pools = {{.name = "fast", .kind = PoolKind::workspace, .capacity = fast, .alignment = 1},
                   {.name = "slow", .kind = PoolKind::workspace, .capacity = slow, .alignment = 1}};
  problem.horizon = 10;
  return problem;
}

void add(Problem& problem, Bytes size, LiveRange live, std::vector<PoolId> candidates, Bytes alignment = 1) {
  Buffer buffer;
  buffer.name = "b" + std::to_string(problem.buffers.size());
  buffer.size = size;
  buffer.alignment = alignment;
  buffer.candidates = std::move(candidates);
  buffer.live = {live};
  problem.buffers.push_back(buffer);
}

const std::vector<PoolId> both{PoolId(0), PoolId(1)};

}  // namespace

TEST_CASE("a buffer larger than each of its pools proves that there is no plan") {
  Problem problem = two_pools(10, 20);
  add(problem, 20, {0, 1}, both);
  CHECK_FALSE(proved_infeasible(problem));
  problem.buffers[0].size = 21;
  CHECK(proved_infeasible(problem));
  problem.pools[1].capacity.reset();
  CHECK_FALSE(proved_infeasible(problem));
}

TEST_CASE("a pool that is too small for a buffer does not count for it") {
  Problem problem = two_pools(10, 20);
  add(problem, 11, {0, 1}, both);
  add(problem, 9, {0, 1}, both);
  CHECK_FALSE(proved_infeasible(problem));
  add(problem, 10, {0, 1}, {PoolId(1)});  // 30 bytes in total, but 11 and 10 can only be in the larger pool
  CHECK(proved_infeasible(problem));
}

TEST_CASE("more live bytes than the pools hold prove that there is no plan") {
  Problem problem = two_pools(10, 20);
  for (int i = 0; i < 3; ++i) add(problem, 10, {i, 9}, both);
  CHECK_FALSE(proved_infeasible(problem));
  add(problem, 1, {8, 9}, both);
  CHECK(proved_infeasible(problem));
  problem.buffers.back().live = {{9, 10}};
  CHECK_FALSE(proved_infeasible(problem));
}

TEST_CASE("alignment counts in the proof") {
  Problem problem = two_pools(24, 8);
  add(problem, 1, {0, 1}, {PoolId(0)}, 8);
  add(problem, 1, {0, 1}, {PoolId(0)}, 8);
  add(problem, 8, {0, 1}, {PoolId(0)}, 8);
  CHECK_FALSE(proved_infeasible(problem));
  add(problem, 1, {0, 1}, {PoolId(0)}, 8);  // 8 + 8 + 8 + 1 > 24
  CHECK(proved_infeasible(problem));

  Problem tied = two_pools(24, 8);
  for (int i = 0; i < 4; ++i) add(tied, 5, {0, 1}, both, 8);
  CHECK_FALSE(proved_infeasible(tied));
  add(tied, 5, {0, 1}, both, 8);  // 5 times 8 > 24 + 8
  CHECK(proved_infeasible(tied));
}

TEST_CASE("buffers of several lists of pools count together") {
  Problem problem = two_pools(10, 10);
  add(problem, 8, {0, 1}, {PoolId(0)});
  add(problem, 8, {0, 1}, {PoolId(1)});
  add(problem, 4, {0, 1}, {PoolId(1), PoolId(0)});
  CHECK_FALSE(proved_infeasible(problem));  // 20 bytes in total, although none of the rests holds 4
  problem.buffers[2].size = 5;
  CHECK(proved_infeasible(problem));
}

TEST_CASE("huge capacities do not overflow") {
  Problem problem = two_pools(std::numeric_limits<Bytes>::max(), std::numeric_limits<Bytes>::max());
  add(problem, Problem::max_total_bytes / 4, {0, 1}, both, 16);
  REQUIRE_FALSE(invalid_reason(problem).has_value());
  CHECK_FALSE(proved_infeasible(problem));
  CHECK(planners::hill_climb(problem, {}).status == PlanStatus::optimal);
}

TEST_CASE("proofs are never wrong") {
  test::ProblemMaker maker(21);
  int proved = 0;
  int impossible = 0;
  for (int i = 0; i < 400; ++i) {
    const Problem problem = maker.make(
        {.buffers = 5, .pools = 1 + maker.below(3), .bounded = true, .sharing = i % 4 == 1, .pins = i % 3 == 0});
    CAPTURE(i);
    const test::Truth truth = test::truth_of(problem);
    if (!truth.best) ++impossible;
    if (!proved_infeasible(problem)) continue;
    ++proved;
    CHECK_FALSE(truth.best.has_value());
  }
  CHECK(proved > 50);
  CHECK(proved >= impossible * 3 / 4);
}

TEST_CASE("the ideal has what cannot be in its first choice in the next one") {
  Problem problem = two_pools(10, 100);
  add(problem, 20, {0, 2}, both);
  add(problem, 10, {1, 3}, both);
  add(problem, 5, {1, 3}, {PoolId(1)});
  CHECK((planners::ideal(problem, planners::split_by_pools(problem).front()) == Cost{{20}, {10, 25}}));
}

TEST_CASE("nothing is better than the ideal") {
  test::ProblemMaker maker(22);
  for (int i = 0; i < 300; ++i) {
    const Problem problem = maker.make(
        {.buffers = 5, .pools = 1 + maker.below(2), .bounded = true, .sharing = i % 4 == 1, .pins = i % 3 == 0});
    CAPTURE(i);
    const test::Truth truth = test::truth_of(problem);
    if (!truth.best) continue;
    std::vector<Bytes> spilled(truth.best->spilled.size(), 0);
    std::vector<Bytes> used(problem.pools.size(), 0);
    for (const planners::Group& group : planners::split_by_pools(problem)) {
      const Cost ideal = planners::ideal(problem, group);
      for (std::size_t r = 0; r < spilled.size(); ++r) spilled[r] += ideal.spilled[r];
      for (std::size_t p = 0; p < used.size(); ++p) used[p] += ideal.used[p];
    }
    CHECK(truth.best->spilled >= spilled);
    if (truth.best->spilled > spilled) continue;
    for (std::size_t p = 0; p < used.size(); ++p) CHECK(truth.best->used[p] >= used[p]);
  }
}

}  // namespace usmp::planners::proof_test
