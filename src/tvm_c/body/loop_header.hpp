// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// Loops as TVM writes them: for (int32_t i = a; i < b; ++i).
#pragma once

#include <cstddef>

#include "tvm_c/body/body_names.hpp"
#include "tvm_c/body/expressions.hpp"
#include "tvm_c/body/values.hpp"
#include "usmp/c/tree.hpp"
#include "usmp/tir/builder.hpp"

namespace usmp::tvm_c {

struct OpenedLoop {
  Token name;  // of the counter
  Value counter;
};

// Opens the loop in the body. Throws SyntaxError: another form, or an end that the counter's type may not hold.
[[nodiscard]] OpenedLoop open_loop(const c::Stmt& stmt, Expressions& code, Values& values, BodyNames& names,
                                   tir::BodyBuilder& body);

// Throws SyntaxError at the offset: C computes the end of a loop in front of each iteration, TIR once, and a loop
// changes its own, or may do so where a call gives one buffer as two parameters.
void check_loops(const tir::Function& function, std::size_t offset);

}  // namespace usmp::tvm_c
