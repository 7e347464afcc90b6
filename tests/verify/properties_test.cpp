// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// Tight plans with one thing changed: the verifier, in both of its ways, refuses exactly what is wrong byte by byte.
#include <doctest/doctest.h>

#include <algorithm>
#include <map>
#include <utility>

#include "planning_support/oracle.hpp"
#include "planning_support/random_problem.hpp"
#include "usmp/verify/verify.hpp"

namespace usmp::verify::properties_test {
namespace {

bool may_be_there(const Problem& problem, const Buffer& buffer, const Allocation& at) {
  const auto& candidates = buffer.candidates;
  if (std::find(candidates.begin(), candidates.end(), at.pool) == candidates.end()) return false;
  const Pool& pool = problem.pool(at.pool);
  const bool aligned = at.offset % buffer.alignment == 0 && at.offset % pool.alignment == 0;
  const bool in_pool = at.offset >= 0 && (!pool.capacity || at.offset + buffer.size <= *pool.capacity);
  const bool unreserved = at.offset >= pool.reserved || buffer.size == 0;
  return aligned && in_pool && unreserved && (!buffer.pinned || *buffer.pinned == at.offset);
}

// Every byte of every pool has one owner at a time, or several that may share.
bool is_right(const Problem& problem, const Plan& plan) {
  for (std::size_t i = 0; i < problem.buffers.size(); ++i) {
    if (!may_be_there(problem, problem.buffers[i], plan.allocations[i])) return false;
  }
  for (Tick tick = 0; tick < problem.horizon; ++tick) {
    std::multimap<std::pair<PoolId, Bytes>, std::size_t> owners;
    for (std::size_t i = 0; i < problem.buffers.size(); ++i) {
      const Buffer& buffer = problem.buffers[i];
      const bool live = std::any_of(buffer.live.begin(), buffer.live.end(),
                                    [&](const LiveRange& range) { return range.begin <= tick && tick < range.end; });
      for (Bytes byte = 0; live && byte < buffer.size; ++byte) {
        const Allocation& at = plan.allocations[i];
        const auto [first, last] = owners.equal_range({at.pool, at.offset + byte});
        for (auto owner = first; owner != last; ++owner) {
          const Bytes there = plan.allocations[owner->second].offset;
          if (!far_enough(problem, BufferId(i), at.offset, BufferId(owner->second), there)) return false;
        }
        owners.emplace(std::pair(at.pool, at.offset + byte), i);
      }
    }
  }
  return true;
}

}  // namespace

TEST_CASE("a tight plan with one buffer moved is refused exactly when it is wrong") {
  test::ProblemMaker maker(81);
  int right = 0;
  int wrong = 0;
  for (int i = 0; i < 600; ++i) {
    const Problem problem = maker.make(
        {.buffers = 5, .pools = 1 + maker.below(2), .bounded = i % 2 == 0, .sharing = i % 4 == 1, .pins = i % 3 == 0});
    const test::Truth truth = test::truth_of(problem);
    if (!truth.best) continue;
    CAPTURE(i);
    CHECK(is_right(problem, truth.best_plan));
    CHECK(verify::check(problem, truth.best_plan, verify::Method::pairs).empty());
    CHECK(verify::check(problem, truth.best_plan, verify::Method::sweep).empty());
    for (int k = 0; k < 20; ++k) {
      Plan plan = truth.best_plan;
      Allocation& at = plan.allocations[maker.below(plan.allocations.size())];
      if (maker.below(6) == 0) at.pool = PoolId(maker.below(problem.pools.size()));
      const Bytes step = maker.below(2) == 0 ? 1 : 8;
      at.offset += step * (static_cast<Bytes>(maker.below(9)) - 4);
      CAPTURE(k);
      const bool expected = is_right(problem, plan);
      CHECK(verify::check(problem, plan, verify::Method::pairs).empty() == expected);
      CHECK(verify::check(problem, plan, verify::Method::sweep).empty() == expected);
      ++(expected ? right : wrong);
    }
  }
  CHECK(right > 1500);
  CHECK(wrong > 5000);
}

TEST_CASE("what a plan costs is what counting again gives") {
  test::ProblemMaker maker(82);
  for (int i = 0; i < 300; ++i) {
    const Problem problem = maker.make({.buffers = 1 + maker.below(12), .pools = 1 + maker.below(4)});
    Plan plan;
    for (const Buffer& buffer : problem.buffers) {
      plan.allocations.push_back(
          {buffer.candidates[maker.below(buffer.candidates.size())], static_cast<Bytes>(maker.below(100))});
    }
    CAPTURE(i);
    CHECK((cost_of(problem, plan) == test::truth_cost_of(problem, plan)));
  }
}

}  // namespace usmp::verify::properties_test
