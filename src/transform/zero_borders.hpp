// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// Borders of another number than zero, as quantized tensors have, made zero.
#pragma once

#include <map>
#include <optional>

#include "usmp/tir/ir.hpp"

namespace usmp::transform {

// A buffer of bytes that is a tensor with a border of z,
//   b[i] = inside ? x[…] : z
// and is only multiplied with constants in sums becomes one with a border of zero,
//   b[i] = inside ? x[…] - z : 0
// of 16 bits; to each sum z · (the sum of its weights) is added, from a table: where it is read, if that is once for
// each, else it begins with that instead of 0. So sums over a window can skip the border. Sums are of int32, with so
// few weights that none overflows on the way. Buffers of one function change all or none. The caller undoes it where
// the border is not skipped then. The function is simple (simple_function.hpp), and has no scopes. O(size + elements of
// the constants).
struct MovedBorders {
  tir::Function before;
  std::map<tir::VarId, tir::DataType> elements;  // of the buffers, as they were
};
// Nothing: there are none, and the function is as it was.
std::optional<MovedBorders> move_borders(tir::Module& module, tir::Function& function);

}  // namespace usmp::transform
