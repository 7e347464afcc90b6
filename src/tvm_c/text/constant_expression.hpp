// SPDX-License-Identifier: Apache-2.0
// Integer constant expressions: sizes of arrays, values of macros and enumerators, conditions of the preprocessor.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include "tvm_c/text/lexer.hpp"

namespace usmp::tvm_c {

inline constexpr std::int64_t max_pool = std::int64_t{1} << 31;

// What names stand for where a file is compiled, as far as its text determines it. Null: none is known.
struct ConstantNames {
  // What stands behind the name of a macro; of one with parameters from their bracket on.
  std::function<std::optional<std::string_view>(std::string_view)> definition;
  std::function<std::optional<std::int64_t>(std::string_view)> enumerator;
  // For defined(NAME), which only conditions of the preprocessor have.
  std::function<std::optional<bool>(std::string_view)> is_defined;
};

// All of the text as one such expression, macros expanded: its value where each step is the same, whatever a machine's
// widths, and in C's types wraps nowhere and is negative only in types with a sign. Nothing: it is none, is not
// determined, or is longer than max_constant_tokens or deeper than max_constant_depth. O(max_constant_tokens).
inline constexpr std::size_t max_constant_tokens = 1000;
inline constexpr std::size_t max_constant_depth = 64;
[[nodiscard]] std::optional<std::int64_t> constant_value(std::string_view text, const ConstantNames& names);

// The same, if it is an int and may stand for the text in any expression: a literal, with a sign perhaps, or what
// stands in brackets.
[[nodiscard]] std::optional<std::int64_t> constant_operand(std::string_view text, const ConstantNames& names);

// What stands in the bracket whose inside begins at `tokens`: a number in [0, max_pool).
[[nodiscard]] std::optional<std::int64_t> array_extent(const Lexer& tokens, const ConstantNames& names);

}  // namespace usmp::tvm_c
