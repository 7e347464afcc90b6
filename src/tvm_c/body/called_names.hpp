// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// Which functions statements call.
#pragma once

#include <string>

#include "tvm_c/body/body_names.hpp"
#include "tvm_c/body/expressions.hpp"
#include "tvm_c/text/file_scope.hpp"

namespace usmp::tvm_c {

// The name of a function that the C declares, of a call; a function of math.h is part of an expression. Empty: it is
// something else. Throws SyntaxError for an operator that is nowhere.
[[nodiscard]] std::string called_name(const Expressions& code, c::ExprId call, BodyNames& names,
                                      const FileScope& scope);

// The same of a function that no C declares here, such as a timer's that somebody added: a statement of the entry. Of
// an operator printf("x"); and the like, which get nothing of the model's.
[[nodiscard]] std::string other_name(const Expressions& code, c::ExprId call, BodyNames& names, bool is_entry);

}  // namespace usmp::tvm_c
