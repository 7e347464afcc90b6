// SPDX-License-Identifier: Apache-2.0
#include "usmp/loops/sum_storage.hpp"

#include <variant>

#include "usmp/tir/visit.hpp"

namespace usmp::loops {

SumStorage::SumStorage(const tir::Function& function) {
  for (const tir::Param& param : function.params) (param.no_alias ? alone_ : readable_).insert(param.var);
  tir::for_each_stmt(function.body, [&](const tir::Stmt& stmt) {
    if (const auto* constant = std::get_if<tir::AllocateConst>(&stmt.node)) readable_.insert(constant->var);
  });
}

bool SumStorage::may_read(const tir::Expr& value, tir::VarId sums) const {
  bool may = true;
  tir::for_each_expr(value, [&](const tir::Expr& expr) {
    if (expr.kind == tir::ExprKind::load) {
      may = may && expr.var != sums && (alone_.contains(expr.var) || readable_.contains(expr.var));
    }
    if (expr.kind == tir::ExprKind::call) may = may && tir::info(expr.op).is_folded;
    if (expr.type.is_handle() || expr.kind == tir::ExprKind::let) may = false;
    return may;
  });
  return may;
}

}  // namespace usmp::loops
