// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// Variables that loops move on by the same number in each iteration, as sums of the loops' counters.
#pragma once

#include "usmp/tir/ir.hpp"

namespace usmp::tvm_c {

// Puts values in the place of loads of int32 variables in storage of one element:
//
//   at = 0                                    at = 0
//   for i in [0, 4) {                         for i in [0, 4) {
//     q[at] = p[i]             becomes          q[i * 2] = p[i]
//     at = at + 2                               at = i * 2 + 2
//   }                                         }
//
// Stores stay; what nothing loads any more is dropped by `tidy`. Legal only if nothing takes the variable's address,
// and where the value is known: the last store's, and what stores have added since in loops of a known number of
// iterations and in both parts of branches alike. Elsewhere loads stay, and in functions with more than 256 such
// variables. O(nodes · depth of loops).
void replace_inductions(const tir::Module& module, tir::Function& function);

}  // namespace usmp::tvm_c
