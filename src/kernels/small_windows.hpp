// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// Small windows of bytes, copied to the stack to be one run.
#pragma once

#include "usmp/kernels/core.hpp"
#include "usmp/tir/ir.hpp"

namespace usmp::kernels {

// Where a window's terms are several runs, as in first layers of one or three channels, the window is copied in front
// of the loop that sets its sums to 0, and the sums' nest becomes
//   for k: for f: sum[f] = sum[f] + window[k] * weight[f][k]
// What a border leaves out is a zero point. For cores that multiply pairs (Core::paired_terms) k goes to a multiple of
// four, the weights that this lacks are 0, and windows are copied, of one run, too, where that saves more instructions
// than it takes; for those in rows (Core::in_rows) all are. At most 64 bytes at a time, in one or two parts; of weights
// that one load reads. The constants become at most 64 bytes, or one percent, larger. O(nodes + bytes of constants).
void take_small_windows(tir::Module& module, const Core& core);

}  // namespace usmp::kernels
