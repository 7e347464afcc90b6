// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// The tokens of a file of C (C11 6.4), those of directives too; comments count as blanks.
#pragma once

#include <cstdint>
#include <deque>
#include <string>
#include <vector>

#include "usmp/c/token.hpp"

namespace usmp::c {

// The shortest list of numbers that becomes one token: tables of constants are most of the megabytes of C.
inline constexpr std::size_t fewest_listed_bytes = 256;
// The longest file.
inline constexpr std::size_t most_file_bytes = std::size_t{1} << 31;

struct Directive {
  std::uint32_t token = 0;  // its '#'
  std::uint32_t end = 0;    // offset of the line break behind it, or of the end of the file
};

struct Lexed {
  std::vector<Token> tokens;          // `end` is the last
  std::vector<Directive> directives;  // in order
  std::deque<std::string> spliced;    // texts of tokens with line splices inside
};

// A directive begins with '#' that begins a line, and ends where the next token begins one.
//
// Throws SyntaxError: a comment that does not end, a file beyond most_file_bytes, and what compilers do not agree on: a
// byte order mark, trigraphs, digraphs, raw strings, `$` in names, a carriage return inside of a line, blanks between
// a backslash and the end of its line, directives that not all know. With Odd::taken, such a comment ends with the
// file, and the others are what they are without these rules. O(text); memory: O(tokens).
enum class Odd : std::uint8_t { refused, taken };
[[nodiscard]] Lexed lex(const File& file, std::uint32_t index, Odd odd = Odd::refused);

// The tokens of a short text, such as two that ## joins. Literals that do not end are `other`.
[[nodiscard]] std::vector<Token> lex_text(std::string_view text);

}  // namespace usmp::c
