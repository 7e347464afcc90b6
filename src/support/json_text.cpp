// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
#include "usmp/support/json_text.hpp"

#include <algorithm>

namespace usmp {

namespace {

// Calls `visit` for each character that stands in no string, and for the quotation marks behind strings.
template <class Visit>
void for_each_outside_strings(std::string_view text, const Visit& visit) {
  bool in_string = false;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (c == '"') in_string = !in_string;
    if (!in_string) {
      visit(c);
    } else if (c == '\\') {
      ++i;
    }
  }
}

}  // namespace

std::size_t json_depth(std::string_view text) {
  std::size_t depth = 0;
  std::size_t deepest = 0;
  for_each_outside_strings(text, [&](char c) {
    if (c == '[' || c == '{') {
      deepest = std::max(deepest, ++depth);
    } else if ((c == ']' || c == '}') && depth > 0) {
      --depth;
    }
  });
  return deepest;
}

std::size_t json_values(std::string_view text) {
  std::size_t values = 1;
  for_each_outside_strings(text, [&](char c) {
    if (c == '[' || c == '{' || c == ',' || c == ':') ++values;
  });
  return values;
}

std::string json_fault(std::string_view what) {
  const std::size_t column = what.find("column");
  const std::size_t colon = what.find(": ", column == std::string_view::npos ? 0 : column);
  if (colon != std::string_view::npos) what.remove_prefix(colon + 2);
  const std::size_t quotation = what.find("; last read:");
  if (quotation == std::string_view::npos) return std::string(what.substr(0, what.find(" parsing '")));
  const std::size_t behind = what.rfind("'; expected ");
  const bool says_more = behind != std::string_view::npos && behind > quotation;
  return std::string(what.substr(0, quotation)) + std::string(says_more ? what.substr(behind + 1) : "");
}

}  // namespace usmp
