// Lower bounds on what any plan needs. Each is stated only where it is sound.
#pragma once

#include <string>
#include <vector>

#include "usmp/bounds/load.hpp"
#include "usmp/problem/problem.hpp"

namespace usmp::bounds {

// A lower bound of a pool's used bytes over all complete plans, and its reason in a few words. It counts buffers that
// have no other candidate pool large enough for them, and what other, bounded candidates cannot take.
struct PoolBound {
  Bytes bytes = 0;
  // "load", "aligned load", "all constants are live", "largest buffer", "load beyond the bounded pools", or
  // "no buffer has to be here"
  std::string reason;
};
[[nodiscard]] std::vector<PoolBound> pool_bounds(const Problem& problem);  // by PoolId

}  // namespace usmp::bounds
