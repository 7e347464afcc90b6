// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// The command line without its parser, whose header takes long to compile.
#pragma once

#include "manual.hpp"

namespace usmp::apps {

// Parses the command line and runs the command; the exit code. What is wrong with the command line is told.
[[nodiscard]] int parse_and_run(int argc, char** argv);

// The manual of the program and all its commands.
[[nodiscard]] Manual manual_of_program();

}  // namespace usmp::apps
