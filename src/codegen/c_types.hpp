// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// C's types and literals for TIR's.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "usmp/tir/ir.hpp"

namespace usmp::codegen {

// Whether there is C for scalars of the type: bool, (u)int8…64, float16/32/64, bfloat16.
[[nodiscard]] bool has_c_type(tir::DataType scalar);

// C type that holds a value in expressions: float16 and bfloat16 are computed as float.
[[nodiscard]] std::string value_type(tir::DataType scalar);

// C type of an element in memory: bool is uint8_t (reading a byte other than 0 and 1 as C's bool is undefined), float16
// and bfloat16 are uint16_t.
[[nodiscard]] std::string storage_type(tir::DataType scalar);

// Bytes of a type that storage_type gives; nothing: "void" or "void*".
[[nodiscard]] std::optional<Bytes> size_of_storage_type(const std::string& type);

// float16 or bfloat16: computed as float and rounded after each operation.
[[nodiscard]] bool is_half(tir::DataType type);

// What a pointer variable or expression points to.
struct PointerType {
  std::string element = "void";  // C type
  bool is_const = false;

  [[nodiscard]] bool is_void() const { return element == "void"; }
  friend bool operator==(const PointerType&, const PointerType&) = default;
};

// "const float*".
[[nodiscard]] std::string to_string(const PointerType& type);

// Integer literal of the exact value. `wide_sibling`: the other operand has the type already, so that a short form does
// not narrow the arithmetic.
[[nodiscard]] std::string int_literal(std::int64_t value, tir::DataType type, bool wide_sibling);

// Floating literal, rounded to the type first; "NAN", "INFINITY" and "-INFINITY" need math.h.
[[nodiscard]] std::string float_literal(double value, tir::DataType type);

// The value of a float16 or bfloat16 nearest to `value` (ties to even), and its bits.
[[nodiscard]] double round_to_half(double value, tir::DataType type);

// C string literal with quotes.
[[nodiscard]] std::string string_literal(const std::string& text);

// Text from the archive for a // comment: printable ASCII without what could end the comment or continue its line.
[[nodiscard]] std::string comment_text(const std::string& text);

// "i16" of int16.
[[nodiscard]] inline std::string short_name(tir::DataType type) {
  return (type.is_int() ? "i" : "u") + std::to_string(static_cast<int>(type.bits));
}

}  // namespace usmp::codegen
