// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// Fixed-point products whose result is in the high half of the product alone, and clips.
#pragma once

#include "usmp/tir/ir.hpp"

namespace usmp::kernels {

// q_multiply_shift becomes Op::multiply_high where a literal shifts to the right by 32 to 62 bits in all, and
// q_multiply_shift_per_axis where elements of a constant do by 33 or more, beyond 62 if no factor is negative.
// clip(x - n) + n becomes clip(x) with other limits, unless one instruction clips to the old ones only. O(nodes + bytes
// of constants).
void requantize(tir::Module& module);

}  // namespace usmp::kernels
