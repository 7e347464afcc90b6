// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// Decodes UTF-8 strictly, and escapes what is invalid, controls the terminal or is not seen.
#include "usmp/support/printable.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "usmp/support/characters.hpp"

namespace usmp {
namespace {

struct CodePoint {
  std::uint32_t value = 0;
  std::size_t length = 0;  // 0: not UTF-8
};

CodePoint first_code_point(std::string_view text) {
  const auto lead = static_cast<unsigned char>(text[0]);
  if (lead < 0x80U) return {lead, 1};
  const std::size_t length = lead >= 0xF0U ? 4 : lead >= 0xE0U ? 3 : 2;
  if (lead < 0xC2U || lead > 0xF4U || text.size() < length) return {};
  std::uint32_t value = lead & (0xFFU >> (length + 1));
  for (std::size_t i = 1; i < length; ++i) {
    if (!is_utf8_continuation(text[i])) return {};
    value = value << 6U | (static_cast<unsigned char>(text[i]) & 0x3FU);
  }
  const std::uint32_t smallest = length == 4 ? 0x10000 : length == 3 ? 0x800 : 0x80;
  const bool surrogate = value >= 0xD800 && value <= 0xDFFF;
  if (value < smallest || value > 0x10FFFF || surrogate) return {};
  return {value, length};
}

bool is_control(std::uint32_t code_point) { return code_point < 0x20 || (code_point >= 0x7F && code_point < 0xA0); }

// Characters of Unicode that are not seen but change how or where the rest is shown.
bool is_invisible(std::uint32_t code_point) {
  const auto in = [code_point](std::uint32_t first, std::uint32_t last) {
    return code_point >= first && code_point <= last;
  };
  return code_point == 0xAD || code_point == 0x61C || code_point == 0xFEFF || in(0x200B, 0x200F) ||
         in(0x2028, 0x202E) || in(0x2060, 0x206F) || in(0xE0000, 0xE007F);
}

std::string hexadecimal(std::uint32_t value, unsigned digits) {
  constexpr std::string_view figures = "0123456789abcdef";
  std::string text;
  for (unsigned i = digits; i-- > 0;) text += figures[value >> (4 * i) & 15U];
  return text;
}

std::string escape(CodePoint point, char byte) {
  if (point.length == 0) return "\\x" + hexadecimal(static_cast<unsigned char>(byte), 2);
  if (byte == '\n') return "\\n";
  if (byte == '\r') return "\\r";
  if (byte == '\t') return "\\t";
  if (point.value < 0x80) return "\\x" + hexadecimal(point.value, 2);
  return point.value > 0xFFFF ? "\\U" + hexadecimal(point.value, 8) : "\\u" + hexadecimal(point.value, 4);
}

}  // namespace

std::string printable(std::string_view text) {
  std::string result;
  result.reserve(text.size());
  while (!text.empty()) {
    const CodePoint first = first_code_point(text);
    const std::size_t length = std::max<std::size_t>(first.length, 1);
    if (first.length == 0 || is_control(first.value) || is_invisible(first.value)) {
      result += escape(first, text.front());
    } else {
      result += text.substr(0, length);
    }
    text.remove_prefix(length);
  }
  return result;
}

}  // namespace usmp
