// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// Evaluates in 128 bits, where nothing overflows, and wraps the result to the promoted type.
#include "usmp/arith/constants.hpp"

#include <algorithm>
#include <limits>

#include "usmp/tir/integer_types.hpp"

namespace usmp::arith {
namespace {

using tir::DataType;
using tir::Expr;
using tir::ExprKind;
using tir::Op;

__extension__ using Wide = __int128;  // any result of an operator on two int64
using MaybeWide = std::optional<Wide>;

// The value that has the same bits in the type.
Wide wrapped(Wide value, DataType type) {
  if (type.is_bool()) return value != 0 ? 1 : 0;
  const Wide count = Wide{1} << type.bits;
  Wide rest = value % count;
  if (rest < 0) rest += count;
  return type.is_int() && rest >= count / 2 ? rest - count : rest;
}

std::optional<std::int64_t> narrowed(Wide value) {
  if (value > std::numeric_limits<std::int64_t>::max()) return std::nullopt;
  return static_cast<std::int64_t>(value);
}

MaybeWide division(ExprKind kind, Wide a, Wide b) {
  if (b == 0) return std::nullopt;
  const bool is_floor = kind == ExprKind::floor_div || kind == ExprKind::floor_mod;
  const bool rounds_down = is_floor && a % b != 0 && (a % b < 0) != (b < 0);
  if (kind == ExprKind::div || kind == ExprKind::floor_div) return a / b - (rounds_down ? 1 : 0);
  return a % b + (rounds_down ? b : 0);
}

MaybeWide of_two(ExprKind kind, Wide a, Wide b) {
  switch (kind) {
    case ExprKind::add:
      return a + b;
    case ExprKind::sub:
      return a - b;
    case ExprKind::mul:
      return a * b;
    case ExprKind::div:
    case ExprKind::mod:
    case ExprKind::floor_div:
    case ExprKind::floor_mod:
      return division(kind, a, b);
    case ExprKind::min:
      return std::min(a, b);
    case ExprKind::max:
      return std::max(a, b);
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
    case ExprKind::ge:
      return a >= b;
    case ExprKind::and_:
      return a != 0 && b != 0;
    case ExprKind::or_:
      return a != 0 || b != 0;
    default:
      return std::nullopt;
  }
}

MaybeWide of_operator(const Expr& expr, std::span<const std::int64_t> operands) {
  const Op op = expr.op;
  if (op == Op::if_then_else && operands.size() == 3) return operands[0] != 0 ? operands[1] : operands[2];
  if (operands.size() == 1) {
    const Wide a = operands[0];
    if (op == Op::likely) return a;
    if (op == Op::bitwise_not) return expr.type.is_bool() ? 1 - a : -1 - a;
    const bool same_size = expr.operands[0]->type.is_integer() && expr.operands[0]->type.bits == expr.type.bits;
    if (op == Op::reinterpret && same_size && !expr.type.is_bool()) return wrapped(a, expr.type);
  }
  if (operands.size() != 2) return std::nullopt;
  const std::int64_t a = operands[0];
  const std::int64_t b = operands[1];
  if (op == Op::bitwise_and) return a & b;
  if (op == Op::bitwise_or) return a | b;
  if (op == Op::bitwise_xor) return a ^ b;
  if (expr.type.is_bool() || b < 0 || b >= std::max<int>(32, expr.type.bits)) return std::nullopt;
  if (op == Op::shift_right) return Wide{a} >> b;
  if (op == Op::shift_left) return Wide{a} * (Wide{1} << b);
  return std::nullopt;
}

}  // namespace

bool is_condition(ExprKind kind) {
  switch (kind) {
    case ExprKind::eq:
    case ExprKind::ne:
    case ExprKind::lt:
    case ExprKind::le:
    case ExprKind::gt:
    case ExprKind::ge:
    case ExprKind::and_:
    case ExprKind::or_:
    case ExprKind::not_:
      return true;
    default:
      return false;
  }
}

std::optional<std::int64_t> constant_value(const Expr& expr, std::span<const std::int64_t> operands) {
  if (!tir::is_c_integer(expr.type) || operands.empty()) return std::nullopt;
  MaybeWide value;
  if (expr.kind == ExprKind::call) {
    value = of_operator(expr, operands);
  } else if (expr.kind == ExprKind::cast) {
    value = wrapped(operands[0], expr.type);
  } else if (expr.kind == ExprKind::not_) {
    value = operands[0] == 0;
  } else if (expr.kind == ExprKind::broadcast) {
    value = operands[0];
  } else if (expr.kind == ExprKind::select) {
    value = operands[0] != 0 ? operands[1] : operands[2];
  } else if (expr.kind == ExprKind::min || expr.kind == ExprKind::max) {
    value = of_two(expr.kind, wrapped(operands[0], expr.type), wrapped(operands[1], expr.type));
  } else if (operands.size() == 2 && expr.kind != ExprKind::ramp) {
    value = of_two(expr.kind, operands[0], operands[1]);
  }
  return value ? narrowed(wrapped(*value, tir::promoted(expr.type))) : std::nullopt;
}

}  // namespace usmp::arith
