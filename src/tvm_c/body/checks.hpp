// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// What TVM's C checks, and how it fails; as somebody may have edited it.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

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

// Behind what is asked: "!= 0", or nothing, which is taken. Of what is always 0 also "< 0" and "> 0", which it never
// is.
[[nodiscard]] bool take_not_zero(Lexer& tokens, bool is_always_zero);

// The same, and the bracket behind it; throws where something else stands.
void expect_not_zero(Lexer& tokens, bool is_always_zero);

// The number that a function returns if a call fails that the tokens stand behind, in front of its bracket:
// f(…) != 0) return -2; If something else stands there, -1.
[[nodiscard]] std::int32_t failure_of_call(Lexer tokens);

// "x == NULL || y == NULL)", which is taken: the names; also "NULL == x" and "!x". None, and nothing is said of what is
// taken: something else stands here.
[[nodiscard]] std::vector<Token> take_null_tests(Lexer& tokens);

// Takes "(…) != 0) { … }", a check of a call: throws if else stands behind.
void require_no_else(Lexer tokens);

// What never happens, as it would return: return x; or { log("no memory"); return x; }. Nothing of it is needed.
void skip_failure(Lexer& tokens);

// Whether a function of these returns 0, whatever happens in it: it says nothing else but where it has no workspace,
// calls nothing but TVM's allocator, which planned C does not have, and functions of math.h, and asks for no pointer
// but workspace whether it is null.
[[nodiscard]] bool never_fails(const FunctionText& function);

// Whether there is but one return in it, of 0 or of a call, besides those where it has no workspace.
[[nodiscard]] bool returns_once(const FunctionText& function);

// Whether it returns nothing but 0, whatever it calls; with `has_workspace`, as in planned C, if it always gets what it
// takes. Not so if a name in it may be a macro that returns.
// If `asked` is given: or what a function there returned, if (f(…) != 0) return -1;
[[nodiscard]] bool returns_zero(const FunctionText& function, const FileScope& scope, bool has_workspace,
                                Names* asked = nullptr);

// Behind the callee's name, whose result the variable `name` gets: takes all up to the end of the condition that asks
// for it, if that is what stands here. `is_condition`: if ((name = f(…)) != 0)
[[nodiscard]] bool take_result_test(Lexer& tokens, const Token& name, bool is_condition, bool never_fails);

// Behind that: takes what the function returns if the call fails, a number or the callee's own. Null, and nothing is
// taken: something else stands here.
[[nodiscard]] tir::ExprRef take_failure_code(Lexer& tokens, std::string_view name);

// The block behind a check of what the caller passes: { }, or { TVMAPISetLastError("…"); return -1; }
void expect_packed_check(Lexer& tokens, const Token& at);

// if (f_packed == NULL) { if (TVMBackendGetFuncFromEnv(module, "f", &f_packed) != 0) { return -1; } }
[[nodiscard]] bool take_look_up(Lexer& tokens, PackedState& packed);

}  // namespace usmp::tvm_c
