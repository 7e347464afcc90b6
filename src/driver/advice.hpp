// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// What other options would make of a plan, found by planning with them.
#pragma once

#include <functional>
#include <iosfwd>
#include <string>

#include "planning.hpp"
#include "usmp/driver/driver.hpp"

namespace usmp::driver {

// Plans all modules once with each of: inputs and outputs in the workspace, more computation, both; as far as `options`
// do not have them; `workspace_io`: theirs or the pools file's. Calls `done` with what the command line would say
// ("--workspace-io"). Stops at Ctrl-C. Nothing if an input is a pipe, which cannot be read again.
void try_options(const PlanningOptions& options, bool workspace_io, std::ostream* terminal,
                 const std::function<void(const std::string& words, const Planning& planning)>& done);

}  // namespace usmp::driver
