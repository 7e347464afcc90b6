// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// Rewrites products whose shifts are in range, and moves a sum around a clip into its limits.
#include "kernels/requantize.hpp"

#include <algorithm>
#include <cstdint>
#include <initializer_list>
#include <optional>
#include <utility>
#include <vector>

#include "usmp/arith/ranges.hpp"
#include "usmp/loops/edit.hpp"
#include "usmp/program/constant_table.hpp"
#include "usmp/tir/integer_types.hpp"
#include "usmp/tir/visit.hpp"

namespace usmp::kernels {
namespace {

using tir::Expr;
using tir::ExprRef;

// By how many bits beyond 31 a variable may shift a product to the right; a literal, from 1 on.
constexpr Interval shifts{2, 31};

// x · y / 2^(31 + shift).
ExprRef high_product(const ExprRef& x, const ExprRef& y, ExprRef shift) {
  const ExprRef n = tir::as_int(*shift) ? tir::make_int(*tir::as_int(*shift) - 1)
                                        : tir::make_binary(tir::ExprKind::sub, std::move(shift), tir::make_int(1));
  return tir::make_call(tir::int32_type, tir::Op::multiply_high, {x, y, n});
}

bool are_int32(const Expr& call, std::size_t count) {
  bool are = call.type == tir::int32_type && call.operands.size() >= count;
  for (std::size_t i = 0; are && i < count; ++i) are = call.operands[i]->type == tir::int32_type;
  return are;
}

// Null: it stays.
ExprRef requantized(const Expr& call, arith::Ranges& ranges) {
  if (call.op == tir::Op::q_multiply_shift && are_int32(call, 4)) {
    const std::int64_t point = tir::as_int(*call.operands[2]).value_or(0);
    const auto shift = tir::as_int(*call.operands[3]);
    if (point != 31 && point != 30) return nullptr;
    // x · y / 2^30 is x · 2y / 2^31.
    const auto factor = point == 30 ? tir::as_int(*call.operands[1]) : std::nullopt;
    if (point == 30 && (!factor || *factor < 0 || *factor > INT32_MAX / 2)) return nullptr;
    if (!shift || *shift < -shifts.high || *shift > -1) return nullptr;
    const ExprRef y = factor ? tir::make_int(2 * *factor) : call.operands[1];
    return high_product(call.operands[0], y, tir::make_int(-*shift));
  }
  if (call.op == tir::Op::q_multiply_shift_per_axis && are_int32(call, 5) && call.operands.size() == 7) {
    const auto shift = ranges.of(*call.operands[3]);
    const bool shifts_left = tir::as_int(*call.operands[5]) != 0 && tir::as_int(*call.operands[2]) != 0;
    if (tir::as_int(*call.operands[4]) != 31 || shifts_left || !shift || shift->low < shifts.low) return nullptr;
    if (shift->high <= shifts.high) return high_product(call.operands[0], call.operands[1], call.operands[3]);
    // Channels without weights have larger ones. From 32 on all products with what is not negative round to 0.
    const auto factor = ranges.of(*call.operands[1]);
    if (!factor || factor->low < 0) return nullptr;
    const ExprRef least = tir::make_binary(tir::ExprKind::min, call.operands[3], tir::make_int(shifts.high + 1));
    return high_product(call.operands[0], call.operands[1], least);
  }
  return nullptr;
}

std::optional<std::int64_t> literal(const Expr& expr, tir::ExprKind kind) {
  return expr.kind == kind ? tir::as_int(*expr.operands[1]) : std::nullopt;
}

// x + n, for some literal n that may be 0.
struct Moved {
  ExprRef x;
  std::int64_t n = 0;
};
Moved moved(const ExprRef& expr) {
  if (const auto n = literal(*expr, tir::ExprKind::add)) return {expr->operands[0], *n};
  if (const auto n = literal(*expr, tir::ExprKind::sub)) return {expr->operands[0], -*n};
  return {expr, 0};
}

// Limits that one instruction clips to.
bool are_of_a_type(Interval limits) {
  return std::ranges::any_of(std::initializer_list<tir::DataType>{{tir::TypeCode::int_, 8, 1},
                                                                  {tir::TypeCode::uint, 8, 1},
                                                                  {tir::TypeCode::int_, 16, 1},
                                                                  {tir::TypeCode::uint, 16, 1}},
                             [&](tir::DataType type) { return tir::range_of_type(type) == limits; });
}

// clip(x - n) + n, where only casts that keep the value stand between them, as clip(x) with other limits.
ExprRef clipped(const ExprRef& expr) {
  const Moved outer = moved(expr);
  if (outer.n == 0 || !expr->type.is_int() || expr->type.bits > 32 || expr->type.is_vector()) return nullptr;
  std::vector<tir::DataType> casts;
  ExprRef clip = outer.x;
  for (; clip->kind == tir::ExprKind::cast; clip = clip->operands[0]) casts.push_back(clip->type);
  const bool is_max = clip->kind == tir::ExprKind::max;
  if (clip->type != tir::int32_type || (!is_max && clip->kind != tir::ExprKind::min)) return nullptr;
  const tir::ExprKind other = is_max ? tir::ExprKind::min : tir::ExprKind::max;
  const auto first = literal(*clip, clip->kind);
  const auto second = literal(*clip->operands[0], other);
  if (!first || !second) return nullptr;
  const Interval limits = is_max ? Interval{*first, *second} : Interval{*second, *first};
  const Interval after{limits.low + outer.n, limits.high + outer.n};
  const auto keeps = [&](tir::DataType type) {
    const auto range = tir::range_of_type(type);
    return range && limits.within(*range);
  };
  const auto range = tir::range_of_type(expr->type);
  const Moved inner = moved(clip->operands[0]->operands[0]);
  if (inner.n != -outer.n || limits.low > limits.high || !std::ranges::all_of(casts, keeps) ||
      !after.within(range.value()) || (are_of_a_type(limits) && !are_of_a_type(after))) {
    return nullptr;
  }
  const ExprRef value = tir::make_binary(other, inner.x, tir::make_int(is_max ? after.high : after.low));
  ExprRef result = tir::make_binary(clip->kind, value, tir::make_int(is_max ? after.low : after.high));
  return expr->type == tir::int32_type ? result : tir::make_cast(expr->type, std::move(result));
}

// Whether anything in it could be replaced.
bool may_change(const tir::Function& function) {
  bool may = false;
  tir::for_each_expr_in(function.body, [&](const Expr& expr) {
    may = may || expr.op == tir::Op::q_multiply_shift || expr.op == tir::Op::q_multiply_shift_per_axis ||
          expr.kind == tir::ExprKind::min || expr.kind == tir::ExprKind::max;
  });
  return may;
}

}  // namespace

void requantize(tir::Module& module) {
  std::vector<tir::Function*> functions;
  for (tir::Function& function : module.functions) {
    if (!tir::is_opaque(module, function) && may_change(function)) functions.push_back(&function);
  }
  if (functions.empty()) return;
  const program::ConstantTable constants(module);
  for (tir::Function* function : functions) {
    arith::Ranges ranges;
    constants.bind(ranges, *function);
    loops::rewrite_expressions(function->body, [&](const ExprRef& expr) {
      ExprRef product = requantized(*expr, ranges);
      return product != nullptr ? product : clipped(expr);
    });
  }
}

}  // namespace usmp::kernels
