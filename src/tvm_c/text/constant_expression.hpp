// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// Integer constant expressions: sizes of arrays, values of macros and enumerators.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include "tvm_c/text/macro_expansion.hpp"

namespace usmp::tvm_c {

inline constexpr std::int64_t max_pool = std::int64_t{1} << 31;

// What names stand for where a file is compiled, as far as its text determines it. Null: none is known.
struct ConstantNames {
  Definition definition;
  std::function<std::optional<std::int64_t>(std::string_view)> enumerator;
};

// All of the text as one such expression, macros expanded: its value where it is the same whatever a machine's widths.
// Nothing: it is none, is not determined, or is longer than max_constant_tokens. O(what it stands for).
inline constexpr std::size_t max_constant_tokens = 1000;
[[nodiscard]] std::optional<std::int64_t> constant_value(std::string_view text, const ConstantNames& names);

// The same, if it is an int and may stand for the text in any expression: a literal, with a sign perhaps, or what
// stands in brackets.
[[nodiscard]] std::optional<std::int64_t> constant_operand(std::string_view text, const ConstantNames& names);

}  // namespace usmp::tvm_c
