// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// Product sums in registers, several at a time.
#pragma once

#include "usmp/kernels/core.hpp"
#include "usmp/tir/ir.hpp"

namespace usmp::kernels {

// for … : for s: sum[s] = sum[s] + data * weight
// becomes, for Core::sums at a time, here four,
// for b: { s0 = sum[4 b]; …; for …: { s0 = s0 + four products; …}; sum[4 b] = s0; … }
// and what is left of them a block of its own. The products of four terms of one sum (form `dot`), or of
// one term of four sums (form `lanes`), are one operator, Op::dot4 or Op::lane_product, where data and weights are side
// by side. A loop in front that sets the same sums to a number goes; they begin with it.
//
// In functions but opaque ones, where `sum` is one parameter that nothing else reaches, and data and weights are read
// from other parameters and constants. Sums wrap, so that their terms may be added in any order. O(size of the module).
// For some cores dots become Op::row_run, or rows Op::window_run (add_runs.hpp).
void block_sums(tir::Module& module, const Core& core);

}  // namespace usmp::kernels
