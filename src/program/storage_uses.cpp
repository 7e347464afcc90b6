// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// Counts loads, stores and mentions of each storage in one pass over the expressions.
#include "usmp/program/storage_uses.hpp"

#include <algorithm>

#include "usmp/tir/visit.hpp"

namespace usmp::program {
namespace {

using tir::Expr;
using tir::ExprKind;

void access(StorageUse& use, tir::DataType type, const Expr& index, bool has_predicate) {
  if (std::ranges::find(use.types, type) == use.types.end()) use.types.push_back(type);
  use.has_vectors = use.has_vectors || type.is_vector() || index.type.is_vector();
  use.has_predicates = use.has_predicates || has_predicate;
}

}  // namespace

bool StorageUse::is_of_scalars() const { return mentions == 0 && !has_addresses && !has_vectors && types.size() <= 1; }

std::map<tir::VarId, StorageUse> storage_uses(const tir::Block& block) {
  std::map<tir::VarId, StorageUse> uses;
  const auto visit = [&](const Expr& expr) {
    if (expr.kind == ExprKind::var && expr.type.is_handle()) ++uses[expr.var].mentions;
    if (expr.kind == ExprKind::load) {
      StorageUse& use = uses[expr.var];
      ++use.loads;
      access(use, expr.type, *expr.operands[0], expr.operands.size() != 1);
    }
    if (expr.kind != ExprKind::call || expr.op != tir::Op::address_of) return;
    for (const tir::ExprRef& operand : expr.operands) {
      if (operand->kind == ExprKind::load) uses[operand->var].has_addresses = true;
    }
  };
  tir::for_each_stmt(block, [&](const tir::Stmt& stmt) {
    if (const auto* store = std::get_if<tir::Store>(&stmt.node)) {
      StorageUse& use = uses[store->storage];
      ++use.stores;
      access(use, store->value->type, *store->index, store->predicate != nullptr);
    }
    tir::for_each_expr_of(stmt, [&](const tir::ExprRef& root) { tir::for_each_expr(*root, visit); });
  });
  return uses;
}

}  // namespace usmp::program
