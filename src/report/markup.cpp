// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// Replaces characters by entities of XML or escapes of JSON.
#include "report/markup.hpp"

#include <vector>

#include "usmp/support/printable.hpp"

namespace usmp::report {

std::string markup_text(std::string_view text) {
  std::string result;
  for (const char c : printable(text)) {
    switch (c) {
      case '&':
        result += "&amp;";
        break;
      case '<':
        result += "&lt;";
        break;
      case '>':
        result += "&gt;";
        break;
      case '"':
        result += "&quot;";
        break;
      case '\'':
        result += "&#39;";
        break;
      default:
        result += c;
    }
  }
  // U+FFFE and U+FFFF are characters of UTF-8 and none of XML.
  for (const std::string_view noncharacter : {"\xEF\xBF\xBE", "\xEF\xBF\xBF"}) {
    for (std::size_t at = 0; (at = result.find(noncharacter, at)) != std::string::npos;) {
      result.replace(at, noncharacter.size(), "\xEF\xBF\xBD");
    }
  }
  return result;
}

std::string script_json(std::string_view json) {
  std::string result;
  for (const char c : json) {
    if (c == '<') {
      result += "\\u003c";
    } else if (c == '>') {
      result += "\\u003e";
    } else if (c == '&') {
      result += "\\u0026";
    } else {
      result += c;
    }
  }
  return result;
}

}  // namespace usmp::report
