// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// Fences: where bytes of a pool change hands between buffers, a compiler may not move accesses from one to the other.
#pragma once

#include "usmp/tir/ir.hpp"

namespace usmp::lower {

// Whether the value reads no memory and calls nothing.
[[nodiscard]] bool is_free_of_memory(const tir::Expr& value);

// Whether the statement is a declaration that accesses no memory.
[[nodiscard]] bool is_passive(const tir::Stmt& stmt);

[[nodiscard]] tir::Stmt fence();

// The block with a fence between any two statements that act.
[[nodiscard]] tir::Block fenced(const tir::Block& block);

// The same in all blocks inside, and where a loop goes from its last statement to its first. A block of one statement
// needs none: what one statement accesses is apart, or of types that C lets alias.
[[nodiscard]] tir::Block fenced_inside(const tir::Block& block);

}  // namespace usmp::lower
