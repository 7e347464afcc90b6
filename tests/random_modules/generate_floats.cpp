// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// Float expressions. Infinities and NaNs come up by themselves.
#include <utility>

#include "random_modules/generator.hpp"

namespace usmp::random_modules {

ExprRef Generator::floating(DataType type, Scope& scope, int depth) {
  if (depth <= 0) return (random_.chance(60) ? load(type, scope, 0) : leaf(type, scope)).expr;
  const bool is_half = type.bits == 16;
  switch (random_.below(18)) {
    case 0:
    case 1:
    case 2:
    case 3: {
      static const std::vector<ExprKind> kinds = {ExprKind::add, ExprKind::sub, ExprKind::mul, ExprKind::div};
      const ExprKind kind = random_.pick(kinds);
      ExprRef a = floating(type, scope, depth - 1);
      ExprRef b = floating(type, scope, depth - 1);
      // GCC 12 computes 0.0 - (double)u as -0.0 where an unsigned u is 0.
      const Expr& literal = a->kind == ExprKind::broadcast ? *a->operands[0] : *a;
      if (literal.kind == ExprKind::float_imm && literal.float_value == 0) std::swap(a, b);
      return tir::make_binary(kind, std::move(a), std::move(b));
    }
    case 4:
    case 5: {
      const ExprKind kind = random_.chance(50) ? ExprKind::min : ExprKind::max;
      ExprRef a = floating(type, scope, depth - 1);
      ExprRef b = floating(type, scope, depth - 1);
      return tir::make_binary(kind, std::move(a), std::move(b));
    }
    case 6: {
      static const std::vector<ExprKind> kinds = {ExprKind::mod, ExprKind::floor_div, ExprKind::floor_mod};
      const ExprKind kind = is_half ? ExprKind::add : random_.pick(kinds);
      ExprRef a = floating(type, scope, depth - 1);
      ExprRef b = floating(type, scope, depth - 1);
      return tir::make_binary(kind, std::move(a), std::move(b));
    }
    case 7: {
      ExprRef test = condition(scope, depth - 1, random_.chance(50) ? 1 : type.lanes);
      ExprRef yes = floating(type, scope, depth - 1);
      ExprRef no = floating(type, scope, depth - 1);
      return choice(type, test, std::move(yes), std::move(no));
    }
    case 8: {
      const DataType from = some_float_type().with_lanes(type.lanes);
      return tir::make_cast(type, floating(from, scope, depth - 1));
    }
    case 9: {
      const DataType from = some_integer_type().with_lanes(type.lanes);
      return tir::make_cast(type, integer(from, scope, depth - 1).expr);
    }
    case 10: {
      if (is_in_c_) return load(type, scope, depth).expr;
      const DataType from = type_of(random_.chance(50) ? tir::TypeCode::int_ : tir::TypeCode::uint, type.bits);
      return call("reinterpret", type, {integer(from.with_lanes(type.lanes), scope, depth - 1).expr});
    }
    case 11:
      if (type.is_vector()) return shuffled(type, scope, depth).expr;
      return let(type, scope, depth).expr;
    case 12:
    case 13:
    case 14:
      return float_math(type, scope, depth);
    case 15:
      if (type == float32_type && random_.chance(30)) {
        return call("call_pure_extern", type, {tir::make_string("sqrtf"), floating(type, scope, depth - 1)});
      }
      return load(type, scope, depth).expr;
    default:
      return load(type, scope, depth).expr;
  }
}

ExprRef Generator::float_math(DataType type, Scope& scope, int depth) {
  static const std::vector<std::string> unary = {
      "acos",  "acosh", "asin", "asinh", "atan",    "atanh", "ceil",  "cos",   "cosh", "erf",
      "exp",   "exp10", "exp2", "fabs",  "floor",   "log",   "log10", "log1p", "log2", "nearbyint",
      "round", "sin",   "sinh", "sqrt",  "sigmoid", "rsqrt", "tan",   "tanh",  "trunc"};
  static const std::vector<std::string> binary = {"atan2", "copysign", "fmod", "hypot", "nextafter", "pow"};
  const std::int64_t arity = random_.below(10);
  if (arity < 6) {
    std::string op = random_.pick(unary);
    if (is_in_c_ && (op == "exp10" || op == "rsqrt" || op == "sigmoid")) op = "tanh";
    return call(op, type, {floating(type, scope, depth - 1)});
  }
  if (arity < 9) {
    const std::string& op = random_.pick(binary);
    ExprRef a = floating(type, scope, depth - 1);
    ExprRef b = floating(type, scope, depth - 1);
    if (op == "copysign") b = clamped(b, type, 50.0);
    return call(op, type, {std::move(a), std::move(b)});
  }
  ExprRef a = floating(type, scope, depth - 1);
  ExprRef b = floating(type, scope, depth - 1);
  ExprRef c = floating(type, scope, depth - 1);
  return call("fma", type, {std::move(a), std::move(b), std::move(c)});
}

// max(NaN, x) is x.
ExprRef Generator::clamped(ExprRef value, DataType type, double bound) {
  const ExprRef low = tir::make_binary(ExprKind::max, std::move(value), real_constant(-bound, type));
  return tir::make_binary(ExprKind::min, low, real_constant(bound, type));
}

}  // namespace usmp::random_modules
