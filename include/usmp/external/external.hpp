// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// External planning algorithms: a user's program reads the problem as JSON from its standard input and prints an answer
// (docs/instances.md).
#pragma once

#include <string>

#include "usmp/planners/planner.hpp"
#include "usmp/problem/problem.hpp"

namespace usmp::external {

// Runs `program`: a path if there is a '/' in it, else a name looked up in PATH. No shell, no arguments. Its standard
// error goes to ours.
//
// Its claims are not trusted: "optimal" becomes feasible and "infeasible" not_found. The plan is not verified here. At
// the time limit or when interrupted (`options`) the program is ended, or not started if that is so already, and the
// result is not_found.
//
// Throws Error of kind usage, with the program as its file, if the program cannot be started, does not exit with code
// 0, or prints no answer.
[[nodiscard]] PlanResult plan(const std::string& program, const Problem& problem, const planners::Options& options);

}  // namespace usmp::external
