// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// Decodes each line as UTF-8, and fails at the first byte that may not be there.
#include "config/text_check.hpp"

#include <array>
#include <cstddef>
#include <string>

#include "config/yaml_tree.hpp"
#include "usmp/support/error.hpp"

namespace usmp::config {
namespace {

std::string hexadecimal(char c) {
  constexpr std::string_view digits = "0123456789abcdef";
  const auto byte = static_cast<unsigned char>(c);
  return {'0', 'x', digits[byte >> 4U], digits[byte & 15U]};
}

// Length of the well-formed UTF-8 sequence at the start of `text`; 0 if there is none (Unicode 15, table 3-7).
std::size_t utf8_length(std::string_view text) {
  const auto at = [text](std::size_t i) { return i < text.size() ? static_cast<unsigned char>(text[i]) : 0U; };
  const unsigned lead = at(0);
  if (lead < 0x80) return 1;
  if (lead < 0xC2 || lead > 0xF4) return 0;
  const std::size_t length = lead < 0xE0 ? 2 : lead < 0xF0 ? 3 : 4;
  // The second byte's range excludes overlong forms, surrogates and what lies above U+10FFFF.
  const unsigned low = lead == 0xE0 ? 0xA0U : lead == 0xF0 ? 0x90U : 0x80U;
  const unsigned high = lead == 0xED ? 0x9FU : lead == 0xF4 ? 0x8FU : 0xBFU;
  if (at(1) < low || at(1) > high) return 0;
  for (std::size_t i = 2; i < length; ++i) {
    if (at(i) < 0x80 || at(i) > 0xBF) return 0;
  }
  return length;
}

void check_control(std::string_view rest, Mark mark) {
  const char c = rest[0];
  if (!is_control(c) || c == '\n' || c == '\t') return;
  if (c != '\r') fail(mark, "the control character " + hexadecimal(c) + ": expected text");
  if (rest.size() < 2 || rest[1] != '\n') {
    fail(mark, "a carriage return inside a line: expected lines that end in LF or CR LF");
  }
}

// A tab in front of a line's first character, unless the line is empty or a comment.
void check_indentation(std::string_view line, std::size_t number) {
  const std::size_t first = line.find_first_not_of(" \t");
  if (first == std::string_view::npos || line[first] == '#' || line[first] == '\r') return;
  const std::size_t tab = line.substr(0, first).find('\t');
  if (tab != std::string_view::npos) fail({number, tab + 1}, "a tab in the indentation: expected spaces");
}

}  // namespace

void check_text(std::string_view text) {
  if (text.size() > max_text_bytes) {
    throw Error(ErrorKind::usage, {},
                "the file has " + std::to_string(text.size()) + " bytes: expected a pools file of at most " +
                    std::to_string(max_text_bytes));
  }
  if (text.starts_with(byte_order_mark)) text.remove_prefix(byte_order_mark.size());
  std::size_t number = 1;
  while (!text.empty()) {
    const std::size_t end = text.find('\n');
    const std::string_view line = text.substr(0, end);
    for (std::size_t i = 0; i < line.size();) {
      const Mark mark{number, i + 1};
      check_control(text.substr(i), mark);
      const std::size_t length = utf8_length(line.substr(i));
      if (length == 0) fail(mark, "the byte " + hexadecimal(line[i]) + ": expected UTF-8 text");
      i += length;
    }
    check_indentation(line, number);
    if (end == std::string_view::npos) break;
    text.remove_prefix(end + 1);
    ++number;
  }
}

}  // namespace usmp::config
