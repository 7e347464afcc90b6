// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// Running a module's emitted C beside unshared C of the same module.
#pragma once

#include <ostream>
#include <string>
#include <vector>

#include "planning.hpp"
#include "usmp/driver/driver.hpp"
#include "usmp/execute/execute.hpp"
#include "usmp/report/verification.hpp"

namespace usmp::driver {

// The module's emitted C beside C in which every buffer has memory of its own, in pools without bounds, whatever the
// pools file says; inputs and outputs are the application's there. Files stay below `directory`. See execute::compare.
[[nodiscard]] execute::Findings execute_module(const pipeline::PlannedProgram& planned, const Planning& planning,
                                               const execute::Compiler& compiler, const execute::Options& options,
                                               const std::string& directory);

// A compiler that works, and a place for what it makes. Throws Error.
void require_execution(const VerifyOptions& options, std::ostream& err);

// Executes the modules in their order, and says of each what was executed, up to the first that has faults. These are
// printed. Returns an ExitCode. Throws Error (see execute::compare).
int execute_all(const Planning& planning, const VerifyOptions& options, std::vector<report::Execution>& executions,
                std::ostream& err);

}  // namespace usmp::driver
