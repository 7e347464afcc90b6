// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// Recognises comparisons of results and parameters, and what is done if one fails.
#include "tvm_c/body/checks.hpp"

#include <algorithm>
#include <cstddef>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "tvm_c/body/memory_calls.hpp"
#include "tvm_c/kept/added_statements.hpp"
#include "tvm_c/text/function_tokens.hpp"
#include "tvm_c/text/literals.hpp"
#include "tvm_c/text/syntax.hpp"
#include "usmp/tir/visit.hpp"

namespace usmp::tvm_c {

bool take_not_zero(Lexer& tokens, bool is_always_zero) {
  const bool is_less = is_always_zero && (take(tokens, "<") || take(tokens, ">"));
  return (!is_less && !take(tokens, "!=")) || tokens.next().text == "0";
}

void expect_not_zero(Lexer& tokens, bool is_always_zero) {
  const bool is_less = is_always_zero && (take(tokens, "<") || take(tokens, ">"));
  const bool is_asked = is_less || !tokens.peek().is(")");
  if (is_asked && !is_less) expect(tokens, "!=");
  if (is_asked) expect_number(tokens, 0);
  expect(tokens, ")");
}

std::int32_t failure_of_call(Lexer tokens) {
  try {
    skip_bracketed(tokens, "(");
    if (!take_not_zero(tokens, true)) return -1;
    expect(tokens, ")");
    return expect_failure(tokens);
  } catch (const SyntaxError&) {
    return -1;
  }
}

std::vector<Token> take_null_tests(Lexer& tokens) {
  const auto take_null = [&] {
    const bool is_zero = tokens.peek().kind == TokenKind::number && tokens.peek().text == "0";
    if (!is_zero) return take(tokens, "NULL") || take(tokens, "nullptr");
    (void)tokens.next();
    return true;
  };
  std::vector<Token> names;
  do {
    const bool has_brackets = take(tokens, "(");
    const bool is_negated = take(tokens, "!");
    const bool is_in_front = !is_negated && take_null();
    if (is_in_front && !take(tokens, "==")) return {};
    names.push_back(tokens.next());
    if (!names.back().is_identifier()) return {};
    if (!is_negated && !is_in_front && (!take(tokens, "==") || !take_null())) return {};
    if (has_brackets && !take(tokens, ")")) return {};
  } while (take(tokens, "||"));
  if (!take(tokens, ")")) return {};
  return names;
}

void require_no_else(Lexer tokens) {
  skip_bracketed(tokens, "(");
  while (!tokens.peek().is("{") && !tokens.peek().is(";") && tokens.peek().kind != TokenKind::end) (void)tokens.next();
  if (tokens.peek().is("{")) {
    skip_bracketed(tokens, "{");
  } else {
    (void)tokens.next();
  }
  if (tokens.peek().is("else")) {
    fail_at(tokens.peek(),
            "none behind a check of a call: what happens if it does not fail may stand behind the check");
  }
}

void skip_failure(Lexer& tokens) {
  const Token at = tokens.peek();
  if (take(tokens, "return")) {
    while (!tokens.peek().is(";")) {
      if (tokens.next().kind == TokenKind::end) fail_at(tokens.peek(), "';'");
    }
    return expect(tokens, ";");
  }
  expect(tokens, "{");
  const std::vector<Token> inside = tokens_of(tokens);
  skip_to_end(tokens, at.offset);
  std::size_t last = 0;  // where the last statement of the block begins
  std::size_t depth = 0;
  for (std::size_t i = 0; i + 2 < inside.size(); ++i) {
    const Token& token = inside[i];
    if (token.is("goto") || token.is("case") || token.is("default") || token.is(":")) fail_at(token, "'return'");
    if (token.is("{") || token.is("(")) ++depth;
    if (token.is("}") || token.is(")")) --depth;
    if (depth == 0 && (token.is(";") || token.is("}"))) last = i + 1;
  }
  const bool ends = inside.size() > 2 && inside[last].is("return") && inside[inside.size() - 2].is(";");
  if (!ends || tokens.peek().is("else")) fail_at(inside[std::min(last, inside.size() - 1)], "'return'");
}

namespace {

// Variables that are set to workspace that the function takes, and to nothing else.
Names workspace_in(const FunctionText& function, const std::vector<Token>& tokens) {
  Names workspace;
  Names others;
  for (const Token& token : tokens_of(function.params)) others.emplace(token.text);
  for (std::size_t i = 0; i + 2 < tokens.size(); ++i) {
    if (!tokens[i].is_identifier() || !tokens[i + 1].is("=")) continue;
    std::size_t value = i + 2;
    if (tokens[value].is("(")) {  // a cast
      while (value < tokens.size() && !tokens[value].is(")")) ++value;
      ++value;
    }
    const bool is_workspace = value < tokens.size() && tokens[value].is("TVMBackendAllocWorkspace");
    (is_workspace ? workspace : others).emplace(tokens[i].text);
  }
  for (const std::string& name : others) workspace.erase(name);
  return workspace;
}

// The condition of what ends in a return at `i`: if (…) return -1; or if (…) { return -1; }. Empty: there is none.
std::span<const Token> condition_of(const std::vector<Token>& tokens, std::size_t i) {
  if (i > 0 && tokens[i - 1].is("{")) --i;
  if (i == 0 || !tokens[i - 1].is(")")) return {};
  std::size_t begin = i - 1;
  for (std::size_t depth = 1; begin > 0 && depth > 0;) {
    --begin;
    if (tokens[begin].is(")")) ++depth;
    if (tokens[begin].is("(")) --depth;
  }
  if (begin == 0 || !tokens[begin - 1].is("if")) return {};
  return {tokens.data() + begin + 1, i - begin - 2};
}

// sid_1 == NULL, TVMBackendFreeWorkspace(1, 0, sid_1) != 0
bool is_without_workspace(std::span<const Token> condition, const Names& workspace) {
  if (condition.size() < 3) return false;
  const std::size_t end = condition.size();
  if (condition[0].is("TVMBackendFreeWorkspace")) {
    const auto others = std::ranges::count_if(condition, [](const Token& token) {  // && f() != 0
      return token.is("(") || token.is("&&") || token.is("||");
    });
    return others == 1 && condition[end - 2].is("!=") && condition[end - 1].text == "0";
  }
  return end == 3 && workspace.contains(condition[0].text) && condition[1].is("==") && condition[2].is("NULL");
}

// f(…) != 0, of a function of the files: that.
std::string_view asked_function(std::span<const Token> condition, const FileScope& scope) {
  const std::size_t end = condition.size();
  if (end < 5 || !scope.functions.contains(condition[0].text) || !condition[1].is("(")) return {};
  const bool is_test = condition[end - 2].is("!=") && condition[end - 1].text == "0";
  return is_test && behind_bracketed(condition, 1) == end - 2 ? condition[0].text : std::string_view();
}

// Whether the return at `i` says 0, or nothing.
bool returns_nothing_else(const std::vector<Token>& tokens, std::size_t i) {
  const auto is = [&](std::size_t at, std::string_view text) { return at < tokens.size() && tokens[at].text == text; };
  if (is(i + 1, ";")) return true;
  return is(i + 1, "(") ? is(i + 2, "0") && is(i + 3, ")") && is(i + 4, ";") : is(i + 1, "0") && is(i + 2, ";");
}

}  // namespace

bool never_fails(const FunctionText& function) {
  std::vector<Token> tokens;
  Names workspace;
  try {
    tokens = tokens_of(function.body);
    workspace = workspace_in(function, tokens);
  } catch (const SyntaxError&) {  // told where that function is read
    return false;
  }
  const auto may_be_null = [&](const Token& name) { return !workspace.contains(name.text); };
  Lexer rest = function.body;
  std::size_t behind_test = 0;  // that workspace is there
  for (std::size_t i = 0; i + 1 < tokens.size(); ++i) {
    (void)rest.next();
    const bool returns_other = tokens[i].is("return") && !returns_nothing_else(tokens, i) &&
                               tokens[i].offset != behind_test && !tokens[i + 1].is(free_function) &&
                               !is_without_workspace(condition_of(tokens, i), workspace);
    if (returns_other) return false;
    const bool is_call = tokens[i].is_identifier() && tokens[i + 1].is("(");
    const bool is_known = tokens[i].is("TVMBackendAllocWorkspace") || tokens[i].is("TVMBackendFreeWorkspace") ||
                          tokens[i].is("if") || tokens[i].is("for") || tokens[i].is("while") ||
                          tokens[i].is("return") || is_memory_function(tokens[i].text) ||
                          is_math_function(tokens[i].text);
    if (is_call && !is_known) return false;
    if (!is_call || !tokens[i].is("if")) continue;
    Lexer condition = rest;
    (void)condition.next();
    const std::vector<Token> tested = take_null_tests(condition);
    if (std::any_of(tested.begin(), tested.end(), may_be_null)) return false;
    if (tested.empty()) continue;
    (void)take(condition, "{");
    behind_test = condition.peek().offset;
  }
  return true;
}

bool returns_once(const FunctionText& function) {
  try {
    const std::vector<Token> tokens = tokens_of(function.body);
    const Names workspace = workspace_in(function, tokens);
    std::size_t returns = 0;
    for (std::size_t i = 0; i + 2 < tokens.size(); ++i) {
      if (!tokens[i].is("return") || is_without_workspace(condition_of(tokens, i), workspace)) continue;
      const bool is_call = tokens[i + 1].is_identifier() && tokens[i + 2].is("(");
      if (++returns > 1 || (!is_call && !returns_nothing_else(tokens, i))) return false;
    }
    return true;
  } catch (const SyntaxError&) {  // likewise
    return true;
  }
}

bool returns_zero(const FunctionText& function, const FileScope& scope, bool has_workspace, Names* asked) {
  std::vector<Token> tokens;
  Names workspace;
  try {
    tokens = tokens_of(function.body);
    workspace = workspace_in(function, tokens);
  } catch (const SyntaxError&) {  // likewise
    return false;
  }
  const auto is = [&](std::size_t i, std::string_view spelling) { return i < tokens.size() && tokens[i].is(spelling); };
  for (std::size_t i = 0; i < tokens.size(); ++i) {
    const Token& token = tokens[i];
    if (!token.is_identifier()) continue;
    if (token.is("return")) {
      if (returns_nothing_else(tokens, i)) continue;
      const std::span<const Token> condition = condition_of(tokens, i);
      if (has_workspace && is_without_workspace(condition, workspace)) continue;
      const std::string_view callee = asked != nullptr ? asked_function(condition, scope) : std::string_view();
      if (callee.empty()) return false;
      asked->emplace(callee);
      continue;
    }
    const bool is_word = token.is("break") || token.is("continue") || token.is("else") || token.is("do");
    const bool is_function = scope.functions.contains(token.text) || scope.prototypes.contains(token.text) ||
                             scope.foreign.contains(token.text) || is_control(token) || token.is("sizeof") ||
                             token.text.starts_with("TVMBackend") || is_of_library(token.text) ||
                             is_memory_function(token.text) || is_math_function(token.text);
    if (is(i + 1, "(") && !is_function && !is_member(tokens, i)) return false;
    const bool begins = begins_statement(tokens, i) || (is_in_capitals(token.text) && !is(i - 1, "="));
    if (begins && is(i + 1, ";") && !is_word) return false;
  }
  return true;
}

bool take_result_test(Lexer& tokens, const Token& name, bool is_condition, bool never_fails) {
  skip_bracketed(tokens, "(");
  if (is_condition) {
    if (!take(tokens, ")")) return false;
  } else if (!take(tokens, ";") || !take(tokens, "if") || !take(tokens, "(") || !take(tokens, name.text)) {
    return false;
  }
  return take_not_zero(tokens, never_fails) && take(tokens, ")");
}

tir::ExprRef take_failure_code(Lexer& tokens, std::string_view name) {
  Lexer ahead = tokens;
  try {
    const auto number = expect_failure_with(ahead, name);
    if (ahead.peek().is("else")) return nullptr;
    tokens = std::move(ahead);
    return number ? tir::make_int(*number) : tir::make_own_code();
  } catch (const SyntaxError&) {
    return nullptr;
  }
}

void expect_packed_check(Lexer& tokens, const Token& at) {
  const bool has_braces = take(tokens, "{");
  if (has_braces && take(tokens, "}")) return;
  if (take(tokens, "TVMAPISetLastError")) {
    skip_bracketed(tokens, "(");
    expect(tokens, ";");
  }
  if (!tokens.peek().is("return")) fail_at(at, "a check of arguments that fails or does nothing");
  expect_failure(tokens);
  if (has_braces) expect(tokens, "}");
}

bool take_look_up(Lexer& tokens, PackedState& packed) {
  Lexer ahead = tokens;
  const Token variable = ahead.next();
  if (!variable.is_identifier() || !take(ahead, "==") || !take(ahead, "NULL") || !take(ahead, ")")) return false;
  const bool has_braces = take(ahead, "{");
  if (!take(ahead, "if") || !take(ahead, "(") || !take(ahead, "TVMBackendGetFuncFromEnv")) return false;
  tokens = std::move(ahead);
  expect(tokens, "(");
  const Token context = tokens.next();
  if (!context.is_identifier()) fail_at(context, "the module's context");
  expect(tokens, ",");
  const Token name = tokens.next();
  if (name.kind != TokenKind::string) fail_at(name, "a function's name in quotes");
  packed.looked_up.insert_or_assign(std::string(variable.text), std::string(name.text.substr(1, name.text.size() - 2)));
  expect(tokens, ",");
  expect(tokens, "&");
  expect(tokens, variable.text);
  expect(tokens, ")");
  expect(tokens, "!=");
  expect_number(tokens, 0);
  expect(tokens, ")");
  expect_failure(tokens);
  if (has_braces) expect(tokens, "}");
  return true;
}

}  // namespace usmp::tvm_c
