// SPDX-License-Identifier: Apache-2.0
// What TVM's C checks, and how it fails. Nothing of it becomes a statement.
#pragma once

#include <cstdint>

#include "tvm_c/lexer.hpp"
#include "tvm_c/packed.hpp"

namespace usmp::tvm_c {

void expect_number(Lexer& tokens, std::int64_t number);

// return -1;
void expect_failure(Lexer& tokens);

// Behind the callee's name; takes all up to the end of the check.
[[nodiscard]] bool is_result_checked(Lexer& tokens, const Token& name);

// The block behind a check of what the caller passes: { }, or { TVMAPISetLastError("…"); return -1; }
void expect_packed_check(Lexer& tokens, const Token& at);

// if (f_packed == NULL) { if (TVMBackendGetFuncFromEnv(module, "f", &f_packed) != 0) { return -1; } }
[[nodiscard]] bool take_look_up(Lexer& tokens, PackedState& packed);

}  // namespace usmp::tvm_c
