// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// Sorts the conditions of a branch into bounds of the loop, what goes in front of it and what stays.
#include "transform/tighten.hpp"

#include <algorithm>
#include <limits>
#include <optional>
#include <set>
#include <utility>
#include <vector>

#include "usmp/arith/facts.hpp"
#include "usmp/arith/low_digits.hpp"
#include "usmp/loops/cost.hpp"
#include "usmp/loops/edit.hpp"
#include "usmp/loops/reduction.hpp"
#include "usmp/loops/walk.hpp"
#include "usmp/tir/visit.hpp"

namespace usmp::transform {
namespace {

using tir::Block;
using tir::Expr;
using tir::ExprKind;
using tir::ExprRef;
using tir::Stmt;
using tir::VarId;

bool is_zero(const Expr& expr) { return expr.kind == ExprKind::int_imm && expr.int_value == 0; }

ExprRef with_operand(const Expr& expr, std::size_t i, ExprRef operand) {
  Expr copy = expr;
  copy.operands[i] = std::move(operand);
  return tir::make_expr(std::move(copy));
}

struct Conditional {
  ExprRef condition;
  ExprRef value;  // if it holds; otherwise the value is zero
};

// An integer that is zero unless a condition holds: down through factors and casts to if_then_else.
std::optional<Conditional> conditional(const ExprRef& root) {
  std::vector<std::pair<const Expr*, std::size_t>> path;  // from the root, with the operand taken
  const ExprRef* here = &root;
  while (!tir::is_if_then_else(**here)) {
    const Expr& expr = **here;
    if (!expr.type.is_int() && !expr.type.is_uint()) return std::nullopt;
    if (expr.kind == ExprKind::cast && !expr.operands[0]->type.is_float()) {
      path.emplace_back(&expr, 0);
    } else if (expr.kind == ExprKind::mul) {
      const auto leads_to_branch = [](const ExprRef& operand) {
        const Expr* part = operand.get();
        while (part->kind == ExprKind::cast) part = part->operands[0].get();
        return tir::is_if_then_else(*part);
      };
      const std::size_t side = leads_to_branch(expr.operands[0]) ? 0 : 1;
      path.emplace_back(&expr, side);
    } else {
      return std::nullopt;
    }
    here = &expr.operands[path.back().second];
  }
  if (!is_zero(*(*here)->operands[2])) return std::nullopt;
  Conditional result{(*here)->operands[0], (*here)->operands[1]};
  if (result.value->type != (*here)->type) return std::nullopt;
  for (std::size_t i = path.size(); i-- > 0;) result.value = with_operand(*path[i].first, path[i].second, result.value);
  return result;
}

class Tightener {
 public:
  explicit Tightener(const tir::Module& module) : module_(module), facts_(module) {}

  void run(Block& body) {
    const auto before = [this](Block& block, std::size_t& at, arith::Facts&) {
      guard_accumulation(block[at]);
      return loops::Next::enter;
    };
    const auto after = [this](Block& block, std::size_t& at, arith::Facts&) {
      if (std::holds_alternative<tir::For>(block[at].node)) tighten_loop(block[at]);
    };
    loops::edit(body, facts_, {.before = before, .after = after});
  }

  [[nodiscard]] bool changed() const { return changed_; }

 private:
  // x[i] = x[i] + (c ? a : 0) · b
  void guard_accumulation(Stmt& stmt) {
    auto* store = std::get_if<tir::Store>(&stmt.node);
    if (store == nullptr) return;
    if (!store->value->type.is_int() && !store->value->type.is_uint()) return;  // -0.0 + 0.0 is 0.0
    for (std::size_t side = 0; side < 2; ++side) {
      if (!loops::adds_to_element(*store, side)) continue;
      auto term = conditional(store->value->operands[1 - side]);
      if (!term || loops::loaded_by(*term->condition).contains(store->storage)) continue;
      tir::IfThenElse branch;
      branch.condition = std::move(term->condition);
      store->value = with_operand(*store->value, 1 - side, std::move(term->value));
      branch.then_body.push_back(std::move(stmt));
      stmt = Stmt{std::move(branch)};
      changed_ = true;
      return;
    }
  }

