// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// Looks the callee up.
#include "tvm_c/body/called_names.hpp"

#include <algorithm>
#include <string_view>

#include "tvm_c/text/macros.hpp"
#include "tvm_c/text/syntax.hpp"
#include "tvm_c/text/tvm_names.hpp"
#include "usmp/support/text.hpp"

namespace usmp::tvm_c {
namespace {

// A name in capitals may be a macro.
bool says_constants(const Expressions& code, c::ExprId call) {
  const std::string_view name = code.callee(call);
  const auto operands = code.tree().operands_of(call).subspan(1);
  return !is_in_capitals(name) && !is_math_function(name) && std::ranges::all_of(operands, [&](c::ExprId argument) {
    const c::ExprId plain = code.is_prefix(argument, "-") ? code.operand(argument, 0) : argument;
    return code[plain].kind == c::ExprKind::number || code[plain].kind == c::ExprKind::string;
  });
}

}  // namespace

std::string called_name(const Expressions& code, c::ExprId call, BodyNames& names, const FileScope& scope) {
  const std::string name(code.callee(call));
  if (name.empty() || names.look_up(name)) return {};
  const bool is_known = name == free_function || scope.functions.contains(name) || scope.foreign.contains(name) ||
                        scope.prototypes.contains(name);
  if (!is_known && is_generated(name)) {
    throw SyntaxError{code.front(call).offset,
                      "found a call of " + in_quotes(name) + ", which no C file of the model defines or declares"};
  }
  return is_known ? name : std::string();
}

std::string other_name(const Expressions& code, c::ExprId call, BodyNames& names, bool is_entry) {
  const std::string_view name = code.callee(call);
  const bool is_tvm = name.starts_with("TVM") && !name.starts_with("TVMDevice");  // hooks of devices
  const bool is_one = !name.empty() && (is_entry || says_constants(code, call)) && !is_generated(name) && !is_tvm &&
                      !names.look_up(name);
  return is_one ? std::string(name) : std::string();
}

}  // namespace usmp::tvm_c
