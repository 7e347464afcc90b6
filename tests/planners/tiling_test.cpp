// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// Packings without a hole.
#include "planners/exact/tiling.hpp"

#include <doctest/doctest.h>

#include <string>
#include <vector>

#include "planning_support/generators.hpp"
#include "usmp/planners/planner.hpp"
#include "usmp/verify/verify.hpp"

namespace usmp::planners::tiling_test {

using namespace usmp::planners::exact;

namespace {

std::vector<BufferId> all_buffers(const Problem& problem) {
  std::vector<BufferId> ids;
  for (std::size_t i = 0; i < problem.buffers.size(); ++i) ids.emplace_back(i);
  return ids;
}

std::optional<std::vector<Bytes>> tiled(const Problem& problem, Bytes height) {
  Budget budget(Budget::unlimited);
  return tile(packing_of(problem, all_buffers(problem), PoolId(0)), height, budget);
}

// What is wrong with them in a pool of this height; empty: nothing.
std::string faults_of(Problem problem, const std::optional<std::vector<Bytes>>& offsets, Bytes height) {
  if (!offsets) return "none found";
  problem.pools[0].capacity = height;
  Plan plan;
  for (const Bytes offset : *offsets) plan.allocations.push_back({PoolId(0), offset});
  std::string text;
  for (const auto& violation : verify::check(problem, plan)) text += violation.message + "; ";
  return text;
}

Problem three_and_one() {
  Problem problem = test::one_pool(4);
  test::add_buffer(problem, 10, {0, 3});
  test::add_buffer(problem, 20, {3, 4});
  test::add_buffer(problem, 20, {0, 1});
  test::add_buffer(problem, 20, {1, 3});
  test::add_buffer(problem, 10, {3, 4});
  return problem;
}

}  // namespace

TEST_CASE("packings without a hole are found") {
  for (const auto generator : {test::guillotine, test::pinwheel, test::nested_pinwheels}) {
    for (const std::size_t n : {5U, 21U, 101U, 301U}) {
      for (std::uint64_t seed = 1; seed <= 5; ++seed) {
        CAPTURE(n);
        CAPTURE(seed);
        const Problem problem = generator(n, seed);
        CHECK(faults_of(problem, tiled(problem, test::square), test::square).empty());
      }
    }
  }
}

TEST_CASE("packings without a hole: a thousand buffers in ten orders are proved") {
  for (std::uint64_t shuffle = 1; shuffle <= 10; ++shuffle) {
    CAPTURE(shuffle);
    const Problem problem = test::reordered(test::nested_pinwheels(1001, 7), test::BufferOrder::shuffled, shuffle);
    const PlanResult result = optimal(problem, {});
    CHECK(result.status == PlanStatus::optimal);
    CHECK(used_bytes(problem, result.plan).front() == test::square);
    CHECK(result.iterations < 100'000);
  }
}

TEST_CASE("packings without a hole: reserved bytes are below, and alignments hold") {
  Problem problem = three_and_one();
  CHECK(faults_of(problem, tiled(problem, 30), 30).empty());
  problem.pools[0].reserved = 7;
  CHECK(faults_of(problem, tiled(problem, 37), 37).empty());
  CHECK_FALSE(tiled(problem, 30));
  problem.pools[0].reserved = 0;
  problem.buffers[0].alignment = 20;
  CHECK(faults_of(problem, tiled(problem, 30), 30).empty());
  problem.buffers[0].alignment = 30;
  CHECK(faults_of(problem, tiled(problem, 30), 30).empty());
  problem.buffers[2].alignment = 30;  // both have to be at the bottom
  CHECK_FALSE(tiled(problem, 30));
}

TEST_CASE("packings without a hole: what is none is left to others") {
  const Problem whole = three_and_one();
  CHECK(tiled(whole, 30));
  CHECK_FALSE(tiled(whole, 31));
  CHECK_FALSE(tiled(whole, 29));
  CHECK_FALSE(tiled(test::one_pool(4), 0));
  Problem changed = whole;
  changed.buffers[4].size = 9;  // a hole
  CHECK_FALSE(tiled(changed, 30));
  changed = whole;
  changed.buffers[4].pinned = 0;
  CHECK_FALSE(tiled(changed, 30));
  changed = test::one_pool(3);
  test::add_buffer(changed, 30, {0, 1});
  test::add_buffer(changed, 30, {1, 3});
  CHECK(tiled(changed, 30));
  changed.buffers[0].live.push_back({2, 3});
  CHECK_FALSE(tiled(changed, 30));
  changed = whole;
  test::add_buffer(changed, 0, {0, 4});
  CHECK_FALSE(tiled(changed, 30));
}

TEST_CASE("packings without a hole: a budget ends the search") {
  const Problem problem = test::nested_pinwheels(301, 1);
  Budget budget(100);
  CHECK_FALSE(tile(packing_of(problem, all_buffers(problem), PoolId(0)), test::square, budget));
  CHECK(budget.reason() == StopReason::node_limit);
  CHECK(budget.spent() == 100);
}

}  // namespace usmp::planners::tiling_test
