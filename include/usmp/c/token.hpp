// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// Files of C and their tokens.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "usmp/support/mapped_file.hpp"

namespace usmp::c {

struct File {
  std::string name;  // for messages
  std::string_view text;
  std::shared_ptr<const MappedFile> mapped = {};  // that the text is a part of: lists of numbers may leave memory
};

enum class TokenKind : std::uint8_t {
  end,
  identifier,  // keywords, too
  number,      // as the preprocessor takes it: 0x1.8p-3f, and 1.2.3
  numbers,     // a long list of numbers behind a brace, with a comma behind each but perhaps the last one of the braces
  string,      // with its prefix: L"…"
  character,
  punctuator,
  other,   // one character that C has no meaning for, or a literal that does not end, with the rest of its line
  group,   // #if, #elif, #else or #endif of a conditional group of which is not known what is taken (preprocess)
  opaque,  // the name of a macro that is not expanded, as it is not known what it stands for
};

struct Token {
  TokenKind kind = TokenKind::end;
  bool begins_line = false;  // nothing but blanks and comments stands in front of it
  bool has_gap = false;      // a blank or a comment does
  bool is_painted = false;   // a name that is expanded nowhere any more (C11 6.10.3.4)
  std::uint32_t file = 0;    // index of the file, and the offset in it: of a macro's token, in its definition
  std::uint32_t offset = 0;
  std::uint32_t expansion = 0;  // Unit::expansions; 0: it stands in the file
  std::string_view text;        // without line splices; of `end` empty

  [[nodiscard]] bool is(std::string_view spelling) const {
    return (kind == TokenKind::punctuator || kind == TokenKind::identifier) && text == spelling;
  }
  [[nodiscard]] bool is_identifier() const { return kind == TokenKind::identifier; }
};

// What is no C, or C that compilers do not agree on.
struct SyntaxError {
  std::uint32_t file = 0;
  std::size_t offset = 0;
  std::string message;  // "found …, expected …"
};

}  // namespace usmp::c
