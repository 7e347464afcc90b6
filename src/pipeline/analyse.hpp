// What is between the passes of a program and its analysis.
#pragma once

#include "usmp/pipeline/program.hpp"

namespace usmp::pipeline {

[[nodiscard]] transform::Options pass_options(const SourceModule& source, const Transformations& transformations,
                                              bool workspace_io);

// What the passes made of the source as a program, with its live ranges. Throws as liveness::analyse does.
[[nodiscard]] Program analysed(const SourceModule& source, transform::Result result, const transform::Options& options);

}  // namespace usmp::pipeline
