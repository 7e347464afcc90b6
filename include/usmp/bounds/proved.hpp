// What is proved of a plan's figures, by the algorithm and without it.
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

// Each is the larger one of what the algorithm has proved (named so) and of what holds without it (`loads`, by PoolId,
// as of pool_bounds). O(buffers + pools).
[[nodiscard]] ProvedBounds proved_bounds(const Problem& problem, const PlanResult& result, const std::string& algorithm,
                                         std::vector<PoolBound> loads);

}  // namespace usmp::bounds
