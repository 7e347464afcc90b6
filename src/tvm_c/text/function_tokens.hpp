// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// Text and tokens of functions.
#pragma once

#include <algorithm>
#include <cstddef>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "tvm_c/text/file_scope.hpp"
#include "tvm_c/text/lexer.hpp"
#include "usmp/support/checked.hpp"

namespace usmp::tvm_c {

// The tokens of an item; a long list of numbers is one. Nothing: it has directives, or is not understood.
[[nodiscard]] std::optional<std::vector<Token>> tokens_of(const Item& item, const Code& file);

// Tokens [begin, end).
struct TokenPart {
  std::size_t begin = 0;
  std::size_t end = 0;
};

// Whether the token is a member's name: a.x or a->x
template <class Tokens>
[[nodiscard]] bool is_member(const Tokens& tokens, std::size_t i) {
  return i > 0 && (tokens[i - 1].is(".") || tokens[i - 1].is("->"));
}

template <class Tokens>
[[nodiscard]] bool calls_operator(const Tokens& tokens, TokenPart part) {
  const auto first = tokens.begin() + static_cast<std::ptrdiff_t>(part.begin);
  return std::any_of(first, first + static_cast<std::ptrdiff_t>(part.end - part.begin),
                     [](const auto& token) { return token.text.starts_with("tvmgen_"); });
}

// Behind the bracket that closes the one at `open`; nothing: none does.
template <class Tokens>
[[nodiscard]] std::optional<std::size_t> behind_bracketed(const Tokens& tokens, std::size_t open) {
  std::size_t depth = 0;
  for (std::size_t i = open; i < tokens.size(); ++i) {
    if (tokens[i].is("(") || tokens[i].is("{") || tokens[i].is("[")) ++depth;
    if (tokens[i].is(")") || tokens[i].is("}") || tokens[i].is("]")) --depth;
    if (depth == 0) return i + 1;
  }
  return std::nullopt;
}

// Places in the text, also in comments, where the name stands.
[[nodiscard]] std::vector<std::size_t> places_of(std::string_view text, std::string_view name);

// A whole number of at most INT32_MAX.
[[nodiscard]] std::optional<Bytes> number_at(std::span<const Token> tokens, std::size_t i);

}  // namespace usmp::tvm_c
