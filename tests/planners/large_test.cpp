// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// Problems of thousands of buffers: quality, limits, and first fit without a list of conflicts.
#include <doctest/doctest.h>

#include <algorithm>
#include <chrono>
#include <utility>
#include <vector>

#include "planners/large.hpp"
#include "planners/scan_fit.hpp"
#include "planning_support/generators.hpp"
#include "planning_support/random_problem.hpp"
#include "usmp/bounds/bounds.hpp"
#include "usmp/planners/planner.hpp"
#include "usmp/verify/verify.hpp"

namespace usmp::planners::large_test {
namespace {

// Parts in ten thousand above the load.
Bytes excess(const Problem& problem, const PlanResult& result) {
  REQUIRE(result.has_plan());
  REQUIRE(verify::check(problem, result.plan).empty());
  const Bytes load = bounds::pool_bounds(problem).front().bytes;
  return (used_bytes(problem, result.plan).front() - load) * 10'000 / load;
}

// Each buffer at the lowest offset where it meets none of those before it.
std::vector<Bytes> placed_one_by_one(const Problem& problem, const std::vector<BufferId>& order) {
  std::vector<Bytes> offsets(problem.buffers.size(), -1);
  const auto is_free = [&](BufferId id, Bytes offset) {
    return std::ranges::none_of(order, [&](BufferId other) {
      const Bytes at = offsets[other.index()];
      return at >= 0 && overlap(problem.buffer(id).live, problem.buffer(other).live) &&
             at < offset + problem.buffer(id).size && offset < at + problem.buffer(other).size;
    });
  };
  for (const BufferId id : order) {
    const Bytes alignment = alignment_in(problem.buffer(id), problem.pools.front());
    Bytes offset = first_offset(problem.buffer(id), problem.pools.front());
    while (!is_free(id, offset)) offset += alignment;
    offsets[id.index()] = offset;
  }
  return offsets;
}

}  // namespace

TEST_CASE("graphs of training: at most three thousandths above the load") {
  for (const std::size_t buffers : {1500U, 5000U, 12000U}) {
    for (std::uint64_t seed = 1; seed <= 2; ++seed) {
      CAPTURE(buffers);
      CAPTURE(seed);
      const Problem problem = test::training(buffers, seed);
      const PlanResult result = improve_large(problem, {}, fast(problem, {}));
      CHECK(excess(problem, result) <= 30);
    }
  }
}

TEST_CASE("graphs of training: also with tensors as large as a third of the load") {
  const Problem problem = test::training(18'692, 2, 33'554'432);
  const PlanResult rough = fast(problem, {});
  CHECK(excess(problem, rough) > 100);
  CHECK(excess(problem, improve_large(problem, {.node_limit = 50'000}, rough)) <= 30);
}

TEST_CASE("graphs of training: outwards from the peak, the load is reached where large tensors are in the way") {
  const Problem problem = test::training(5'000, 1, 33'554'432);
  const PlanResult rough = fast(problem, {});
  CHECK(excess(problem, rough) > 1'000);
  CHECK(improve_large(problem, {}, rough).status == PlanStatus::optimal);
}

TEST_CASE("large problems: what stands near the top comes earlier in the next order") {
  const Problem problem = test::training(5'000, 5);
  const Bytes load = bounds::pool_bounds(problem).front().bytes;
  CHECK(used_bytes(problem, improve_large(problem, {}, fast(problem, {})).plan).front() == load);
}

TEST_CASE("the default is never behind the other algorithms on them") {
  const Problem problem = test::training(5'000, 1, 33'554'432);
  const Bytes best = used_bytes(problem, optimal(problem, {.node_limit = 20'000}).plan).front();
  CHECK(best == bounds::pool_bounds(problem).front().bytes);
  for (const PlanFunction plan : {fast, greedy_by_size, greedy_by_conflicts, greedy_by_breadth}) {
    CHECK(best <= used_bytes(problem, plan(problem, {}).plan).front());
  }
}

TEST_CASE("scan fit: as first fit places, pins and several ranges among them") {
  test::ProblemMaker maker(5);
  for (int i = 0; i < 60; ++i) {
    CAPTURE(i);
    Problem problem = maker.make({.buffers = 30, .pools = 1, .most_ranges = 3});
    problem.distances.clear();
    std::vector<BufferId> all;
    for (std::size_t k = 0; k < problem.buffers.size(); ++k) {
      problem.buffers[k].candidates = {PoolId(0)};
      problem.buffers[k].pinned.reset();
      all.emplace_back(k);
    }
    ScanFit fit(problem, all, PoolId(0));
    exact::Budget budget(1);
    const auto peak = fit.run(fit.movable(), budget);
    REQUIRE(peak);
    const std::vector<Bytes> expected = placed_one_by_one(problem, fit.movable());
    Bytes highest = 0;
    for (const BufferId id : fit.movable()) {
      CHECK(fit.offset(id) == expected[id.index()]);
      highest = std::max(highest, fit.end(id));
    }
    CHECK(*peak >= highest);
  }
}

TEST_CASE("scan fit: in blocks as one by one") {
  test::Draw draw(7);
  for (int i = 0; i < 4; ++i) {
    CAPTURE(i);
    // Many of those that stay until the end meet all of a block; many of the short ones meet none.
    Problem problem;
    problem.horizon = 400;
    problem.pools.resize(1);
    std::vector<BufferId> all;
    for (std::size_t k = 0; k < 400; ++k) {
      const Tick begin = draw.below(396);
      const Tick end = draw.below(3) == 0 ? 400 : std::min<Tick>(400, begin + 4 + draw.below(40));
      std::vector<LiveRange> live = {{begin, end}};
      if (k % 20 == 0) live = {{begin, begin + 1}, {end - 1, end}};
      Buffer buffer;
      buffer.size = 1 + draw.below(24);
      buffer.alignment = Bytes{1} << draw.below(4);
      buffer.candidates = {PoolId(0)};
      buffer.live = std::move(live);
      problem.buffers.push_back(std::move(buffer));
      all.emplace_back(k);
    }
    ScanFit fit(problem, all, PoolId(0));
    exact::Budget budget(1);
    REQUIRE(fit.run(all, budget));
    CHECK(fit.offsets() == placed_one_by_one(problem, all));
  }
}

TEST_CASE("large problems: pins stay, and what does not fit is not planned") {
  Problem problem = test::training(1'200, 4);
  const Bytes load = bounds::pool_bounds(problem).front().bytes;
  for (std::size_t i = 0; i < 3; ++i) {  // not live at one time: alone at a place each
    problem.buffers[i].pinned = static_cast<Bytes>(i) * load / 4;
    for (std::size_t k = 0; k < i; ++k) {
      if (overlap(problem.buffers[i].live, problem.buffers[k].live)) problem.buffers[i].pinned.reset();
    }
  }
  REQUIRE_FALSE(invalid_reason(problem));
  const PlanResult result = improve_large(problem, {}, {});
  REQUIRE(result.has_plan());
  CHECK(verify::check(problem, result.plan).empty());
  problem.pools.front().capacity = load / 2;
  if (!invalid_reason(problem)) CHECK_FALSE(improve_large(problem, {}, {}).has_plan());
}

TEST_CASE("large problems: where buffers may share bytes, no order is tried below the load without sharing") {
  // Each is live with the next one, and may be written over it.
  const std::size_t count = 1'200;
  Problem problem;
  problem.pools.resize(1);
  problem.horizon = static_cast<Tick>(count) + 1;
  PlanResult rough;
  rough.status = PlanStatus::feasible;
  for (std::size_t i = 0; i < count; ++i) {
    Buffer buffer;
    buffer.size = 128;
    buffer.candidates = {PoolId(0)};
    buffer.live = {{static_cast<Tick>(i), static_cast<Tick>(i) + 2}};
    problem.buffers.push_back(std::move(buffer));
    if (i > 0) problem.distances.push_back({BufferId(i - 1), BufferId(i), 0});
    rough.plan.allocations.push_back({PoolId(0), static_cast<Bytes>(i % 2) * 128});
  }
  REQUIRE_FALSE(invalid_reason(problem));
  REQUIRE(bounds::pool_bounds(problem).front().bytes < 256);
  int orders = 0;
  const Options counting{.progress = [&](const Progress&) { ++orders; }};
  CHECK(improve_large(problem, counting, rough).plan.allocations == rough.plan.allocations);
  CHECK(orders == 0);
  for (std::size_t i = 0; i < count; ++i) rough.plan.allocations[i].offset = static_cast<Bytes>(i % 3) * 128;
  CHECK(used_bytes(problem, improve_large(problem, counting, rough).plan).front() == 256);
  CHECK(orders > 0);
  // Pins that share bytes need less than they would apart.
  for (const std::size_t end : {count - 2, count - 1}) {
    problem.buffers[end].size = 4'000;
    problem.buffers[end].pinned = 0;
    rough.plan.allocations[end].offset = 0;
  }
  rough.plan.allocations[0].offset = 5'000;
  REQUIRE_FALSE(invalid_reason(problem));
  CHECK(used_bytes(problem, improve_large(problem, {}, rough).plan).front() < 5'000);
}

TEST_CASE("large problems: a node limit bounds the work, the same work gives the same plan") {
  const Problem problem = test::training(5'000, 1);
  const PlanResult rough = fast(problem, {});
  REQUIRE(rough.status != PlanStatus::optimal);
  const PlanResult little = improve_large(problem, {.node_limit = 1}, rough);
  CHECK(little.plan.allocations == rough.plan.allocations);
  const PlanResult one = improve_large(problem, {.node_limit = 20'000}, rough);
  const PlanResult other = improve_large(problem, {.node_limit = 20'000}, rough);
  CHECK(one.plan.allocations == other.plan.allocations);
  CHECK(cost_of(problem, one.plan) < cost_of(problem, rough.plan));
  const PlanResult late = improve_large(problem, {.time_limit = std::chrono::milliseconds(0)}, rough);
  CHECK(late.has_plan());
}

TEST_CASE("large problems: the user's interruption ends them with the plan that there is") {
  const Problem problem = test::training(4'000, 6);
  const std::atomic<bool> interrupted = true;
  const PlanResult rough = fast(problem, {});
  const PlanResult result = improve_large(problem, {.interrupted = &interrupted}, rough);
  CHECK(result.has_plan());
  CHECK(cost_of(problem, result.plan) <= cost_of(problem, rough.plan));
}

}  // namespace usmp::planners::large_test
