// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// Fixed-point products whose result is in the high half of the product alone, and clips.
#pragma once

#include "usmp/tir/ir.hpp"

namespace usmp::kernels {

// q_multiply_shift and q_multiply_shift_per_axis become Op::multiply_high where they shift to the right by 32 to 62
// bits in all: by a literal, or by what is read of a constant whose elements are all in this range. O(nodes + bytes of
// constants). clip(x - n) + n becomes clip(x) with other limits, unless one instruction clips to the old ones only.
void requantize(tir::Module& module);

}  // namespace usmp::kernels
