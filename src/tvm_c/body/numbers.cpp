// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// Looks for declarations of one element, and for what takes the address of one.
#include "tvm_c/body/numbers.hpp"

#include "usmp/tir/visit.hpp"

namespace usmp::tvm_c {

std::set<tir::VarId> numbers_of(const tir::Block& body) {
  std::set<tir::VarId> numbers;
  tir::for_each_stmt(body, [&](const tir::Stmt& stmt) {
    const auto* allocate = std::get_if<tir::Allocate>(&stmt.node);
    if (allocate != nullptr && allocate->extents.empty()) numbers.insert(allocate->var);
  });
  tir::for_each_stmt(body, [&](const tir::Stmt& stmt) {
    tir::for_each_expr_of(stmt, [&](const tir::ExprRef& root) {
      tir::for_each_expr(*root, [&](const tir::Expr& expr) {
        if (expr.kind == tir::ExprKind::var) numbers.erase(expr.var);
        if (expr.kind != tir::ExprKind::call || !expr.type.is_handle()) return;
        for (const tir::ExprRef& operand : expr.operands) numbers.erase(operand->var);  // an address
      });
    });
  });
  return numbers;
}

}  // namespace usmp::tvm_c
