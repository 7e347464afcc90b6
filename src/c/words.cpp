// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// Tables of C's keywords and of the standard's type names.
#include "c/words.hpp"

#include <unordered_map>

namespace usmp::c {
namespace {

const std::unordered_map<std::string_view, Word>& words() {
  static const std::unordered_map<std::string_view, Word> table = {
      {"if", Word::statement},
      {"else", Word::statement},
      {"for", Word::statement},
      {"while", Word::statement},
      {"do", Word::statement},
      {"switch", Word::statement},
      {"case", Word::statement},
      {"default", Word::statement},
      {"break", Word::statement},
      {"continue", Word::statement},
      {"return", Word::statement},
      {"goto", Word::statement},
      {"void", Word::type},
      {"char", Word::type},
      {"short", Word::type},
      {"int", Word::type},
      {"long", Word::type},
      {"float", Word::type},
      {"double", Word::type},
      {"signed", Word::type},
      {"unsigned", Word::type},
      {"_Bool", Word::type},
      {"struct", Word::record},
      {"union", Word::record},
      {"enum", Word::enumeration},
      {"const", Word::qualifier},
      {"volatile", Word::qualifier},
      {"restrict", Word::qualifier},
      {"_Atomic", Word::qualifier},
      {"typedef", Word::storage},
      {"extern", Word::storage},
      {"static", Word::storage},
      {"auto", Word::storage},
      {"register", Word::storage},
      {"_Thread_local", Word::storage},
      {"inline", Word::function},
      {"_Noreturn", Word::function},
      {"__attribute__", Word::attribute},
      {"_Alignas", Word::attribute},
      {"alignas", Word::attribute},  // of <stdalign.h>
      {"_Pragma", Word::attribute},
      {"__declspec", Word::attribute},
      {"asm", Word::assembler},
      {"__extension__", Word::ignored},
      {"sizeof", Word::size},
      {"_Alignof", Word::foreign},
      {"_Generic", Word::foreign},
      {"_Complex", Word::foreign},
      {"_Imaginary", Word::foreign},
      {"_Static_assert", Word::foreign},
      {"typeof", Word::foreign},
      {"__auto_type", Word::foreign},
      {"__label__", Word::foreign},
      {"_Float16", Word::foreign},
      {"__int128", Word::foreign},
      {"__real__", Word::foreign},
      {"__imag__", Word::foreign},
      // Words of C++: a text that has them is no C, or has them as names.
      {"alignof", Word::foreign},
      {"and", Word::foreign},
      {"catch", Word::foreign},
      {"class", Word::foreign},
      {"const_cast", Word::foreign},
      {"constexpr", Word::foreign},
      {"decltype", Word::foreign},
      {"delete", Word::foreign},
      {"dynamic_cast", Word::foreign},
      {"explicit", Word::foreign},
      {"friend", Word::foreign},
      {"mutable", Word::foreign},
      {"namespace", Word::foreign},
      {"new", Word::foreign},
      {"noexcept", Word::foreign},
      {"not", Word::foreign},
      {"operator", Word::foreign},
      {"or", Word::foreign},
      {"private", Word::foreign},
      {"protected", Word::foreign},
      {"public", Word::foreign},
      {"reinterpret_cast", Word::foreign},
      {"static_assert", Word::foreign},
      {"static_cast", Word::foreign},
      {"template", Word::foreign},
      {"this", Word::foreign},
      {"throw", Word::foreign},
      {"try", Word::foreign},
      {"typename", Word::foreign},
      {"using", Word::foreign},
      {"virtual", Word::foreign},
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

std::string_view plain_word(std::string_view text) {
  if (!text.starts_with("__")) return text;
  const auto found = spellings().find(text);
  return found == spellings().end() ? text : found->second;
}

Word word_of(std::string_view text) {
  const auto found = words().find(plain_word(text));
  return found == words().end() ? Word::none : found->second;
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
