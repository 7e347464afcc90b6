// SPDX-License-Identifier: Apache-2.0
// Tests: tests/tvm_c/check_macros_test.cpp.
#include "tvm_c/respelled/check_macros.hpp"

#include <algorithm>
#include <utility>
#include <vector>

#include "tvm_c/text/function_tokens.hpp"
#include "tvm_c/text/lexer.hpp"
#include "tvm_c/text/syntax.hpp"

namespace usmp::tvm_c {
namespace {

// x or (x)
void expect_argument(Lexer& tokens, const Token& parameter, CheckMacro& macro) {
  macro.has_brackets = take(tokens, "(");
  expect(tokens, parameter.text);
  if (macro.has_brackets) expect(tokens, ")");
}

// if (x != 0) return -1;
void read_condition(Lexer& tokens, const Token& parameter, CheckMacro& macro) {
  expect(tokens, "(");
  macro.is_of_zero = take(tokens, "!");
  expect_argument(tokens, parameter, macro);
  const bool is_zero = !macro.is_of_zero && take(tokens, "==");
  const bool is_compared = is_zero || (!macro.is_of_zero && take(tokens, "!="));
  if (is_compared) expect_number(tokens, 0);
  macro.is_of_zero = macro.is_of_zero || is_zero;
  expect(tokens, ")");
  macro.failure = std::to_string(expect_failure(tokens));
}

// int v = x; if (v != 0) return v;
void read_variable(Lexer& tokens, const Token& parameter, CheckMacro& macro) {
  const auto type = parse_type(tokens);
  const Token name = tokens.next();
  const bool is_status = type && type->stars == 0 && type->element.is_int() && type->element.bits == 32;
  if (!is_status || !name.is_identifier() || name.text == parameter.text) fail_at(name, "a variable for a status");
  macro.variable = name.text;
  expect(tokens, "=");
  expect_argument(tokens, parameter, macro);
  expect(tokens, ";");
  expect(tokens, "if");
  expect(tokens, "(");
  expect(tokens, name.text);
  if (take(tokens, "!=")) expect_number(tokens, 0);
  expect(tokens, ")");
  if (const auto number = expect_failure_with(tokens, name.text)) macro.failure = std::to_string(*number);
}

class Statements {
 public:
  Statements(std::string_view text, const CheckMacros& macros) : text_(text), macros_(macros), replaced_(text) {}

  std::optional<EditedText> run(const std::vector<Token>& tokens) {
    for (std::size_t i = 0; i < tokens.size(); ++i) {
      const auto macro = macros_.find(tokens[i].text);
      const bool begins = i == 0 || tokens[i - 1].is(";") || tokens[i - 1].is("{") || tokens[i - 1].is("}");
      if (begins && tokens[i].is_identifier() && macro != macros_.end()) read(tokens, i, macro->second);
    }
    return replaced_.text();
  }

 private:
  // CHECK(f(…)); or CHECK(f(…) == 0);
  void read(const std::vector<Token>& tokens, std::size_t i, const CheckMacro& macro) {
    const auto is = [&](std::size_t at, std::string_view spelling) {
      return at < tokens.size() && tokens[at].is(spelling);
    };
    if (!is(i + 1, "(") || i + 2 >= tokens.size() || !tokens[i + 2].is_identifier() || !is(i + 3, "(")) return;
    std::size_t close = i + 3;  // of the call
    for (std::size_t depth = 0; close < tokens.size(); ++close) {
      if (!macro.variable.empty() && tokens[close].is(macro.variable)) return;
      if (tokens[close].is("(")) ++depth;
      if (tokens[close].is(")") && --depth == 0) break;
    }
    const bool is_compared = is(close + 1, "==") || is(close + 1, "!=");
    const bool is_equal = is(close + 1, "==");
    const std::size_t last = is_compared ? close + 3 : close + 1;
    if (is_compared && (close + 2 >= tokens.size() || tokens[close + 2].text != "0")) return;
    if (!is(last, ")") || !is(last + 1, ";") || is(last + 2, "else")) return;
    const bool fails_with_call = macro.is_of_zero == is_equal;
    const bool is_plain = macro.has_brackets && !macro.failure.empty();
    if (!fails_with_call || (is_compared && !is_plain)) return;

    const std::size_t call = tokens[i + 2].offset;
    const std::size_t behind = tokens[close].offset + 1;
    const std::size_t end = tokens[last + 1].offset + 1;
    const std::string_view front = text_.substr(tokens[i].offset, call - tokens[i].offset);
    const std::string_view rest = text_.substr(behind, end - behind);
    if (front.find('#') != std::string_view::npos || rest.find('#') != std::string_view::npos) return;
    const std::string name(macro.variable);
    replaced_.replace(tokens[i].offset, call,
                      macro.failure.empty() ? "{ int32_t " + name + " = " : std::string("if ("));
    replaced_.replace(behind, end,
                      macro.failure.empty() ? "; if (" + name + " != 0) return " + name + "; }"
                                            : " != 0) return " + macro.failure + ";");
  }

  std::string_view text_;
  const CheckMacros& macros_;
  Replacements replaced_;
};

}  // namespace

std::optional<CheckMacro> check_macro(std::string_view definition) {
  if (!definition.starts_with('(')) return std::nullopt;
  const std::string text = std::string(definition) + "\n;";
  try {
    Lexer tokens(text);
    expect(tokens, "(");
    const Token parameter = tokens.next();
    if (!parameter.is_identifier()) return std::nullopt;
    expect(tokens, ")");
    const bool has_do = take(tokens, "do");
    const bool has_braces = take(tokens, "{");
    if (has_do && !has_braces) return std::nullopt;
    CheckMacro macro;
    if (take(tokens, "if")) {
      read_condition(tokens, parameter, macro);
    } else {
      if (!has_braces) return std::nullopt;
      read_variable(tokens, parameter, macro);
    }
    if (has_braces) expect(tokens, "}");
    if (has_do) {
      expect(tokens, "while");
      expect(tokens, "(");
      expect_number(tokens, 0);
      expect(tokens, ")");
    }
    while (take(tokens, ";")) {
    }
    return tokens.peek().kind == TokenKind::end ? std::optional(std::move(macro)) : std::nullopt;
  } catch (const SyntaxError&) {
    return std::nullopt;
  }
}

std::optional<EditedText> with_checks(const FunctionText& function, const CheckMacros& macros) {
  try {
    return Statements(function.body.text(), macros).run(tokens_of(function.body));
  } catch (const SyntaxError&) {  // told where the function is read
    return std::nullopt;
  }
}

}  // namespace usmp::tvm_c
