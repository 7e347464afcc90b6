// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// Proves that a counter's values and all that is computed from them fit int32_t.
#include "tvm_c/body/counters.hpp"

#include <algorithm>
#include <unordered_map>
#include <utility>
#include <variant>
#include <vector>

#include "usmp/arith/constants.hpp"
#include "usmp/arith/ranges.hpp"
#include "usmp/tir/visit.hpp"

namespace usmp::tvm_c {
namespace {

using tir::Expr;
using tir::ExprKind;
using tir::ExprRef;
using tir::VarId;

// Whether its type may become int32.
bool is_other(tir::DataType type) {
  if (type.lanes != 1) return false;
  return type.is_int() ? type.bits == 64 : type.is_uint() && type.bits >= 32;
}

class Counters {
 public:
  Counters(tir::Module& module, tir::Function& function, const std::set<VarId>& counters)
      : module_(module), function_(function), counters_(counters) {}

  [[nodiscard]] bool are_proved() {
    bool are = true;
    tir::for_each_stmt(function_.body, [&](const tir::Stmt& stmt) {
      if (!are) return;
      tir::for_each_expr_of(stmt, [&](const ExprRef& root) { are = are && is_proved(root); });
      if (const auto* let = std::get_if<tir::Let>(&stmt.node)) {
        ranges_.bind_let(let->var, *let->value);
      } else if (const auto* loop = std::get_if<tir::For>(&stmt.node)) {
        ranges_.bind_loop(loop->var, *loop->min, *loop->extent);
        if (!counters_.contains(loop->var)) return;
        const auto range = ranges_.bound(loop->var);
        are = are && fits(*loop->min) && fits(*loop->extent) && range && range->range && range->range->high < INT32_MAX;
      }
    });
    return are;
  }

  void change() {
    for (const VarId var : counters_) module_.vars[var.index()].type = tir::int32_type;
    tir::for_each_block(function_.body, [&](tir::Block& block) {
      for (tir::Stmt& stmt : block) {
        const auto* was_store = std::get_if<tir::Store>(&stmt.node);
        const tir::DataType stored = was_store != nullptr ? was_store->value->type : tir::void_type;
        tir::for_each_expr_of(stmt, [&](ExprRef& root) { root = changed(root); });
        if (auto* let = std::get_if<tir::Let>(&stmt.node)) {
          let->value = counters_.contains(let->var) ? in_int32(let->value) : as(module_.var(let->var).type, let->value);
        } else if (auto* store = std::get_if<tir::Store>(&stmt.node)) {
          store->value = as(stored, store->value);
        } else if (auto* loop = std::get_if<tir::For>(&stmt.node)) {
          if (!counters_.contains(loop->var)) continue;
          loop->min = in_int32(loop->min);
          loop->extent = in_int32(loop->extent);
        }
      }
    });
  }

 private:
  // Parents first, and which of them depend on counters: what a load gives does not.
  struct Nodes {
    std::vector<const Expr*> all;
    std::unordered_map<const Expr*, bool> depends;
  };

  [[nodiscard]] Nodes nodes_of(const Expr& root) const {
    Nodes nodes;
    tir::for_each_expr(root, [&](const Expr& expr) { nodes.all.push_back(&expr); });
    for (auto at = nodes.all.rbegin(); at != nodes.all.rend(); ++at) {
      const Expr& expr = **at;
      bool depends = expr.kind == ExprKind::var && counters_.contains(expr.var);
      if (expr.kind != ExprKind::load) depends = depends || has_counter(expr, nodes);
      nodes.depends[&expr] = depends;
    }
    return nodes;
  }

  static bool has_counter(const Expr& expr, const Nodes& nodes) {
    return std::any_of(expr.operands.begin(), expr.operands.end(),
                       [&](const ExprRef& operand) { return nodes.depends.at(operand.get()); });
  }

