// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// Integers as C computes with them: what the reference interpreter and all tests that evaluate expressions take for the
// truth. Of the program, only the trees' types are used.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "usmp/tir/ir.hpp"

namespace usmp::tir::testing {

// 128 bits hold every sum and product of two 64-bit integers.
__extension__ typedef __int128 Wide;

// Integers and bools are held in 64 bits, uint64 in two's complement. Nothing: what C leaves undefined.
using Number = std::optional<std::int64_t>;

// What C computes with: integers narrower than int are promoted to it.
inline DataType promoted_type(DataType type) { return type.bits < 32 ? int32_type : type.element(); }

// Least and greatest value of an integer type (bool: 0 and 1).
inline Wide lowest(DataType type) { return type.is_int() ? -(Wide{1} << (type.bits - 1)) : Wide{0}; }
inline Wide highest(DataType type) { return (Wide{1} << (type.is_int() ? type.bits - 1 : type.bits)) - 1; }

// The integer as a number: uint64 is held in two's complement.
inline Wide widened(std::int64_t value, DataType type) {
  return type.is_uint() && type.bits == 64 ? static_cast<Wide>(static_cast<std::uint64_t>(value)) : value;
}

// Reduced to the type's bits.
inline std::int64_t wrapped(Wide value, DataType type) {
  const int unused = 64 - type.bits;
  const auto bits = static_cast<std::uint64_t>(value) << unused;
  if (type.is_int()) return static_cast<std::int64_t>(bits) >> unused;
  return static_cast<std::int64_t>(bits >> unused);
}

// As a conversion to the type gives it.
inline std::int64_t converted(Wide value, DataType type) {
  return type.is_bool() ? (value != 0 ? 1 : 0) : wrapped(value, type);
}

// The result of an operation on operands of a type: unsigned ones wrap around, signed ones must not overflow.
inline Number c_result(Wide value, DataType type) {
  const DataType computed = promoted_type(type);
  if (!computed.is_uint() && (value < lowest(computed) || value > highest(computed))) return std::nullopt;
  return wrapped(value, computed);
}

template <class T>
bool c_holds(ExprKind comparison, T a, T b) {
  switch (comparison) {
    case ExprKind::eq:
      return a == b;
    case ExprKind::ne:
      return a != b;
    case ExprKind::lt:
      return a < b;
    case ExprKind::le:
      return a <= b;
    case ExprKind::gt:
      return a > b;
    default:
      return a >= b;
  }
}

// Sums, differences, products, quotients, remainders, min and max of operands of the type; `wraps` becomes true if the
// result is not the number that arithmetic without ends gives.
inline Number c_arithmetic(ExprKind kind, std::int64_t left, std::int64_t right, DataType type, bool* wraps = nullptr) {
  Wide a = widened(left, promoted_type(type));
  Wide b = widened(right, promoted_type(type));
  const auto result = [&](Wide value) {
    const Number number = c_result(value, type);
    if (wraps != nullptr) *wraps = *wraps || !number || widened(*number, promoted_type(type)) != value;
    return number;
  };
  switch (kind) {
    case ExprKind::add:
      return result(a + b);
    case ExprKind::sub:
      return result(a - b);
    case ExprKind::mul: {
      Wide product = 0;  // of two uint64_t it may not fit: its low half is right, too
      if (__builtin_mul_overflow(a, b, &product) && wraps != nullptr) *wraps = true;
      return result(product);
    }
    case ExprKind::min:
    case ExprKind::max: {
      // TVM's C puts the operands of min and max into variables of their type.
      const Wide x = widened(wrapped(a, type), type);
      const Wide y = widened(wrapped(b, type), type);
      if (wraps != nullptr) *wraps = *wraps || x != a || y != b;
      return result((kind == ExprKind::min) == (x < y) ? x : y);
    }
    default:
      break;
  }
  // C computes the quotient for the remainder too.
  if (b == 0 || !result(a / b)) return std::nullopt;
  const Wide floor = a / b - (a % b != 0 && (a < 0) != (b < 0) ? 1 : 0);
  switch (kind) {
    case ExprKind::div:
      return result(a / b);
    case ExprKind::mod:
      return result(a % b);
    case ExprKind::floor_div:
      return result(floor);
    case ExprKind::floor_mod:
      return result(a - floor * b);
    default:
      return std::nullopt;
  }
}

// bitwise_and, bitwise_or, bitwise_xor, shift_left and shift_right of operands of the type; other operators give
// nothing.
inline Number c_bits(std::string_view op, std::int64_t a, std::int64_t b, DataType type) {
  if (op == "tir.bitwise_and") return a & b;
  if (op == "tir.bitwise_or") return a | b;
  if (op == "tir.bitwise_xor") return a ^ b;
  const DataType computed = promoted_type(type);
  if (b < 0 || b >= computed.bits) return std::nullopt;
  if (op == "tir.shift_left") return wrapped(static_cast<Wide>(static_cast<std::uint64_t>(a) << b), computed);
  if (op == "tir.shift_right") return wrapped(widened(a, type) >> b, computed);
  return std::nullopt;
}
inline std::int64_t c_bitwise_not(std::int64_t value, DataType type) {
  return type.is_bool() ? (value == 0 ? 1 : 0) : wrapped(~value, promoted_type(type));
}

}  // namespace usmp::tir::testing
