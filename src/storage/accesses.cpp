// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// Walks a function with what is known of its variables, and reads limits of indices off the branches around.
#include "storage/accesses.hpp"

#include <algorithm>
#include <cstdlib>
#include <numeric>
#include <utility>

#include "usmp/loops/coverage.hpp"
#include "usmp/loops/walk.hpp"
#include "usmp/program/entry_calls.hpp"
#include "usmp/tir/visit.hpp"

namespace usmp::storage {
namespace {

using tir::Expr;
using tir::ExprKind;
using tir::Stmt;
using tir::VarId;

// What the divisors of an index may be for its floor quotient to be the sum.
std::vector<std::int64_t> divisors_of(const arith::Affine& sum) {
  std::vector<std::int64_t> divisors = {1};
  for (const auto& [atom, factor] : sum.terms) {
    if (atom.kind == arith::Atom::Kind::quotient) divisors.push_back(atom.by);
  }
  return divisors;
}

// The indices for which sum <= most holds, if those are all that it says: it is the index's floor quotient by
// something, or the negative one, and a constant.
std::optional<Interval> indices_within(const arith::Bound& bound, const arith::Affine& index,
                                       const arith::Facts& facts) {
  const auto negative = arith::scaled(bound.value, -1);
  if (!negative) return std::nullopt;
  for (const bool is_upper : {true, false}) {
    const arith::Affine& sum = is_upper ? bound.value : *negative;
    for (const std::int64_t by : divisors_of(sum)) {
      const auto division = facts.divide(index, by);
      const auto rest = division ? arith::difference(sum, division->quotient) : std::nullopt;
      if (!rest || !rest->is_constant()) continue;
      // quotient + rest <= most, or -(quotient + rest) <= most
      constexpr std::int64_t far = std::int64_t{1} << 30;
      if (std::abs(rest->constant) > far || std::abs(bound.most) > far || by > far) return std::nullopt;
      if (is_upper) return Interval{INT64_MIN, (bound.most - rest->constant + 1) * by - 1};
      return Interval{(-bound.most - rest->constant) * by, INT64_MAX};
    }
  }
  return std::nullopt;
}

// What the index has of the variables that the sum mentions, without a common factor. Nothing: it is 0.
std::optional<arith::Affine> part_of(const arith::Affine& index, const arith::Affine& sum) {
  arith::Affine part;
  std::int64_t common = 0;
  for (const auto& [atom, factor] : index.terms) {
    if (atom.kind != arith::Atom::Kind::var || !sum.mentions(atom.var)) continue;
    if (factor == INT64_MIN) return std::nullopt;
    part.terms.emplace(atom, factor);
    common = std::gcd(common, factor);
  }
  if (common == 0) return std::nullopt;
  if (part.terms.begin()->second < 0) common = -common;
  arith::Affine result;
  for (const auto& [atom, factor] : part.terms) result.terms.emplace(atom, factor / common);
  result.measure();
  return result;
}

class Collector {
 public:
  explicit Collector(const tir::Module& module) : module_(module), unconditional_(module) {}

  FunctionAccesses run(const tir::Function& function) && {
    arith::Facts facts(module_);
    const loops::Visitor visitor = {
        .before = [this](const Stmt& stmt, const arith::Facts& known) { enter(stmt, known); },
        .after = [this](const Stmt&) { chain_.pop_back(); },
        .expr = [this](const Expr& expr, const arith::Facts& known) { expression(expr, known); },
    };
    loops::visit(function.body, facts, visitor);
    for (const auto& [var, mentions] : mentions_) {
      StorageAccesses& storage = result_.storages[var];
      if (mentions != storage.passed.size()) storage.is_known = false;
    }
    return std::move(result_);
  }

 private:
  void enter(const Stmt& stmt, const arith::Facts& facts) {
    chain_.push_back(&stmt);
    ++order_;
    if (const auto* store = std::get_if<tir::Store>(&stmt.node)) {
      access(store->storage, store->value->type, *store->index, true, store->predicate != nullptr, facts);
    } else if (const auto* loop = std::get_if<tir::For>(&stmt.node)) {
      const auto range = loops::constant_range(*loop);
      if (range) result_.loops.emplace(loop->var, *range);
      unconditional_.bind_interval(loop->var, range);
    } else if (const auto* let = std::get_if<tir::Let>(&stmt.node)) {
      unconditional_.bind_value(let->var, *let->value);
    } else if (const auto call = program::plain_call(stmt)) {
      const auto callee = module_.find(*call->name);
      const bool is_walked = callee && !tir::is_opaque(module_, module_.functions[*callee]) &&
                             module_.functions[*callee].params.size() == call->arguments.size();
      for (std::size_t i = 0; i < call->arguments.size(); ++i) {
        const Expr& argument = *call->arguments[i];
        if (argument.kind != ExprKind::var || !argument.type.is_handle()) continue;
        result_.storages[argument.var].passed.push_back({is_walked ? callee : std::nullopt, i, chain_, order_});
      }
    }
  }

