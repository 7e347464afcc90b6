// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// Sums that are added up one after the other → some side by side, which read what they have in common once.
//
// Without vector code (Cortex-M, -Os), the longest part of a dense layer is reading and widening the input once for
// each of its sums; with it, one vector of the input serves several.
#pragma once

#include "usmp/tir/ir.hpp"

namespace usmp::shape {

// In all functions but opaque ones, makes
//   for x < n: for k: sum[i + x] = sum[i + x] + term(x, k)
// loops over x in steps of the largest w of 4, 3, 2 that divides n, with w statements in the loop over k. Every sum
// adds the same values in the same order.
//
// Only where n and the number of iterations of k are constants, the latter at least 16, x begins at 0, each body holds
// nothing else, the store has no predicate, i mentions neither x nor k, and where `sum` is one parameter that nothing
// else reaches (Param::no_alias) and that the term, which reads parameters and constants, does not read. O(size of the
// module).
void jam_sums(tir::Module& module);

}  // namespace usmp::shape
