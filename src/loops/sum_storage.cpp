// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// Sorts storage into parameters that stand alone, arrays to which no pointer is passed, and what may be read.
#include "usmp/loops/sum_storage.hpp"

#include <variant>

#include "usmp/tir/visit.hpp"

namespace usmp::loops {

SumStorage::SumStorage(const tir::Function& function) {
  for (const tir::Param& param : function.params) (param.no_alias ? alone_ : readable_).insert(param.var);
  tir::for_each_stmt(function.body, [&](const tir::Stmt& stmt) {
    if (const auto* constant = std::get_if<tir::AllocateConst>(&stmt.node)) readable_.insert(constant->var);
    const auto* array = std::get_if<tir::Allocate>(&stmt.node);
    if (array != nullptr && array->on_stack && array->was_on_stack) arrays_.insert(array->var);
  });
  if (arrays_.empty()) return;
  std::set<tir::VarId> passed;
  tir::for_each_expr_in(function.body, [&](const tir::Expr& expr) {
    if (expr.kind == tir::ExprKind::var) passed.insert(expr.var);
    if (expr.kind == tir::ExprKind::call && expr.op == tir::Op::address_of) {
      for (const tir::ExprRef& operand : expr.operands) passed.insert(operand->var);
    }
  });
  std::erase_if(arrays_, [&](tir::VarId var) { return passed.contains(var); });
}

bool SumStorage::may_read(const tir::Expr& value, tir::VarId sums) const {
  bool may = true;
  tir::for_each_expr(value, [&](const tir::Expr& expr) {
    if (expr.kind == tir::ExprKind::load) {
      const bool is_other = arrays_.contains(sums) || is_alone(expr.var) || readable_.contains(expr.var);
      may = may && expr.var != sums && is_other;
    }
    const bool is_known = tir::info(expr.op).is_folded || expr.op == tir::Op::paired_weight;
    if (expr.kind == tir::ExprKind::call) may = may && is_known;
    if (expr.type.is_handle() || expr.kind == tir::ExprKind::let) may = false;
    return may;
  });
  return may;
}

}  // namespace usmp::loops
