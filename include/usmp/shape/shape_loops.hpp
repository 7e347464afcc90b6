// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// Rewrites loops for better machine code, after their buffers have places and nests are functions whose parameters are
// declared not to alias (lower, outline). TIR to TIR; what is read, computed and written for each element, and its
// order, do not change, nor do the plan and memory use.
#pragma once

#include "usmp/tir/ir.hpp"

namespace usmp::shape {

// - Innermost loops that ask a condition which does not change in them become a branch around two loops
//   (src/shape/unswitch.hpp).
// - Loops that add to more sums than registers hold become one loop after the other (src/shape/split_sums.hpp).
// - Sums that are added up one after the other become some side by side (src/shape/jam_sums.hpp).
// - Two loops that count through one range become one (src/shape/collapse.hpp).
// - Loops of very few elements are written out (src/shape/unroll.hpp).
// O(size of the module).
void shape_loops(tir::Module& module);

}  // namespace usmp::shape
