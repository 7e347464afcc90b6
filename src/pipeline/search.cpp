// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// Sets the planner's options, and gives what is left of the time to sharing less.
#include <chrono>
#include <utility>

#include "usmp/pipeline/algorithm.hpp"
#include "usmp/planners/charged.hpp"
#include "usmp/planners/share_less.hpp"

namespace usmp::pipeline {

PlanResult search(const Problem& problem, const planners::Planner& planner, const Goal& goal, const Search& how) {
  planners::Options wanted;
  wanted.seed = how.seed;
  wanted.node_limit = how.node_limit.value_or(0);
  wanted.time_limit = how.time_limit;
  wanted.feasibility_only = goal.feasibility_only;
  wanted.interrupted = how.interrupted;
  if (how.progress) {
    wanted.progress = [&](const planners::Progress& progress) {
      how.progress(problem.pool(progress.pool).name, progress);
    };
  }
  if (goal.minimize) return planners::minimize_pool(problem, *goal.minimize, planner, wanted);
  const auto start = std::chrono::steady_clock::now();
  PlanResult result = planners::plan_charged(problem, planner, wanted);
  if (!goal.shares_less) return result;
  if (wanted.time_limit) {
    *wanted.time_limit -=
        std::chrono::duration_cast<std::chrono::milliseconds>(std::chrono::steady_clock::now() - start);
    if (*wanted.time_limit <= std::chrono::milliseconds(0)) return result;
  }
  return planners::share_less(problem, std::move(result), planner, wanted);
}

}  // namespace usmp::pipeline
