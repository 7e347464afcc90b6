// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// Sums of products that need 64 bits, as of 16 by 8 bits with many terms, in parts that fit 32.
#pragma once

#include "usmp/tir/ir.hpp"

namespace usmp::kernels {

// A nest of int64 sums of products of numbers of 8 or 16 bits with constant weights,
//   for r: for k: for s: sum[s] = sum[s] + data * weight,
// becomes, where the weights prove that the terms of a part fit 32 bits whatever the data are,
//   for part { for s: part_sum[s] = 0; for k: for s: part_sum[s] += data * weight; for s: sum[s] += part_sum[s] },
// so that it has the kernels of int32 sums. A part is an iteration of the outermost loops, as few of them as will do,
// or an equal piece of the loop that is next inside. At most 64 sums at a time, whose 256 bytes are on the stack; of
// fewer than 16 terms a part is not worth it. Integers are added in another order, with the same result.
// O(nodes + bytes of constants · pieces that are tried).
void part_wide_sums(tir::Module& module);

}  // namespace usmp::kernels
