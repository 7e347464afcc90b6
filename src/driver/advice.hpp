// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// What other options would make of a plan, found by planning with them.
#pragma once

#include <functional>
#include <iosfwd>
#include <string>
#include <vector>

#include "planning.hpp"
#include "usmp/driver/driver.hpp"

namespace usmp::driver {

// What to plan with.
struct Attempt {
  bool workspace_io = false;  // inputs and outputs in the workspace
  bool more_work = false;     // more computation
};
inline const std::vector<Attempt> all_attempts = {{true, false}, {false, true}, {true, true}};

// Plans all modules once with each attempt, as far as `options` do not have it; `workspace_io`: theirs or the pools
// file's. Calls `done` with what the command line would say ("--workspace-io"). Leaves out what is an error. Stops at
// Ctrl-C. Nothing if an input is a pipe, which cannot be read again.
void try_options(const PlanningOptions& options, bool workspace_io, const std::vector<Attempt>& attempts,
                 std::ostream* terminal,
                 const std::function<void(const std::string& words, const Planning& planning)>& done);

}  // namespace usmp::driver
