// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// Loops that add to more sums at once than registers hold → one loop after the other, each with as many as they do.
//
// TVM writes convolutions of blocked layouts out over a row of the output: one pass over the weights adds to all of its
// pixels, 24 and more vectors of sums. Processors with 16 vector registers then keep most of them in memory.
#pragma once

#include "usmp/tir/ir.hpp"

namespace usmp::shape {

// Groups loops side by side, around which are loops that hold nothing but the next one; each group gets these to
// itself: the first ones whose sums take at most 192 bytes together (12 vectors of 16 bytes, which leaves registers for
// what is added), then the next ones. Every sum adds the same values in the same order.
//
// Only where every loop of the block
// - has a constant number of iterations; its body is lets and one store, sum[i] = sum[i] + …, without predicate;
// - reads storage that is a parameter or a constant, and `sum` nowhere else;
// where the numbers of iterations of the loops around are not read from `sum`, and where `sum` is one parameter that
// nothing else reaches (Param::no_alias), of the same element type in all loops, and no two of the loops reach the same
// element: their ranges of i, whatever the outer loops do, are apart. O(size of the module).
void split_sums(tir::Module& module);

}  // namespace usmp::shape