  // An operator that gives the same for the same values, whatever their types.
  static bool is_plain(const Expr& expr) {
    if (arith::is_condition(expr.kind)) return true;
    switch (expr.kind) {
      case ExprKind::call:
        return expr.op == tir::Op::if_then_else || expr.op == tir::Op::bitwise_and || expr.op == tir::Op::bitwise_or ||
               expr.op == tir::Op::bitwise_xor || expr.op == tir::Op::shift_left || expr.op == tir::Op::shift_right;
      case ExprKind::var:
      case ExprKind::load:
      case ExprKind::cast:
      case ExprKind::add:
      case ExprKind::sub:
      case ExprKind::mul:
      case ExprKind::div:
      case ExprKind::mod:
      case ExprKind::min:
      case ExprKind::max:
        return true;
      default:
        return false;
    }
  }

  bool fits(const Expr& expr) {
    if (!is_other(expr.type)) return true;
    const auto range = ranges_.of(expr);
    return range && range->low >= 0 && range->high <= INT32_MAX;
  }

  bool is_proved(const ExprRef& root) {
    const Nodes nodes = nodes_of(*root);
    return std::all_of(nodes.all.begin(), nodes.all.end(), [&](const Expr* expr) {
      if (!nodes.depends.at(expr) && !has_counter(*expr, nodes)) return true;
      const auto is_changed = [&](const ExprRef& operand) { return is_other(operand->type); };
      const bool changes =
          is_other(expr->type) || std::any_of(expr->operands.begin(), expr->operands.end(), is_changed);
      if (!changes) return true;
      const bool is_value = expr->kind == ExprKind::load || fits(*expr);
      return is_plain(*expr) && is_value &&
             std::all_of(expr->operands.begin(), expr->operands.end(),
                         [&](const ExprRef& operand) { return fits(*operand); });
    });
  }

  static ExprRef in_int32(const ExprRef& expr) {
    if (!is_other(expr->type)) return expr;
    if (expr->kind == ExprKind::int_imm) return tir::make_int(expr->int_value);
    const bool is_cast = expr->kind == ExprKind::cast && expr->operands[0]->type == tir::int32_type;
    return is_cast ? expr->operands[0] : tir::make_cast(tir::int32_type, expr);
  }

  // What was of the type before.
  static ExprRef as(tir::DataType type, const ExprRef& expr) {
    return expr->type == tir::int32_type && is_other(type) ? tir::make_cast(type, expr) : expr;
  }

  ExprRef changed(const ExprRef& root) {
    const Nodes nodes = nodes_of(*root);
    std::unordered_map<const Expr*, ExprRef> results;  // of those that change
    for (auto at = nodes.all.rbegin(); at != nodes.all.rend(); ++at) {
      const Expr& old = **at;
      if (results.contains(&old)) continue;
      if (old.kind == ExprKind::var && nodes.depends.at(&old)) {
        results[&old] = tir::make_var(module_, old.var);
        continue;
      }
      const bool counts = has_counter(old, nodes);
      bool is_new = false;
      Expr expr = old;
      for (ExprRef& operand : expr.operands) {
        const auto result = results.find(operand.get());
        ExprRef next = result == results.end() ? operand : result->second;
        if (counts) next = in_int32(next);
        is_new = is_new || next != operand;
        operand = std::move(next);
      }
      if (!is_new && !nodes.depends.at(&old)) continue;
      if (nodes.depends.at(&old) && is_other(expr.type)) expr.type = tir::int32_type;
      const bool is_idle = expr.kind == ExprKind::cast && expr.type == expr.operands[0]->type;
      results[&old] = is_idle ? expr.operands[0] : tir::make_expr(std::move(expr));
    }
    const auto result = results.find(root.get());
    return result == results.end() ? root : result->second;
  }

  tir::Module& module_;
  tir::Function& function_;
  const std::set<VarId>& counters_;
  arith::Ranges ranges_;
};

}  // namespace

bool count_in_int32(tir::Module& module, tir::Function& function, const std::set<VarId>& counters) {
  if (counters.empty()) return true;
  Counters reading(module, function, counters);
  if (!reading.are_proved()) return false;
  reading.change();
  return true;
}

}  // namespace usmp::tvm_c
