// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// Scans brackets, commas and keys outside of strings, without building a tree.
#include "usmp/support/json_text.hpp"

#include <algorithm>
#include <charconv>
#include <cstdint>
#include <iterator>
#include <utility>
#include <vector>

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

// The end of the string whose quotation mark is at `begin`: that of the other one.
std::size_t end_of_string(std::string_view text, std::size_t begin) {
  std::size_t end = begin + 1;
  while (end < text.size() && text[end] != '"') end += text[end] == '\\' ? std::size_t{2} : std::size_t{1};
  return std::min(end, text.size());
}

std::uint32_t hexadecimal(std::string_view digits) {
  std::uint32_t value = 0;
  (void)std::from_chars(digits.data(), digits.data() + digits.size(), value, 16);
  return value;
}

void append_utf8(std::string& text, std::uint32_t point) {
  const auto continued = [&](unsigned shift) { text += static_cast<char>(0x80U | (point >> shift & 0x3FU)); };
  if (point < 0x80) {
    text += static_cast<char>(point);
  } else if (point < 0x800) {
    text += static_cast<char>(0xC0U | point >> 6U);
    continued(0);
  } else if (point < 0x10000) {
    text += static_cast<char>(0xE0U | point >> 12U);
    continued(6);
    continued(0);
  } else {
    text += static_cast<char>(0xF0U | point >> 18U);
    continued(12);
    continued(6);
    continued(0);
  }
}

// What a string means, without its quotation marks.
std::string unescaped(std::string_view text) {
  constexpr std::size_t digits = 4;
  constexpr std::string_view letters = "bfnrt";
  constexpr std::string_view meant = "\b\f\n\r\t";
  std::string result;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] != '\\') {
      result += text[i];
      continue;
    }
    if (++i == text.size()) break;
    if (text[i] == 'u') {
      std::uint32_t point = hexadecimal(text.substr(i + 1, digits));
      i += digits;
      const bool is_first_of_two =
          point >= 0xD800 && point < 0xDC00 && text.substr(std::min(i + 1, text.size()), 2) == "\\u";
      if (is_first_of_two) {
        point = 0x10000 + ((point - 0xD800) << 10U) + (hexadecimal(text.substr(i + 3, digits)) - 0xDC00);
        i += 2 + digits;
      }
      append_utf8(result, point);
      continue;
    }
    const std::size_t letter = letters.find(text[i]);
    result += letter == std::string_view::npos ? text[i] : meant[letter];
  }
  return result;
}

// A key that one object has twice; most have few.
std::optional<RepeatedKey> repeated_of(std::string_view text, const std::vector<std::string_view>& keys) {
  std::vector<std::pair<std::string, std::size_t>> meant;
  meant.reserve(keys.size());
  for (const std::string_view key : keys) {
    meant.emplace_back(key.find('\\') == std::string_view::npos ? std::string(key) : unescaped(key),
                       static_cast<std::size_t>(key.data() - text.data()));
  }
  std::ranges::sort(meant);
  const auto twice = std::ranges::adjacent_find(meant, {}, [](const auto& one) { return std::string_view(one.first); });
  if (twice == meant.end()) return std::nullopt;
  return RepeatedKey{twice->first, std::next(twice)->second};
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

std::optional<RepeatedKey> repeated_key(std::string_view text) {
  std::vector<std::vector<std::string_view>> open;  // of what is open; a list has none
  bool expects_key = false;
  for (std::size_t i = 0; i < text.size(); ++i) {
    switch (text[i]) {
      case '{':
      case '[':
        open.emplace_back();
        expects_key = text[i] == '{';
        break;
      case '}':
      case ']':
        if (open.empty()) return std::nullopt;
        if (auto found = repeated_of(text, open.back())) return found;
        open.pop_back();
        expects_key = false;
        break;
      case ',':
        expects_key = !open.empty() && !open.back().empty();
        break;
      case '"': {
        const std::size_t end = end_of_string(text, i);
        if (expects_key && !open.empty()) open.back().push_back(text.substr(i + 1, end - i - 1));
        expects_key = false;
        i = end;
        break;
      }
      default:
        break;
    }
  }
  return std::nullopt;
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
