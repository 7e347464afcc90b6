// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// Finds declarations by what stands around names, without types.
#include "tvm_c/text/declared_names.hpp"

#include <cstddef>
#include <string_view>

#include "tvm_c/text/macros.hpp"

namespace usmp::tvm_c {
namespace {

// Behind which an expression stands, not a variable's name.
bool is_word_of_statement(const Token& token) {
  return token.is("return") || token.is("goto") || token.is("else") || token.is("case") || token.is("sizeof") ||
         token.is("do");
}

// Behind a name that is declared, or in front of it: a macro may be one.
bool is_attribute(const Token& token) {
  return token.is_identifier() && (token.text.starts_with("_") || is_in_capitals(token.text));
}

// Whether the bracket before the token closes what __attribute__((unused)) or TYPE(int8) opens.
bool is_behind_attribute(const std::vector<Token>& tokens, std::size_t i) {
  std::size_t depth = 0;
  while (i-- > 0) {
    if (tokens[i].is(";") || tokens[i].is("{") || tokens[i].is("}")) return false;
    if (tokens[i].is(")")) ++depth;
    if (tokens[i].is("(") && --depth == 0) return i > 0 && (is_attribute(tokens[i - 1]) || tokens[i - 1].is("typeof"));
  }
  return false;
}

bool may_declare(const std::vector<Token>& tokens, std::size_t i, std::size_t brackets) {
  const auto is = [&](std::size_t k, std::string_view spelling) { return k < tokens.size() && tokens[k].is(spelling); };
  if (i == 0 || !tokens[i].is_identifier()) return false;
  const Token& before = tokens[i - 1];
  const bool is_bracketed = before.is("(") && is(i + 1, ")") && (is(i + 2, "=") || is(i + 2, "["));  // int (n) = 2;
  if (is_bracketed) return true;
  const bool ends = is(i + 1, "=") || is(i + 1, ";") || is(i + 1, "[") || is(i + 1, ",") || is(i + 1, ":") ||
                    i + 1 == tokens.size() || is_attribute(tokens[i + 1]);
  if (before.is("*")) return ends || (is(i + 1, ")") && (is(i + 2, "(") || is(i + 2, "[")));  // also int (*n)(void)
  if (before.is(",")) return ends && (brackets == 0 || is(i + 1, "="));
  if (before.is(")")) return ends && is_behind_attribute(tokens, i);
  return ends && before.is_identifier() && !is_word_of_statement(before);
}

}  // namespace

Names declared_names(const std::vector<Token>& tokens) {
  Names result;
  std::size_t brackets = 0;
  for (std::size_t i = 0; i < tokens.size(); ++i) {
    if (tokens[i].is("(")) ++brackets;
    if (tokens[i].is(")") && brackets > 0) --brackets;
    if (may_declare(tokens, i, brackets)) result.emplace(tokens[i].text);
  }
  return result;
}

}  // namespace usmp::tvm_c
