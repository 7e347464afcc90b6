// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// Binds and assumes on the way into a block or value, and restores the facts on the way out.
#include "usmp/loops/walk.hpp"

#include <algorithm>
#include <functional>
#include <span>
#include <utility>
#include <vector>

#include "usmp/tir/visit.hpp"

namespace usmp::loops {

using tir::Expr;
using tir::ExprRef;

namespace {

// The condition of if_then_else holds while its first value is walked, and does not while the other one is. To be
// called before each operand, and once all are done; `condition` as it is then.
class Choices {
 public:
  explicit Choices(arith::Facts& facts) : facts_(facts) {}

  void before_operand(const Expr& expr, std::size_t i, const Expr* condition) {
    if (!tir::is_if_then_else(expr)) return;
    if (i == 2) leave(expr);
    if (i == 0) return;
    marks_.push_back(facts_.mark());
    facts_.assume(*condition, i == 1);
  }

  void leave(const Expr& expr) {
    if (!tir::is_if_then_else(expr)) return;
    facts_.restore(marks_.back());
    marks_.pop_back();
  }

 private:
  arith::Facts& facts_;
  std::vector<std::size_t> marks_;
};

// What holds in a body of the statement.
void enter(const tir::Stmt& stmt, const tir::Block& block, arith::Facts& facts) {
  if (const auto* loop = std::get_if<tir::For>(&stmt.node)) facts.bind_loop(*loop);
  const auto* branch = std::get_if<tir::IfThenElse>(&stmt.node);
  if (branch != nullptr) facts.assume(*branch->condition, &block == &branch->then_body);
}

Visitor visitor_of(const VisitAccess& visit_access) {
  const auto before = [&visit_access](const tir::Stmt& stmt, const arith::Facts& here) {
    const auto* store = std::get_if<tir::Store>(&stmt.node);
    if (store != nullptr) visit_access(store->storage, *store->index, true, here);
  };
  const auto expr = [&visit_access](const Expr& part, const arith::Facts& here) {
    if (part.kind == tir::ExprKind::load) visit_access(part.var, *part.operands[0], false, here);
  };
  return {.before = before, .after = {}, .expr = expr};
}

}  // namespace

void bind_after(const tir::Stmt& stmt, arith::Facts& facts) {
  if (const auto* let = std::get_if<tir::Let>(&stmt.node)) facts.bind_value(let->var, *let->value);
}

void visit(const Expr& root, arith::Facts& facts, const VisitExpr& visit_expr) {
  struct Nothing {};
  Choices choices(facts);
  tir::fold<Nothing>(
      root, tir::append_operands,
      [&](const Expr& expr, std::size_t i, std::span<Nothing>) {
        choices.before_operand(expr, i, expr.operands[0].get());
      },
      [&](const Expr& expr, std::span<Nothing>) {
        choices.leave(expr);
        visit_expr(expr, facts);
        return Nothing();
      });
}

// NOLINTBEGIN(misc-no-recursion): a level a block; the reader bounds those.
void visit(const tir::Stmt& root, arith::Facts& facts, const Visitor& visitor) {
  if (visitor.before) visitor.before(root, facts);
  if (visitor.expr) tir::for_each_expr_of(root, [&](const ExprRef& expr) { visit(*expr, facts, visitor.expr); });
  for (const tir::Block* block : tir::blocks_of(root)) {
    const std::size_t mark = facts.mark();
    enter(root, *block, facts);
    visit(*block, facts, visitor);
    facts.restore(mark);
  }
  if (visitor.after) visitor.after(root);
  bind_after(root, facts);
}

void visit(const tir::Block& root, arith::Facts& facts, const Visitor& visitor) {
  for (const tir::Stmt& stmt : root) visit(stmt, facts, visitor);
}
// NOLINTEND(misc-no-recursion)

void visit_accesses(const tir::Block& root, arith::Facts& facts, const VisitAccess& visit_access) {
  visit(root, facts, visitor_of(visit_access));
}

void visit_accesses(const tir::Stmt& root, arith::Facts& facts, const VisitAccess& visit_access) {
  visit(root, facts, visitor_of(visit_access));
}

ExprRef rewritten(const ExprRef& root, arith::Facts& facts, const RewriteExpr& rewrite) {
  // Null stands for an expression that stays as it is: then nothing above it need be made anew.
  // Every node as it is, sorted by address to be looked up.
  std::vector<const ExprRef*> kept = {&root};
  tir::for_each_expr(*root, [&](const Expr& expr) {
    for (const ExprRef& operand : expr.operands) kept.push_back(&operand);
  });
  const auto address = [](const ExprRef* expr) { return expr->get(); };
  std::ranges::sort(kept, std::less<>(), address);
  Choices choices(facts);
  const auto before = [&](const Expr& expr, std::size_t i, std::span<ExprRef> values) {
    choices.before_operand(expr, i, i > 0 && values[0] ? values[0].get() : expr.operands[0].get());
  };
  const auto combine = [&](const Expr& expr, std::span<ExprRef> values) -> ExprRef {
    choices.leave(expr);
    bool changed = false;
    for (const ExprRef& value : values) changed = changed || value;
    const ExprRef current =
        changed ? tir::with_operands(expr, values) : **std::ranges::lower_bound(kept, &expr, std::less<>(), address);
    ExprRef result = rewrite(current, facts);
    if (result) return result;
    return changed ? current : nullptr;
  };
  ExprRef result = tir::fold<ExprRef>(*root, tir::append_operands, before, combine);
  return result ? result : root;
}

// NOLINTBEGIN(misc-no-recursion): a level a block; the reader bounds those.
void rewrite(tir::Stmt& stmt, arith::Facts& facts, const RewriteExpr& change) {
  tir::for_each_expr_of(stmt, [&](ExprRef& expr) { expr = rewritten(expr, facts, change); });
  for (tir::Block* block : tir::blocks_of(stmt)) {
    const std::size_t mark = facts.mark();
    enter(stmt, *block, facts);
    for (tir::Stmt& inner : *block) rewrite(inner, facts, change);
    facts.restore(mark);
  }
  bind_after(stmt, facts);
}

void edit(tir::Block& root, arith::Facts& facts, const BlockEdit& change) {
  for (std::size_t i = 0; i < root.size(); ++i) {
    Next next = change.before(root, i, facts);
    while (next == Next::again && i < root.size()) next = change.before(root, i, facts);
    if (next == Next::again) return;
    if (next == Next::enter) {
      for (tir::Block* block : tir::blocks_of(root[i])) {
        const std::size_t mark = facts.mark();
        enter(root[i], *block, facts);
        edit(*block, facts, change);
        facts.restore(mark);
      }
      if (change.after) change.after(root, i, facts);
    }
    bind_after(root[i], facts);
  }
}
// NOLINTEND(misc-no-recursion)

}  // namespace usmp::loops
