// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// What is between the passes of a program and its analysis.
#pragma once

#include "usmp/pipeline/program.hpp"

namespace usmp::pipeline {

[[nodiscard]] transform::Options pass_options(const SourceModule& source, const Transformations& transformations,
                                              bool workspace_io);

// The source's module, with what stays on the stack.
[[nodiscard]] tir::Module module_of(const SourceModule& source, const Transformations& transformations);

// What the passes made of the source as a program, with its live ranges. Throws as liveness::analyse does.
[[nodiscard]] Program analysed(const SourceModule& source, transform::Result result, const transform::Options& options,
                               const Transformations& transformations);

// The program's problem in the request's pools, without pins. Throws as assemble::assemble does.
[[nodiscard]] assemble::Assembly assembled(const Program& program, const Request& request);

}  // namespace usmp::pipeline
