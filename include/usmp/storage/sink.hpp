// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// Allocates that stand in front of a loop, moved into it.
//
// TVM's StorageRewrite allocates in front of all loops what an iteration fills and forgets: `int32 sum[1]` of a
// convolution stands outside the loop over its channels. Whoever looks at one iteration then sees storage that all of
// them have in common.
#pragma once

#include <cstddef>

#include "usmp/tir/ir.hpp"

namespace usmp::storage {

// Moves each Allocate that has a loop around all its accesses into the innermost block that holds them and reads no
// byte of it before it has written it: what one run of that block leaves, no other sees. If the innermost does not
// write first, the next one outside is asked, and so on; the allocate does not move unless there is a loop in between.
//
// The storage has a constant size and is allocated in one place, without condition; all that is done to it are loads
// and stores of numbers. A ring stays where it is. Returns how many allocates have moved. O(size of the module · log +
// accesses · nesting + pairs of accesses to one storage in one statement, at each block around): beyond max_pairs
// (split.hpp) in all, nothing more moves.
std::size_t sink(tir::Module& module);

}  // namespace usmp::storage
