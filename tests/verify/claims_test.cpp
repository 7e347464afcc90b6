// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// True and false claims about plans, against exhaustive search.
#include "usmp/verify/claims.hpp"

#include <doctest/doctest.h>

#include <string>
#include <vector>

#include "planning_support/oracle.hpp"
#include "planning_support/random_problem.hpp"

namespace usmp::verify::claims_test {

using verify::false_claims;
using Sentences = std::vector<std::string>;

namespace {

// Three buffers, two at a time; the best plan uses 30 bytes of the one pool.
Problem three() {
  Problem problem;
  problem.pools = {{.name = "sram", .capacity = 100}};
  problem.horizon = 3;
  for (std::size_t i = 0; i < 3; ++i) {
    Buffer buffer;
    buffer.name = "b" + std::to_string(i);
    buffer.size = i == 1 ? 20 : 10;
    buffer.candidates = {PoolId(0)};
    buffer.live = {{static_cast<Tick>(i), static_cast<Tick>(i) + (i < 2 ? 2 : 1)}};
    problem.buffers.push_back(buffer);
  }
  return problem;
}

PlanResult result_of(PlanStatus status, std::vector<Bytes> offsets, Bytes bound) {
  PlanResult result{.status = status, .plan = {}};
  for (const Bytes offset : offsets) result.plan.allocations.push_back({PoolId(0), offset});
  result.bound = Cost{{}, {bound}};
  return result;
}

}  // namespace

TEST_CASE("true claims pass") {
  CHECK(false_claims(three(), result_of(PlanStatus::optimal, {0, 10, 0}, 30)).empty());
  CHECK(false_claims(three(), result_of(PlanStatus::feasible, {0, 10, 40}, 30)).empty());
  CHECK(false_claims(three(), result_of(PlanStatus::feasible, {0, 10, 40}, 7)).empty());
  Problem tight = three();
  tight.pools[0].capacity = 29;
  CHECK(false_claims(tight, {.status = PlanStatus::infeasible, .plan = {}}).empty());
  CHECK(false_claims(three(), {.status = PlanStatus::not_found, .plan = {}}).empty());
}

TEST_CASE("false claims are named") {
  CHECK(false_claims(three(), {.status = PlanStatus::infeasible, .plan = {}}) ==
        Sentences{"the problem is called infeasible, but there is a plan"});
  CHECK(false_claims(three(), result_of(PlanStatus::feasible, {0, 10, 40}, 31)) ==
        Sentences{"the bound of bytes used of pool 'sram' is refuted by a plan with less"});
  CHECK(false_claims(three(), result_of(PlanStatus::optimal, {0, 10, 40}, 50)) ==
        Sentences{"the plan is called optimal, but there is a better one",
                  "the bound of bytes used of pool 'sram' is refuted by a plan with less"});
  CHECK(false_claims(three(), result_of(PlanStatus::optimal, {0, 10, 0}, 29)) ==
        Sentences{"the plan is called optimal, but its bounds leave room for a better one"});
  CHECK(false_claims(three(), result_of(PlanStatus::feasible, {0, 10, 0}, 31)) ==
        Sentences{"the bound of bytes used of pool 'sram' is 31, but the plan has 30",
                  "the bound of bytes used of pool 'sram' is refuted by a plan with less"});
}

TEST_CASE("buffers that may share bytes refute what holds without") {
  Problem problem = three();  // b1 may begin inside of the others
  problem.distances = {{BufferId(0), BufferId(1), 4}, {BufferId(2), BufferId(1), 4}};
  CHECK(false_claims(problem, result_of(PlanStatus::optimal, {0, 4, 0}, 24)).empty());
  CHECK(false_claims(problem, result_of(PlanStatus::optimal, {0, 10, 0}, 30)) ==
        Sentences{"the plan is called optimal, but there is a better one",
                  "the bound of bytes used of pool 'sram' is refuted by a plan with less"});
}

TEST_CASE("a bound is refuted where it is wrong, though those before it are right") {
  Problem problem = three();
  problem.pools.push_back({.name = "dram"});
  problem.pools[0].capacity = 20;
  for (Buffer& buffer : problem.buffers) buffer.candidates = {PoolId(0), PoolId(1)};
  PlanResult result{.status = PlanStatus::feasible, .plan = {{{PoolId(0), 0}, {PoolId(1), 0}, {PoolId(0), 10}}}};
  result.bound = Cost{{20}, {11, 10}};
  CHECK(false_claims(problem, result) ==
        Sentences{"the bound of bytes used of pool 'sram' is refuted by a plan with less"});
}

TEST_CASE("it agrees with the oracle on tiny problems") {
  test::ProblemMaker maker(71);
  int feasible = 0;
  for (int i = 0; i < 300; ++i) {
    const Problem problem = maker.make(
        {.buffers = 4, .pools = 1 + maker.below(2), .bounded = i % 2 == 0, .sharing = i % 4 == 1, .pins = i % 3 == 0});
    CAPTURE(i);
    const test::Truth truth = test::truth_of(problem);
    const PlanResult none{.status = PlanStatus::infeasible, .plan = {}};
    CHECK(false_claims(problem, none).empty() == !truth.best.has_value());
    if (!truth.best) continue;
    ++feasible;
    PlanResult best{.status = PlanStatus::optimal, .plan = truth.best_plan};
    best.bound = *truth.best;
    CHECK(false_claims(problem, best).empty());
    ++best.bound->used.front();
    CHECK_FALSE(false_claims(problem, best).empty());
  }
  CHECK(feasible > 150);
}

}  // namespace usmp::verify::claims_test
