// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// Matches the forms, operand by operand.
#include "tvm_c/body/idioms.hpp"

#include <bit>
#include <vector>

#include "usmp/tir/visit.hpp"

namespace usmp::tvm_c {
namespace {

using tir::Expr;
using tir::ExprKind;
using tir::ExprRef;

bool is_operation(const Expr& expr, tir::Op op) { return expr.kind == ExprKind::call && expr.op == op; }

// x of (int64_t)x, a literal included.
ExprRef narrowed(const ExprRef& wide) {
  if (wide->type != tir::int64_type) return nullptr;
  if (wide->kind == ExprKind::cast && wide->operands[0]->type == tir::int32_type) return wide->operands[0];
  const auto value = tir::as_int(*wide);
  if (!value || *value < INT32_MIN || *value > INT32_MAX) return nullptr;
  return tir::make_int(*value);
}

// Whether it is 1 << (by - 1), half of what a shift right by `by` leaves out.
bool is_half(const Expr& half, const Expr& by) {
  const auto value = tir::as_int(half);
  const auto bits = tir::as_int(by);
  if (value && bits) return *bits >= 1 && *bits <= 62 && *value == std::int64_t{1} << (*bits - 1);
  if (!is_operation(half, tir::Op::shift_left) || tir::as_int(*half.operands[0]) != 1) return false;
  const Expr& less = *half.operands[1];
  if (less.kind != ExprKind::cast || by.kind != ExprKind::cast) return false;
  const Expr& difference = *less.operands[0];
  return difference.kind == ExprKind::sub && tir::as_int(*difference.operands[1]) == 1 &&
         tir::is_same(*difference.operands[0], *by.operands[0]);
}

constexpr std::int64_t fraction_bits = 31;

}  // namespace

bool is_cut(const Expr& root) {
  if (!root.type.is_integer() || root.type.is_bool() || root.type.bits >= 32) return true;
  std::vector<const Expr*> pending = {&root};
  while (!pending.empty()) {
    const Expr& expr = *pending.back();
    pending.pop_back();
    if (tir::is_if_then_else(expr)) {
      pending.push_back(expr.operands[1].get());
      pending.push_back(expr.operands[2].get());
      continue;
    }
    const bool is_one = expr.kind == ExprKind::var || expr.kind == ExprKind::load || expr.kind == ExprKind::int_imm ||
                        expr.kind == ExprKind::cast || expr.kind == ExprKind::min || expr.kind == ExprKind::max;
    if (!is_one) return false;
  }
  return true;
}

std::optional<ExprKind> min_or_max(const Expr& condition, const Expr& yes, const Expr& no) {
  if (condition.kind != ExprKind::lt && condition.kind != ExprKind::gt) return std::nullopt;
  const Expr& a = *condition.operands[0];
  const Expr& b = *condition.operands[1];
  if (a.type != yes.type || !is_cut(a) || !is_cut(b)) return std::nullopt;
  if (!tir::is_same(a, yes) || !tir::is_same(b, no)) return std::nullopt;
  return condition.kind == ExprKind::lt ? ExprKind::min : ExprKind::max;
}

std::optional<FixedPoint> fixed_point(const Expr& wide) {
  if (wide.type != tir::int64_type || !is_operation(wide, tir::Op::shift_right)) return std::nullopt;
  const Expr& sum = *wide.operands[0];
  const Expr& by = *wide.operands[1];
  if (sum.kind != ExprKind::add || !is_half(*sum.operands[1], by)) return std::nullopt;
  const Expr& product = *sum.operands[0];
  if (product.kind != ExprKind::mul) return std::nullopt;
  ExprRef x = product.operands[0];
  std::int64_t left = 0;
  if (is_operation(*x, tir::Op::shift_left)) {
    const auto bits = tir::as_int(*x->operands[1]);
    if (!bits || *bits < 1 || *bits > 31) return std::nullopt;
    left = *bits;
    x = x->operands[0];
  }
  x = narrowed(x);
  const ExprRef y = narrowed(product.operands[1]);
  if (x == nullptr || y == nullptr) return std::nullopt;
  const ExprRef q = tir::make_int(fraction_bits);
  if (const auto bits = tir::as_int(by)) {
    // One shift says both: to the left if it is positive.
    if (*bits < fraction_bits || (left > 0 && *bits != fraction_bits)) return std::nullopt;
    const std::int64_t shift = left > 0 ? left : fraction_bits - *bits;
    return FixedPoint{tir::Op::q_multiply_shift, {x, y, q, tir::make_int(shift)}};
  }
  if (left > 0 || by.kind != ExprKind::cast) return std::nullopt;
  const Expr& bits = *by.operands[0];
  if (bits.kind != ExprKind::add || tir::as_int(*bits.operands[1]) != fraction_bits) return std::nullopt;
  const ExprRef no = tir::make_int(0, tir::bool_type);
  const ExprRef yes = tir::make_int(1, tir::bool_type);
  return FixedPoint{tir::Op::q_multiply_shift_per_axis, {x, y, tir::make_int(0), bits.operands[0], q, no, yes}};
}

}  // namespace usmp::tvm_c
