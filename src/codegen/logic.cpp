// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// Intervals of the values with which comparisons hold: disjoint ones contradict, one inside the other implies it. What
// a disjunction needs is the same of the comparisons' opposites.
#include "codegen/logic.hpp"

#include <algorithm>
#include <limits>
#include <optional>
#include <utility>
#include <vector>

#include "codegen/facts.hpp"
#include "usmp/support/interval.hpp"
#include "usmp/tir/visit.hpp"

namespace usmp::codegen {
namespace {

using tir::Expr;
using tir::ExprKind;

constexpr std::size_t most_comparisons = 16;

// Where `value` may be: in the interval, or anywhere but there.
struct Range {
  const Expr* value = nullptr;
  Interval inside;
  bool is_excluded = false;
};

ExprKind swapped(ExprKind kind) {
  switch (kind) {
    case ExprKind::lt:
      return ExprKind::gt;
    case ExprKind::le:
      return ExprKind::ge;
    case ExprKind::gt:
      return ExprKind::lt;
    case ExprKind::ge:
      return ExprKind::le;
    default:
      return kind;
  }
}

ExprKind opposite(ExprKind kind) {
  switch (kind) {
    case ExprKind::lt:
      return ExprKind::ge;
    case ExprKind::le:
      return ExprKind::gt;
    case ExprKind::gt:
      return ExprKind::le;
    case ExprKind::ge:
      return ExprKind::lt;
    case ExprKind::eq:
      return ExprKind::ne;
    default:
      return ExprKind::eq;
  }
}

std::optional<Range> range_of(const Expr& root, bool holds) {
  const Expr* expr = &root;
  while (expr->kind == ExprKind::not_) {
    expr = expr->operands[0].get();
    holds = !holds;
  }
  const bool is_comparison = expr->kind == ExprKind::eq || expr->kind == ExprKind::ne || expr->kind == ExprKind::lt ||
                             expr->kind == ExprKind::le || expr->kind == ExprKind::gt || expr->kind == ExprKind::ge;
  if (!is_comparison) return std::nullopt;
  const tir::DataType type = expr->operands[0]->type;
  if (!type.is_integer() || type.is_vector() || (type.is_uint() && type.bits == 64)) return std::nullopt;
  const auto left = tir::as_int(*expr->operands[0]);
  const auto right = tir::as_int(*expr->operands[1]);
  if (left.has_value() == right.has_value()) return std::nullopt;
  const std::int64_t limit = left ? *left : *right;
  ExprKind kind = left ? swapped(expr->kind) : expr->kind;
  if (!holds) kind = opposite(kind);
  constexpr std::int64_t least = std::numeric_limits<std::int64_t>::min();
  constexpr std::int64_t most = std::numeric_limits<std::int64_t>::max();
  if (limit == least || limit == most) return std::nullopt;
  Range range{
      .value = expr->operands[left ? 1 : 0].get(), .inside = {limit, limit}, .is_excluded = kind == ExprKind::ne};
  if (kind == ExprKind::lt) range.inside = {least, limit - 1};
  if (kind == ExprKind::le) range.inside = {least, limit};
  if (kind == ExprKind::gt) range.inside = {limit + 1, most};
  if (kind == ExprKind::ge) range.inside = {limit, most};
  return range;
}

// The first parts of a chain of one operator that compare something with a literal. `are_all`: it has no other parts.
struct Parts {
  std::vector<Range> ranges;
  bool are_all = true;
};

Parts parts_of(const Expr& root, ExprKind chain) {
  Parts parts;
  std::vector<const Expr*> pending = {&root};
  while (!pending.empty()) {
    const Expr* expr = pending.back();
    pending.pop_back();
    if (expr->kind == chain) {
      for (const tir::ExprRef& operand : expr->operands) pending.push_back(operand.get());
      continue;
    }
    const auto range = parts.ranges.size() < most_comparisons ? range_of(*expr, chain == ExprKind::and_) : std::nullopt;
    if (range) {
      parts.ranges.push_back(*range);
    } else {
      parts.are_all = false;
    }
  }
  return parts;
}

bool contains(const Interval& outer, const Interval& inner) {
  return outer.low <= inner.low && inner.high <= outer.high;
}

bool contradict(const Range& a, const Range& b) {
  if (a.is_excluded && b.is_excluded) return false;
  if (a.is_excluded) return contains(a.inside, b.inside);
  if (b.is_excluded) return contains(b.inside, a.inside);
  return a.inside.high < b.inside.low || b.inside.high < a.inside.low;
}

// Whether `b` holds wherever `a` does.
bool implies(const Range& a, const Range& b) {
  if (a.is_excluded) return b.is_excluded && contains(a.inside, b.inside);
  if (b.is_excluded) return a.inside.high < b.inside.low || b.inside.high < a.inside.low;
  return contains(b.inside, a.inside);
}

bool imply(const Parts& some, const Parts& others) {
  return others.are_all && std::ranges::all_of(others.ranges, [&](const Range& other) {
           return std::ranges::any_of(some.ranges, [&](const Range& one) {
             return tir::is_same(*one.value, *other.value) && implies(one, other);
           });
         });
}

}  // namespace

Logic logic_of(const tir::Expr& expr) {
  const Parts a = parts_of(*expr.operands[0], expr.kind);
  const Parts b = parts_of(*expr.operands[1], expr.kind);
  if (a.ranges.empty() || b.ranges.empty() || has_side_effects(expr)) return Logic::both;
  for (const Range& one : a.ranges) {
    for (const Range& other : b.ranges) {
      if (!contradict(one, other) || !tir::is_same(*one.value, *other.value)) continue;
      return expr.kind == ExprKind::and_ ? Logic::never : Logic::always;
    }
  }
  if (imply(a, b)) return Logic::first;
  if (imply(b, a)) return Logic::second;
  return Logic::both;
}

}  // namespace usmp::codegen
