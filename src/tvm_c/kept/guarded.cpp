// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// Finds what stands under conditions of the entry.
#include "tvm_c/kept/guarded.hpp"

#include <algorithm>
#include <optional>
#include <string>

#include "tvm_c/text/function_tokens.hpp"
#include "tvm_c/text/macros.hpp"

namespace usmp::tvm_c {
namespace {

// "ret" of "ret != 0)", "ret)" and "(ret = f(x)) != 0)".
std::string_view compared_variable(const std::vector<Token>& tokens, std::size_t condition) {
  while (condition + 1 < tokens.size() && tokens[condition].is("(")) ++condition;
  if (condition + 1 >= tokens.size() || !tokens[condition].is_identifier()) return {};
  const Token& behind = tokens[condition + 1];
  return behind.is("!=") || behind.is(")") || behind.is("=") ? tokens[condition].text : std::string_view();
}

// Where the last statement of these tokens begins.
std::size_t last_statement(const std::vector<Token>& tokens, std::size_t first, std::size_t last) {
  std::size_t begin = first;
  std::size_t depth = 0;
  for (std::size_t i = first; i + 1 < last; ++i) {
    if (tokens[i].is("(") || tokens[i].is("{") || tokens[i].is("[")) ++depth;
    if (tokens[i].is(")") || tokens[i].is("}") || tokens[i].is("]")) --depth;
    if (depth == 0 && (tokens[i].is(";") || tokens[i].is("}"))) begin = i + 1;
  }
  return begin;
}

// Behind "if (condition)", of the tokens from `at` on; nothing: else follows, or it is no statement of the kind.
std::optional<Guarded> guarded_at(const std::vector<Token>& tokens, std::size_t at) {
  Guarded guarded;
  std::size_t behind = at;
  if (at >= tokens.size()) return std::nullopt;
  if (tokens[at].is("{")) {
    const auto end = behind_bracketed(tokens, at);
    if (!end || *end < at + 3) return std::nullopt;
    behind = *end;
    guarded.first = at + 1;
    guarded.last = *end - 1;
    guarded.text.place = {tokens[at].offset + 1, tokens[*end - 1].offset};
  } else {
    const bool is_call = tokens[at].is_identifier() && at + 1 < tokens.size() && tokens[at + 1].is("(");
    if (!tokens[at].is("return") && (!is_call || is_control(tokens[at]))) return std::nullopt;
    while (behind < tokens.size() && !tokens[behind].is(";") && !tokens[behind].is("{")) ++behind;
    if (behind >= tokens.size() || !tokens[behind].is(";")) return std::nullopt;
    guarded.first = at;
    guarded.last = ++behind;
    guarded.text.place = {tokens[at].offset, tokens[behind - 1].offset + 1};
  }
  return behind < tokens.size() && tokens[behind].is("else") ? std::nullopt : std::optional(guarded);
}

// For what stands behind a macro's name; do { … } while (0) is one statement.
bool stands_for_several(std::string_view definition) {
  const std::size_t begin = definition.starts_with("(") ? std::min(definition.find(')') + 1, definition.size()) : 0;
  const bool is_loop = without_blanks_in_front(definition.substr(begin)).starts_with("do");
  std::size_t depth = 0;
  for (const char c : definition) {
    if (c == '{') ++depth;
    if (c == '}' && depth > 0) --depth;
    if ((c == ';' && depth == 0) || (c == '{' && !is_loop)) return true;
  }
  return false;
}

bool is_called(const std::vector<Token>& tokens, std::string_view name) {
  for (std::size_t i = 0; i + 1 < tokens.size(); ++i) {
    if (tokens[i].is(name) && tokens[i + 1].is("(")) return true;
  }
  return false;
}

// Not so where a macro stands for several, and no braces hold them: only the first is under the condition. A name in
// capitals that is called may be such a macro of a header.
bool is_one_statement(const std::vector<Token>& tokens, const Guarded& guarded, const Macros& macros) {
  if (tokens[guarded.first - 1].is("{")) return true;
  const std::vector<Token> inside(tokens.begin() + static_cast<std::ptrdiff_t>(guarded.first),
                                  tokens.begin() + static_cast<std::ptrdiff_t>(guarded.last));
  const Names names = macros.names_of(inside);
  return std::none_of(names.begin(), names.end(), [&](const std::string& name) {
    if (!macros.contains(name)) return is_in_capitals(name) && is_called(inside, name);
    const auto definition = macros.definition(name);
    return !definition || stands_for_several(*definition);
  });
}

}  // namespace

std::vector<Guarded> guarded_in(const std::vector<Token>& tokens, const std::vector<Directive>& directives,
                                const Macros& macros) {
  std::vector<Guarded> found;
  const auto is_loop = [](const Token& token) {
    return token.is("for") || token.is("while") || token.is("do") || token.is("switch");
  };
  for (std::size_t i = 0; i < tokens.size(); ++i) {
    if (is_loop(tokens[i])) return {};  // not inside of text that stays
    if (i + 1 == tokens.size() || !tokens[i].is("if") || !tokens[i + 1].is("(") || (i > 0 && tokens[i - 1].is("else")))
      continue;
    const auto condition_end = behind_bracketed(tokens, i + 1);
    auto guarded = condition_end ? guarded_at(tokens, *condition_end) : std::nullopt;
    if (!guarded) continue;
    if (calls_operator(tokens, {guarded->first, guarded->last})) continue;
    const std::size_t last = last_statement(tokens, guarded->first, guarded->last);
    const AddedText place = guarded->text.place;
    const bool is_cut = std::any_of(directives.begin(), directives.end(), [&](const Directive& one) {
      return tokens[last].offset < one.begin && one.begin < place.end;
    });
    guarded->text.leaves = tokens[last].is("return") && !is_cut;
    guarded->variable = compared_variable(tokens, i + 2);
    i = guarded->last - 1;
    if (is_one_statement(tokens, *guarded, macros)) found.push_back(*guarded);
  }
  return found;
}

}  // namespace usmp::tvm_c
