// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// What is known about a plan that was made without a search: for the algorithms that place by their own rules.
// Tests: every planner test.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "usmp/problem/problem.hpp"

namespace usmp::planners {

// What a buffer would need on top of `tops` (by PoolId) in each of its candidate pools.
[[nodiscard]] Shortage shortage_above(const Problem& problem, BufferId id, const std::vector<Bytes>& tops);

// By PoolId, where bytes begin that no pin takes and that are not reserved.
[[nodiscard]] std::vector<Bytes> tops_above_pins(const Problem& problem);

// Gives pinned buffers their places, and those that are empty or never live the lowest ones.
void place_fixed(const Problem& problem, Plan& plan);

// Complete and as good as the load allows: optimal. Complete: feasible. Otherwise infeasible, if that can be proved.
// `shortage` is dropped if the plan is complete.
[[nodiscard]] PlanResult outcome(const Problem& problem, Plan plan, std::optional<Shortage> shortage,
                                 std::uint64_t iterations);

}  // namespace usmp::planners
