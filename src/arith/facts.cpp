// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// Takes expressions apart into affine sums, and bounds these by their atoms and by multiples of facts in them.
#include "usmp/arith/facts.hpp"

#include <algorithm>
#include <limits>
#include <memory>
#include <span>
#include <utility>

#include "usmp/support/checked.hpp"
#include "usmp/tir/visit.hpp"

namespace usmp::arith {
namespace {

using tir::Expr;
using tir::ExprKind;
using tir::ExprRef;
using tir::VarId;

constexpr std::size_t max_facts = 64;  // what real functions know at one place is far less

bool is_order(ExprKind kind) {
  return kind == ExprKind::lt || kind == ExprKind::le || kind == ExprKind::gt || kind == ExprKind::ge;
}

// The comparison of integers that holds where this one does not.
Expr opposite(const Expr& comparison) {
  Expr result = comparison;
  switch (comparison.kind) {
    case ExprKind::lt:
      result.kind = ExprKind::ge;
      break;
    case ExprKind::le:
      result.kind = ExprKind::gt;
      break;
    case ExprKind::gt:
      result.kind = ExprKind::le;
      break;
    default:
      result.kind = ExprKind::lt;
      break;
  }
  return result;
}

bool is_index_type(tir::DataType type) { return type.is_int() && type.bits >= 32 && !type.is_vector(); }

// The operands of a tree of one operator.
std::vector<const Expr*> operands_of(ExprKind kind, const Expr& root) {
  std::vector<const Expr*> operands;
  std::vector<const Expr*> pending = {&root};
  while (!pending.empty()) {
    const Expr& expr = *pending.back();
    pending.pop_back();
    if (expr.kind == kind) {
      tir::append_operands(expr, pending);
    } else {
      operands.push_back(&expr);
    }
  }
  return operands;
}

// sum + factor · value; nothing: one of them is not known, or a number leaves int64.
std::optional<Interval> added(const std::optional<Interval>& sum, std::int64_t factor,
                              const std::optional<Interval>& value) {
  const auto part = value ? product(*value, {factor, factor}) : std::nullopt;
  return part && sum ? usmp::sum(*sum, *part) : std::nullopt;
}

// What the first terms are multiplied with where all of them stand in the others; 0: they do not.
std::int64_t multiple_of(const Terms& terms, const Terms& others) {
  std::int64_t multiple = 0;
  for (const auto& [atom, factor] : terms) {
    const auto found = others.find(atom);
    if (found == others.end() || found->second % factor != 0) return 0;
    const std::int64_t times = found->second / factor;
    if (multiple != 0 && times != multiple) return 0;
    multiple = times;
  }
  return multiple;
}

bool is_likely(const Expr& expr) {
  return expr.kind == ExprKind::call && expr.op == tir::Op::likely && expr.operands.size() == 1;
}

}  // namespace

void Facts::restore(std::size_t mark) {
  while (log_.size() > mark) {
    Undo undo = std::move(log_.back());
    log_.pop_back();
    if (!undo.var.valid()) {
      facts_.pop_back();
    } else if (undo.before) {
      bindings_[undo.var] = std::move(*undo.before);
    } else {
      bindings_.erase(undo.var);
    }
  }
}

void Facts::bind(VarId var, Binding binding) {
  const auto found = bindings_.find(var);
  log_.push_back({var, found == bindings_.end() ? std::nullopt : std::optional(std::move(found->second))});
  bindings_[var] = std::move(binding);
}

void Facts::bind_interval(VarId var, std::optional<Interval> interval) { bind(var, {std::nullopt, interval}); }

void Facts::bind_ranges(const tir::Function& function) {
  for (const tir::Param& param : function.params) {
    if (param.range) bind_interval(param.var, param.range);
  }
}

void Facts::bind_value(VarId var, const Expr& value) {
  bind(var, {is_index_type(value.type) ? affine(value) : std::nullopt, std::nullopt});
}

void Facts::bind_loop(const tir::For& loop) {
  const auto first = affine(*loop.min);
  const auto count = affine(*loop.extent);
  const auto begin = first ? interval(*first) : std::nullopt;
  const auto total = first && count ? arith::sum(*first, *count) : std::nullopt;
  const auto end = total ? interval(*total) : std::nullopt;
  if (!begin || !end) return bind_limits(loop);
  if (end->high <= begin->low) return bind_interval(loop.var, std::nullopt);
  bind_interval(loop.var, Interval{begin->low, end->high - 1});
}

// A loop over [max(a, b), min(c, d)) has a, b, c and d as limits; each may be the larger or smaller of two.
void Facts::bind_limits(const tir::For& loop) {
  const std::vector<const Expr*> firsts = operands_of(ExprKind::max, *loop.min);
  const tir::ExprRef end = tir::as_int(*loop.min) == 0 ? loop.extent : tir::end_of(loop);
  if (end == nullptr) return bind_interval(loop.var, std::nullopt);
  const std::vector<const Expr*> ends = operands_of(ExprKind::min, *end);
  constexpr std::int64_t unbounded = std::numeric_limits<std::int64_t>::max();
  Interval range{-unbounded, unbounded};
  for (const Expr* limit : firsts) {
    if (const auto values = values_of(*limit)) range.low = std::max(range.low, values->low);
  }
  for (const Expr* limit : ends) {
    if (const auto values = values_of(*limit)) range.high = std::min(range.high, values->high - 1);
  }
  const bool is_bounded = range.low != -unbounded && range.high != unbounded && range.low <= range.high;
  bind_interval(loop.var, is_bounded ? std::optional(range) : std::nullopt);
  const auto compare = [&](ExprKind kind, const Expr& limit) {
    Expr comparison;
    comparison.kind = kind;
    comparison.type = tir::bool_type;
    comparison.operands = {tir::make_var(*module_, loop.var), tir::make_expr(limit)};
    assume_comparison(comparison);
  };
  for (const Expr* limit : firsts) compare(ExprKind::ge, *limit);
  for (const Expr* limit : ends) compare(ExprKind::lt, *limit);
}

std::optional<Interval> Facts::values_of(const Expr& root) const {
  const auto parts = [](const Expr& expr, std::vector<const Expr*>& list) {
    const bool chooses = expr.kind == ExprKind::select;
    if (!chooses && expr.kind != ExprKind::min && expr.kind != ExprKind::max) return;
    for (std::size_t i = chooses ? 1 : 0; i < expr.operands.size(); ++i) list.push_back(expr.operands[i].get());
  };
  const auto combine = [this](const Expr& expr, std::span<std::optional<Interval>> values) -> std::optional<Interval> {
    if (values.empty()) {
      const auto value = affine(expr);
      return value ? interval(*value) : std::nullopt;
    }
    const auto& a = values[0];
    const auto& b = values[1];
    if (!a || !b) return std::nullopt;
    if (expr.kind == ExprKind::min) return Interval{std::min(a->low, b->low), std::min(a->high, b->high)};
    if (expr.kind == ExprKind::max) return Interval{std::max(a->low, b->low), std::max(a->high, b->high)};
    return hull(*a, *b);
  };
  return tir::fold<std::optional<Interval>>(root, parts, combine);
}

void Facts::assume(const Expr& condition, bool holds) {
  std::vector<std::pair<const Expr*, bool>> pending = {{&condition, holds}};
  while (!pending.empty()) {
    const auto [part, is_true] = pending.back();
    pending.pop_back();
    const bool is_both = part->kind == (is_true ? ExprKind::and_ : ExprKind::or_);
    const bool is_not = part->kind == ExprKind::not_;
    if (is_both || is_not || is_likely(*part)) {
      for (const ExprRef& operand : part->operands) pending.emplace_back(operand.get(), is_true != is_not);
    } else if (is_order(part->kind)) {
      assume_comparison(is_true ? *part : opposite(*part));
    }
  }
}

void Facts::assume_comparison(const Expr& comparison) {
  auto bound = bound_of(*this, comparison);
  if (!bound || bound->value.terms.empty()) return;
  const bool negated = bound->value.terms.begin()->second < 0;  // so that lower and upper bounds speak of one sum
  constexpr std::int64_t unbounded = std::numeric_limits<std::int64_t>::max();
  const auto constant = checked_mul(bound->value.constant, -1);
  const auto most = constant ? checked_add(bound->most, *constant) : std::nullopt;
  auto value = scaled(bound->value, negated ? -1 : 1);
  if (!most || *most == std::numeric_limits<std::int64_t>::min() || !value || facts_.size() >= max_facts) return;
  Fact fact;
  fact.interval = negated ? Interval{-*most, unbounded} : Interval{-unbounded, *most};
  fact.terms = std::move(value->terms);
  facts_.push_back(std::move(fact));
  log_.push_back({VarId(), std::nullopt});
}

// NOLINTBEGIN(misc-no-recursion): over sums inside sums, of which there are max_nesting at most.
namespace {

// The sum with x = by · (x / by) + x mod by.
std::optional<Affine> with_parts(const Affine& value, const Atom& x, std::int64_t by) {
  const auto whole = std::make_shared<const Affine>(variable(x.var));
  const std::int64_t factor = value.terms.find(x)->second;
  const auto of_quotient = checked_mul(factor, by);
  if (!of_quotient) return std::nullopt;
  Affine parts;
  parts.terms.emplace(Atom{.kind = Atom::Kind::quotient, .var = {}, .whole = whole, .by = by}, *of_quotient);
  parts.terms.emplace(Atom{.kind = Atom::Kind::remainder, .var = {}, .whole = whole, .by = by}, factor);
  parts.measure();
  return sum(value.without(x.var), parts);
}

}  // namespace

std::optional<Interval> Facts::interval(const Atom& atom) const {
  if (atom.kind == Atom::Kind::var) {
    const auto found = bindings_.find(atom.var);
    return found == bindings_.end() ? std::nullopt : found->second.interval;
  }
  const auto whole = interval_as_written(*atom.whole);
  const Interval by{atom.by, atom.by};
  if (atom.kind == Atom::Kind::quotient) {
    return whole ? std::optional(quotient(Rounding::down, *whole, by)) : std::nullopt;
  }
  if (whole) return remainder(Rounding::down, *whole, by);
  return Interval{0, atom.by - 1};
}

std::optional<Interval> Facts::interval(const Affine& value) const {
  auto result = interval_as_written(value);
  if (!result) return std::nullopt;
  for (const auto& [atom, factor] : value.terms) {
    if (atom.kind != Atom::Kind::var) continue;
    for (const std::int64_t by : divisors_of(atom.var)) {
      const auto split = with_parts(value, atom, by);
      const auto other = split ? interval_as_written(*split) : std::nullopt;
      if (other) result = Interval{std::max(result->low, other->low), std::min(result->high, other->high)};
    }
  }
  return result;
}

// By which facts divide the variable itself.
std::set<std::int64_t> Facts::divisors_of(tir::VarId var) const {
  std::set<std::int64_t> divisors;
  for (const Fact& fact : facts_) {
    for (const auto& [atom, factor] : fact.terms) {
      if (atom.kind != Atom::Kind::var && *atom.whole == variable(var)) divisors.insert(atom.by);
    }
  }
  return divisors;
}

std::optional<Interval> Facts::interval_as_written(const Affine& value) const {
  std::optional<Interval> result = Interval{0, 0};
  for (const auto& [atom, factor] : value.terms) {
    auto own = interval(atom);
    for (const Fact& fact : facts_) {
      if (!own || fact.terms.size() != 1 || !(fact.terms.begin()->first == atom)) continue;
      const std::int64_t by = fact.terms.begin()->second;  // positive
      if (fact.interval.high != std::numeric_limits<std::int64_t>::max()) {
        own->high = std::min(own->high, floor_quotient(fact.interval.high, by));
      }
      if (fact.interval.low != -std::numeric_limits<std::int64_t>::max()) {
        own->low = std::max(own->low, -floor_quotient(-fact.interval.low, by));
      }
    }
    result = added(result, factor, own);
    if (!result) return std::nullopt;
  }
  if (const auto by_facts = interval_by_facts(value.terms)) {
    result->low = std::max(result->low, by_facts->low);
    result->high = std::min(result->high, by_facts->high);
  }
  return usmp::sum(*result, Interval{value.constant, value.constant});
}

// Bounds multiples of what facts speak of, each at once, and adds the rest of the sum. Nothing: no fact speaks of any.
std::optional<Interval> Facts::interval_by_facts(const Terms& sum) const {
  if (facts_.empty()) return std::nullopt;
  Terms terms = sum;
  std::optional<Interval> result;
  for (const Fact& fact : facts_) {
    const std::int64_t multiple = fact.terms.size() < 2 ? 0 : multiple_of(fact.terms, terms);
    if (multiple == 0) continue;
    std::optional<Interval> known = Interval{0, 0};
    for (const auto& [atom, factor] : fact.terms) {
      known = added(known, factor, interval(atom));
      terms.erase(atom);
    }
    for (const Fact& other : facts_) {
      if (!known || other.terms != fact.terms) continue;
      known = Interval{std::max(known->low, other.interval.low), std::min(known->high, other.interval.high)};
    }
    if (known && known->low > known->high) return known;  // they contradict each other
    result = added(result.value_or(Interval{0, 0}), multiple, known);
    if (!result) return std::nullopt;
  }
  if (!result) return std::nullopt;  // no fact does
  for (const auto& [atom, factor] : terms) {
    result = added(result, factor, interval(atom));
  }
  return result;
}

bool Facts::fits(const Affine& value, tir::DataType type) const {
  const std::int64_t most = std::int64_t{1} << (type.bits - 2);
  const auto is_small = [most](std::int64_t number) { return number >= -most && number <= most; };
  if (!is_small(value.constant)) return false;
  std::int64_t room = most - std::max(value.constant, -value.constant);
  for (const auto& [atom, factor] : value.terms) {
    if (atom.kind != Atom::Kind::var && (!is_small(atom.by) || !fits(*atom.whole, type))) return false;
    const auto own = interval(atom);
    const auto part = own && is_small(factor) ? product(*own, {factor, factor}) : std::nullopt;
    if (!part || part->low < -room || part->high > room) return false;
    room -= std::max(-part->low, part->high);
  }
  return true;
}

tir::ExprRef Facts::expr(const Affine& value, tir::DataType type) const {
  const auto atom_expr = [&](const Atom& atom) {
    if (atom.kind == Atom::Kind::var) {
      const tir::ExprRef var = tir::make_var(*module_, atom.var);
      return var->type == type ? var : tir::make_cast(type, var);
    }
    const ExprKind kind = atom.kind == Atom::Kind::quotient ? ExprKind::floor_div : ExprKind::floor_mod;
    return tir::make_binary(kind, expr(*atom.whole, type), tir::make_int(atom.by, type));
  };
  // The largest factors first, as people write indices.
  std::vector<const Terms::Term*> terms;
  for (const auto& term : value.terms) terms.push_back(&term);
  std::stable_sort(terms.begin(), terms.end(), [](const auto* a, const auto* b) { return a->second > b->second; });
  const auto plus = [](ExprRef a, ExprRef b, bool negative) {
    return tir::make_binary(negative ? ExprKind::sub : ExprKind::add, std::move(a), std::move(b));
  };
  // 3 - i rather than i * -1 + 3
  const bool constant_first = !terms.empty() && terms.front()->second < 0;
  ExprRef result = constant_first ? tir::make_int(value.constant, type) : nullptr;
  for (const auto* term : terms) {
    ExprRef part = atom_expr(term->first);
    const bool is_subtracted = result && term->second < 0;
    const std::int64_t factor = is_subtracted ? -term->second : term->second;
    if (factor != 1) part = tir::make_binary(ExprKind::mul, std::move(part), tir::make_int(factor, type));
    result = result ? plus(result, part, is_subtracted) : part;
  }
  if (!result) return tir::make_int(value.constant, type);
  if (value.constant == 0 || constant_first) return result;
  const bool is_subtracted = value.constant < 0;
  return plus(result, tir::make_int(is_subtracted ? -value.constant : value.constant, type), is_subtracted);
}
// NOLINTEND(misc-no-recursion)

// --- Arithmetic ------------------------------------------------------------------------------------------------------

std::optional<Affine> Facts::quotient_or_remainder(Atom::Kind kind, const Affine& value, std::int64_t by) const {
  Affine result;
  if (value.nesting >= max_nesting) return std::nullopt;
  result.terms.add({Atom{.kind = kind, .var = {}, .whole = std::make_shared<Affine>(value), .by = by}, 1});
  result.measure();
  if (result.size > max_size) return std::nullopt;
  return result;
}

std::optional<Division> Facts::divide(const Affine& value, std::int64_t by) const {
  if (by == 1) return Division{value, {}};
  Division result;
  Affine& rest = result.remainder;
  for (const auto& [atom, factor] : value.terms) {
    if (factor % by == 0) {
      result.quotient.terms.add({atom, factor / by});
    } else {
      rest.terms.add({atom, factor});
    }
  }
  result.quotient.constant = floor_quotient(value.constant, by);
  rest.constant = floor_remainder(value.constant, by);
  result.quotient.measure();
  rest.measure();
  const auto reach = interval(rest);
  if (reach && floor_quotient(reach->low, by) == floor_quotient(reach->high, by)) {
    const std::int64_t more = floor_quotient(reach->low, by);
    result.quotient.constant += more;
    rest.constant -= more * by;
    return result;
  }
  const auto more = quotient_or_remainder(Atom::Kind::quotient, rest, by);
  auto left = quotient_or_remainder(Atom::Kind::remainder, rest, by);
  auto quotient = more ? arith::sum(std::move(result.quotient), *more) : std::nullopt;
  if (!quotient || !left) return std::nullopt;
  return Division{std::move(*quotient), std::move(*left)};
}

// c·b·(x / b) + c·(x mod b) is c·x.
Affine Facts::rejoined(Affine value) const {
  for (bool changed = value.nesting > 0; changed;) {
    changed = false;
    for (const auto& [atom, factor] : value.terms) {
      if (atom.kind != Atom::Kind::remainder) continue;
      const auto whole_factor = checked_mul(factor, atom.by);
      const auto quotient =
          value.terms.find(Atom{.kind = Atom::Kind::quotient, .var = {}, .whole = atom.whole, .by = atom.by});
      if (!whole_factor || quotient == value.terms.end() || quotient->second != *whole_factor) continue;
      const auto joined = arith::scaled(*atom.whole, factor);
      if (!joined) continue;
      Affine rest = value;
      rest.terms.erase(quotient->first);
      rest.terms.erase(atom);
      const auto total = arith::sum(rest, *joined);
      if (!total) continue;
      value = *total;
      changed = true;
      break;
    }
  }
  return value;
}

std::optional<Affine> Facts::affine(const Expr& root) const {
  const auto parts = [](const Expr& expr, std::vector<const Expr*>& list) {
    switch (expr.kind) {
      case ExprKind::add:
      case ExprKind::sub:
      case ExprKind::mul:
      case ExprKind::floor_div:
      case ExprKind::floor_mod:
        if (is_index_type(expr.type)) tir::append_operands(expr, list);
        break;
      case ExprKind::cast:
        if (is_index_type(expr.type) && is_index_type(expr.operands[0]->type) &&
            expr.type.bits >= expr.operands[0]->type.bits) {
          tir::append_operands(expr, list);
        }
        break;
      default:
        break;
    }
  };
  const auto combine = [this](const Expr& expr, std::span<std::optional<Affine>> values) -> std::optional<Affine> {
    if (!is_index_type(expr.type)) return std::nullopt;
    if (expr.kind == ExprKind::int_imm) {
      Affine result;
      result.constant = expr.int_value;
      return result;
    }
    if (expr.kind == ExprKind::var) {
      const auto found = bindings_.find(expr.var);
      if (found != bindings_.end() && found->second.value) return found->second.value;
      return variable(expr.var);
    }
    for (const auto& value : values) {
      if (!value) return std::nullopt;
    }
    if (values.empty()) return std::nullopt;
    if (expr.kind == ExprKind::cast) return std::move(values[0]);
    Affine& a = *values[0];
    Affine& b = *values[1];
    switch (expr.kind) {
      case ExprKind::add:
        return arith::sum(std::move(a), b);
      case ExprKind::sub:
        return arith::difference(std::move(a), b);
      case ExprKind::mul:
        if (b.is_constant()) return arith::scaled(std::move(a), b.constant);
        if (a.is_constant()) return arith::scaled(std::move(b), a.constant);
        return std::nullopt;
      case ExprKind::floor_div:
      case ExprKind::floor_mod: {
        if (!b.is_constant() || b.constant < 1) return std::nullopt;
        auto division = divide(a, b.constant);
        if (!division) return std::nullopt;
        return expr.kind == ExprKind::floor_div ? std::move(division->quotient) : std::move(division->remainder);
      }
      default:
        return std::nullopt;
    }
  };
  auto result = tir::fold<std::optional<Affine>>(root, parts, combine);
  return result ? std::optional(rejoined(std::move(*result))) : std::nullopt;
}

tir::ExprRef Facts::simplified(const ExprRef& index) const {
  if (index->kind == ExprKind::int_imm || index->kind == ExprKind::var) return index;
  const auto value = affine(*index);
  return value && fits(*value, index->type) ? expr(*value, index->type) : index;
}

// --- Conditions ------------------------------------------------------------------------------------------------------

std::optional<Bound> bound_of(const Facts& facts, const Expr& comparison) {
  if (!is_order(comparison.kind)) return std::nullopt;
  const auto a = facts.affine(*comparison.operands[0]);
  const auto b = facts.affine(*comparison.operands[1]);
  if (!a || !b) return std::nullopt;
  const bool is_upper = comparison.kind == ExprKind::lt || comparison.kind == ExprKind::le;
  const bool is_strict = comparison.kind == ExprKind::lt || comparison.kind == ExprKind::gt;
  auto value = is_upper ? difference(*a, *b) : difference(*b, *a);
  if (!value) return std::nullopt;
  return Bound{std::move(*value), is_strict ? -1 : 0};
}

std::optional<bool> Facts::truth(const Expr& condition) const {
  if (condition.kind == ExprKind::int_imm) return condition.int_value != 0;
  const auto bound = bound_of(*this, condition);
  const auto reach = bound ? interval(bound->value) : std::nullopt;
  if (!reach) return std::nullopt;
  if (reach->high <= bound->most) return true;
  if (reach->low > bound->most) return false;
  return std::nullopt;
}

ExprRef as_floor(const ExprRef& expr, const Facts& facts) {
  const bool is_quotient = expr->kind == ExprKind::div;
  if (!is_quotient && expr->kind != ExprKind::mod) return nullptr;
  const auto divisor = tir::as_int(*expr->operands[1]);
  const auto value = facts.affine(*expr->operands[0]);
  const auto range = value ? facts.interval(*value) : std::nullopt;
  if (!divisor || *divisor < 1 || !range || range->low < 0) return nullptr;
  return tir::make_binary(is_quotient ? ExprKind::floor_div : ExprKind::floor_mod, expr->operands[0],
                          expr->operands[1]);
}

std::vector<ExprRef> conjuncts(const ExprRef& condition) {
  std::vector<ExprRef> result;
  std::vector<ExprRef> pending = {condition};
  while (!pending.empty()) {
    const ExprRef part = std::move(pending.back());
    pending.pop_back();
    if (part->kind == ExprKind::and_ || is_likely(*part)) {
      for (std::size_t i = part->operands.size(); i-- > 0;) pending.push_back(part->operands[i]);
    } else {
      result.push_back(part);
    }
  }
  return result;
}

}  // namespace usmp::arith
