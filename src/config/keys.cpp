// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// Lists the keys, and the words that C and C++ keep for themselves.
#include "config/keys.hpp"

#include <algorithm>
#include <set>

#include "usmp/support/text.hpp"

namespace usmp::config {

const std::vector<std::string>& file_keys() {
  static const std::vector<std::string> keys = {"workspace_pools", "parameter_pools", "algorithm", "objective",
                                                "workspace_io",    "budgets",         "io_region", "stack_region",
                                                "pinned",          "concurrent"};
  return keys;
}

const std::vector<std::string>& pool_keys() {
  static const std::vector<std::string> keys = {"name", "size_hint_bytes", "pool_offset", "alignment", "targets",
                                                "section", "internal", "emit", "address", "state", "budget",
                                                // TVM's properties
                                                "clock_frequency_hz", "read_bandwidth_bytes_per_cycle",
                                                "write_bandwidth_bytes_per_cycle", "read_latency_cycles",
                                                "write_latency_cycles", "target_burst_bytes"};
  return keys;
}

const std::vector<std::string>& budget_keys() {
  static const std::vector<std::string> keys = {"max", "warn_at", "min_headroom", "max_growth"};
  return keys;
}

const std::vector<std::string>& whole_keys() {
  static const std::vector<std::string> keys = {"ram", "flash", "stack", "instructions", "regions"};
  return keys;
}

const std::vector<std::string>& pin_keys() {
  static const std::vector<std::string> keys = {"buffer", "function", "occurrence", "pool", "offset"};
  return keys;
}

namespace {

// A word that C99 or C++20 keeps for itself, so that no member or parameter can be named so.
bool is_keyword(const std::string& word) {
  static const std::set<std::string> words = {
      "_Bool",        "_Complex",      "_Imaginary",  "alignas",   "alignof",   "and",
      "and_eq",       "asm",           "auto",        "bitand",    "bitor",     "bool",
      "break",        "case",          "catch",       "char",      "char16_t",  "char32_t",
      "char8_t",      "class",         "co_await",    "co_return", "co_yield",  "compl",
      "concept",      "const",         "const_cast",  "consteval", "constexpr", "constinit",
      "continue",     "decltype",      "default",     "delete",    "do",        "double",
      "dynamic_cast", "else",          "enum",        "explicit",  "export",    "extern",
      "false",        "float",         "for",         "friend",    "goto",      "if",
      "inline",       "int",           "long",        "mutable",   "namespace", "new",
      "noexcept",     "not",           "not_eq",      "nullptr",   "operator",  "or",
      "or_eq",        "private",       "protected",   "public",    "register",  "reinterpret_cast",
      "requires",     "restrict",      "return",      "short",     "signed",    "sizeof",
      "static",       "static_assert", "static_cast", "struct",    "switch",    "template",
      "this",         "thread_local",  "throw",       "true",      "try",       "typedef",
      "typeid",       "typename",      "union",       "unsigned",  "using",     "virtual",
      "void",         "volatile",      "wchar_t",     "while",     "xor",       "xor_eq"};
  return words.contains(word);
}

}  // namespace

std::string expected_name(const std::string& text) {
  constexpr std::size_t longest = 100;
  if (text.empty() || c_identifier(text) != text) {
    return "a C identifier (letters, digits and '_', not starting with a digit)";
  }
  if (text.size() > longest) return "a name of at most " + std::to_string(longest) + " characters";
  return is_keyword(text) ? "a name that is not a keyword of C or C++" : "";
}

bool is_target_name(std::string_view text) {
  const auto is_part = [](char c) { return is_identifier_char(c) || c == '-' || c == '.'; };
  return !text.empty() && std::all_of(text.begin(), text.end(), is_part) && text[0] != '-' && text[0] != '.' &&
         (text[0] < '0' || text[0] > '9');
}

}  // namespace usmp::config
