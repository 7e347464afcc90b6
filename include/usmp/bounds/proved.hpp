// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// What is proved about a plan's figures, by the algorithm and independently of it.
#pragma once

#include <string>
#include <vector>

#include "usmp/bounds/bounds.hpp"
#include "usmp/problem/problem.hpp"

namespace usmp::bounds {

// Lower bounds of the figures of usmp::Cost.
struct ProvedBounds {
  std::vector<Bytes> spilled;    // empty if nothing is proved
  std::vector<PoolBound> pools;  // by PoolId
};

// Each is the maximum of what the algorithm has proved (the reason names it) and of `loads` (by PoolId, from
// pool_bounds), which hold without it. O(buffers + pools).
[[nodiscard]] ProvedBounds proved_bounds(const Problem& problem, const PlanResult& result, const std::string& algorithm,
                                         std::vector<PoolBound> loads);

}  // namespace usmp::bounds
