// SPDX-License-Identifier: Apache-2.0
// Expressions of C, from tokens to values.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string_view>
#include <vector>

#include "tvm_c/lexer.hpp"
#include "tvm_c/values.hpp"

namespace usmp::tvm_c {

// Ends messages about names.
inline constexpr std::string_view not_declared = "which is not declared here";

// What a name stands for: a number, a pointer. Nothing: it is not declared.
using LookUp = std::function<std::optional<Value>(std::string_view name)>;

// The type that stands next, with qualifiers and stars; nothing, and no token is taken, if none does.
[[nodiscard]] std::optional<CType> parse_type(Lexer& tokens);

// A type for counting that has another size or sign on other machines, such as size_t and long, which no table or
// parameter may have here: as uint32 or int64, for count_in_int32. Nothing, and no token is taken: none stands next.
[[nodiscard]] std::optional<tir::DataType> parse_open_type(Lexer& tokens);

// The longest expression without comma and assignment that stands next. Nothing recurses. Throws SyntaxError.
[[nodiscard]] Value parse_expression(Lexer& tokens, Values& values, const LookUp& look_up);

// "(a, b)", behind a function's name.
[[nodiscard]] std::vector<Value> parse_arguments(Lexer& tokens, Values& values, const LookUp& look_up);
// Strings included.
[[nodiscard]] std::vector<Value> parse_arguments_with_text(Lexer& tokens, Values& values, const LookUp& look_up);

// Of an infix operator: the higher binds first, from 1 on. Less: it is none.
[[nodiscard]] int precedence_of(std::string_view op);
// "+=" and the like.
[[nodiscard]] bool is_compound_assignment(std::string_view op);

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

}  // namespace usmp::tvm_c
