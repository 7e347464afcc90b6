// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// Small pieces of C's syntax, from tokens: types, brackets, attributes, returns.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

#include "tvm_c/text/lexer.hpp"
#include "usmp/tir/ir.hpp"

namespace usmp::tvm_c {

inline constexpr std::string_view free_function = "TVMBackendFreeWorkspace";

// A type as it is spelled: an element, with so many stars.
struct CType {
  tir::DataType element;  // void_type: void, or a struct
  int stars = 0;
};

// The type that stands next, with qualifiers and stars; nothing, and no token is taken, if none does.
[[nodiscard]] std::optional<CType> parse_type(Lexer& tokens);

// Takes the token, which has to be the one. Throws SyntaxError.
void expect(Lexer& tokens, std::string_view spelling);
// Takes it if it is the next.
bool take(Lexer& tokens, std::string_view spelling);
// Takes the bracket that stands next, which has to be this one, and all up to the one that closes it.
void skip_bracketed(Lexer& tokens, std::string_view opening);
// The same of a bracket that has been taken, at the offset.
void skip_to_end(Lexer& tokens, std::size_t opened_at);
// __attribute__((…)), as often as it stands here.
void skip_attributes(Lexer& tokens);
[[noreturn]] void fail_at(const Token& found, std::string_view expected);

// Whether the parameters, from behind their bracket on, are those of a packed function.
[[nodiscard]] bool takes_packed(Lexer params);

}  // namespace usmp::tvm_c
