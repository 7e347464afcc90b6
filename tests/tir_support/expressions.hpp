// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// The words in which tests write expressions.
#pragma once

#include <concepts>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "usmp/tir/ir.hpp"

namespace usmp::tir::testing {

// --- Types -----------------------------------------------------------------------------------------------------------

constexpr DataType type_of(TypeCode code, int bits, int lanes = 1) {
  return {code, static_cast<std::uint8_t>(bits), static_cast<std::uint16_t>(lanes)};
}
inline constexpr DataType i8 = int8_type;
inline constexpr DataType i16 = int16_type;
inline constexpr DataType i32 = int32_type;
inline constexpr DataType i64 = int64_type;
inline constexpr DataType u8 = uint8_type;
inline constexpr DataType u16 = type_of(TypeCode::uint, 16);
inline constexpr DataType u32 = type_of(TypeCode::uint, 32);
inline constexpr DataType u64 = type_of(TypeCode::uint, 64);
inline constexpr DataType f16 = type_of(TypeCode::float_, 16);
inline constexpr DataType f32 = float32_type;
inline constexpr DataType f64 = type_of(TypeCode::float_, 64);
inline constexpr DataType bf16 = type_of(TypeCode::bfloat, 16);
inline constexpr DataType boolean = bool_type;
// As the program spells them.
using tir::float32_type;
using tir::int16_type;
using tir::int8_type;

// --- Constants and nodes of any kind ---------------------------------------------------------------------------------

inline ExprRef imm(std::int64_t value, DataType type = i32) { return make_int(value, type); }
inline ExprRef fimm(double value, DataType type = f32) { return make_float(value, type); }

inline ExprRef make_operator(ExprKind kind, DataType type, std::vector<ExprRef> operands, VarId var = {},
                             std::int64_t int_value = 0) {
  Expr expr;
  expr.kind = kind;
  expr.type = type;
  expr.operands = std::move(operands);
  expr.var = var;
  expr.int_value = int_value;
  return make_expr(std::move(expr));
}
// TVM's operator "tir.<name>".
inline ExprRef op(const std::string& name, DataType type, std::vector<ExprRef> operands) {
  return make_call(type, "tir." + name, std::move(operands));
}

// --- Operators of two operands ---------------------------------------------------------------------------------------

// An expression, or a number of the other operand's type.
class Operand {
 public:
  Operand(ExprRef expr) : expr_(std::move(expr)) {}        // NOLINT(google-explicit-constructor)
  Operand(std::integral auto number) : number_{number} {}  // NOLINT(google-explicit-constructor)
  [[nodiscard]] ExprRef beside(const Operand& other) const {
    return expr_ ? expr_ : imm(number_, other.expr_ ? other.expr_->type : i32);
  }

 private:
  ExprRef expr_;
  std::int64_t number_ = 0;
};

inline ExprRef binary(ExprKind kind, const Operand& a, const Operand& b) {
  return make_binary(kind, a.beside(b), b.beside(a));
}
inline ExprRef add(const Operand& a, const Operand& b) { return binary(ExprKind::add, a, b); }
inline ExprRef sub(const Operand& a, const Operand& b) { return binary(ExprKind::sub, a, b); }
inline ExprRef mul(const Operand& a, const Operand& b) { return binary(ExprKind::mul, a, b); }
inline ExprRef quotient(const Operand& a, const Operand& b) { return binary(ExprKind::floor_div, a, b); }
inline ExprRef remainder(const Operand& a, const Operand& b) { return binary(ExprKind::floor_mod, a, b); }
inline ExprRef smaller(const Operand& a, const Operand& b) { return binary(ExprKind::min, a, b); }
inline ExprRef larger(const Operand& a, const Operand& b) { return binary(ExprKind::max, a, b); }
inline ExprRef less(const Operand& a, const Operand& b) { return binary(ExprKind::lt, a, b); }
inline ExprRef at_least(const Operand& a, const Operand& b) { return binary(ExprKind::ge, a, b); }
inline ExprRef both(const Operand& a, const Operand& b) { return binary(ExprKind::and_, a, b); }

// The value, or the limit that it is beyond.
inline ExprRef clip(const ExprRef& value, std::int64_t low = -128, std::int64_t high = 127) {
  return larger(smaller(value, high), low);
}

// --- Others ----------------------------------------------------------------------------------------------------------

inline ExprRef cast(DataType type, ExprRef value) { return make_cast(type, std::move(value)); }
inline ExprRef negation(ExprRef condition) { return make_operator(ExprKind::not_, boolean, {std::move(condition)}); }
// Only one side is evaluated.
inline ExprRef choice(ExprRef condition, const ExprRef& yes, ExprRef no) {
  return op("if_then_else", yes->type, {std::move(condition), yes, std::move(no)});
}
// Both sides are.
inline ExprRef select(ExprRef condition, const ExprRef& yes, ExprRef no) {
  return make_operator(ExprKind::select, yes->type, {std::move(condition), yes, std::move(no)});
}
// let variable = value in inside
inline ExprRef let_in(VarId variable, ExprRef value, const ExprRef& inside) {
  return make_operator(ExprKind::let, inside->type, {std::move(value), inside}, variable);
}
inline ExprRef broadcast(const ExprRef& value, int lanes) {
  return make_operator(ExprKind::broadcast, value->type.with_lanes(static_cast<std::uint16_t>(lanes)), {value});
}
inline ExprRef ramp(const ExprRef& base, std::int64_t stride, int lanes) {
  return make_operator(ExprKind::ramp, base->type.with_lanes(static_cast<std::uint16_t>(lanes)),
                       {base, imm(stride, base->type)});
}

}  // namespace usmp::tir::testing