  void expression(const Expr& expr, const arith::Facts& facts) {
    if (expr.kind == ExprKind::var && expr.type.is_handle()) ++mentions_[expr.var];
    if (expr.kind == ExprKind::load) {
      access(expr.var, expr.type, *expr.operands[0], false, expr.operands.size() != 1, facts);
    }
    const bool asks = expr.op == tir::Op::isnullptr && expr.operands[0]->kind == ExprKind::var;
    if (asks) --mentions_[expr.operands[0]->var];  // nothing of it is accessed
    if (expr.kind != ExprKind::call || expr.op != tir::Op::address_of) return;
    for (const tir::ExprRef& operand : expr.operands) {
      if (operand->kind == ExprKind::load) result_.storages[operand->var].is_known = false;
    }
  }

  void access(VarId var, tir::DataType type, const Expr& index, bool is_store, bool has_predicate,
              const arith::Facts& facts) {
    StorageAccesses& storage = result_.storages[var];
    if (has_predicate || type.is_vector() || index.type.is_vector()) storage.is_known = false;
    if (!storage.is_known) return;
    Access access;
    access.is_store = is_store;
    access.type = type;
    access.index = facts.affine(index);
    access.chain = chain_;
    access.order = order_;
    if (access.index) {
      note_limits(access);
      std::optional<Interval> elements = facts.interval(*access.index);
      for (const Limit& limit : access.limits) {
        if (!limit.part) elements = elements ? intersection(*elements, limit.interval) : std::nullopt;
      }
      access.is_in_front = elements && elements->low < 0;
      if (elements && elements->low >= 0) access.bytes = in_bytes(elements, access.width());
    }
    storage.accesses.push_back(std::move(access));
  }

  void note_limits(Access& access) const {
    for (std::size_t i = 0; i + 1 < chain_.size(); ++i) {
      const auto* branch = std::get_if<tir::IfThenElse>(&chain_[i]->node);
      if (branch == nullptr || !stands_in(chain_[i + 1], branch->then_body)) continue;
      std::vector<Limit> limits;
      bool is_known = true;
      for (const tir::ExprRef& condition : arith::conjuncts(branch->condition)) {
        const auto limit = limit_of(*condition, *access.index);
        is_known = is_known && limit.has_value();
        if (!is_known) break;
        limits.push_back(*limit);
        limits.back().branch = chain_[i];
      }
      if (is_known) access.limits.insert(access.limits.end(), limits.begin(), limits.end());
    }
  }

  // Nothing: the condition says something else.
  [[nodiscard]] std::optional<Limit> limit_of(const Expr& condition, const arith::Affine& index) const {
    const auto bound = arith::bound_of(unconditional_, condition);
    if (!bound) return std::nullopt;
    if (const auto whole = indices_within(*bound, index, unconditional_)) return Limit{nullptr, std::nullopt, *whole};
    auto part = part_of(index, bound->value);
    const auto within = part ? indices_within(*bound, *part, unconditional_) : std::nullopt;
    return within ? std::optional(Limit{nullptr, std::move(part), *within}) : std::nullopt;
  }

  const tir::Module& module_;
  arith::Facts unconditional_;  // what holds wherever the variables are known, whatever conditions say
  FunctionAccesses result_;
  std::map<VarId, std::size_t> mentions_;
  std::vector<const Stmt*> chain_;
  std::size_t order_ = 0;
};

}  // namespace

bool stands_in(const Stmt* stmt, const tir::Block& block) {
  return !block.empty() && stmt >= &block.front() && stmt <= &block.back();
}

bool Access::is_limited_by(const tir::Stmt* branch) const {
  return std::ranges::find(limits, branch, &Limit::branch) != limits.end();
}

FunctionAccesses accesses_of(const tir::Module& module, const tir::Function& function) {
  return Collector(module).run(function);
}

}  // namespace usmp::storage
