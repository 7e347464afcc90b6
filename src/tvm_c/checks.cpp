// SPDX-License-Identifier: Apache-2.0
#include "tvm_c/checks.hpp"

#include <string>
#include <utility>

#include "tvm_c/expressions.hpp"

namespace usmp::tvm_c {

void expect_number(Lexer& tokens, std::int64_t number) {
  const Token token = tokens.next();
  if (token.kind != TokenKind::number || token.text != std::to_string(number)) {
    fail_at(token, "'" + std::to_string(number) + "'");
  }
}

void expect_failure(Lexer& tokens) {
  const bool has_braces = take(tokens, "{");
  expect(tokens, "return");
  const bool has_brackets = take(tokens, "(");
  expect(tokens, "-");
  expect_number(tokens, 1);
  if (has_brackets) expect(tokens, ")");
  expect(tokens, ";");
  if (has_braces) expect(tokens, "}");
}

bool is_result_checked(Lexer& tokens, const Token& name) {
  skip_bracketed(tokens, "(");
  if (!take(tokens, ";") || !take(tokens, "if") || !take(tokens, "(") || !take(tokens, name.text)) return false;
  if (take(tokens, "!=") && tokens.next().text != "0") return false;
  if (!take(tokens, ")")) return false;
  const bool has_braces = take(tokens, "{");
  if (!take(tokens, "return")) return false;
  if (!take(tokens, name.text) && (!take(tokens, "-") || tokens.next().text != "1")) return false;
  return take(tokens, ";") && (!has_braces || take(tokens, "}")) && !tokens.peek().is("else");
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
