// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// Recognises the words and attributes.
#include "tvm_c/text/placement.hpp"

#include <algorithm>
#include <array>
#include <string>

#include "tvm_c/text/macros.hpp"
#include "tvm_c/text/syntax.hpp"
#include "usmp/support/text.hpp"

namespace usmp::tvm_c {
namespace {

bool is_specifier(std::string_view word) {
  constexpr std::array<std::string_view, 12> words = {"extern",  "static",     "inline",   "__inline",
                                                      "const",   "__inline__", "_Alignas", "TVM_DLL",
                                                      "alignas", "struct",     "register", "TVM_EXPORT"};
  return std::find(words.begin(), words.end(), word) != words.end() || word.starts_with("__STATIC_") ||
         word.ends_with("_t");
}

}  // namespace

std::set<std::string_view> defined_as_nothing(const Code& file) {
  std::set<std::string_view> names;
  for (const Directive& one : directives_in(file)) {
    if (one.word == "define" && !one.name.empty() && one.only == one.name) names.insert(one.name);
  }
  return names;
}

std::optional<PlacementWord> placement_of(const Item& item, const Code& file, const std::set<std::string_view>& nothing,
                                          bool sections) {
  Lexer tokens(file, item.begin, item.end);
  tokens.pass_over_conditions();
  const auto found = [&](const Token& token) { return PlacementWord{token.text, token.offset}; };
  try {
    while (true) {
      if (parse_type(tokens)) continue;
      const Token token = tokens.next();
      if (token.is("{") && item.kind == Item::Kind::data) {  // of a struct, with the variable behind
        skip_to_end(tokens, token.offset);
        continue;
      }
      if (token.kind == TokenKind::end || token.is("=") || token.is("{") || token.is(";")) return std::nullopt;
      if (token.is("[")) {
        skip_to_end(tokens, token.offset);
        continue;
      }
      const bool is_call = tokens.peek().is("(");
      if (!token.is_identifier() || token.text == item.name) {
        if (is_call) return std::nullopt;  // a function's parameters
        continue;
      }
      if (token.is("__attribute__") && is_call) {
        Lexer inside = tokens;
        skip_bracketed(tokens, "(");
        while (inside.offset() < tokens.offset()) {
          if (inside.next().is("section") && (sections || item.kind == Item::Kind::function)) return found(token);
        }
      } else if (!is_specifier(token.text) && !nothing.contains(token.text)) {
        return found(token);
      } else if (is_call) {
        skip_bracketed(tokens, "(");
      }
    }
  } catch (const SyntaxError&) {  // a conditional group begins in it
    return std::nullopt;
  }
}

std::optional<PlacementWord> conditional_placement(const Code& file, std::size_t begin, std::size_t end) {
  for (const Token& token : plain_tokens(file, begin, end)) {
    if (token.is_identifier() && !is_specifier(token.text)) return PlacementWord{token.text, token.offset};
  }
  return std::nullopt;
}

}  // namespace usmp::tvm_c
