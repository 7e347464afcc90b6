// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// What a call of an operator in an operator passes, and asks of the result.
#include "tvm_c/body/nested_calls.hpp"

#include <algorithm>
#include <array>

#include "tvm_c/body/checks.hpp"
#include "tvm_c/text/literals.hpp"
#include "usmp/support/text.hpp"

namespace usmp::tvm_c {

std::vector<CParam> take_params(Lexer& tokens) {
  std::vector<CParam> params;
  if (take(tokens, ")")) return params;
  Lexer ahead = tokens;
  if (take(ahead, "void") && take(ahead, ")")) {
    tokens = std::move(ahead);
    return params;
  }
  do {
    const auto type = parse_type(tokens);
    if (!type) fail_at(tokens.peek(), "a parameter's type");
    const Token name = tokens.next();
    if (!name.is_identifier()) fail_at(name, "a parameter's name");
    if (type->stars > 1 || (type->stars == 0 && type->element.is_void())) fail_at(name, "a number or storage");
    params.push_back({*type, name});
  } while (take(tokens, ","));
  expect(tokens, ")");
  return params;
}

void bind_params(const std::vector<CParam>& params, const std::vector<Value>& arguments, const Names& changing,
                 Values& values, BodyNames& names, Walkers& walkers, tir::BodyBuilder& body) {
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
      const Value pointer = fixed_pointer(values.cast(type, given), names, values, body);
      if (changing.contains(name.text)) {
        walkers.declare(name, pointer);
      } else {
        names.declare(name, pointer);
      }
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

bool is_check(Lexer tokens, bool never_fails) {
  try {
    skip_bracketed(tokens, "(");
    expect_not_zero(tokens, never_fails);
    if (never_fails) {
      skip_failure(tokens);
    } else {
      (void)expect_failure(tokens);
    }
    return !tokens.peek().is("else");
  } catch (const SyntaxError&) {
    return false;
  }
}

Value take_comparison(Lexer& tokens, const Value& result, Values& values) {
  constexpr std::array<std::string_view, 6> comparisons = {"==", "!=", "<", "<=", ">", ">="};
  const Token op = tokens.peek();
  if (std::ranges::find(comparisons, op.text) == comparisons.end()) return result;
  (void)tokens.next();
  const bool is_negative = take(tokens, "-");
  const Token number = tokens.next();
  if (number.kind != TokenKind::number || is_real(number)) fail_at(number, "a number");
  Value other = Values::number({tir::make_int(integer_literal(number).value)});
  if (is_negative) other = values.unary("-", other);
  values.at = op.offset;
  return values.binary(op.text, result, other);
}

bool take_unreached(Lexer& tokens) {
  Lexer ahead = tokens;
  try {
    skip_failure(ahead);
  } catch (const SyntaxError&) {
    return false;
  }
  tokens = std::move(ahead);
  return true;
}

}  // namespace usmp::tvm_c
