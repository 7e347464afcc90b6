// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// Values of short texts: a file of C is made of each, with the definitions of the macros that it names.
#include "tvm_c/text/constant_expression.hpp"

#include <vector>

#include "tvm_c/text/function_tokens.hpp"
#include "tvm_c/text/macro_expansion.hpp"
#include "usmp/c/constants.hpp"
#include "usmp/c/parser.hpp"

namespace usmp::tvm_c {
namespace {

// The most bytes of a text with its definitions.
constexpr std::size_t most_text = std::size_t{1} << 16;

// A literal, with a sign perhaps, or all in one pair of brackets.
bool is_operand(const c::Tree& tree, c::ExprId root, const std::vector<c::Token>& tokens) {
  const c::Expr& expr = tree[root];
  if (tokens[0].is("(")) return behind_bracketed(tokens, 0) == expr.tokens.end;
  const bool has_sign = expr.kind == c::ExprKind::prefix && (expr.text == "-" || expr.text == "+");
  return expr.kind == c::ExprKind::number || (has_sign && tree[tree.operands_of(root)[0]].kind == c::ExprKind::number);
}

struct Value {
  c::Constant constant;
  bool is_operand = false;  // it may stand in any expression
};

std::optional<Value> evaluated(std::string_view text, const ConstantNames& names) {
  const auto made = expanded(text, names.definition, most_text);
  if (!made || made->unit.tokens.size() > max_constant_tokens + 1) return std::nullopt;
  const auto parsed = c::parse_expression(made->unit.tokens);
  if (!parsed) return std::nullopt;
  const auto constant = c::constant_value(parsed->tree, parsed->root, [&](std::string_view name) {
    return names.enumerator ? names.enumerator(name) : std::nullopt;
  });
  if (!constant) return std::nullopt;
  return Value{*constant, is_operand(parsed->tree, parsed->root, made->unit.tokens)};
}

}  // namespace

std::optional<std::int64_t> constant_value(std::string_view text, const ConstantNames& names) {
  const auto value = evaluated(text, names);
  return value ? value->constant.as_int64() : std::nullopt;
}

std::optional<std::int64_t> constant_operand(std::string_view text, const ConstantNames& names) {
  const auto value = evaluated(text, names);
  const bool is_int = value && value->is_operand && value->constant.bits == 32 && !value->constant.is_unsigned;
  return is_int ? value->constant.as_int64() : std::nullopt;
}

}  // namespace usmp::tvm_c