  // Tightens a loop around lets of indices and one branch.
  void tighten_loop(Stmt& stmt) {
    auto& loop = std::get<tir::For>(stmt.node);
    tir::IfThenElse* branch = nullptr;
    for (Stmt& inner : loop.body) {
      if (const auto* let = std::get_if<tir::Let>(&inner.node)) {
        if (branch != nullptr || !loops::loaded_by(*let->value).empty()) return;
        continue;
      }
      if (branch != nullptr) return;
      branch = std::get_if<tir::IfThenElse>(&inner.node);
      if (branch == nullptr || !branch->else_body.empty()) return;
    }
    if (branch == nullptr || !has_small_bounds(loop)) return;
    std::set<VarId> bound_inside;
    for (const Stmt& inner : loop.body) {
      if (const auto* let = std::get_if<tir::Let>(&inner.node)) bound_inside.insert(let->var);
    }
    const std::size_t mark = facts_.mark();
    facts_.bind_loop(loop);
    for (const Stmt& inner : loop.body) loops::bind_after(inner, facts_);
    std::vector<ExprRef> inside;
    std::vector<ExprRef> outside;
    Limits limits{{}, {}};
    const std::vector<ExprRef> parts = arith::conjuncts(branch->condition);
    const std::vector<std::optional<arith::Bound>> bounds = bounds_of(parts);
    for (std::size_t i = 0; i < parts.size(); ++i)
      place(parts[i], bounds[i], loop, bound_inside, inside, outside, limits);
    facts_.restore(mark);
    if (outside.empty() && limits.first.empty() && limits.end.empty()) return;
    changed_ = true;
    apply(limits, loop);
    if (inside.empty()) {
      dissolve(loop.body);
    } else {
      branch->condition = conjunction(inside);
    }
    if (outside.empty()) return;
    tir::IfThenElse around;
    around.condition = conjunction(outside);
    around.then_body.push_back(std::move(stmt));
    stmt = Stmt{std::move(around)};
  }

  // Whether bounds can be added and subtracted in the loop's type.
  [[nodiscard]] bool has_small_bounds(const tir::For& loop) const {
    const auto first = facts_.affine(*loop.min);
    const auto count = facts_.affine(*loop.extent);
    const auto end = first && count ? sum(*first, *count) : std::nullopt;
    return end && facts_.fits(*first, loop.min->type) && facts_.fits(*end, loop.min->type);
  }

  // Without low digits that decide nothing where the other conditions hold: of those that are changed so, none relies
  // on one that relies on it.
  std::vector<std::optional<arith::Bound>> bounds_of(const std::vector<ExprRef>& parts) {
    std::vector<std::optional<arith::Bound>> bounds;
    bounds.reserve(parts.size());
    for (const ExprRef& part : parts) bounds.push_back(arith::bound_of(facts_, *part));
    std::set<std::size_t> relying;
    for (std::size_t i = 0; i < parts.size(); ++i) {
      if (!bounds[i]) continue;
      const std::size_t mark = facts_.mark();
      for (std::size_t other = 0; other < parts.size(); ++other) {
        if (other != i && !relying.contains(other)) facts_.assume(*parts[other]);
      }
      arith::Bound bound = arith::without_low_digits(*bounds[i], facts_);
      facts_.restore(mark);
      if (bound.value == bounds[i]->value) continue;
      bounds[i] = std::move(bound);
      relying.insert(i);
    }
    return bounds;
  }

  struct Limits {
    std::vector<ExprRef> first;  // the variable is at least each of these,
    std::vector<ExprRef> end;    // and less than each of these
  };

  // Sorts one condition: does it hold anyway, speak of the loop's variable, or have nothing to do with the loop?
  void place(const ExprRef& part, const std::optional<arith::Bound>& bound, const tir::For& loop,
             const std::set<VarId>& bound_inside, std::vector<ExprRef>& inside, std::vector<ExprRef>& outside,
             Limits& limits) const {
    if (facts_.truth(*part).value_or(false)) return;
    const tir::DataType type = module_.var(loop.var).type;
    const bool is_usable =
        bound && type == part->operands[0]->type &&
        std::none_of(bound_inside.begin(), bound_inside.end(), [&](VarId var) { return bound->value.mentions(var); });
    if (!is_usable || !place_bound(*bound, loop, type, outside, limits)) inside.push_back(part);
  }

