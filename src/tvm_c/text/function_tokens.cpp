// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// Collects the tokens of items, and finds names.
#include "tvm_c/text/function_tokens.hpp"

#include <cstdint>

#include "tvm_c/text/literals.hpp"
#include "tvm_c/text/macros.hpp"
#include "usmp/support/text.hpp"

namespace usmp::tvm_c {

std::optional<std::vector<Token>> tokens_of(const Item& item, const Code& file) {
  if (has_directives(file, item.begin, item.end)) return std::nullopt;
  try {
    return plain_tokens(file, item.begin, item.end);
  } catch (const SyntaxError&) {
    return std::nullopt;
  }
}

std::optional<Bytes> number_at(std::span<const Token> tokens, std::size_t i) {
  if (i >= tokens.size() || tokens[i].kind != TokenKind::number || is_real(tokens[i])) return std::nullopt;
  const std::int64_t value = integer_literal(tokens[i]).value;
  return value >= 0 && value <= INT32_MAX ? std::optional<Bytes>(value) : std::nullopt;
}

std::optional<std::size_t> behind_bracketed(std::span<const Token> tokens, std::size_t open) {
  std::size_t depth = 0;
  for (std::size_t i = open; i < tokens.size(); ++i) {
    if (tokens[i].is("(") || tokens[i].is("{") || tokens[i].is("[")) ++depth;
    if (tokens[i].is(")") || tokens[i].is("}") || tokens[i].is("]")) --depth;
    if (depth == 0) return i + 1;
  }
  return std::nullopt;
}

std::vector<std::size_t> places_of(std::string_view text, std::string_view name) {
  std::vector<std::size_t> places;
  for_each_identifier(text, [&](std::string_view word) {
    if (word == name) places.push_back(static_cast<std::size_t>(word.data() - text.data()));
  });
  return places;
}

}  // namespace usmp::tvm_c
