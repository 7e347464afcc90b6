// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// Values of integer operators on constants, as C computes them.
//
// Compilers warn about many operators on constants (overflow, "10 ^ 3", bits lost in a conversion), so an operator
// whose operands are all literals is never printed as such.
#pragma once

#include <cstdint>
#include <optional>
#include <span>

#include "usmp/tir/ir.hpp"

namespace usmp::arith {

// Comparisons and logical operators.
[[nodiscard]] bool is_condition(tir::ExprKind kind);

// In the promoted type; signed overflow wraps around. Nothing: undefined (division by zero, a shift that is too wide),
// not an integer, not representable, or an unknown operator.
[[nodiscard]] std::optional<std::int64_t> constant_value(const tir::Expr& expr, std::span<const std::int64_t> operands);

}  // namespace usmp::arith
