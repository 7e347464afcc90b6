// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// Bounds of rings of buffers, each live with the next, against exhaustive search.
#include <doctest/doctest.h>

#include "planning_support/oracle.hpp"
#include "planning_support/random_problem.hpp"
#include "usmp/bounds/bounds.hpp"

namespace usmp::bounds::odd_ring_test {
namespace {

std::vector<BufferId> all(const Problem& problem) {
  std::vector<BufferId> ids;
  for (std::size_t i = 0; i < problem.buffers.size(); ++i) ids.emplace_back(i);
  return ids;
}

// Each buffer is live with the next one only.
Problem ring(std::vector<Bytes> sizes) {
  Problem problem;
  problem.pools.push_back({.name = "pool"});
  const auto count = static_cast<Tick>(sizes.size());
  problem.horizon = 2 * count;
  for (Tick i = 0; i < count; ++i) {
    Buffer buffer;
    buffer.size = sizes[static_cast<std::size_t>(i)];
    buffer.candidates = {PoolId(0)};
    const Tick last = (i + count - 1) % count;
    buffer.live = {{2 * std::min(i, last), 2 * std::min(i, last) + 1},
                   {2 * std::max(i, last), 2 * std::max(i, last) + 1}};
    problem.buffers.push_back(buffer);
  }
  return problem;
}

Bytes bound_of(const Problem& problem) { return bounds::odd_ring_bound(problem, all(problem), problem.pools[0]); }

}  // namespace

TEST_CASE("an odd ring needs three times its smallest buffer, which the load does not say") {
  const Problem problem = ring({10, 11, 10, 12, 10});
  CHECK(bound_of(problem) == 30);
  CHECK(bounds::load(problem, all(problem)).bytes == 22);
  CHECK(test::truth_of(problem).least_used[0] >= 30);
  const bounds::PoolBound bound = bounds::pool_bounds(problem)[0];
  CHECK(bound.bytes == 30);
  CHECK(bound.reason == "odd ring of buffers");
  const Problem even_sized = ring({10, 10, 10, 10, 10});
  CHECK(test::truth_of(even_sized).least_used[0] == 30);
  CHECK(bound_of(even_sized) == 30);
}

TEST_CASE("an even ring needs no more than its load") { CHECK(bound_of(ring({10, 10, 10, 10, 10, 10})) == 0); }

TEST_CASE("rings count reserved bytes and alignment") {
  Problem problem = ring({10, 10, 10, 10, 10});
  problem.pools[0].reserved = 5;
  CHECK(bound_of(problem) == 35);
  problem.pools[0].alignment = 16;
  CHECK(bound_of(problem) == 16 + 3 * 16 - 6);
}

TEST_CASE("the bound of rings is sound") {
  test::ProblemMaker maker(62);
  int positive = 0;
  int more_than_load = 0;
  for (int i = 0; i < 4000; ++i) {
    const Problem problem = maker.make({.buffers = 5,
                                        .pools = 1,
                                        .sharing = i % 3 == 2,
                                        .pins = i % 2 == 0,
                                        .most_ranges = 4,
                                        .horizon = 14,
                                        .largest = 6});
    INFO("problem ", i);
    const Bytes bound = bound_of(problem);
    const Bytes packed = bounds::packing_bound(problem, all(problem), problem.pools[0]).bytes;
    if (bound == 0) continue;
    ++positive;
    if (bound > packed) ++more_than_load;
    CHECK(bound <= test::truth_of(problem).least_used[0]);
  }
  CHECK(positive > 500);
  CHECK(more_than_load > 0);
}

}  // namespace usmp::bounds::odd_ring_test
