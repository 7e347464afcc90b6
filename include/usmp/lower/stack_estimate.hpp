// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// How much stack the emitted functions need, as an estimate: compilers decide what stays in registers.
#pragma once

#include "usmp/tir/ir.hpp"

namespace usmp::lower {

// Bytes that a call of the entry takes with all that it calls in the module, from above: what GCC at -O2 makes of the
// archives of testdata/ for x86-64 and Cortex-M takes less, by up to 480 bytes (tests/e2e/stack.py), most so on
// Cortex-M, whose kernels keep more in registers. What is called outside of the module (other kernels, the C library)
// does not count. Of arrays that stay on the stack those of functions that may be inlined count all, and of functions
// that are kept apart those that are called together, which leaves up to 720 bytes there. The module is lowered and
// outlined, as it is emitted. O(size of the module · log).
[[nodiscard]] Bytes stack_estimate(const tir::Module& module);

}  // namespace usmp::lower
