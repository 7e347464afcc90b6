// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// Kinds of characters, whatever the locale.
#pragma once

#include <string>

namespace usmp {

[[nodiscard]] constexpr bool is_digit(char c) { return c >= '0' && c <= '9'; }
[[nodiscard]] constexpr bool is_capital(char c) { return c >= 'A' && c <= 'Z'; }

// With small letters in place of capitals.
[[nodiscard]] inline std::string lower_case(std::string text) {
  for (char& c : text) c = static_cast<char>(is_capital(c) ? c - 'A' + 'a' : c);
  return text;
}

// A byte of a character of UTF-8 that is not its first.
[[nodiscard]] constexpr bool is_utf8_continuation(char c) { return (static_cast<unsigned char>(c) & 0xC0U) == 0x80U; }

}  // namespace usmp
