// Checks what a planner claims of its result beyond the plan itself: that it is the best, that there is none, and the
// bounds. Naive, and without knowledge of any planner.
#pragma once

#include <string>
#include <vector>

#include "usmp/problem/problem.hpp"

namespace usmp::verify {

// What is wrong with the claims, one sentence each; empty if nothing was found. The result's plan, if it has one, has
// passed `check`.
//
// Always: no bound is above the cost of the plan, and an optimal plan's bound is its cost. Problems so small that all
// orders of first fit in all choices of pools can be tried (at most `most_tried` placements) are solved that way, and
// every claim is held against every plan found: for each choice of pools, one of these uses least in each pool.
[[nodiscard]] std::vector<std::string> false_claims(const Problem& problem, const PlanResult& result);

inline constexpr double most_tried = 20'000;

}  // namespace usmp::verify
