#include "transform/rewrite.hpp"

#include <span>
#include <utility>
#include <vector>

#include "transform/simple_function.hpp"
#include "usmp/tir/visit.hpp"

namespace usmp::transform {
namespace {

using tir::Expr;
using tir::ExprKind;
using tir::ExprRef;

ExprRef with_operands(const Expr& expr, std::span<ExprRef> changed) {
  Expr copy = expr;
  for (std::size_t i = 0; i < changed.size(); ++i) {
    if (changed[i]) copy.operands[i] = std::move(changed[i]);
  }
  return tir::make_expr(std::move(copy));
}

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
      if (value && is_pure(*expr->operands[1 - i])) return expr->operands[i];
    }
  }
  if (is_if_then_else(*expr)) {
    if (const auto value = tir::as_int(*expr->operands[0])) return expr->operands[*value != 0 ? 1 : 2];
  }
  return nullptr;
}

}  // namespace

bool is_if_then_else(const Expr& expr) {
  return expr.kind == ExprKind::call && expr.op == tir::Op::if_then_else && expr.operands.size() == 3;
}

ExprRef rewritten(const ExprRef& root, arith::Facts& facts, const RewriteExpr& rewrite) {
  std::vector<std::size_t> marks;
  // Null stands for an expression that stays as it is: then nothing above it need be made anew.
  std::map<const Expr*, ExprRef> kept;
  tir::for_each_expr(*root, [&](const Expr& expr) {
    for (const ExprRef& operand : expr.operands) kept.emplace(operand.get(), operand);
  });
  kept.emplace(root.get(), root);
  const auto before = [&](const Expr& expr, std::size_t i, std::span<ExprRef> values) {
    if (!is_if_then_else(expr)) return;
    if (i == 1) {
      marks.push_back(facts.mark());
      facts.assume(values[0] ? *values[0] : *expr.operands[0]);
    } else if (i == 2) {
      facts.restore(marks.back());
      marks.pop_back();
    }
  };
  const auto combine = [&](const Expr& expr, std::span<ExprRef> values) -> ExprRef {
    bool changed = false;
    for (const ExprRef& value : values) changed = changed || value;
    const ExprRef current = changed ? with_operands(expr, values) : kept.at(&expr);
    ExprRef result = rewrite(current, facts);
    if (result) return result;
    return changed ? current : nullptr;
  };
  ExprRef result = tir::fold<ExprRef>(*root, tir::append_operands, before, combine);
  return result ? result : root;
}

void bind_after(const tir::Stmt& stmt, arith::Facts& facts) {
  if (const auto* let = std::get_if<tir::Let>(&stmt.node)) facts.bind_value(let->var, *let->value);
}

// NOLINTBEGIN(misc-no-recursion): a level a block; the reader bounds those.
void rewrite(tir::Stmt& stmt, arith::Facts& facts, const RewriteExpr& change) {
  tir::for_each_expr_of(stmt, [&](ExprRef& expr) { expr = rewritten(expr, facts, change); });
  const std::size_t outside = facts.mark();
  if (const auto* loop = std::get_if<tir::For>(&stmt.node)) facts.bind_loop(*loop);
  const auto* branch = std::get_if<tir::IfThenElse>(&stmt.node);
  for (tir::Block* block : tir::blocks_of(stmt)) {
    const std::size_t mark = facts.mark();
    if (branch != nullptr && block == &branch->then_body) facts.assume(*branch->condition);
    for (tir::Stmt& inner : *block) rewrite(inner, facts, change);
    facts.restore(mark);
  }
  facts.restore(outside);
  bind_after(stmt, facts);
}
// NOLINTEND(misc-no-recursion)

ExprRef substituted(const ExprRef& root, arith::Facts& facts, const Substitution& values) {
  return rewritten(root, facts, [&](const ExprRef& expr, const arith::Facts& here) -> ExprRef {
    if (expr->kind == ExprKind::var) {
      const auto found = values.find(expr->var);
      return found == values.end() ? nullptr : found->second;
    }
    if (expr->kind == ExprKind::load) {
      ExprRef index = here.simplified(expr->operands[0]);
      return index == expr->operands[0] ? nullptr : tir::make_load(expr->type, expr->var, std::move(index));
    }
    return decided(expr, here);
  });
}

ExprRef renamed(const ExprRef& root, const Substitution& values) {
  std::vector<ExprRef> changed;
  return tir::fold<ExprRef>(*root, tir::append_operands, [&](const Expr& expr, std::span<ExprRef> operands) -> ExprRef {
    if (expr.kind == ExprKind::var) {
      const auto found = values.find(expr.var);
      return found == values.end() ? tir::make_expr(expr) : found->second;
    }
    return with_operands(expr, operands);
  });
}

namespace {

// Of the statement itself, not of the blocks inside.
void rename_own(tir::Stmt& stmt, const Substitution& values) {
  tir::for_each_expr_of(stmt, [&](ExprRef& expr) { expr = renamed(expr, values); });
}

}  // namespace

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

namespace {

bool is_narrow_integer(tir::DataType type) { return type.is_integer() && type.bits < 32; }

// Whether the value is one of its type also in C.
bool is_cut(const Expr& root) {
  std::vector<const Expr*> pending = {&root};
  while (!pending.empty()) {
    const Expr& value = *pending.back();
    pending.pop_back();
    const bool is_truth = is_comparison(value.kind) || value.kind == ExprKind::and_ || value.kind == ExprKind::or_ ||
                          value.kind == ExprKind::not_;
    if (is_if_then_else(value)) {
      pending.push_back(value.operands[1].get());
      pending.push_back(value.operands[2].get());
    } else if (!is_truth && value.kind != ExprKind::load && value.kind != ExprKind::cast &&
               value.kind != ExprKind::int_imm) {
      return false;
    }
  }
  return true;
}

}  // namespace

ExprRef as_stored(ExprRef value) {
  if (!is_narrow_integer(value->type) || is_cut(*value)) return value;
  if (value->type.is_bool()) return nullptr;  // a cast to bool is none in C
  const tir::DataType type = value->type;
  return tir::make_cast(type, std::move(value));
}

std::size_t tree_size(const Expr& root) {
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

double trips(const tir::For& loop, const arith::Facts& facts) {
  const auto count = facts.affine(*loop.extent);
  const auto reach = count ? facts.interval(*count) : std::nullopt;
  constexpr double unknown = 1e6;
  return reach ? static_cast<double>(reach->high) : unknown;
}

}  // namespace usmp::transform
