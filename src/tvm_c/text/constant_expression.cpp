// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// Values of short texts: a file of C is made of each, with the definitions of the macros that it names.
#include "tvm_c/text/constant_expression.hpp"

#include <utility>
#include <vector>

#include "tvm_c/text/macro_expansion.hpp"
#include "tvm_c/text/syntax.hpp"
#include "usmp/c/constants.hpp"
#include "usmp/c/parser.hpp"
#include "usmp/c/preprocessor.hpp"
#include "usmp/support/text.hpp"

namespace usmp::tvm_c {
namespace {

// The most bytes of a text with its definitions.
constexpr std::size_t most_text = std::size_t{1} << 16;

// The file's tokens, macros expanded, and the texts of those that `##` makes. Nothing: it is no C, or too long.
std::optional<c::Unit> expanded(std::string_view file, c::Files& files) {
  try {
    c::Unit unit = c::preprocess(files, files.add({"", file}), {});
    return unit.tokens.size() <= max_constant_tokens + 1 ? std::optional(std::move(unit)) : std::nullopt;
  } catch (const c::SyntaxError&) {
    return std::nullopt;
  }
}

// A literal, with a sign perhaps, or all in one pair of brackets.
bool is_operand(const c::Tree& tree, c::ExprId root, const std::vector<c::Token>& tokens) {
  const c::Expr& expr = tree[root];
  std::size_t depth = 0;
  for (std::uint32_t i = 0; tokens[0].is("(") && i < expr.tokens.end; ++i) {
    if (tokens[i].is("(")) ++depth;
    if (tokens[i].is(")") && --depth == 0) return i + 1 == expr.tokens.end;
  }
  const bool has_sign = expr.kind == c::ExprKind::prefix && (expr.text == "-" || expr.text == "+");
  return expr.kind == c::ExprKind::number || (has_sign && tree[tree.operands_of(root)[0]].kind == c::ExprKind::number);
}

struct Value {
  c::Constant constant;
  bool is_operand = false;  // it may stand in any expression
};

std::optional<Value> evaluated(std::string_view text, const ConstantNames& names) {
  const auto definitions = definitions_of(
      text, most_text, [&](std::string_view name) { return names.definition ? names.definition(name) : std::nullopt; });
  if (!definitions) return std::nullopt;
  const std::string file = *definitions + std::string(text);
  c::Files files;
  const auto unit = expanded(file, files);
  const auto parsed = unit ? c::parse_expression(unit->tokens) : std::nullopt;
  if (!parsed) return std::nullopt;
  const auto constant = c::constant_value(parsed->tree, parsed->root, [&](std::string_view name) {
    return names.enumerator ? names.enumerator(name) : std::nullopt;
  });
  if (!constant) return std::nullopt;
  return Value{*constant, is_operand(parsed->tree, parsed->root, unit->tokens)};
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

std::optional<std::int64_t> array_extent(const Lexer& tokens, const ConstantNames& names) {
  try {
    Lexer ahead = tokens;
    const std::size_t begin = ahead.peek().offset;
    skip_to_end(ahead, begin);
    const auto value = constant_value(tokens.text().substr(begin, ahead.end() - 1 - begin), names);
    return value && *value >= 0 && *value < max_pool ? value : std::nullopt;
  } catch (const SyntaxError&) {
    return std::nullopt;
  }
}

}  // namespace usmp::tvm_c
