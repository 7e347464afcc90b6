// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// Numbers as C spells them.
#pragma once

#include <cstdint>
#include <string>

#include "tvm_c/text/lexer.hpp"
#include "usmp/tir/ir.hpp"

namespace usmp::tvm_c {

struct IntegerLiteral {
  std::int64_t value = 0;  // of uint64 above INT64_MAX in two's complement
  tir::DataType type;      // int32, uint32, int64 or uint64: the first that C tries and that holds it
  bool is_long = false;    // of a type of 32 bits elsewhere
};

[[nodiscard]] bool is_real(const Token& number);

// Each throws SyntaxError: not such a number, or one that no type holds.
[[nodiscard]] IntegerLiteral integer_literal(const Token& token);
// Rounded as C does: to the type of the literal, which its suffix says, then to float if `is_float`.
[[nodiscard]] double real_literal(const Token& token, bool is_float);
[[nodiscard]] bool has_float_suffix(const Token& real);
// The text of a string in quotes, with the escapes of newline, tab, return, quotes, backslash and zero.
[[nodiscard]] std::string text_of_string(const Token& token);

}  // namespace usmp::tvm_c
