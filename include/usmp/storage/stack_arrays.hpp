// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// Arrays that the C which was read has on its stack (Allocate::was_on_stack).
#pragma once

#include "usmp/support/checked.hpp"
#include "usmp/tir/ir.hpp"

namespace usmp::storage {

inline constexpr Bytes default_plan_stack = 256;

// Those that stay (tir::stays_on_stack) become variables of C. O(size of the module).
void keep_on_stack(tir::Module& module);

// Bytes of the arrays that are on the stack at one time, from above: the most that one function has, as operators run
// one after another. `planned`: of those, too, that are workspace now. O(size of the module).
[[nodiscard]] Bytes stack_arrays(const tir::Module& module, bool planned);

}  // namespace usmp::storage
