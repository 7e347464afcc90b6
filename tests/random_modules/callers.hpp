// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// C around the emitted files: a function that calls the entry as an application would.
#pragma once

#include <string>

#include "random_modules/check.hpp"

namespace usmp::random_modules {

// What all callers in a file use; stands first in it.
[[nodiscard]] std::string callers_prelude();

// The function "static void <module_name>_check(void)": reads the module's inputs from standard input, runs it over
// garbage, and writes the result and the outputs to standard output. It calls a module with the packed interface with
// arrays of TVMValue and DLTensors, as TVM's runtime does.
[[nodiscard]] std::string caller_text(const TestModule& test, const Emitted& emitted);

}  // namespace usmp::random_modules
