// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// What a result claims, held against the truth. For doctest.
#pragma once

#include <doctest/doctest.h>

#include <string>
#include <vector>

#include "planning_support/oracle.hpp"
#include "usmp/problem/problem.hpp"
#include "usmp/verify/verify.hpp"

namespace usmp::test {

inline void check_right(const Problem& problem, const PlanResult& result) {
  if (!result.has_plan()) return;
  std::string messages;
  for (const auto& violation : verify::check(problem, result.plan)) messages += violation.message + "; ";
  REQUIRE(messages == "");
}

// The shortage names a buffer that is really too large for each of its pools on top of what was placed.
inline void check_shortage(const Problem& problem, const PlanResult& result) {
  REQUIRE(result.shortage.has_value() != result.has_plan());
  if (!result.shortage) return;
  const Buffer& buffer = problem.buffer(result.shortage->buffer);
  REQUIRE(result.shortage->pools.size() == buffer.candidates.size());
  for (std::size_t i = 0; i < buffer.candidates.size(); ++i) {
    const Shortage::PoolNeed& need = result.shortage->pools[i];
    CHECK(need.pool == buffer.candidates[i]);
    CHECK(need.available == problem.pool(need.pool).capacity);
    CHECK(need.required >= buffer.size);
    CHECK(need.missing() > 0);
  }
}

// The best plan is no worse than this one: while both agree in all that is more important, the bound holds for it.
inline void check_bound(const PlanResult& result, const Cost& cost, const Cost& best) {
  if (!result.bound) return;
  const auto agrees = [](const std::vector<Bytes>& bounds, const std::vector<Bytes>& values,
                         const std::vector<Bytes>& bests) {
    for (std::size_t i = 0; i < values.size(); ++i) {
      CHECK(bounds[i] <= values[i]);
      CHECK(bounds[i] <= bests[i]);
      if (values[i] != bests[i]) return false;
    }
    return true;
  };
  if (!agrees(result.bound->spilled, cost.spilled, best.spilled)) return;
  agrees(result.bound->used, cost.used, best.used);
  if (result.status == PlanStatus::optimal) CHECK((*result.bound == cost));
}

inline void check_against(const Problem& problem, const PlanResult& result, const Truth& truth) {
  check_right(problem, result);
  check_shortage(problem, result);
  if (!truth.best) {
    CHECK_FALSE(result.has_plan());
    return;
  }
  CHECK(result.status != PlanStatus::infeasible);
  if (!result.has_plan()) return;
  const Cost cost = cost_of(problem, result.plan);
  CHECK_FALSE(cost < *truth.best);
  if (result.status == PlanStatus::optimal) CHECK((cost == *truth.best));
  check_bound(result, cost, *truth.best);
}

}  // namespace usmp::test
