// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// Finds what each loop adds to a variable, and replaces its loads.
#include "tvm_c/body/induction.hpp"

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <utility>
#include <variant>
#include <vector>

#include "usmp/support/checked.hpp"
#include "usmp/tir/visit.hpp"

namespace usmp::tvm_c {
namespace {

using tir::Block;
using tir::Expr;
using tir::ExprKind;
using tir::ExprRef;
using tir::Stmt;
using tir::VarId;

constexpr std::size_t max_nodes = 64;       // of a value that is put in the place of loads
constexpr std::size_t max_variables = 256;  // of a function

bool is_sum(std::int64_t value) { return value >= INT32_MIN && value <= INT32_MAX; }

// What statements do to a variable: they add a number to it. Nothing: something else.
using Effect = std::optional<std::int64_t>;
using Effects = std::map<VarId, Effect>;  // of variables that they store to

void then(Effects& first, const Effects& second) {
  for (const auto& [var, effect] : second) {
    const auto [known, is_new] = first.emplace(var, effect);
    if (is_new) continue;
    known->second = known->second && effect ? checked_add(*known->second, *effect) : std::nullopt;
    if (known->second && !is_sum(*known->second)) known->second.reset();
  }
}

// base + constant, each the value that C computes after so many of its additions.
struct State {
  ExprRef base;  // loads nothing; null: 0
  std::int64_t constant = 0;
};
using States = std::map<VarId, State>;  // of variables whose value is known

class Inductions {
 public:
  Inductions(const tir::Module& module, tir::Function& function) : module_(module), function_(function) {}

  void run() {
    find_variables();
    if (variables_.empty() || variables_.size() > max_variables) return;
    States states;
    rewrite(function_.body, states);
  }

 private:
  void find_variables() {
    tir::for_each_stmt(function_.body, [&](const Stmt& stmt) {
      const auto* allocate = std::get_if<tir::Allocate>(&stmt.node);
      const bool is_one = allocate != nullptr && allocate->extents.empty() && allocate->type == tir::int32_type;
      if (is_one) variables_.insert(allocate->var);
    });
    if (variables_.empty()) return;
    tir::for_each_expr_in(function_.body, [&](const Expr& expr) {
      if (expr.kind == ExprKind::var) variables_.erase(expr.var);
      if (expr.op == tir::Op::address_of && expr.kind == ExprKind::call) variables_.erase(expr.operands[0]->var);
    });
  }

  // --- Effects -------------------------------------------------------------------------------------------------------

  // x = x + 3
  [[nodiscard]] Effect effect_of(const tir::Store& store) const {
    const Expr& value = *store.value;
    if (value.kind != ExprKind::add && value.kind != ExprKind::sub) return std::nullopt;
    const auto is_own = [&](const Expr& expr) { return expr.kind == ExprKind::load && expr.var == store.storage; };
    const auto second = tir::as_int(*value.operands[1]);
    if (is_own(*value.operands[0]) && second) return value.kind == ExprKind::add ? *second : -*second;
    const auto first = tir::as_int(*value.operands[0]);
    return value.kind == ExprKind::add && first && is_own(*value.operands[1]) ? Effect(*first) : std::nullopt;
  }

  // NOLINTNEXTLINE(misc-no-recursion): blocks are at most Limits::block_depth deep
  const Effects& effects_of(const Block& block) {
    const auto known = effects_.find(&block);
    if (known != effects_.end()) return known->second;
    Effects effects;
    for (const Stmt& stmt : block) then(effects, effects_of(stmt));
    return effects_.emplace(&block, std::move(effects)).first->second;
  }

  // NOLINTNEXTLINE(misc-no-recursion): as above
  Effects effects_of(const Stmt& stmt) {
    if (const auto* store = std::get_if<tir::Store>(&stmt.node)) {
      if (!variables_.contains(store->storage)) return {};
      return {{store->storage, effect_of(*store)}};
    }
    if (const auto* loop = std::get_if<tir::For>(&stmt.node)) {
      Effects effects = effects_of(loop->body);
      const auto count = count_of(*loop);
      for (auto& [var, effect] : effects) {
        const auto all = count && effect ? checked_mul(*effect, *count) : std::nullopt;
        effect = all && is_sum(*all) ? all : std::nullopt;
      }
      return effects;
    }
    if (const auto* branch = std::get_if<tir::IfThenElse>(&stmt.node)) {
      Effects effects = effects_of(branch->then_body);
      Effects others = effects_of(branch->else_body);
      for (auto& [var, effect] : effects) {
        const auto other = others.find(var);
        if (other == others.end() ? effect != 0 : other->second != effect) effect.reset();
      }
      for (const auto& [var, effect] : others) effects.try_emplace(var, effect == 0 ? effect : std::nullopt);
      return effects;
    }
    if (const auto* loop = std::get_if<tir::While>(&stmt.node)) {
      Effects effects = effects_of(loop->body);
      for (auto& [var, effect] : effects) effect.reset();
      return effects;
    }
    Effects effects;
    for (const Block* block : tir::blocks_of(stmt)) then(effects, effects_of(*block));
    return effects;
  }

  static std::optional<std::int64_t> count_of(const tir::For& loop) {
    const auto min = tir::as_int(*loop.min);
    const auto extent = tir::as_int(*loop.extent);
    return min && extent && *extent >= 0 ? extent : std::nullopt;
  }

  // --- Values --------------------------------------------------------------------------------------------------------

