// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// Charged problems, with algorithms that may fail on them.
#pragma once

#include "usmp/planners/minimize_pool.hpp"
#include "usmp/problem/problem.hpp"

namespace usmp::planners {

// The problem without charges, every buffer's candidates in the order of the pools. It has the same plans. O(size).
[[nodiscard]] Problem uncharged(Problem problem);

// What `plan` says of the problem. If that is charged and no plan is found, though none is proved not to exist: what it
// finds without charges, as a plan whose bounds are not known. The time limit holds for each run.
[[nodiscard]] PlanResult plan_charged(const Problem& problem, const Planner& plan, const Options& options);

}  // namespace usmp::planners
