// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// Integer constants: literals, and the values of constant expressions (C11 6.6, 6.10.1).
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "usmp/c/tree.hpp"
#include "usmp/support/function_ref.hpp"

namespace usmp::c {

__extension__ using Wide = __int128;

// Nothing: not known.
using NameValue = FunctionRef<std::optional<std::int64_t>(std::string_view name)>;

// A value and its type, which is not narrower than int. Of a type whose width is not the same on all machines (bits: 0)
// values are in [0, INT32_MAX] if it has no sign, in the range of int32_t else.
struct Constant {
  Wide value = 0;
  std::uint8_t bits = 32;  // 32, 64, 0
  bool is_unsigned = false;

  // Nothing: it is beyond INT64_MAX.
  [[nodiscard]] std::optional<std::int64_t> as_int64() const;

  friend bool operator==(const Constant&, const Constant&) = default;
};

// 12, 0x1Fu, 077LL, 'a', with the type that C gives them where int has 32 bits; nothing: another literal, or one whose
// type or value is not the same on all machines ('\377').
[[nodiscard]] std::optional<Constant> integer_literal(std::string_view text);

// The value of the expression, where it is the same on all machines on which int has 32 bits: nothing if a name is in
// it that is no enumerator of a known value, if C leaves the result open (an overflow), or if it is no such expression.
// With `name_value`, which has values of int, names mean what it says. O(the expression).
[[nodiscard]] std::optional<Constant> constant_value(const Tree& tree, ExprId root);
[[nodiscard]] std::optional<Constant> constant_value(const Tree& tree, ExprId root, NameValue name_value);

// What operators make of constants, in C's types: a + b; -a, !a, ~a, +a. Nothing: C leaves it open (an overflow, a
// division by zero), it is not the same on all machines, or the operator is another one.
[[nodiscard]] std::optional<Constant> constant_binary(std::string_view op, const Constant& a, const Constant& b);
[[nodiscard]] std::optional<Constant> constant_prefix(std::string_view op, const Constant& a);

// The size in bytes of such a type, where it is the same on all machines. O(its parts).
[[nodiscard]] std::optional<std::int64_t> size_of(const Tree& tree, TypeId type);

// For #if: all numbers have 64 bits. `name_value` has the values of names; nothing: not known. What does not depend on
// it is known: X && 0. O(the expression).
[[nodiscard]] std::optional<Constant> condition_value(const Tree& tree, ExprId root, NameValue name_value);

}  // namespace usmp::c
