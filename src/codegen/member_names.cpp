// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// Puts an underscore behind reserved words, and a number behind names that were handed out before.
#include "codegen/member_names.hpp"

#include <algorithm>
#include <array>

#include "usmp/support/text.hpp"

namespace usmp::codegen {
namespace {

// Sorted.
constexpr auto reserved_words = std::to_array<std::string_view>({
    "NULL",       "alignas",       "alignof",     "and",       "and_eq",       "asm",
    "auto",       "bitand",        "bitor",       "bool",      "break",        "case",
    "catch",      "char",          "char16_t",    "char32_t",  "char8_t",      "class",
    "co_await",   "co_return",     "co_yield",    "compl",     "concept",      "const",
    "const_cast", "consteval",     "constexpr",   "constinit", "continue",     "decltype",
    "default",    "delete",        "do",          "double",    "dynamic_cast", "else",
    "enum",       "explicit",      "export",      "extern",    "false",        "float",
    "for",        "friend",        "goto",        "i386",      "if",           "inline",
    "int",        "linux",         "long",        "mutable",   "namespace",    "new",
    "noexcept",   "not",           "not_eq",      "nullptr",   "operator",     "or",
    "or_eq",      "private",       "protected",   "public",    "register",     "reinterpret_cast",
    "requires",   "restrict",      "return",      "short",     "signed",       "sizeof",
    "static",     "static_assert", "static_cast", "struct",    "switch",       "template",
    "this",       "thread_local",  "throw",       "true",      "try",          "typedef",
    "typeid",     "typename",      "typeof",      "union",     "unix",         "unsigned",
    "using",      "virtual",       "void",        "volatile",  "wchar_t",      "while",
    "xor",        "xor_eq",
});
static_assert(std::is_sorted(reserved_words.begin(), reserved_words.end()));

}  // namespace

bool is_reserved_word(std::string_view word) {
  return std::binary_search(reserved_words.begin(), reserved_words.end(), word);
}

std::string UniqueNames::add(std::string_view wanted) {
  std::string base = c_identifier(wanted);
  if (is_reserved_word(base)) base += "_";
  const auto [found, is_free] = taken_.try_emplace(base, 2);
  if (is_free) return base;
  while (true) {
    std::string name = base + "_" + std::to_string(found->second++);
    if (taken_.try_emplace(name, 2).second) return name;
  }
}

}  // namespace usmp::codegen
