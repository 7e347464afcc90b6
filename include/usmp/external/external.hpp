// Planning algorithms outside of the program: a program of the user's reads the problem as JSON from its standard input
// and prints an answer (docs/instances.md).
#pragma once

#include <string>

#include "usmp/planners/planner.hpp"
#include "usmp/problem/problem.hpp"

namespace usmp::external {

// Runs `program`: a path if there is a '/' in it, else a name looked up in PATH. No shell, no arguments. What it prints
// on standard error goes to ours.
//
// Nothing that it claims is believed: "optimal" becomes feasible and "infeasible" not_found, and the plan is not
// verified here. It is ended when `options` say so (time limit, interrupted); then nothing was found.
//
// Throws Error of kind usage, its file the program, when the program cannot be started, does not end with exit code 0,
// or prints no answer.
[[nodiscard]] PlanResult plan(const std::string& program, const Problem& problem, const planners::Options& options);

}  // namespace usmp::external