  [[nodiscard]] static ExprRef value_of(const State& state) {
    if (state.base == nullptr) return tir::make_int(state.constant);
    if (state.constant == 0) return state.base;
    const ExprRef number = tir::make_int(state.constant > 0 ? state.constant : -state.constant);
    return tir::make_binary(state.constant > 0 ? ExprKind::add : ExprKind::sub, state.base, number);
  }

  // In an iteration of the loop, each of which adds the number.
  [[nodiscard]] ExprRef moved(const State& state, const tir::For& loop, std::int64_t by) const {
    ExprRef counter = tir::make_var(module_, loop.var);
    if (counter->type != tir::int32_type) counter = tir::make_cast(tir::int32_type, counter);
    const std::int64_t min = *tir::as_int(*loop.min);
    if (min != 0) counter = tir::make_binary(ExprKind::sub, counter, tir::make_int(min));
    if (by != 1) counter = tir::make_binary(ExprKind::mul, counter, tir::make_int(by));
    if (state.base == nullptr && state.constant == 0) return counter;
    return tir::make_binary(ExprKind::add, value_of(state), counter);
  }

  ExprRef replaced(const ExprRef& root, const States& states) const {
    if (states.empty()) return root;
    tir::ExprRewriter rewriter([&](const ExprRef& expr) -> ExprRef {
      const auto known = expr->kind == ExprKind::load ? states.find(expr->var) : states.end();
      return known == states.end() ? nullptr : value_of(known->second);
    });
    return rewriter.rewritten(root);
  }

  static void add(States& states, VarId var, const Effect& effect) {
    const auto state = states.find(var);
    if (state == states.end()) return;
    const auto sum = effect ? checked_add(state->second.constant, *effect) : std::nullopt;
    if (sum && is_sum(*sum)) {
      state->second.constant = *sum;
    } else {
      states.erase(state);
    }
  }

  static void add_all(States& states, const Effects& effects) {
    for (const auto& [var, effect] : effects) add(states, var, effect);
  }

  // What is stored.
  void store(States& states, VarId var, const ExprRef& value, const Effect& effect) const {
    if (effect && states.contains(var)) return add(states, var, effect);
    states.erase(var);
    std::size_t nodes = 0;
    bool loads = false;
    tir::for_each_expr(*value, [&](const Expr& expr) {
      ++nodes;
      loads = loads || expr.kind == ExprKind::load || expr.kind == ExprKind::call;
    });
    if (loads || nodes > max_nodes || value->type != tir::int32_type) return;
    if (const auto number = tir::as_int(*value)) {
      states[var] = {nullptr, *number};
    } else {
      states[var] = {value, 0};
    }
  }

  // NOLINTNEXTLINE(misc-no-recursion): as above
  void rewrite(Block& block, States& states) {
    for (Stmt& stmt : block) {
      if (auto* store_to = std::get_if<tir::Store>(&stmt.node)) {
        const Effect effect = variables_.contains(store_to->storage) ? effect_of(*store_to) : std::nullopt;
        tir::for_each_expr_of(stmt, [&](ExprRef& expr) { expr = replaced(expr, states); });
        if (variables_.contains(store_to->storage)) store(states, store_to->storage, store_to->value, effect);
      } else if (auto* loop = std::get_if<tir::For>(&stmt.node)) {
        tir::for_each_expr_of(stmt, [&](ExprRef& expr) { expr = replaced(expr, states); });
        rewrite_loop(*loop, states);
      } else if (auto* endless = std::get_if<tir::While>(&stmt.node)) {
        for (const auto& [var, effect] : effects_of(endless->body)) states.erase(var);
        endless->condition = replaced(endless->condition, states);
        States inside = states;
        rewrite(endless->body, inside);
      } else {
        if (const auto* allocate = std::get_if<tir::Allocate>(&stmt.node)) states.erase(allocate->var);
        tir::for_each_expr_of(stmt, [&](ExprRef& expr) { expr = replaced(expr, states); });
        const Effects effects = effects_of(stmt);
        for (Block* inner : tir::blocks_of(stmt)) {
          States inside = states;
          rewrite(*inner, inside);
        }
        add_all(states, effects);
      }
    }
  }

  // NOLINTNEXTLINE(misc-no-recursion): as above
  void rewrite_loop(tir::For& loop, States& states) {
    const Effects effects = effects_of(loop.body);
    const auto min = tir::as_int(*loop.min);
    const auto count = count_of(loop);
    States inside = states;
    for (const auto& [var, effect] : effects) {
      const auto state = inside.find(var);
      if (state == inside.end()) continue;
      const auto all = count && effect ? checked_mul(*effect, *count) : std::nullopt;
      if (!all || !is_sum(*all) || !is_sum(*min) || !is_sum(*min + *count)) {
        inside.erase(state);
      } else if (*effect != 0) {
        state->second = {moved(state->second, loop, *effect), 0};
      }
    }
    rewrite(loop.body, inside);
    for (const auto& [var, effect] : effects) {
      const auto all = count && effect ? checked_mul(*effect, *count) : std::nullopt;
      add(states, var, all && is_sum(*all) ? all : std::nullopt);
    }
  }

  const tir::Module& module_;
  tir::Function& function_;
  std::set<VarId> variables_;
  std::map<const Block*, Effects> effects_;  // as the source has them: before anything is replaced
};

}  // namespace

void replace_inductions(const tir::Module& module, tir::Function& function) { Inductions(module, function).run(); }

}  // namespace usmp::tvm_c
