// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// Depthwise convolutions with several outputs a channel.
#pragma once

#include "usmp/tir/ir.hpp"

namespace usmp::kernels {

// A nest of a sum of products in which each M sums side by side share their data,
//   for s in [0, C·M): sum[s] = 0; for r: for s: sum[s] += x[r, s / M] * w[r, s],
// counts channels and a channel's sums apart, s = c·M + m. Where Op::lane_window may take it, each m is a depthwise
// convolution of its own, whose sums and weights are M apart:
//   for m { for c: sum[c·M + m] = 0; for r: for c: sum[c·M + m] += x[r, c] * w[r, c·M + m] }.
// Else the loop over m is inside of that over c, so that nothing is divided and what is loaded for c is loaded once.
// Each sum gets its terms in the same order. O(nodes).
void part_sums_of_shared_data(tir::Module& module);

}  // namespace usmp::kernels
