// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// Visits and rebuilds trees with stacks on the heap, and recognises the calls that passes ask for.
#include "usmp/tir/visit.hpp"

#include <algorithm>

namespace usmp::tir {

void append_operands(const Expr& expr, std::vector<const Expr*>& parts) {
  for (const ExprRef& operand : expr.operands) parts.push_back(operand.get());
}

bool mentions(const Expr& root, VarId var) {
  bool found = false;
  for_each_expr(root, [&](const Expr& expr) {
    found = found || expr.var == var;
    return !found;
  });
  return found;
}

bool is_if_then_else(const Expr& expr) {
  return expr.kind == ExprKind::call && expr.op == Op::if_then_else && expr.operands.size() == 3;
}

bool is_pure(const Expr& root) {
  bool pure = true;
  for_each_expr(root, [&](const Expr& expr) {
    if (expr.kind == ExprKind::call && !info(expr.op).is_elementwise) pure = false;
  });
  return pure;
}

ExprRef with_operands(const Expr& expr, std::span<ExprRef> operands) {
  Operands taken;  // not a copy of the expression: most of its operands go
  taken.reserve(expr.operands.size());
  for (std::size_t i = 0; i < expr.operands.size(); ++i) {
    if (operands[i]) {
      taken.push_back(std::move(operands[i]));
    } else {
      taken.push_back(expr.operands[i]);
    }
  }
  return make_expr({.kind = expr.kind,
                    .op = expr.op,
                    .type = expr.type,
                    .var = expr.var,
                    .int_value = expr.int_value,
                    .float_value = expr.float_value,
                    .text = expr.text,
                    .operands = std::move(taken)});
}

bool is_same(const Expr& a, const Expr& b) {
  std::vector<std::pair<const Expr*, const Expr*>> pending = {{&a, &b}};
  while (!pending.empty()) {
    const auto [x, y] = pending.back();
    pending.pop_back();
    if (x == y) continue;
    if (x->kind != y->kind || x->op != y->op || x->type != y->type || x->var != y->var ||
        x->int_value != y->int_value || x->float_value != y->float_value || x->text != y->text ||
        x->operands.size() != y->operands.size()) {
      return false;
    }
    for (std::size_t i = 0; i < x->operands.size(); ++i) {
      pending.emplace_back(x->operands[i].get(), y->operands[i].get());
    }
  }
  return true;
}

namespace {

// Takes a statement that may be const or not.
template <class AnyStmt, class Visit>
void visit_exprs_of(AnyStmt& stmt, const Visit& visit) {
  const auto visit_if = [&](auto& expr) {
    if (expr) visit(expr);
  };
  std::visit(
      [&](auto& s) {
        using Node = std::remove_cvref_t<decltype(s)>;
        if constexpr (std::is_same_v<Node, Allocate>) {
          for (auto& extent : s.extents) visit(extent);
          visit_if(s.condition);
        } else if constexpr (std::is_same_v<Node, Store>) {
          visit(s.index);
          visit(s.value);
          visit_if(s.predicate);
        } else if constexpr (std::is_same_v<Node, For>) {
          visit(s.min);
          visit(s.extent);
        } else if constexpr (std::is_same_v<Node, Let> || std::is_same_v<Node, Evaluate>) {
          visit(s.value);
        } else if constexpr (std::is_same_v<Node, While> || std::is_same_v<Node, IfThenElse> ||
                             std::is_same_v<Node, Assert>) {
          visit(s.condition);
        } else {
          static_assert(std::is_same_v<Node, AllocateConst> || std::is_same_v<Node, Scope>);
        }
      },
      stmt.node);
}

}  // namespace

void for_each_expr_of(const Stmt& stmt, FunctionRef<void(const ExprRef&)> visit) { visit_exprs_of(stmt, visit); }

void for_each_expr_of(Stmt& stmt, FunctionRef<void(ExprRef&)> visit) { visit_exprs_of(stmt, visit); }

ExprRef ExprRewriter::rewritten(const ExprRef& root) {
  struct Frame {
    const ExprRef* expr;
    std::size_t next = 0;  // operand
  };
  std::vector<Frame> frames;
  std::vector<ExprRef> values;  // of the operands that are done, of all frames; null: it stays
  const auto known = [&](const ExprRef& expr) {
    if (expr.use_count() == 1) return false;
    const auto found = results_.find(expr.get());
    if (found == results_.end()) return false;
    values.push_back(found->second);
    return true;
  };
  if (!known(root)) frames.push_back({&root});
  while (!frames.empty()) {
    Frame& frame = frames.back();
    const ExprRef& expr = *frame.expr;
    const std::size_t count = expr->operands.size();
    if (frame.next < count) {
      const ExprRef& operand = expr->operands[frame.next++];
      if (!known(operand)) frames.push_back({&operand});
      continue;
    }
    ExprRef value = rebuilt(expr, std::span(values).last(count));
    values.resize(values.size() - count);
    if (expr.use_count() > 1) {
      results_.emplace(expr.get(), value);
      originals_.push_back(expr);
    }
    values.push_back(std::move(value));
    frames.pop_back();
  }
  return values[0] ? values[0] : root;
}

// Null: it stays.
ExprRef ExprRewriter::rebuilt(const ExprRef& expr, std::span<ExprRef> operands) const {
  const bool changed = std::ranges::any_of(operands, [](const ExprRef& operand) { return operand != nullptr; });
  if (!changed) return change_(expr);
  ExprRef result = with_operands(*expr, operands);
  ExprRef other = change_(result);
  return other ? other : result;
}

const For* only_loop(const Block& block) { return block.size() == 1 ? std::get_if<For>(&block[0].node) : nullptr; }

For* only_loop(Block& block) { return block.size() == 1 ? std::get_if<For>(&block[0].node) : nullptr; }

ExprRef end_of(const For& loop) {
  const Expr& extent = *loop.extent;
  return extent.kind == ExprKind::sub && is_same(*extent.operands[1], *loop.min) ? extent.operands[0] : nullptr;
}

namespace {

// Takes a statement that may be const or not.
template <class AnyBlock, class AnyStmt>
InnerBlocks<AnyBlock> inner_blocks(AnyStmt& stmt) {
  if (auto* loop = std::get_if<For>(&stmt.node)) return InnerBlocks<AnyBlock>(loop->body);
  if (auto* loop = std::get_if<While>(&stmt.node)) return InnerBlocks<AnyBlock>(loop->body);
  if (auto* branch = std::get_if<IfThenElse>(&stmt.node)) return {branch->then_body, branch->else_body};
  if (auto* scope = std::get_if<Scope>(&stmt.node)) return InnerBlocks<AnyBlock>(scope->body);
  return {};
}

}  // namespace

InnerBlocks<const Block> blocks_of(const Stmt& stmt) { return inner_blocks<const Block>(stmt); }

InnerBlocks<Block> blocks_of(Stmt& stmt) { return inner_blocks<Block>(stmt); }

void for_each_stmt(const Block& block, FunctionRef<void(const Stmt&)> visit) {
  struct {
    FunctionRef<void(const Stmt&)> visit;
    void open(const Block&, const Stmt*) const {}
    void close(const Block&, const Stmt*) const {}
    void statement(const Stmt& stmt) const { visit(stmt); }
  } walker{visit};
  walk(block, walker);
}

void for_each_block(Block& root, FunctionRef<void(Block&)> visit) {
  std::vector<Block*> pending = {&root};
  while (!pending.empty()) {
    Block& block = *pending.back();
    pending.pop_back();
    visit(block);
    for (Stmt& stmt : block) {
      for (Block* inner : blocks_of(stmt)) pending.push_back(inner);
    }
  }
}

void for_each_expr_in(const Block& block, FunctionRef<void(const Expr&)> visit) {
  for_each_stmt(block, [&](const Stmt& stmt) {
    for_each_expr_of(stmt, [&](const ExprRef& root) { for_each_expr(*root, visit); });
  });
}

bool is_opaque(const Module& module, const Function& function) {
  const std::string& host = module.functions[module.entry].target;
  return !function.target.empty() && !host.empty() && function.target != host;
}

std::optional<NamedCall> named_call(const Expr& expr) {
  if (expr.kind != ExprKind::call || expr.operands.empty()) return std::nullopt;
  const bool with_handle = expr.op == Op::tvm_call_cpacked;
  if (!with_handle && expr.op != Op::call_extern && expr.op != Op::call_pure_extern && expr.op != Op::tvm_call_packed) {
    return std::nullopt;
  }
  if (expr.operands.front()->kind != ExprKind::string_imm) return std::nullopt;
  std::span<const ExprRef> arguments = std::span(expr.operands).subspan(1);
  if (with_handle && !arguments.empty()) arguments = arguments.first(arguments.size() - 1);
  return NamedCall{&expr.operands.front()->text, arguments};
}

const std::string* kept_text_of(const Expr& expr) {
  if (expr.op != Op::call_extern || expr.operands.size() != 2 || expr.operands[0]->text != kept_text) return nullptr;
  return expr.operands[1]->kind == ExprKind::string_imm ? &expr.operands[1]->text : nullptr;
}

constexpr const char* own_code = "usmp_own_code";

ExprRef make_own_code() { return make_string(own_code); }

bool is_own_code(const Expr& expr) { return expr.kind == ExprKind::string_imm && expr.text == own_code; }

constexpr std::string_view kept_failure = "usmp_kept_failure ";

ExprRef make_kept_failure(const KeptFailure& failure) {
  return make_string(std::string(kept_failure) + std::string(failure.variable) + "\n" + std::string(failure.text));
}

std::optional<KeptFailure> kept_failure_of(const Expr& expr) {
  if (expr.kind != ExprKind::string_imm || !expr.text.starts_with(kept_failure)) return std::nullopt;
  const std::string_view rest = std::string_view(expr.text).substr(kept_failure.size());
  const std::size_t end = std::min(rest.find('\n'), rest.size());
  return KeptFailure{rest.substr(0, end), rest.substr(std::min(end + 1, rest.size()))};
}

}  // namespace usmp::tir
