// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// A module as an archive of its own, before any plan.
#pragma once

#include <vector>

#include "usmp/pipeline/program.hpp"
#include "usmp/support/text.hpp"

namespace usmp::pipeline {

// The files of a Model Library Format archive, version 7, of a module that was read from a TensorFlow Lite model:
// metadata.json, the module's TIR, and C that takes its memory from TVM's allocator at run time. Reading it gives the
// same module. Throws Error of kind archive for what C does not express. O(module).
[[nodiscard]] std::vector<OutputFile> unplanned_archive(const SourceModule& source);

}  // namespace usmp::pipeline
