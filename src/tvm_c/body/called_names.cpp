// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// Looks for a name and the bracket behind it.
#include "tvm_c/body/called_names.hpp"

#include <algorithm>
#include <utility>

#include "tvm_c/text/function_tokens.hpp"
#include "tvm_c/text/macros.hpp"
#include "tvm_c/text/syntax.hpp"
#include "usmp/support/text.hpp"

namespace usmp::tvm_c {
namespace {

// A name in capitals may be a macro.
bool says_constants(const Token& name, Lexer tokens) {
  if (is_in_capitals(name.text) || is_math_function(name.text) || !take(tokens, "(")) return false;
  while (!tokens.peek().is(")")) {
    const Token token = tokens.next();
    const bool is_constant =
        token.kind == TokenKind::number || token.kind == TokenKind::string || token.is(",") || token.is("-");
    if (!is_constant) return false;
  }
  (void)tokens.next();
  return tokens.peek().is(";");
}

}  // namespace

std::optional<std::string> take_called_name(Lexer& tokens, BodyNames& names, const FileScope& scope) {
  Lexer ahead = tokens;
  if (take(ahead, "(")) {  // (void)f();
    if (!take(ahead, "void") || !take(ahead, ")")) return std::nullopt;
  }
  const Token name = ahead.next();
  if (!name.is_identifier() || !ahead.peek().is("(") || names.look_up(name.text)) return std::nullopt;
  std::string text(name.text);
  const bool is_known = text == free_function || scope.functions.contains(text) || scope.foreign.contains(text) ||
                        scope.prototypes.contains(text);
  if (!is_known && text.starts_with("tvmgen_")) {
    throw SyntaxError{name.offset,
                      "found a call of " + in_quotes(text) + ", which no C file of the model defines or declares"};
  }
  if (!is_known) return std::nullopt;
  tokens = std::move(ahead);
  return text;
}

std::optional<std::string> take_other_name(Lexer& tokens, BodyNames& names, bool is_entry) {
  Lexer ahead = tokens;
  const Token name = ahead.next();
  const bool is_keyword = name.is("switch") || name.is("sizeof") || name.is("asm") || name.is("__asm");
  const bool is_tvm = name.text.starts_with("TVM") && !name.text.starts_with("TVMDevice");  // hooks of devices
  const bool is_one = (is_entry || says_constants(name, ahead)) && name.is_identifier() && !is_keyword &&
                      !name.text.starts_with("tvmgen_") && !is_tvm && ahead.peek().is("(") && !names.look_up(name.text);
  if (!is_one) return std::nullopt;
  tokens = std::move(ahead);
  return std::string(name.text);
}

std::optional<std::string> take_other_checked_name(Lexer& tokens, BodyNames& names, bool is_entry) {
  Lexer ahead = tokens;
  auto name = take_other_name(ahead, names, is_entry);
  if (!name) return std::nullopt;
  const Lexer behind = ahead;
  skip_bracketed(ahead, "(");
  if (take(ahead, "!=") && ahead.next().text != "0") return std::nullopt;
  const bool is_check = take(ahead, ")") && (take(ahead, "return") || take(ahead, "{"));
  if (!is_check) return std::nullopt;
  tokens = behind;
  return name;
}

}  // namespace usmp::tvm_c
