// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// Tables of C's keywords and of the standard's type names.
#include "c/keywords.hpp"

#include <unordered_map>

namespace usmp::c {
namespace {

const std::unordered_map<std::string_view, Keyword>& keywords() {
  static const std::unordered_map<std::string_view, Keyword> table = {
      {"if", Keyword::statement},
      {"else", Keyword::statement},
      {"for", Keyword::statement},
      {"while", Keyword::statement},
      {"do", Keyword::statement},
      {"switch", Keyword::statement},
      {"case", Keyword::statement},
      {"default", Keyword::statement},
      {"break", Keyword::statement},
      {"continue", Keyword::statement},
      {"return", Keyword::statement},
      {"goto", Keyword::statement},
      {"void", Keyword::type},
      {"char", Keyword::type},
      {"short", Keyword::type},
      {"int", Keyword::type},
      {"long", Keyword::type},
      {"float", Keyword::type},
      {"double", Keyword::type},
      {"signed", Keyword::type},
      {"unsigned", Keyword::type},
      {"_Bool", Keyword::type},
      {"struct", Keyword::record},
      {"union", Keyword::record},
      {"enum", Keyword::enumeration},
      {"const", Keyword::qualifier},
      {"volatile", Keyword::qualifier},
      {"restrict", Keyword::qualifier},
      {"_Atomic", Keyword::qualifier},
      {"typedef", Keyword::storage},
      {"extern", Keyword::storage},
      {"static", Keyword::storage},
      {"auto", Keyword::storage},
      {"register", Keyword::storage},
      {"_Thread_local", Keyword::storage},
      {"inline", Keyword::function},
      {"_Noreturn", Keyword::function},
      {"__attribute__", Keyword::attribute},
      {"_Alignas", Keyword::attribute},
      {"alignas", Keyword::attribute},  // of <stdalign.h>
      {"_Pragma", Keyword::attribute},
      {"__declspec", Keyword::attribute},
      {"asm", Keyword::assembler},
      {"__extension__", Keyword::ignored},
      {"sizeof", Keyword::size},
      {"_Alignof", Keyword::foreign},
      {"_Generic", Keyword::foreign},
      {"_Complex", Keyword::foreign},
      {"_Imaginary", Keyword::foreign},
      {"_Static_assert", Keyword::foreign},
      {"typeof", Keyword::foreign},
      {"__auto_type", Keyword::foreign},
      {"__label__", Keyword::foreign},
      {"_Float16", Keyword::foreign},
      {"__int128", Keyword::foreign},
      {"__real__", Keyword::foreign},
      {"__imag__", Keyword::foreign},
      // Words of C++: a text that has them is no C, or has them as names.
      {"alignof", Keyword::foreign},
      {"and", Keyword::foreign},
      {"catch", Keyword::foreign},
      {"class", Keyword::foreign},
      {"const_cast", Keyword::foreign},
      {"constexpr", Keyword::foreign},
      {"decltype", Keyword::foreign},
      {"delete", Keyword::foreign},
      {"dynamic_cast", Keyword::foreign},
      {"explicit", Keyword::foreign},
      {"friend", Keyword::foreign},
      {"mutable", Keyword::foreign},
      {"namespace", Keyword::foreign},
      {"new", Keyword::foreign},
      {"noexcept", Keyword::foreign},
      {"not", Keyword::foreign},
      {"operator", Keyword::foreign},
      {"or", Keyword::foreign},
      {"private", Keyword::foreign},
      {"protected", Keyword::foreign},
      {"public", Keyword::foreign},
      {"reinterpret_cast", Keyword::foreign},
      {"static_assert", Keyword::foreign},
      {"static_cast", Keyword::foreign},
      {"template", Keyword::foreign},
      {"this", Keyword::foreign},
      {"throw", Keyword::foreign},
      {"try", Keyword::foreign},
      {"typename", Keyword::foreign},
      {"using", Keyword::foreign},
      {"virtual", Keyword::foreign},
  };
  return table;
}

const std::unordered_map<std::string_view, std::string_view>& spellings() {
  static const std::unordered_map<std::string_view, std::string_view> table = {
      {"__const", "const"},
      {"__const__", "const"},
      {"__volatile", "volatile"},
      {"__volatile__", "volatile"},
      {"__restrict", "restrict"},
      {"__restrict__", "restrict"},
      {"__inline", "inline"},
      {"__inline__", "inline"},
      {"__signed", "signed"},
      {"__signed__", "signed"},
      {"__asm", "asm"},
      {"__asm__", "asm"},
      {"__attribute", "__attribute__"},
      {"__typeof", "typeof"},
      {"__typeof__", "typeof"},
      {"__thread", "_Thread_local"},
      {"__alignof", "_Alignof"},
      {"__alignof__", "_Alignof"},
  };
  return table;
}

Type number(TypeKind kind, std::uint8_t bits, bool is_unsigned, std::string_view name) {
  Type type;
  type.kind = kind;
  type.bits = bits;
  type.is_unsigned = is_unsigned;
  type.name = name;
  return type;
}

}  // namespace

std::string_view plain_keyword(std::string_view text) {
  if (!text.starts_with("__")) return text;
  const auto found = spellings().find(text);
  return found == spellings().end() ? text : found->second;
}

Keyword keyword_of(std::string_view text) {
  const auto found = keywords().find(plain_keyword(text));
  return found == keywords().end() ? Keyword::none : found->second;
}

std::optional<Type> standard_type(std::string_view name) {
  static const std::unordered_map<std::string_view, Type> table = [] {
    std::unordered_map<std::string_view, Type> types;
    const auto add = [&](std::string_view text, std::uint8_t bits, bool is_unsigned) {
      types[text] = number(TypeKind::integer, bits, is_unsigned, text);
    };
    add("int8_t", 8, false);
    add("int16_t", 16, false);
    add("int32_t", 32, false);
    add("int64_t", 64, false);
    add("uint8_t", 8, true);
    add("uint16_t", 16, true);
    add("uint32_t", 32, true);
    add("uint64_t", 64, true);
    add("size_t", 0, true);
    add("uintptr_t", 0, true);
    add("ssize_t", 0, false);
    add("ptrdiff_t", 0, false);
    add("intptr_t", 0, false);
    for (const std::string_view fast : {"uint_fast16_t", "uint_fast32_t", "uint_least32_t"}) add(fast, 0, true);
    for (const std::string_view fast : {"int_fast16_t", "int_fast32_t", "int_least32_t"}) add(fast, 0, false);
    add("bool", 8, true);
    types["bool"].is_bool = true;
    return types;
  }();
  const auto found = table.find(name);
  return found == table.end() ? std::nullopt : std::optional(found->second);
}

}  // namespace usmp::c
