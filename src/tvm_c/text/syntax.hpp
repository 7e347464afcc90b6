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

// A type for counting that has another size or sign on other machines, such as size_t and long, which no table or
// parameter may have here: as uint32 or int64, for count_in_int32. Nothing, and no token is taken: none stands next.
[[nodiscard]] std::optional<tir::DataType> parse_open_type(Lexer& tokens);

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
// The same; what their aligned(N) say, at the most. Throws SyntaxError where that is no number of bytes an array on the
// stack may have.
[[nodiscard]] std::uint16_t take_alignment(Lexer& tokens);
// USMP_ALIGNED_ARRAY(N), as this program writes it in front of an array; 1: it does not stand there.
[[nodiscard]] std::uint16_t take_aligned_macro(Lexer& tokens);
[[noreturn]] void fail_at(const Token& found, std::string_view expected);

void expect_number(Lexer& tokens, std::int64_t number);

// return -1; or another number, which is returned.
std::int32_t expect_failure(Lexer& tokens);

// The same, or return name; nothing is that.
std::optional<std::int32_t> expect_failure_with(Lexer& tokens, std::string_view name);

// Whether the parameters, from behind their bracket on, are those of a packed function.
[[nodiscard]] bool takes_packed(Lexer params);

}  // namespace usmp::tvm_c
