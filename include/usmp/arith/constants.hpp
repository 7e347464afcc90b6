// Values of integer operators on constants, as C computes them.
//
// Compilers warn of much that constant operands of an operator may do (overflow, "10 ^ 3", bits that a conversion
// loses), so nothing that is made of literals alone is printed as an operator.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "usmp/tir/ir.hpp"

namespace usmp::arith {

// Comparisons and logical operators.
[[nodiscard]] bool is_condition(tir::ExprKind kind);

// In the promoted type, around which signed overflow wraps, too. Nothing: not defined (a division by zero, a shift that
// is too wide), not an integer, not representable, or an operator that is not known.
[[nodiscard]] std::optional<std::int64_t> constant_value(const tir::Expr& expr,
                                                         const std::vector<std::int64_t>& operands);

}  // namespace usmp::arith
