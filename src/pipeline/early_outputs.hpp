// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// Outputs in memory that firmware may also have given to an input.
#pragma once

#include <string>
#include <vector>

#include "usmp/pipeline/program.hpp"

namespace usmp::pipeline {

// TVM's program is done with some inputs before it begins to write some outputs. Firmware may have the same memory for
// both, say for a state that goes from one run into the next. A warning for each such pair of the same size that
// `planned`, the program after the transformations, is not done with. O(that of liveness::analyse, twice), if there is
// a pair of the same size.
[[nodiscard]] std::vector<std::string> early_outputs(const SourceModule& source, const tir::Module& planned);

}  // namespace usmp::pipeline
