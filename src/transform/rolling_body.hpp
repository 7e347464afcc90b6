// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// The function that a segment becomes.
#pragma once

#include <optional>
#include <vector>

#include "transform/rolling_segment.hpp"
#include "usmp/tir/ir.hpp"

namespace usmp::transform {

struct RolledFunction {
  tir::Function function;  // without a name
  std::vector<tir::VarId> arguments;
};

// The units before the chain, its stages as nested loops over their rows, the units behind it. Tensors inside of the
// segment have places for as many rows as the schedule says. All variables are new in the module. O(size of the calls).
[[nodiscard]] RolledFunction rolled_function(tir::Module& module, const CallRun& run, const Segment& segment);

}  // namespace usmp::transform
