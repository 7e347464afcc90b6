// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// Conjunctions and disjunctions of comparisons with constants that decide each other.
#pragma once

#include <cstdint>

#include "usmp/tir/ir.hpp"

namespace usmp::codegen {

enum class Logic : std::uint8_t { both, never, always, first, second };

// What `a && b` or `a || b` is equal to: neither side alone (both), a constant, or one of its operands, since that side
// implies the other (&&) or is implied by it (||). Compares what is compared with literals, of up to 16 comparisons on
// a side; expressions with side effects are left alone. O(comparisons² · nodes).
[[nodiscard]] Logic logic_of(const tir::Expr& expr);

}  // namespace usmp::codegen
