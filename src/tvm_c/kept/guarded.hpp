// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// What stands under an if in the entry: what somebody does if an operator fails.
#pragma once

#include <string_view>
#include <vector>

#include "tvm_c/kept/added_statements.hpp"
#include "tvm_c/text/function_tree.hpp"
#include "tvm_c/text/macros.hpp"

namespace usmp::tvm_c {

struct Guarded {
  c::TokenRange tokens;
  GuardedText text;
  std::string_view variable;  // that the condition compares
};

// In the statement, if it has no loop, what calls no operator, is in no other, and under an if without an else.
// `macros`: of the file. O(tokens · log).
[[nodiscard]] std::vector<Guarded> guarded_in(const BodyTree& body, c::StmtId statement, const Macros& macros);

}  // namespace usmp::tvm_c
