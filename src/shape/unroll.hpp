// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// Loops of very few elements → their elements one after the other: for c < 3 { y[3·i + c] = x[3·i + c] - mean[c] }.
//
// Compilers unroll such a loop only where that makes no more code, so its counter takes as long as what it counts.
#pragma once

#include "usmp/tir/ir.hpp"

namespace usmp::shape {

// Writes out loops of 2 to 4 iterations, a constant number, whose body is lets and one store of at most 40 nodes of
// expressions. O(size of the module).
void unroll(tir::Module& module);

}  // namespace usmp::shape
