// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// Rebuilds expressions bottom-up; what does not change stays shared.
#include "usmp/loops/edit.hpp"

#include <algorithm>
#include <cstdint>
#include <limits>
#include <span>
#include <utility>
#include <vector>

#include "usmp/loops/accesses.hpp"
#include "usmp/loops/walk.hpp"
#include "usmp/support/checked.hpp"
#include "usmp/tir/visit.hpp"

namespace usmp::loops {
namespace {

using tir::Expr;
using tir::ExprKind;
using tir::ExprRef;

bool is_comparison(ExprKind kind) { return kind >= ExprKind::eq && kind <= ExprKind::ge; }

ExprRef decided(const ExprRef& expr, const arith::Facts& facts) {
  const auto constant = [](bool value) { return tir::make_int(value ? 1 : 0, tir::bool_type); };
  if (is_comparison(expr->kind)) {
    if (const auto truth = facts.truth(*expr)) return constant(*truth);
    Expr copy = *expr;
    for (ExprRef& operand : copy.operands) operand = facts.simplified(operand);
    return tir::make_expr(std::move(copy));
  }
  if (expr->kind == ExprKind::and_ || expr->kind == ExprKind::or_) {
    const bool neutral = expr->kind == ExprKind::and_;
    for (std::size_t i = 0; i < 2; ++i) {
      const auto value = tir::as_int(*expr->operands[i]);
      if (value && (*value != 0) == neutral) return expr->operands[1 - i];
      if (value && tir::is_pure(*expr->operands[1 - i])) return expr->operands[i];
    }
  }
  if (tir::is_if_then_else(*expr)) {
    if (const auto value = tir::as_int(*expr->operands[0])) return expr->operands[*value != 0 ? 1 : 2];
  }
  return nullptr;
}

bool is_narrow_integer(tir::DataType type) { return type.is_integer() && type.bits < 32; }

// Whether the value is one of its type also in C.
bool is_cut(const Expr& root) {
  std::vector<const Expr*> pending = {&root};
  while (!pending.empty()) {
    const Expr& value = *pending.back();
    pending.pop_back();
    const bool is_truth = is_comparison(value.kind) || value.kind == ExprKind::and_ || value.kind == ExprKind::or_ ||
                          value.kind == ExprKind::not_;
    if (tir::is_if_then_else(value)) {
      pending.push_back(value.operands[1].get());
      pending.push_back(value.operands[2].get());
    } else if (!is_truth && value.kind != ExprKind::load && value.kind != ExprKind::cast &&
               value.kind != ExprKind::int_imm) {
      return false;
    }
  }
  return true;
}

// Renames in the statement itself, not in the blocks inside.
void rename_own(tir::Stmt& stmt, const Substitution& values) {
  tir::for_each_expr_of(stmt, [&](ExprRef& expr) { expr = renamed(expr, values); });
}

// The load with another index. Its predicate stays.
ExprRef with_index(tir::Expr load, ExprRef index) {
  load.operands[0] = std::move(index);
  return tir::make_expr(std::move(load));
}

}  // namespace

ExprRef substituted(const ExprRef& root, arith::Facts& facts, const Substitution& values) {
  return rewritten(root, facts, [&](const ExprRef& expr, const arith::Facts& here) -> ExprRef {
    if (expr->kind == ExprKind::var) {
      const auto found = values.find(expr->var);
      return found == values.end() ? nullptr : found->second;
    }
    if (expr->kind == ExprKind::load) {
      ExprRef index = here.simplified(expr->operands[0]);
      return index == expr->operands[0] ? nullptr : with_index(*expr, std::move(index));
    }
    return decided(expr, here);
  });
}

ExprRef renamed(const ExprRef& root, const Substitution& values) {
  // Null stands for an expression that stays as it is.
  const auto combine = [&](const Expr& expr, std::span<ExprRef> operands) -> ExprRef {
    if (expr.kind == ExprKind::var) {
      const auto found = values.find(expr.var);
      return found == values.end() ? nullptr : found->second;
    }
    const bool changed = std::ranges::any_of(operands, [](const ExprRef& operand) { return operand != nullptr; });
    return changed ? tir::with_operands(expr, operands) : nullptr;
  };
  ExprRef result = tir::fold<ExprRef>(*root, tir::append_operands, combine);
  return result ? result : root;
}

// NOLINTBEGIN(misc-no-recursion): a level a block; the reader bounds those.
void rename(tir::Stmt& stmt, const Substitution& values) {
  rename_own(stmt, values);
  for (tir::Block* block : tir::blocks_of(stmt)) rename(*block, values);
}

void rename(tir::Block& block, const Substitution& values) {
  for (tir::Stmt& stmt : block) rename(stmt, values);
}

bool expand_lets(tir::Block& block, Substitution known) {
  tir::Block kept;
  for (tir::Stmt& stmt : block) {
    rename_own(stmt, known);
    bool is_small = true;
    tir::for_each_expr_of(
        stmt, [&](const ExprRef& expr) { is_small = is_small && tree_size(*expr) <= max_expression_nodes; });
    if (!is_small) return false;
    const auto* let = std::get_if<tir::Let>(&stmt.node);
    if (let != nullptr && loaded_by(*let->value).empty()) {
      ExprRef value = as_stored(let->value);
      if (!value) return false;
      known[let->var] = std::move(value);
      continue;
    }
    for (tir::Block* inner : tir::blocks_of(stmt)) {
      if (!expand_lets(*inner, known)) return false;
    }
    kept.push_back(std::move(stmt));
  }
  block = std::move(kept);
  return true;
}
// NOLINTEND(misc-no-recursion)

ExprRef as_stored(ExprRef value) {
  if (!is_narrow_integer(value->type) || is_cut(*value)) return value;
  if (value->type.is_bool()) return nullptr;  // a cast to bool is none in C
  const tir::DataType type = value->type;
  return tir::make_cast(type, std::move(value));
}

std::size_t tree_size(const Expr& root) {
  if (root.operands.empty()) return 1;
  std::size_t size = 0;
  // Not for_each_expr, which goes on beside what is kept out.
  std::vector<const Expr*> pending = {&root};
  while (!pending.empty() && size <= max_expression_nodes) {
    const Expr& expr = *pending.back();
    pending.pop_back();
    ++size;
    tir::append_operands(expr, pending);
  }
  return size;
}

tir::VarId fresh_var(tir::Module& module, std::string name, tir::DataType type) {
  module.vars.push_back({std::move(name), type, {}, {}});
  return tir::VarId(module.vars.size() - 1);
}

void freshen(tir::Stmt& root, tir::Module& module) {
  Substitution values;
  const auto renew = [&](tir::Stmt& stmt) {
    auto* loop = std::get_if<tir::For>(&stmt.node);
    auto* let = std::get_if<tir::Let>(&stmt.node);
    if (loop == nullptr && let == nullptr) return;
    tir::VarId& var = loop != nullptr ? loop->var : let->var;
    const tir::VarId old = var;
    module.vars.push_back(module.var(old));
    var = tir::VarId(module.vars.size() - 1);
    values[old] = tir::make_var(module, var);
  };
  std::vector<tir::Stmt*> pending = {&root};
  while (!pending.empty()) {
    tir::Stmt& stmt = *pending.back();
    pending.pop_back();
    renew(stmt);
    for (tir::Block* block : tir::blocks_of(stmt)) {
      for (tir::Stmt& inner : *block) pending.push_back(&inner);
    }
  }
  rename(root, values);
}

tir::For split(tir::Module& module, const tir::For& loop, std::int64_t outer) {
  const tir::DataType type = module.var(loop.var).type;
  const std::int64_t inner = *tir::as_int(*loop.extent) / outer;
  const std::string name = module.var(loop.var).name;
  const tir::VarId high = fresh_var(module, name + ".outer", type);
  const tir::VarId low = fresh_var(module, name + ".inner", type);
  const ExprRef scaled = tir::make_binary(ExprKind::mul, tir::make_var(module, high), tir::make_int(inner, type));
  const ExprRef value = tir::make_binary(ExprKind::add, scaled, tir::make_var(module, low));
  tir::Block body = loop.body;
  rename(body, {{loop.var, value}});
  tir::For inside{low, tir::make_int(0, type), tir::make_int(inner, type), std::move(body)};
  tir::For outside{high, tir::make_int(0, type), tir::make_int(outer, type), {}};
  outside.body.push_back(tir::Stmt{std::move(inside)});
  return outside;
}

std::optional<JoinedLoops> joined(tir::Module& module, const tir::For& outer, const tir::For& inner, std::string name) {
  const auto count = checked_mul(*tir::as_int(*outer.extent), *tir::as_int(*inner.extent));
  if (!count || *count > std::numeric_limits<std::int32_t>::max()) return std::nullopt;
  const tir::VarId var = fresh_var(module, std::move(name), tir::int32_type);
  const ExprRef whole = tir::make_var(module, var);
  return JoinedLoops{{var, tir::make_int(0), tir::make_int(*count), {}},
                     {{outer.var, tir::make_binary(ExprKind::floor_div, whole, inner.extent)},
                      {inner.var, tir::make_binary(ExprKind::floor_mod, whole, inner.extent)}}};
}

void rewrite_indices(tir::Stmt& root, tir::VarId storage, arith::Facts& facts,
                     const std::function<ExprRef(const ExprRef& index, const arith::Facts& facts)>& change) {
  rewrite(root, facts, [&](const ExprRef& expr, const arith::Facts& here) -> ExprRef {
    if (expr->kind != ExprKind::load || expr->var != storage) return nullptr;
    return with_index(*expr, change(expr->operands[0], here));
  });
  const auto before = [&](tir::Block& block, std::size_t& at, const arith::Facts& here) {
    auto* store = std::get_if<tir::Store>(&block[at].node);
    if (store != nullptr && store->storage == storage) store->index = change(store->index, here);
    return Next::enter;
  };
  tir::Block block;
  block.push_back(std::move(root));
  edit(block, facts, {.before = before, .after = {}});
  root = std::move(block.front());
}

void rewrite_expressions(tir::Block& block, const std::function<ExprRef(const ExprRef&)>& change) {
  tir::ExprRewriter rewriter(change);
  tir::for_each_block(block, [&](tir::Block& next) {
    for (tir::Stmt& stmt : next) tir::for_each_expr_of(stmt, [&](ExprRef& expr) { expr = rewriter.rewritten(expr); });
  });
}

void erase_allocates(tir::Block& root, const std::set<tir::VarId>& vars) {
  tir::for_each_block(root, [&](tir::Block& block) {
    std::erase_if(block, [&](const tir::Stmt& stmt) {
      const auto* allocate = std::get_if<tir::Allocate>(&stmt.node);
      return allocate != nullptr && vars.contains(allocate->var);
    });
  });
}

}  // namespace usmp::loops
