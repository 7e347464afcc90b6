// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// How much stack the emitted functions need, as an estimate: compilers decide what stays in registers.
#pragma once

#include <cstdint>

#include "usmp/tir/ir.hpp"

namespace usmp::lower {

// What finds no register lies on the stack.
enum class Registers : std::uint8_t {
  unknown,     // of 32 or 64 bits, without Helium
  of_32_bits,  // Cortex-M, RV32
  helium,      // likewise, with vectors
};

// Bytes that a call of the entry takes with all that it calls in the module, from above: what GCC at -O2 and -Os makes
// of archives takes less (tests/e2e/stack.py says by how much at most). What is called outside of the module (other
// kernels, the C library) does not count. Of arrays that stay on the stack those of functions that may be inlined count
// all, and of functions that are kept apart those that are called together. The module is lowered and outlined, as it
// is emitted. O(size of the module · log).
[[nodiscard]] Bytes stack_estimate(const tir::Module& module, Registers registers);

}  // namespace usmp::lower
