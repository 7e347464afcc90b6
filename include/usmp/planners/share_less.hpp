// Less sharing where the size of the pools does not ask for it.
#pragma once

#include "usmp/planners/minimize_pool.hpp"
#include "usmp/problem/problem.hpp"

namespace usmp::planners {

// The result, if possible with a plan of no higher cost in which fewer buffers share bytes while both are live: code in
// which pointers do not reach the same bytes is faster. What the result claims stays true. Runs the algorithm at most
// once more, and briefly, within what `options` allow. Looks at a fixed number of buffers and distances at most, and
// that run.
[[nodiscard]] PlanResult share_less(const Problem& problem, PlanResult result, const Planner& plan,
                                    const Options& options);

}  // namespace usmp::planners
