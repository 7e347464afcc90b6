// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// Weights in the order in which kernels read them.
#pragma once

#include "usmp/kernels/core.hpp"
#include "usmp/tir/ir.hpp"

namespace usmp::kernels {

// A constant of numbers of 8 or 16 bits whose index is a mixed-radix number of loop variables becomes one with the
// digits in another order: what is outside of the sums' nest, the sum f, the terms, and last those whose data are side
// by side. TVM writes the weights of convolutions as [ry][rx][rc][f]; afterwards they are
//   [f][ry][rx][rc],
// which is what rows of sums need (`in_rows`), or
//   [f / sums][ry][rx][rc / 4][f % sums][rc % 4] where these divide both: what a block of sums reads is one stream.
// Those of lanes of bytes, [ry][rx][c], become [c / 4][ry][rx][c % 4] where one Op::lane_window may read them; of
// several sums a channel (shared_data.hpp), [ry][rx][c][m], [m][c / 4][ry][rx][c % 4].
// Only constants change that one product sum reads and nothing else, and whose data, if other constants share them,
// change alike in all. O(nodes + bytes of constants).
//
// For cores that multiply pairs (Core::paired_terms), blocks of weights become pairs where all terms of a sum are those
// of one call (pairs.hpp), with the most terms first: they add no more to the constants than Core::front_percent.
//
// In rows, int8 weights of data that are bytes without sign, or are 128 more than bytes with one, become uint8, 128
// more.
void lay_out_weights(tir::Module& module, const Core& core);

}  // namespace usmp::kernels
