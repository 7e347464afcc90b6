// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// Passes failure on from callees to callers: one statement that may leave a function gives it a status.
#include "codegen/status.hpp"

#include <algorithm>
#include <optional>
#include <variant>

#include "usmp/tir/visit.hpp"

namespace usmp::codegen {
namespace {

using tir::Expr;
using tir::ExprKind;

// The function of the module that the expression calls; nothing: it calls none.
std::optional<std::size_t> callee_of(const tir::Module& module, const Expr& expr) {
  const auto call = tir::named_call(expr);
  return call ? module.find(*call->name) : std::nullopt;
}

// The value that the statement evaluates, if it does nothing else.
const Expr* evaluated(const tir::Stmt& stmt) {
  const auto* evaluate = std::get_if<tir::Evaluate>(&stmt.node);
  return evaluate == nullptr ? nullptr : evaluate->value.get();
}

bool takes_memory(const tir::Stmt& stmt) {
  const auto* allocate = std::get_if<tir::Allocate>(&stmt.node);
  return allocate != nullptr && !allocate->on_stack;
}

// Whether the statement itself, blocks inside left out, may leave the function.
bool may_leave(const tir::Module& module, const tir::Stmt& stmt, const std::vector<bool>& has_status) {
  if (std::holds_alternative<tir::Assert>(stmt.node) || takes_memory(stmt)) return true;
  const Expr* value = evaluated(stmt);
  if (value == nullptr || value->kind != ExprKind::call) return false;
  if (const Expr* call = called_for_effect(*value)) {
    const auto callee = callee_of(module, *call);
    return !callee || has_status[*callee];
  }
  bool leaves = false;
  tir::for_each_expr(*value, [&](const Expr& expr) {
    leaves = leaves || expr.op == tir::Op::ret || expr.op == tir::Op::tvm_throw_last_error ||
             expr.op == tir::Op::tvm_check_return;
    return !leaves;
  });
  return leaves;
}

}  // namespace

const Expr* called_for_effect(const Expr& value) {
  const Expr* call = &value;
  if (value.op == tir::Op::tvm_check_return) {
    if (value.operands.size() != 3 || tir::as_int(*value.operands[0]) != 0) return nullptr;
    call = value.operands[2].get();
  }
  return tir::named_call(*call) ? call : nullptr;
}

std::vector<bool> functions_with_status(const tir::Module& module, const program::CallGraph& graph,
                                        const std::vector<std::size_t>& order) {
  const bool has_imported_c =
      std::ranges::any_of(order, [&](std::size_t index) { return !module.functions[index].imported_c.empty(); });
  std::vector<bool> has_status(module.functions.size(), true);
  if (has_imported_c) return has_status;
  std::vector<std::size_t> other_calls(module.functions.size(), 0);  // of which more is asked than the effect
  for (const std::size_t index : order) {
    for (const program::CallSite& call : graph.calls[index]) ++other_calls[call.callee];
    tir::for_each_stmt(module.functions[index].body, [&](const tir::Stmt& stmt) {
      const Expr* value = evaluated(stmt);
      const Expr* call = value != nullptr ? called_for_effect(*value) : nullptr;
      if (const auto callee = call != nullptr ? callee_of(module, *call) : std::nullopt) --other_calls[*callee];
    });
  }
  for (const std::size_t index : order) {
    if (index == module.entry || other_calls[index] > 0) continue;
    bool leaves = false;
    tir::for_each_stmt(module.functions[index].body,
                       [&](const tir::Stmt& stmt) { leaves = leaves || may_leave(module, stmt, has_status); });
    has_status[index] = leaves;
  }
  return has_status;
}

}  // namespace usmp::codegen
