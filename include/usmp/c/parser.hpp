// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// Tokens of C to a tree.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

#include "usmp/c/token.hpp"
#include "usmp/c/tree.hpp"

namespace usmp::c {

// Statements and declarators deeper than this inside each other are opaque.
inline constexpr std::size_t most_nested = 250;

// Functions' bodies may be opaque, all of them, which costs less.
enum class Bodies : std::uint8_t { parsed, passed_over };

// All tokens of a file, preprocessed; `end` is the last. Throws SyntaxError: brackets that do not match, also of one
// part of a conditional group (the other parts may be taken, or not). O(tokens · log names).
[[nodiscard]] Tree parse(std::span<const Token> tokens, Bodies bodies = Bodies::parsed);

// Whether it is a word of the language, or a type of the standard's headers, such as size_t. O(1).
[[nodiscard]] bool is_word(std::string_view name);

struct Parsed {
  Tree tree;
  ExprId root;
};

// All of the tokens as one expression in which no names are known; `end` is the last. Nothing: they are none.
// O(tokens).
[[nodiscard]] std::optional<Parsed> parse_expression(std::span<const Token> tokens);

}  // namespace usmp::c
