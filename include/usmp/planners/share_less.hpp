// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// Less sharing where the pool sizes do not need it.
#pragma once

#include "usmp/planners/minimize_pool.hpp"
#include "usmp/problem/problem.hpp"

namespace usmp::planners {

// The result, if possible with a plan of no higher cost in which fewer buffers share bytes while both are live: code in
// which pointers do not alias is faster. The result's claims stay true. Runs the algorithm at most once more, briefly,
// within the limits of `options`. Cost: that run, and at most a fixed number of buffers and distances.
[[nodiscard]] PlanResult share_less(const Problem& problem, PlanResult result, const Planner& plan,
                                    const Options& options);

}  // namespace usmp::planners
