// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// What the preprocessor (usmp/c/preprocessor.hpp) makes of macros in a piece of C.
#pragma once

#include <cstddef>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "tvm_c/text/lexer.hpp"

namespace usmp::tvm_c {

// What stands behind the names of macros in their definitions: "(x) do { … } while (0)".
using Definitions = std::map<std::string_view, std::string_view>;
// The same of each of their definitions.
using AllDefinitions = std::map<std::string_view, std::vector<std::string_view>, std::less<>>;

// A token of a text that is made.
struct MadeToken {
  TokenKind kind = TokenKind::end;
  std::string text;
  bool is_apart = false;  // blanks stand in front of it

  [[nodiscard]] bool is(std::string_view spelling) const { return kind != TokenKind::string && text == spelling; }
  [[nodiscard]] bool is_identifier() const { return kind == TokenKind::identifier; }
};
using MadeTokens = std::vector<MadeToken>;

// Of long lists, each number is one. Throws SyntaxError.
[[nodiscard]] MadeTokens made_tokens(std::string_view text);
[[nodiscard]] MadeTokens made_tokens(const std::vector<Token>& tokens);

// Behind the bracket that closes the one at `open`; the number of tokens: none does.
[[nodiscard]] std::size_t behind_bracket(const MadeTokens& tokens, std::size_t open);

// "#define" of all macros that the text names, and of those that these name. Nothing: more than `most` bytes.
// `definition`: as in Definitions; nothing: no macro.
[[nodiscard]] std::optional<std::string> definitions_of(
    std::string_view text, std::size_t most,
    const std::function<std::optional<std::string_view>(std::string_view name)>& definition);

// The tokens with all macros expanded. Nothing: a macro comes to itself, C does not allow its call, or the result is
// very long.
[[nodiscard]] std::optional<MadeTokens> expanded(const MadeTokens& tokens, const Definitions& macros);

}  // namespace usmp::tvm_c
