// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// What a node of an expression asks of its operands: number and types. Scopes are not looked at.
#pragma once

#include <optional>
#include <string>

#include "usmp/tir/ir.hpp"

namespace usmp::tir {

// What is wrong with the node itself, not with what is below; its operands' own operands may be anything. The variable
// that it names must exist. O(operands + log functions).
[[nodiscard]] std::optional<std::string> fault_of_node(const Module& module, const Expr& expr);

// Whether it is a bool for so many lanes. One lane goes with any number of them.
[[nodiscard]] bool is_condition_for(DataType condition, std::uint16_t lanes);

// A pointer, not a vector of them.
[[nodiscard]] bool is_pointer(DataType type);

// An integer, not a vector of them.
[[nodiscard]] bool is_scalar_integer(DataType type);

}  // namespace usmp::tir
