// SPDX-License-Identifier: Apache-2.0
// Arrays that the C which was read has on its stack (Allocate::was_on_stack).
#pragma once

#include <set>

#include "usmp/support/checked.hpp"
#include "usmp/tir/ir.hpp"

namespace usmp::storage {

inline constexpr Bytes default_plan_stack = 256;

// Such arrays of at most `most` bytes stay variables of C, which take no part in the plan: those of operators that hold
// no rows of a larger tensor and are there in any case. Larger ones remain workspace; 0: all do. Returns
// those that stay. O(size of the module · log).
std::set<tir::VarId> keep_on_stack(tir::Module& module, Bytes most);

// Bytes of the arrays that are on the stack at one time, from above: the most that one function has, as operators run
// one after another. `planned`: of those, too, that are workspace now. O(size of the module).
[[nodiscard]] Bytes stack_arrays(const tir::Module& module, bool planned);

}  // namespace usmp::storage
