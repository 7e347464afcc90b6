// Values of integer operators on constants, as C computes them.
//
// Compilers warn of much that constant operands of an operator may do (overflow, "10 ^ 3", bits that a conversion
// loses), so nothing that is made of literals alone is printed as an operator.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "usmp/tir/ir.hpp"

namespace usmp::tir {

// Comparisons and logical operators.
[[nodiscard]] bool is_condition(ExprKind kind);

// Integers and bools that C has a type for.
[[nodiscard]] bool is_c_integer(DataType type);

// Operators of tir.Call that `constant_value` knows.
[[nodiscard]] bool is_folded_operator(std::string_view name);

// What a literal of the type stands for, of which modules may hold any bits. Nothing: beyond int64.
[[nodiscard]] std::optional<std::int64_t> value_in_type(std::int64_t bits, DataType type);

// In the promoted type, around which signed overflow wraps, too. Nothing: not defined (a division by zero, a shift that
// is too wide), not an integer, not representable, or an operator that is not known.
[[nodiscard]] std::optional<std::int64_t> constant_value(const Expr& expr, const std::vector<std::int64_t>& operands);

}  // namespace usmp::tir
