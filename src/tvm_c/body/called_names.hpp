// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// Statements that call a function: which begin as such a call.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "tvm_c/body/body_names.hpp"
#include "tvm_c/text/file_scope.hpp"
#include "tvm_c/text/lexer.hpp"

namespace usmp::tvm_c {

// These take the name, and what stands in front of it, if they return it, and else nothing.

// A function that the C declares, and that a bracket follows; a function of math.h is part of an expression.
[[nodiscard]] std::optional<std::string> take_called_name(Lexer& tokens, BodyNames& names, const FileScope& scope);

// The same of a function that no C declares here, such as a timer's that somebody added: a statement of the entry. Of
// an operator printf("x"); and the like, which get nothing of the model's.
[[nodiscard]] std::optional<std::string> take_other_name(Lexer& tokens, BodyNames& names, bool is_entry);

// The same behind "if (" in "if (f(…) != 0) return -1;", as TVM opens and closes devices.
[[nodiscard]] std::optional<std::string> take_other_checked_name(Lexer& tokens, BodyNames& names, bool is_entry);

}  // namespace usmp::tvm_c
