// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// Idea: charges change the order in which a buffer's pools are tried, and with it what a heuristic runs into. Without
// them the problem is the one that would be planned by size. Cost: one more run, only without a plan. Guarantee: a plan
// wherever the algorithm has one by size. Tests: tests/planners/charges_test.cpp.
#include "usmp/planners/charged.hpp"

#include <algorithm>
#include <utility>

namespace usmp::planners {

Problem uncharged(Problem problem) {
  problem.charged = false;
  for (Buffer& buffer : problem.buffers) {
    buffer.charges.clear();
    std::sort(buffer.candidates.begin(), buffer.candidates.end());
  }
  return problem;
}

PlanResult plan_charged(const Problem& problem, const Planner& plan, const Options& options) {
  PlanResult result = plan(problem, options);
  if (!problem.charged || result.status != PlanStatus::not_found || result.stopped == StopReason::interrupted) {
    return result;
  }
  PlanResult by_size = plan(uncharged(problem), options);
  by_size.iterations += result.iterations;
  if (by_size.status == PlanStatus::infeasible) {
    result.status = PlanStatus::infeasible;
    result.stopped = StopReason::finished;
  }
  if (!by_size.has_plan()) return result;
  if (by_size.status == PlanStatus::optimal && by_size.stopped == StopReason::finished)
    by_size.stopped = result.stopped;
  by_size.status = PlanStatus::feasible;
  by_size.bound.reset();
  return by_size;
}

}  // namespace usmp::planners
