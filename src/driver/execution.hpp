// Running a module's emitted C beside unshared C of the same module.
#pragma once

#include <ostream>
#include <string>

#include "planning.hpp"
#include "usmp/driver/driver.hpp"

namespace usmp::driver {

// Prints what was executed, or the faults found; returns an ExitCode. Throws Error (see execute::compare).
int execute_all(const Planning& planning, const VerifyOptions& options, std::ostream& out, std::ostream& err);

}  // namespace usmp::driver
