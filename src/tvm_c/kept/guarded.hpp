// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// What stands under an if in the entry: what somebody does if an operator fails.
#pragma once

#include <cstddef>
#include <string_view>
#include <vector>

#include "tvm_c/kept/added_statements.hpp"
#include "tvm_c/text/lexer.hpp"
#include "tvm_c/text/macros.hpp"

namespace usmp::tvm_c {

// In a statement.
struct Guarded {
  std::size_t first = 0;  // of the statement's tokens
  std::size_t last = 0;   // behind them
  GuardedText text;
  std::string_view variable;  // that the condition compares
};

// In the statement of these tokens, if it is in no loop and calls no operator: what is in no other, and under an if
// without an else. `macros`: of the file. O(tokens · log).
[[nodiscard]] std::vector<Guarded> guarded_in(const std::vector<Token>& tokens,
                                              const std::vector<Directive>& directives, const Macros& macros);

}  // namespace usmp::tvm_c
