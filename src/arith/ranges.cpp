// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// Computes the interval of each node from those of its operands, and folds the few literals that it may be.
#include "usmp/arith/ranges.hpp"

#include <algorithm>
#include <limits>
#include <set>
#include <utility>

#include "usmp/arith/constants.hpp"
#include "usmp/support/checked.hpp"
#include "usmp/tir/integer_types.hpp"
#include "usmp/tir/visit.hpp"

namespace usmp::arith {
namespace {

using tir::DataType;
using tir::Expr;
using tir::ExprKind;
using tir::ExprRef;
using tir::int32_type;
using tir::Op;
using tir::promoted;
using tir::range_of_type;
using tir::VarId;
using Bound = std::optional<std::int64_t>;

std::optional<Interval> join(const std::optional<Interval>& a, const std::optional<Interval>& b) {
  if (!a || !b) return std::nullopt;
  return hull(*a, *b);
}

// What is left of the values once they are cut to the type.
std::optional<Interval> cut(const std::optional<Interval>& range, DataType type) {
  const auto whole = range_of_type(type);
  const bool fits = range && whole && range->low >= whole->low && range->high <= whole->high;
  return fits ? range : whole;
}

// The type in which C holds the value of an expression.
DataType held_type(const Expr& expr) {
  const bool from_memory = expr.kind == ExprKind::load || expr.kind == ExprKind::var || expr.kind == ExprKind::cast ||
                           expr.kind == ExprKind::int_imm;
  return from_memory ? expr.type : promoted(expr.type);
}

// Its type and its variable's binding tell what there is to know; what is below does not count.
bool is_leaf(const Expr& expr) {
  if (!range_of_type(held_type(expr))) return true;
  switch (expr.kind) {
    case ExprKind::add:
    case ExprKind::sub:
    case ExprKind::mul:
    case ExprKind::div:
    case ExprKind::mod:
    case ExprKind::floor_div:
    case ExprKind::floor_mod:
    case ExprKind::min:
    case ExprKind::max:
    case ExprKind::select:
    case ExprKind::cast:
    case ExprKind::broadcast:
    case ExprKind::ramp:
      return false;
    case ExprKind::call:
      return !tir::info(expr.op).is_folded && expr.op != Op::q_multiply_shift && expr.op != Op::q_multiply_shift_half &&
             expr.op != Op::multiply_high;
    default:
      return !is_condition(expr.kind);
  }
}

// Quotients and remainders by a divisor that is known to be positive.
std::optional<Interval> division(ExprKind kind, const Interval& a, const Interval& b) {
  if (b.low <= 0) return std::nullopt;
  const bool is_floor = kind == ExprKind::floor_div || kind == ExprKind::floor_mod;
  const bool is_quotient = kind == ExprKind::div || kind == ExprKind::floor_div;
  const Rounding rounding = is_floor ? Rounding::down : Rounding::toward_zero;
  return is_quotient ? quotient(rounding, a, b) : remainder(rounding, a, b);
}

// q_multiply_shift(x, factor, q, shift) is monotone in x as long as nothing wraps: x · factor · 2^(shift − q), rounded
// with halves up. Nothing: it may wrap, or the arguments make no sense.
Bound fixed_point_product(std::int64_t x, std::int64_t factor, std::int64_t q, std::int64_t shift) {
  const std::int64_t left = std::max<std::int64_t>(shift, 0);
  const std::int64_t right = q - std::min<std::int64_t>(shift, 0);
  if (q < 1 || q > 62 || left > 31 || right > 62) return std::nullopt;
  const Bound shifted = checked_mul(x, std::int64_t{1} << left);
  const Bound product = shifted ? checked_mul(*shifted, factor) : std::nullopt;
  const Bound sum = product ? checked_add(*product, std::int64_t{1} << (right - 1)) : std::nullopt;
  if (!sum) return std::nullopt;
  const std::int64_t result = *sum >> right;
  const auto limits = range_of_type(int32_type);
  if (result < limits->low || result > limits->high) return std::nullopt;
  return result;
}

std::optional<Interval> fixed_point_product(Op op, const Interval& x, std::int64_t factor, std::int64_t q,
                                            std::int64_t shift) {
  // In 32 bits, where the half that is added for rounding may wrap.
  if (op == Op::q_multiply_shift_half) {
    const std::int64_t half = shift < 1 && shift > -31 ? std::int64_t{1} << -shift : 0;
    if (q != 31 || shift < -30 || x.high + half > range_of_type(int32_type)->high) return std::nullopt;
  }
  const Bound first = fixed_point_product(x.low, factor, q, shift);
  const Bound last = fixed_point_product(x.high, factor, q, shift);
  if (!first || !last) return std::nullopt;
  return Interval{std::min(*first, *last), std::max(*first, *last)};
}

}  // namespace

void Ranges::bind(VarId var, Value value) {
  if (vars_.contains(var)) known_.clear();
  vars_[var] = std::move(value);
}

std::optional<Ranges::Value> Ranges::bound(VarId var) const {
  const auto found = vars_.find(var);
  return found == vars_.end() ? std::nullopt : std::make_optional(found->second);
}

void Ranges::bind_storage(VarId storage, DataType element, Interval range) {
  known_.clear();
  storages_[storage] = {element, range};
}

void Ranges::bind_let(VarId var, const Expr& value) { bind(var, of_cut(value)); }

std::optional<Interval> Ranges::of_cut(const Expr& expr) { return cut(of(expr), expr.type); }

void Ranges::bind_loop(VarId var, const Expr& min, const Expr& extent) {
  const auto first = of(min);
  const auto count = of(extent);
  if (!first) return bind(var, std::nullopt);
  const auto end = count ? checked_add(first->high, count->high) : std::nullopt;
  const auto last = end ? checked_add(*end, -1) : end;
  // A loop that never runs has no values; any interval is right inside it.
  bind(var, Interval{first->low, std::max(last.value_or(std::numeric_limits<std::int64_t>::max()), first->low)});
}

Ranges::Value Ranges::value_of_operand(const ExprRef& expr) const {
  const auto found = known_.find(expr.get());
  return found == known_.end() ? of_leaf(*expr) : found->second.value;
}

bool Ranges::never_negative(const Expr& expr) {
  if (expr.type.is_uint() && expr.type.bits >= 32) return true;
  const auto range = of(expr);
  return range && range->low >= 0;
}

Ranges::Value Ranges::value(const Expr& expr) {
  if (is_leaf(expr)) return of_leaf(expr);
  const auto is_done = [&](const Expr& operand) { return is_leaf(operand) || known_.contains(&operand); };
  for (const ExprRef& operand : expr.operands) {
    tir::for_each_expr_bottom_up(operand, is_done, [&](const ExprRef& part) {
      known_.emplace(part.get(), Known{part, compute(*part)});
    });
  }
  return compute(expr);
}

std::optional<std::int64_t> Ranges::constant(const Expr& expr) {
  const Value known = value(expr);
  return known.constants.size() == 1 ? std::optional(known.constants[0]) : std::nullopt;
}

Ranges::Value Ranges::of_leaf(const Expr& expr) const {
  const auto whole = range_of_type(held_type(expr));
  if (!whole) {
    // A small uint64 constant is known, everything else of the type is not.
    const bool small = expr.kind == ExprKind::int_imm && expr.type.is_uint() && expr.int_value >= 0;
    return small ? Value{Interval{expr.int_value, expr.int_value}, {expr.int_value}} : Value{};
  }
  if (expr.kind == ExprKind::int_imm) {
    const auto value = tir::value_in_type(expr.int_value, expr.type);
    return value && tir::is_c_integer(expr.type) ? Value{Interval{*value, *value}, {*value}} : Value{whole, {}};
  }
  if (expr.kind == ExprKind::load) {
    const auto storage = storages_.find(expr.var);
    const bool is_known = storage != storages_.end() && storage->second.type == expr.type.element();
    return {is_known ? storage->second.range : whole, {}};
  }
  const auto found = expr.kind == ExprKind::var ? vars_.find(expr.var) : vars_.end();
  if (found == vars_.end() || !found->second.range) return {whole, {}};
  const Interval range{std::max(found->second.range->low, whole->low),
                       std::min(found->second.range->high, whole->high)};
  if (range.low > range.high) return {whole, {}};
  return {range, found->second.constants};
}

Ranges::Value Ranges::compute(const Expr& expr) {
  std::vector<std::int64_t> constants = folded(expr);
  if (constants.empty()) return {compute_range(expr), {}};
  return {Interval{constants.front(), constants.back()}, std::move(constants)};
}

// Ascending, each once.
std::vector<std::int64_t> Ranges::folded(const Expr& expr) const {
  const bool is_choice = expr.kind == ExprKind::select || (expr.kind == ExprKind::call && expr.op == Op::if_then_else);
  std::vector<std::vector<std::int64_t>> rows = {{}};  // one for each combination of the operands' values
  for (const ExprRef& operand : expr.operands) {
    std::vector<std::int64_t> constants = value_of_operand(operand).constants;
    if (is_choice && constants.empty() && &operand == &expr.operands[0]) constants = {0, 1};
    std::vector<std::vector<std::int64_t>> longer;
    for (const auto& row : rows) {
      for (const std::int64_t value : constants) {
        longer.push_back(row);
        longer.back().push_back(value);
      }
    }
    rows = std::move(longer);
    if (rows.empty() || rows.size() > 2 * most_constants) return {};
  }
  std::set<std::int64_t> values;
  for (const auto& row : rows) {
    const auto value = constant_value(expr, row);
    if (!value) return {};
    values.insert(*value);
  }
  return values.size() <= most_constants ? std::vector(values.begin(), values.end()) : std::vector<std::int64_t>();
}

std::optional<Interval> Ranges::compute_range(const Expr& expr) {
  const auto whole = range_of_type(held_type(expr));
  if (!whole || is_condition(expr.kind)) return whole;
  switch (expr.kind) {
    case ExprKind::select: {
      const auto joined = join(of_operand(expr.operands[1]), of_operand(expr.operands[2]));
      return joined ? joined : whole;
    }
    case ExprKind::cast: {
      const auto inner = of_operand(expr.operands[0]);
      if (expr.operands[0]->type.is_float() || !inner || expr.type.is_bool()) return whole;
      return inner->low >= whole->low && inner->high <= whole->high ? inner : whole;
    }
    case ExprKind::broadcast:
      return of_operand(expr.operands[0]);
    case ExprKind::ramp: {
      const auto base = of_operand(expr.operands[0]);
      const auto stride = of_operand(expr.operands[1]);
      if (!base || !stride) return whole;
      const auto reach = product(*stride, Interval{0, expr.type.lanes - 1});
      if (!reach) return whole;
      const auto range = sum(*base, *reach);
      return range ? range : whole;
    }
    case ExprKind::call: {
      const auto range = compute_call(expr);
      return range ? range : whole;
    }
    default: {
      const auto range = compute_arithmetic(expr);
      return range ? range : whole;
    }
  }
}

std::optional<Interval> Ranges::compute_arithmetic(const Expr& expr) {
  if (expr.operands.size() != 2 || expr.type.is_bool()) return std::nullopt;
  const auto a = of_operand(expr.operands[0]);
  const auto b = of_operand(expr.operands[1]);
  if (!a || !b) return std::nullopt;
  std::optional<Interval> range;
  switch (expr.kind) {
    case ExprKind::add:
      range = sum(*a, *b);
      break;
    case ExprKind::sub:
      range = difference(*a, *b);
      break;
    case ExprKind::mul:
      range = product(*a, *b);
      break;
    case ExprKind::div:
    case ExprKind::mod:
    case ExprKind::floor_div:
    case ExprKind::floor_mod:
      return division(expr.kind, *a, *b);
    case ExprKind::min:
    case ExprKind::max: {
      const Interval x = *cut(a, expr.type);
      const Interval y = *cut(b, expr.type);
      if (expr.kind == ExprKind::min) return Interval{std::min(x.low, y.low), std::min(x.high, y.high)};
      return Interval{std::max(x.low, y.low), std::max(x.high, y.high)};
    }
    default:
      return std::nullopt;
  }
  if (!range) return std::nullopt;
  const DataType type = promoted(expr.type);
  const auto limits = range_of_type(type);
  if (type.is_uint() && (range->low < limits->low || range->high > limits->high)) return limits;  // it wraps
  range->low = std::clamp(range->low, limits->low, limits->high);
  range->high = std::clamp(range->high, limits->low, limits->high);
  return range;
}

std::optional<Interval> Ranges::compute_call(const Expr& expr) {
  if (expr.op == Op::likely && expr.operands.size() == 1) return of_operand(expr.operands[0]);
  if (expr.op == Op::if_then_else && expr.operands.size() == 3) {
    return join(of_operand(expr.operands[1]), of_operand(expr.operands[2]));
  }
  if (expr.op == Op::shift_right && expr.operands.size() == 2) {
    const auto a = of_operand(expr.operands[0]);
    const auto b = of_operand(expr.operands[1]);
    if (!a || !b || !b->is_point() || b->low < 0 || b->low > 62) return std::nullopt;
    return Interval{a->low >> b->low, a->high >> b->low};
  }
  if (expr.op == Op::bitwise_not && expr.operands.size() == 1 && promoted(expr.type).is_int()) {
    const auto a = of_operand(expr.operands[0]);
    return a ? std::optional(Interval{-1 - a->high, -1 - a->low}) : std::nullopt;
  }
  if (expr.op == Op::bitwise_and && expr.operands.size() == 2) {
    const auto a = of_operand(expr.operands[0]);
    const auto b = of_operand(expr.operands[1]);
    if (b && b->low >= 0) return Interval{0, a && a->low >= 0 ? std::min(a->high, b->high) : b->high};
    if (a && a->low >= 0) return Interval{0, a->high};
  }
  if (expr.op == Op::multiply_high && expr.operands.size() == 3) {
    const auto x = of_operand(expr.operands[0]);
    const auto factor = of_operand(expr.operands[1]);
    const auto shift = of_operand(expr.operands[2]);
    const bool is_known = x && factor && factor->is_point() && shift && shift->is_point();
    return is_known ? fixed_point_product(expr.op, *x, factor->low, 31, -1 - shift->low) : std::nullopt;
  }
  const bool is_fixed_point = expr.op == Op::q_multiply_shift || expr.op == Op::q_multiply_shift_half;
  if (is_fixed_point && expr.operands.size() == 4 && expr.type.element() == int32_type) {
    std::int64_t constants[3] = {};
    for (std::size_t i = 0; i < 3; ++i) {
      const auto constant = of_operand(expr.operands[i + 1]);
      if (!constant || !constant->is_point()) return std::nullopt;
      constants[i] = constant->low;
    }
    const auto x = of_operand(expr.operands[0]);
    return x ? fixed_point_product(expr.op, *x, constants[0], constants[1], constants[2]) : std::nullopt;
  }
  return std::nullopt;
}

}  // namespace usmp::arith
