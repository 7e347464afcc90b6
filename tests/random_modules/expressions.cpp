// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// Expressions of the reference interpreter, one lane at a time.
#include <algorithm>
#include <cmath>

#include "random_modules/interpreter.hpp"

namespace usmp::random_modules {
namespace {

using tir::DataType;
using tir::Expr;
using tir::ExprKind;
using tir::testing::c_holds;
using tir::testing::c_result;

std::int64_t defined(tir::testing::Number number, const char* otherwise) {
  if (!number) throw Undefined(otherwise);
  return *number;
}

}  // namespace

Scalar Interpreter::assigned(const Expr& expr, std::size_t lane) {
  Scalar result = value(expr, lane);
  if (expr.type.is_integer()) result.integer = wrapped(result.integer, expr.type);
  return result;
}

std::int64_t Interpreter::number(const Expr& expr, std::size_t lane) { return value(expr, lane).integer; }

Scalar Interpreter::value(const Expr& expr, std::size_t lane) {
  switch (expr.kind) {
    case ExprKind::int_imm:
      return integer(wrapped(expr.int_value, expr.type));
    case ExprKind::float_imm:
      return real(rounded(expr.float_value, expr.type));
    case ExprKind::string_imm:
      throw Undefined("a string is no value");
    case ExprKind::var: {
      const Variable& variable = vars_[expr.var.index()];
      if (!variable.is_bound) throw Undefined("a variable is used before it is bound");
      return variable.lanes[expr.type.is_vector() ? lane : 0];
    }
    case ExprKind::add:
    case ExprKind::sub:
    case ExprKind::mul:
    case ExprKind::div:
    case ExprKind::mod:
    case ExprKind::floor_div:
    case ExprKind::floor_mod:
    case ExprKind::min:
    case ExprKind::max:
      return arithmetic(expr, lane);
    case ExprKind::eq:
    case ExprKind::ne:
    case ExprKind::lt:
    case ExprKind::le:
    case ExprKind::gt:
    case ExprKind::ge:
      return comparison(expr, lane);
    case ExprKind::and_:
    case ExprKind::or_: {
      const bool a = number(*expr.operands[0], lane) != 0;
      const bool b = number(*expr.operands[1], lane) != 0;
      return integer((expr.kind == ExprKind::and_ ? a && b : a || b) ? 1 : 0);
    }
    case ExprKind::not_:
      return integer(number(*expr.operands[0], lane) == 0 ? 1 : 0);
    case ExprKind::select: {
      const Scalar yes = value(*expr.operands[1], lane);
      const Scalar no = value(*expr.operands[2], lane);
      return number(*expr.operands[0], lane) != 0 ? yes : no;
    }
    case ExprKind::cast:
      return cast(expr, lane);
    case ExprKind::load:
      return load(expr, lane);
    case ExprKind::ramp: {
      const Wide base = widened(number(*expr.operands[0]), expr.type);
      const Wide stride = widened(number(*expr.operands[1]), expr.type);
      return integer(defined(c_result(base + stride * static_cast<Wide>(lane), expr.type), "signed overflow"));
    }
    case ExprKind::broadcast:
      return value(*expr.operands[0], 0);
    case ExprKind::shuffle:
      return shuffle(expr, lane);
    case ExprKind::let:
      bind(expr.var, *expr.operands[0]);
      return value(*expr.operands[1], lane);
    case ExprKind::call:
      return intrinsic(expr, lane);
  }
  throw Undefined("unknown expression");
}

// --- Arithmetic ------------------------------------------------------------------------------------------------------

Scalar Interpreter::arithmetic(const Expr& expr, std::size_t lane) {
  return expr.type.is_float() ? float_arithmetic(expr, lane) : integer_arithmetic(expr, lane);
}

Scalar Interpreter::integer_arithmetic(const Expr& expr, std::size_t lane) {
  const std::int64_t a = number(*expr.operands[0], lane);
  const std::int64_t b = number(*expr.operands[1], lane);
  return integer(
      defined(tir::testing::c_arithmetic(expr.kind, a, b, expr.type), "signed overflow or division by zero"));
}

Scalar Interpreter::float_arithmetic(const Expr& expr, std::size_t lane) {
  const double a = value(*expr.operands[0], lane).real;
  const double b = value(*expr.operands[1], lane).real;
  const auto compute = [&](auto x, auto y) {
    switch (expr.kind) {
      case ExprKind::add:
        return x + y;
      case ExprKind::sub:
        return x - y;
      case ExprKind::mul:
        return x * y;
      case ExprKind::div:
        return x / y;
      case ExprKind::mod:
        return std::fmod(x, y);
      case ExprKind::floor_div:
        return std::floor(x / y);
      case ExprKind::floor_mod:
        return x - std::floor(x / y) * y;
      case ExprKind::min:
        return x < y ? x : y;
      default:
        return x > y ? x : y;
    }
  };
  if (expr.type.bits == 64) return real(compute(a, b));
  return real(rounded(static_cast<double>(compute(static_cast<float>(a), static_cast<float>(b))), expr.type));
}

Scalar Interpreter::comparison(const Expr& expr, std::size_t lane) {
  const Expr& left = *expr.operands[0];
  if (left.type.is_handle()) {
    const Scalar a = pointer(left);
    const Scalar b = pointer(*expr.operands[1]);
    return integer(c_holds(expr.kind, a.instance == b.instance && a.integer == b.integer, true) ? 1 : 0);
  }
  const Scalar a = value(left, lane);
  const Scalar b = value(*expr.operands[1], lane);
  const bool result = left.type.is_float()
                          ? c_holds(expr.kind, a.real, b.real)
                          : c_holds(expr.kind, widened(a.integer, left.type), widened(b.integer, left.type));
  return integer(result ? 1 : 0);
}

Scalar Interpreter::cast(const Expr& expr, std::size_t lane) {
  const Expr& operand = *expr.operands[0];
  const DataType from = operand.type;
  const DataType to = expr.type;
  if (to.is_bool()) {
    const Scalar tested = value(operand, lane);
    return integer((from.is_float() ? tested.real != 0 : tested.integer != 0) ? 1 : 0);
  }
  if (from.is_float()) {
    const double number = value(operand, lane).real;
    if (to.is_float()) return real(rounded(number, to));
    const double truncated = std::trunc(number);
    if (!(truncated >= static_cast<double>(lowest(to)) && truncated <= static_cast<double>(highest(to))) ||
        static_cast<Wide>(truncated) > highest(to)) {
      throw Undefined("a float does not fit the integer");
    }
    return integer(wrapped(static_cast<Wide>(truncated), to));
  }
  const Wide number = widened(value(operand, lane).integer, from);
  if (!to.is_float()) return integer(wrapped(number, to));
  // float from a 64-bit integer is rounded once.
  if (to.bits == 32) return real(static_cast<double>(static_cast<float>(number)));
  return real(rounded(static_cast<double>(number), to));
}

// --- Memory and vectors ----------------------------------------------------------------------------------------------

Scalar Interpreter::load(const Expr& expr, std::size_t lane) {
  const Variable& storage = vars_[expr.var.index()];
  if (!storage.is_bound) throw Undefined("a pointer is used before it is bound");
  if (expr.operands[0]->type.lanes != expr.type.lanes) throw Undefined("lanes of a load differ");
  const Scalar base = storage.lanes[0];
  const std::int64_t index = number(*expr.operands[0], lane);
  const bool is_on = expr.operands.size() < 2 || number(*expr.operands[1], lane) != 0;
  if (!is_on) return expr.type.is_float() ? real(0) : integer(0);
  return memory_.load(base, index, expr.type.element());
}

Scalar Interpreter::shuffle(const Expr& expr, std::size_t lane) {
  const auto vectors = static_cast<std::size_t>(expr.int_value);
  auto rest = static_cast<std::size_t>(number(*expr.operands.at(vectors + lane)));
  for (std::size_t i = 0; i < vectors; ++i) {
    const std::size_t lanes = expr.operands[i]->type.lanes;
    if (rest < lanes) return value(*expr.operands[i], rest);
    rest -= lanes;
  }
  throw Undefined("a shuffle takes a lane that there is not");
}

Scalar Interpreter::pointer(const Expr& expr) {
  switch (expr.kind) {
    case ExprKind::var: {
      const Variable& variable = vars_[expr.var.index()];
      if (!variable.is_bound) throw Undefined("a pointer is used before it is bound");
      return variable.lanes[0];
    }
    case ExprKind::cast:
      return pointer(*expr.operands[0]);
    case ExprKind::let:
      bind(expr.var, *expr.operands[0]);
      return pointer(*expr.operands[1]);
    case ExprKind::select: {
      const Scalar yes = pointer(*expr.operands[1]);
      const Scalar no = pointer(*expr.operands[2]);
      return number(*expr.operands[0]) != 0 ? yes : no;
    }
    case ExprKind::call:
      break;
    default:
      throw Undefined("no pointer");
  }
  if (expr.op == tir::Op::address_of) {
    const Expr& load = *expr.operands.at(0);
    const Expr& index = load.operands[0]->kind == ExprKind::ramp ? *load.operands[0]->operands[0] : *load.operands[0];
    const Variable& variable = vars_[load.var.index()];
    if (!variable.is_bound) throw Undefined("a pointer is used before it is bound");
    return memory_.moved(variable.lanes[0], Wide{number(index)} * load.type.element_bytes());
  }
  if (expr.op == tir::Op::tvm_access_ptr) {
    const Scalar base = pointer(*expr.operands.at(1));
    return memory_.moved(base, Wide{number(*expr.operands.at(2))} * expr.operands[0]->type.element_bytes());
  }
  if (expr.op == tir::Op::if_then_else) {
    return number(*expr.operands.at(0)) != 0 ? pointer(*expr.operands.at(1)) : pointer(*expr.operands.at(2));
  }
  if (expr.op == tir::Op::reinterpret) {
    if (expr.operands.at(0)->type.is_handle()) return pointer(*expr.operands[0]);
    if (number(*expr.operands[0]) == 0) return {};
  }
  if (const auto named = tir::named_call(expr)) return call(*named, expr.type);
  throw Undefined("no pointer: " + std::string(tir::operator_name(expr)));
}

}  // namespace usmp::random_modules
