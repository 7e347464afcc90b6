// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// C cut into pieces that may be laid out anew: tokens, and directives and comments up to the end of their line. Knows
// nothing of the product's lexer.
#pragma once

#include <algorithm>
#include <array>
#include <string>
#include <string_view>
#include <vector>

#include "usmp/support/text.hpp"

namespace usmp {

// Each directive is a piece that begins and ends with a line break; other pieces hold no blanks.
inline std::vector<std::string> c_tokens(std::string_view text) {
  constexpr std::array<std::string_view, 12> pairs = {
      "<<", ">>", "<=", ">=", "==", "!=", "&&", "||", "++", "--", "->", "+="};
  std::vector<std::string> tokens;
  for (std::size_t at = 0; at < text.size();) {
    std::size_t end = at + 1;
    const std::string_view rest = text.substr(at);
    const char c = rest[0];
    if (c == ' ' || c == '\n' || c == '\t') {
      at = end;
      continue;
    }
    if (c == '#' || rest.starts_with("//")) {
      end = std::min(text.find('\n', at), text.size());
      tokens.push_back("\n" + std::string(text.substr(at, end - at)) + "\n");
      at = end;
      continue;
    }
    if (c == '"') {
      end = std::min(text.find('"', end), text.size() - 1) + 1;
    } else if (is_identifier_char(c)) {
      const bool is_number = c >= '0' && c <= '9';
      const bool is_hex = rest.starts_with("0x");
      const auto goes_on = [&](char next, char last) {
        if (is_identifier_char(next)) return true;
        const bool is_exponent = last == 'p' || (last == 'e' && !is_hex);
        return is_number && (next == '.' || (is_exponent && (next == '-' || next == '+')));
      };
      while (end < text.size() && goes_on(text[end], text[end - 1])) ++end;
    } else if (std::find(pairs.begin(), pairs.end(), rest.substr(0, 2)) != pairs.end()) {
      ++end;
    }
    tokens.emplace_back(text.substr(at, end - at));
    at = end;
  }
  return tokens;
}

}  // namespace usmp
