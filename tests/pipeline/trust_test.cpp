// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// What must not get out: plans that a planner has wrong, claims that are false.
#include <doctest/doctest.h>

#include <stdexcept>
#include <string>

#include "usmp/pipeline/algorithm.hpp"

namespace usmp::pipeline::trust_test {
namespace {

Problem two_live_together() {
  Problem problem;
  problem.pools.push_back({"sram", PoolKind::workspace, {}, 1});
  problem.horizon = 2;
  for (const char* name : {"a", "b"}) {
    Buffer& buffer = problem.buffers.emplace_back();
    buffer.name = name;
    buffer.size = 16;
    buffer.candidates = {PoolId(0)};
    buffer.live = {{0, 2}};
  }
  return problem;
}

// A planner that gives this answer.
std::string refusal_of(const PlanResult& answer) {
  const ChosenAlgorithm algorithm{
      .name = "broken", .program = {}, .plan = [&](const Problem&, const planners::Options&) { return answer; }};
  try {
    (void)plan_and_verify(algorithm, two_live_together(), {}, {});
  } catch (const std::logic_error& error) {
    return error.what();
  }
  return "";
}

PlanResult placed_at(Bytes first, Bytes second, PlanStatus status) {
  PlanResult result;
  result.status = status;
  result.plan.allocations = {{PoolId(0), first}, {PoolId(0), second}};
  return result;
}

bool contains(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

}  // namespace

TEST_CASE("trust: a wrong plan of our own is a bug, and goes nowhere") {
  CHECK(refusal_of(placed_at(0, 16, PlanStatus::feasible)).empty());
  const std::string refusal = refusal_of(placed_at(0, 15, PlanStatus::feasible));
  CHECK(contains(refusal, "the plan failed verification, nothing was written, this is a bug of usmp-plan:\n"));
  CHECK(contains(refusal, "'a' and 'b' overlap"));
}

TEST_CASE("trust: so is a false claim about a right plan") {
  CHECK(refusal_of(placed_at(0, 16, PlanStatus::optimal)).empty());
  const std::string refusal = refusal_of(placed_at(0, 32, PlanStatus::optimal));
  CHECK(contains(refusal, "a claim about the plan is false, nothing was written, this is a bug of usmp-plan: "));
}

}  // namespace usmp::pipeline::trust_test
