// Lower bounds on what any plan needs. Each is stated only where it is sound.
#pragma once

#include <string>
#include <vector>

#include "usmp/problem/problem.hpp"

namespace usmp::bounds {

// The largest sum of sizes that are live at one tick, over the chosen buffers, and such a tick (the first). O(n log n).
struct Load {
  Bytes bytes = 0;
  Tick at = 0;
};
[[nodiscard]] Load load(const Problem& problem, const std::vector<BufferId>& buffers);

// A lower bound of a pool's used bytes over all complete plans, and its reason in a few words. Sound because only
// buffers that have no other candidate pool are counted.
struct PoolBound {
  Bytes bytes = 0;
  std::string reason;  // "load", …
};
[[nodiscard]] std::vector<PoolBound> pool_bounds(const Problem& problem);  // by PoolId

}  // namespace usmp::bounds