  // value <= most
  bool place_bound(const arith::Bound& bound, const tir::For& loop, tir::DataType type, std::vector<ExprRef>& outside,
                   Limits& limits) const {
    const std::int64_t factor = bound.value.factor(loop.var);
    const arith::Affine rest = bound.value.without(loop.var);
    if (rest.mentions(loop.var)) return false;
    if (factor == std::numeric_limits<std::int64_t>::min()) return false;
    if (factor == 0) {
      if (!facts_.fits(rest, type)) return false;
      outside.push_back(tir::make_binary(ExprKind::le, facts_.expr(rest, type), tir::make_int(bound.most, type)));
      return true;
    }
    // factor · v + rest <= most: v <= (most - rest) / factor, or with a negative factor v >= -((most - rest) /
    // -factor).
    arith::Affine most;
    most.constant = bound.most;
    const auto room = difference(most, rest);
    const auto division = room ? facts_.divide(*room, factor > 0 ? factor : -factor) : std::nullopt;
    auto limit = division ? scaled(division->quotient, factor > 0 ? 1 : -1) : std::nullopt;
    if (!limit || !facts_.fits(*limit, type)) return false;
    if (factor > 0) ++limit->constant;
    (factor > 0 ? limits.end : limits.first).push_back(facts_.expr(*limit, type));
    return true;
  }

  // The minimum or maximum; of two numbers, one of them.
  static ExprRef extreme(ExprKind kind, const ExprRef& a, const ExprRef& b) {
    const auto first = tir::as_int(*a);
    const auto second = tir::as_int(*b);
    if (!first || !second) return tir::make_binary(kind, a, b);
    return (*first < *second) == (kind == ExprKind::min) ? a : b;
  }

  static void apply(const Limits& limits, tir::For& loop) {
    const tir::DataType type = loop.min->type;
    const auto min = tir::as_int(*loop.min);
    const auto extent = tir::as_int(*loop.extent);
    ExprRef end =
        min && extent ? tir::make_int(*min + *extent, type) : tir::make_binary(ExprKind::add, loop.min, loop.extent);
    const bool is_from_zero = tir::as_int(*loop.min) == 0;
    for (const ExprRef& first : limits.first) loop.min = extreme(ExprKind::max, loop.min, first);
    for (const ExprRef& most : limits.end) end = extreme(ExprKind::min, end, most);
    const auto last = tir::as_int(*end);
    const auto begin = tir::as_int(*loop.min);
    if (is_from_zero && limits.first.empty()) {
      loop.extent = end;
    } else if (begin && last && *begin <= *last) {
      loop.extent = tir::make_int(*last - *begin, type);
    } else {
      loop.extent = tir::make_binary(ExprKind::sub, end, loop.min);
    }
  }

  static ExprRef conjunction(const std::vector<ExprRef>& parts) {
    ExprRef all = parts.front();
    for (std::size_t i = 1; i < parts.size(); ++i) all = tir::make_binary(ExprKind::and_, all, parts[i]);
    return all;
  }

  // The branch, which is the last statement, always taken.
  static void dissolve(Block& body) {
    Block inner = std::move(std::get<tir::IfThenElse>(body.back().node).then_body);
    body.pop_back();
    std::move(inner.begin(), inner.end(), std::back_inserter(body));
  }

  const tir::Module& module_;
  arith::Facts facts_;
  bool changed_ = false;
};

}  // namespace

bool tighten(const tir::Module& module, tir::Function& function) {
  Tightener tightener(module);
  tightener.run(function.body);
  return tightener.changed();
}

double decisions(const tir::Module& module, const tir::Function& function) {
  arith::Facts facts(module);
  double total = 0;
  loops::visit_with_trips(function.body, facts, [&](const Stmt& stmt, double trips) {
    tir::for_each_expr_of(stmt, [&](const ExprRef& root) {
      tir::for_each_expr(*root, [&](const Expr& expr) {
        if (tir::is_if_then_else(expr)) total += trips;
      });
    });
    if (std::holds_alternative<tir::IfThenElse>(stmt.node)) total += trips;
  });
  return total;
}

}  // namespace usmp::transform
