// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// Sums of products of bytes → loops that keep several sums in registers and multiply several bytes at a time, the same
// results. TIR to TIR.
#pragma once

#include "usmp/kernels/core.hpp"
#include "usmp/tir/ir.hpp"

namespace usmp::kernels {

// Before planning: what kernels need of constants. Copies of small windows on the stack
// (src/kernels/small_windows.hpp); weights in the order in which they are read (src/kernels/weights.hpp); products of
// fixed point whose low half does not count (src/kernels/requantize.hpp). No tensor lives longer. O(nodes + bytes of
// constants).
void prepare(tir::Module& module, const Core& core);

// After lowering and outlining: the nests themselves. Needs no memory but registers. O(size of the module).
void write_kernels(tir::Module& module, const Core& core);

}  // namespace usmp::kernels
