// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// Names that a piece of a function declares.
#pragma once

#include <vector>

#include "tvm_c/text/file_scope.hpp"
#include "tvm_c/text/lexer.hpp"

namespace usmp::tvm_c {

// The variables that the tokens may declare; also names in expressions that look alike. O(tokens).
[[nodiscard]] Names declared_names(const std::vector<Token>& tokens);

}  // namespace usmp::tvm_c
