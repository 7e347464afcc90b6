// What a problem says of two buffers that share bytes while both are live.
#pragma once

#include "usmp/problem/problem.hpp"

namespace usmp::verify {

// Whether one may start so little above the other. O(log distances).
[[nodiscard]] bool may_share(const Problem& problem, BufferId a, Bytes offset_a, BufferId b, Bytes offset_b);

}  // namespace usmp::verify
