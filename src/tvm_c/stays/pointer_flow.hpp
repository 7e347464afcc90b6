// SPDX-License-Identifier: Apache-2.0
// Where the values of a statement's variables go, if they are pointers.
#pragma once

#include "tvm_c/text/file_scope.hpp"
#include "tvm_c/text/macro_expansion.hpp"

namespace usmp::tvm_c {

// Adds the variables whose values, or addresses, something may have when the statement has ended: last = p + 3;
// views[0] = (struct view){p, 64}; or { int8_t* q = p; last = q; }. What functions do with their arguments is not
// known, but that some of string.h return the first. Macros have to be expanded. O(tokens²) at most.
void add_kept(const MadeTokens& statement, Names& kept);

}  // namespace usmp::tvm_c
