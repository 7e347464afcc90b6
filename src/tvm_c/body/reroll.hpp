// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// Statements that are written once a channel, with a variable for each, as loops over the channels: kernels for
// Cortex-M compute four sums at once. Later stages know loops.
#pragma once

#include "usmp/tir/ir.hpp"

namespace usmp::tvm_c {

// Variables whose values go to places at equal distances, one behind the other,
//
//   s0 = 0; s1 = 0; … s0 = s0 + p[i] * w[k]; s1 = s1 + p[i + 1] * w[k + 1]; … q[j] = s0; q[j + 1] = s1;
//
// become an array, if all statements with one of them are in such rows: one each, next to each other, that differ in
// constants and indices by the same steps. Changes nothing that the function computes. O(size of the function · log).
void reroll(tir::Module& module, tir::Function& function);

}  // namespace usmp::tvm_c
