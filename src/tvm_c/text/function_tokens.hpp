// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// Text and tokens of functions.
#pragma once

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

// Behind the bracket that closes the one at `open`; nothing: none does.
[[nodiscard]] std::optional<std::size_t> behind_bracketed(std::span<const Token> tokens, std::size_t open);

// Places in the text, also in comments, where the name stands.
[[nodiscard]] std::vector<std::size_t> places_of(std::string_view text, std::string_view name);
[[nodiscard]] inline bool has_name(std::string_view text, std::string_view name) {
  return !places_of(text, name).empty();
}

// A whole number of at most INT32_MAX.
[[nodiscard]] std::optional<Bytes> number_at(std::span<const Token> tokens, std::size_t i);

}  // namespace usmp::tvm_c
