// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// The least capacity of a pool, against exhaustive search.
#include "usmp/planners/capacity_range.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <array>

#include "planning_support/oracle.hpp"
#include "planning_support/random_problem.hpp"

namespace usmp::planners::capacity_range_test {
namespace {

// The problem as the question is meant: `pool` and the pools of other groups without bound.
Problem as_asked(Problem problem, PoolId pool) {
  for (const std::vector<PoolId>& group : pool_groups(problem)) {
    const bool own = std::ranges::find(group, pool) != group.end();
    for (const PoolId other : group) {
      if (!own || other == pool) problem.pools[other.index()].capacity.reset();
    }
  }
  return problem;
}

struct Tally {
  int exact = 0;
  int open = 0;
  int impossible = 0;
  int spilling = 0;  // the answer depends on the other pools' capacities
};

void check_range(const Problem& problem, PoolId pool, const Options& options, Tally& tally) {
  const test::Truth truth = test::truth_of(as_asked(problem, pool));
  const CapacityRange range = capacity_range(problem, pool, options);
  if (!truth.best) {
    CHECK_FALSE(range.upper.has_value());
    ++tally.impossible;
    return;
  }
  const Bytes least = truth.least_used[pool.index()];
  CHECK_FALSE(range.impossible);
  CHECK(range.lower <= least);
  if (range.upper) CHECK(*range.upper >= least);
  ++(range.upper == range.lower ? tally.exact : tally.open);
  Problem roomy = as_asked(problem, pool);
  for (Pool& other : roomy.pools) other.capacity.reset();
  if (test::truth_of(roomy).least_used[pool.index()] < least) ++tally.spilling;
}

Tally check_all(const test::Shape& shape, int count, const Options& options) {
  test::ProblemMaker maker(7);
  Tally tally;
  for (int i = 0; i < count; ++i) {
    const Problem problem = maker.make(shape);
    for (std::size_t pool = 0; pool < problem.pools.size(); ++pool) {
      INFO("problem ", i, " pool ", pool);
      if (!invalid_reason(problem)) check_range(problem, PoolId(pool), options, tally);
    }
  }
  return tally;
}

constexpr std::array<test::Shape, 4> shapes = {{
    {.buffers = 6},
    {.buffers = 5, .pools = 2, .bounded = true},
    {.buffers = 5, .pools = 3, .bounded = true, .pins = true},
    {.buffers = 5, .pools = 2, .bounded = true, .sharing = true, .pins = true},
}};

}  // namespace

TEST_CASE("capacity range: the least capacity, proved") {
  for (std::size_t i = 0; i < shapes.size(); ++i) {
    CAPTURE(i);
    const Tally tally = check_all(shapes[i], 50, {});
    CHECK(tally.exact >= 50);
    CHECK(tally.open == 0);
    if (shapes[i].pools > 1) CHECK(tally.impossible > 0);
    if (shapes[i].pools > 1) CHECK(tally.spilling > 0);
  }
}

TEST_CASE("capacity range: a search that stops at its limit leaves bounds on both sides that are true") {
  int open = 0;
  for (const test::Shape& shape : shapes) open += check_all(shape, 50, {.node_limit = 1}).open;
  CHECK(open > 0);
}

TEST_CASE("capacity range: the own capacity, other groups and pools that no buffer may use make no difference") {
  Problem problem;
  problem.horizon = 1;
  problem.pools = {{.name = "sram", .capacity = 5}, {.name = "flash", .capacity = 5}, {.name = "spare", .capacity = 5}};
  for (std::size_t pool = 0; pool < 2; ++pool) {
    Buffer buffer;
    buffer.size = pool == 0 ? 30 : 60;
    buffer.candidates = {PoolId(pool)};
    buffer.live = {{0, 1}};
    problem.buffers.push_back(buffer);
  }
  for (const Bytes capacity : {0, 5, 100}) {
    problem.pools[0].capacity = capacity;
    const CapacityRange range = capacity_range(problem, PoolId(0), {});
    CHECK(range.lower == 30);
    CHECK(range.upper == 30);
  }
  CHECK(capacity_range(problem, PoolId(2), {}).upper == 0);
  CHECK(pool_groups(problem) == std::vector<std::vector<PoolId>>{{PoolId(0)}, {PoolId(1)}});
}

}  // namespace usmp::planners::capacity_range_test
