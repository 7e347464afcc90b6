// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// Checks a planner's claims beyond the plan itself: that the plan is optimal, that none exists, and the bounds. Naive,
// and independent of the planners.
#pragma once

#include <string>
#include <vector>

#include "usmp/problem/problem.hpp"

namespace usmp::verify {

// False claims, one sentence each; empty if none was found. The result's plan, if any, must have passed `check`.
//
// Always: no bound is above the cost of the plan, and an optimal plan's bound is its cost. Problems so small that all
// orders of first fit in all choices of pools can be tried (at most `most_tried` placements) are solved that way, and
// every claim is checked against every plan found: for each choice of pools, one of these uses least in each pool.
[[nodiscard]] std::vector<std::string> false_claims(const Problem& problem, const PlanResult& result);

inline constexpr double most_tried = 20'000;

}  // namespace usmp::verify
