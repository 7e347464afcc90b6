// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// C's keywords, with GCC's spellings, and types of the standard's headers.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "usmp/c/tree.hpp"

namespace usmp::c {

enum class Keyword : std::uint8_t {
  none,
  statement,  // if, for, …
  type,       // int, unsigned, _Bool, …
  record,     // struct, union
  enumeration,
  qualifier,  // const, volatile, restrict, _Atomic
  storage,    // typedef, extern, static, auto, register, _Thread_local
  function,   // inline, _Noreturn
  attribute,  // __attribute__, _Alignas, __declspec: with brackets behind it
  assembler,  // asm
  ignored,    // __extension__
  size,       // sizeof
  foreign,    // of C++, or of C beyond what is parsed
};

// What kind of keyword it is; none: an identifier. O(1).
[[nodiscard]] Keyword keyword_of(std::string_view text);

// "restrict" of "__restrict__": GCC's other spellings of keywords.
[[nodiscard]] std::string_view plain_keyword(std::string_view text);

// A name that headers of the standard define, such as int8_t and size_t, if the program has no other meaning for it.
[[nodiscard]] std::optional<Type> standard_type(std::string_view name);

}  // namespace usmp::c
