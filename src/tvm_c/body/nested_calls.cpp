// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// What a call of an operator in an operator passes, and asks of the result.
#include "tvm_c/body/nested_calls.hpp"

#include "tvm_c/body/checks.hpp"
#include "tvm_c/body/variables.hpp"
#include "usmp/support/text.hpp"

namespace usmp::tvm_c {

std::vector<CParam> params_of(const Expressions& code) {
  std::vector<CParam> params;
  for (const c::DeclId id : code.tree()[code.tree()[code.code().function].type].params) {
    const c::Decl& decl = code.tree()[id];
    const auto type = known_type(code.tree(), decl.type);
    const Token& name = code.token(decl.at);
    if (!type || !decl.unknown.empty() || !decl.attributes.empty()) {
      fail_at(code.token(decl.tokens.begin), "a parameter's type");
    }
    if (decl.name.empty()) fail_at(name, "a parameter's name");
    if (type->stars > 1 || (type->stars == 0 && type->element.is_void())) fail_at(name, "a number or storage");
    params.push_back({*type, name});
  }
  return params;
}

void bind_params(const std::vector<CParam>& params, const std::vector<Value>& arguments, Values& values,
                 BodyNames& names, tir::BodyBuilder& body) {
  if (params.size() != arguments.size()) {
    values.fail("found a call with " + std::to_string(arguments.size()) + " arguments, expected " +
                std::to_string(params.size()));
  }
  for (std::size_t i = 0; i < params.size(); ++i) {
    const auto& [type, name] = params[i];
    const Value& given = arguments[i];
    const bool is_storage = type.stars == 1;
    const auto pool = is_storage && type.element == tir::uint8_type ? pool_of_param(name.text) : std::nullopt;
    if (pool || given.kind == Value::Kind::pool) {
      if (!pool || given.kind != Value::Kind::pool || given.pool != *pool)
        fail_at(name, "the pool that the call passes");
      names.declare_pool(name, *pool);
    } else if (is_storage) {
      if (given.kind != Value::Kind::pointer) fail_at(name, "storage in the call");
      names.declare(name, fixed_pointer(values.cast(type, given), names, values, body));
    } else {
      const tir::Tree value = values.converted(given, type.element);
      if (tir::as_int(*value.expr)) {
        names.declare(name, Values::number(value));
        continue;
      }
      const tir::VarId var = names.new_var(name.text, type.element, tir::void_type);
      body.let(var, value.expr);
      names.declare(name, values.variable(var));
    }
  }
}

bool is_check(const Expressions& code, const c::Stmt& stmt, c::ExprId call, bool never_fails) {
  if (!stmt.other.empty() || !asks_not_zero(code, stmt.expr, call, never_fails)) return false;
  return never_fails ? !not_a_return(code, stmt.body[0]) : failure_of(code, stmt.body[0]).has_value();
}

}  // namespace usmp::tvm_c
