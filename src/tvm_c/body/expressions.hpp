// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// Expressions of C, from tokens to values.
#pragma once

#include <functional>
#include <optional>
#include <string_view>
#include <vector>

#include "tvm_c/body/values.hpp"
#include "tvm_c/text/lexer.hpp"

namespace usmp::tvm_c {

// Ends messages about names.
inline constexpr std::string_view not_declared = "which is not declared here";

// What a name stands for: a number, a pointer. Nothing: it is not declared.
using LookUp = std::function<std::optional<Value>(std::string_view name)>;

// The longest expression without comma and assignment that stands next. Nothing recurses. Throws SyntaxError.
[[nodiscard]] Value parse_expression(Lexer& tokens, Values& values, const LookUp& look_up);

// "(a, b)", behind a function's name.
[[nodiscard]] std::vector<Value> parse_arguments(Lexer& tokens, Values& values, const LookUp& look_up);
// Strings included.
[[nodiscard]] std::vector<Value> parse_arguments_with_text(Lexer& tokens, Values& values, const LookUp& look_up);

}  // namespace usmp::tvm_c
