// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// The smallest size of one pool, with any algorithm.
#pragma once

#include <functional>

#include "usmp/planners/planner.hpp"
#include "usmp/problem/problem.hpp"

namespace usmp::planners {

// A PlanFunction that may carry state.
using Planner = std::function<PlanResult(const Problem& problem, const Options& options)>;

// A plan that minimises, in this order: the bytes of buffers without a place, the used bytes of `pool`, then the usual
// Cost. The other pools keep their capacities.
//
// The result claims what is true of this order: `optimal` if no plan uses less of the pool and the algorithm has proved
// the rest among the plans that use as little; bound->used[pool] is unconditional, every other entry of the bound holds
// for all plans that use no more of the pool than this one. `infeasible` and `not_found` as from the algorithm.
//
// The node limit holds for each run of the algorithm, of which there are O(log of the pool's size): the search for the
// smallest size ends when `most_limited` of them have met it. The time limit holds for all together. Deterministic if
// `plan` is and there is no time limit.
[[nodiscard]] PlanResult minimize_pool(const Problem& problem, PoolId pool, const Planner& plan,
                                       const Options& options);

inline constexpr int most_limited = 3;

}  // namespace usmp::planners
