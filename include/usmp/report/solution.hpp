// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// What `usmp-plan solve` found, for people and for programs (docs/schema/solution.schema.json).
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "usmp/bounds/bounds.hpp"
#include "usmp/problem/needed_sizes.hpp"
#include "usmp/problem/problem.hpp"

namespace usmp::report {

struct Solution {
  std::string instance;  // file name only
  std::string algorithm;
  std::uint64_t seed = 0;
  const Problem* problem = nullptr;
  PlanResult result;
  std::vector<bounds::PoolBound> bounds;  // by PoolId
  NeededSizes needed = {};                // without a plan

  // What bounds and result prove together: also "infeasible" of a bound beyond a capacity, and "optimal" of one pool
  // that uses no more than its bound.
  [[nodiscard]] PlanStatus status() const;

  // The higher of the bound and of what the algorithm proved (for plans that are no worse in all more important
  // figures).
  [[nodiscard]] bounds::PoolBound lower_bound(PoolId pool) const;
};

// One line per pool: used, lower bound with its reason, status, gap.
[[nodiscard]] std::string solution_text(const Solution& solution, bool color);
[[nodiscard]] std::string solution_json(const Solution& solution);

}  // namespace usmp::report
