// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// What TVM's C checks, and how it fails; as somebody may have edited it.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "tvm_c/body/expressions.hpp"
#include "tvm_c/body/packed.hpp"
#include "tvm_c/kept/added_statements.hpp"
#include "tvm_c/text/file_scope.hpp"
#include "tvm_c/text/lexer.hpp"
#include "usmp/tir/ir.hpp"

namespace usmp::tvm_c {

// What happens if a call gives another number than 0.
struct OnFailure {
  tir::ExprRef code;                   // operand of tvm_check_return; null: nothing is asked
  std::optional<AddedText> text = {};  // that it has
};

// The call that a condition begins with, with no bracket in front: f(…), f(…) != 0, f(…) && x; nothing: there is none.
[[nodiscard]] std::optional<c::ExprId> leading_call(const Expressions& code, c::ExprId condition);

// Whether `value` is all that the condition asks for, and that it is not 0; of what is always 0 also "< 0" and "> 0",
// which it never is.
[[nodiscard]] bool asks_not_zero(const Expressions& code, c::ExprId condition, c::ExprId value, bool is_always_zero);
// The same; throws where something else is asked.
void expect_not_zero(const Expressions& code, c::ExprId condition, c::ExprId value, bool is_always_zero);

// "x == NULL || y == NULL": the names; also "NULL == x" and "!x". None: it asks for something else.
[[nodiscard]] std::vector<std::string_view> null_tests(const c::Tree& tree, c::ExprId condition);

// Throws if else stands behind a check of a call.
void require_no_else(const Expressions& code, const c::Stmt& check);

// What is returned by return -1; or by a block of that, if it is a number from 1 on or its negative.
[[nodiscard]] std::optional<std::int32_t> failure_of(const Expressions& code, c::StmtId failure);
// The same; throws where something else stands.
std::int32_t expect_failure(const Expressions& code, c::StmtId failure);
// Where something else stands than return x; or { log("no memory"); return x; }, which never happens. Nothing: nowhere.
[[nodiscard]] std::optional<Token> not_a_return(const Expressions& code, c::StmtId failure);
// What the function returns if a call fails that `check` is of, a number or what the variable `name` has got of the
// callee. Null: something else stands there.
[[nodiscard]] tir::ExprRef failure_code(const Expressions& code, const c::Stmt& check, std::string_view name);

// Whether a function of these returns 0, whatever happens in it: it says nothing else but where it has no workspace,
// calls nothing but TVM's allocator, which planned C does not have, and functions of math.h, and asks for no pointer
// but workspace whether it is null.
[[nodiscard]] bool never_fails(const FunctionTree& function);

// Whether there is but one return in it, of 0 or of a call, besides those where it has no workspace.
[[nodiscard]] bool returns_once(const FunctionTree& function);

// Whether it returns nothing but 0, whatever it calls; with `has_workspace`, as in planned C, if it always gets what it
// takes. Not so if a name in it may be a macro that returns.
// If `asked` is given: or what a function there returned, if (f(…) != 0) return -1;
[[nodiscard]] bool returns_zero(const FunctionTree& function, const FileScope& scope, bool has_workspace,
                                Names* asked = nullptr);

// The block behind a check of what the caller passes: { }, or { TVMAPISetLastError("…"); return -1; }
void expect_packed_check(const Expressions& code, const c::Stmt& check);

// if (f_packed == NULL) { if (TVMBackendGetFuncFromEnv(module, "f", &f_packed) != 0) { return -1; } }
[[nodiscard]] bool read_look_up(const Expressions& code, const c::Stmt& check, PackedState& packed);

}  // namespace usmp::tvm_c
