// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// Counts the places that load and store, by storage.
#include "usmp/loops/accesses.hpp"

#include "usmp/tir/visit.hpp"

namespace usmp::loops {
namespace {

using tir::Expr;
using tir::ExprKind;
using tir::VarId;

std::size_t count_of(const std::map<VarId, std::size_t>& counts, VarId var) {
  const auto found = counts.find(var);
  return found == counts.end() ? 0 : found->second;
}

}  // namespace

std::size_t Accesses::loads_of(VarId storage) const { return count_of(loads, storage); }
std::size_t Accesses::stores_of(VarId storage) const { return count_of(stores, storage); }

void add_accesses(const tir::Stmt& root, Accesses& accesses) {
  const auto add = [&](const tir::Stmt& stmt) {
    if (const auto* store = std::get_if<tir::Store>(&stmt.node)) ++accesses.stores[store->storage];
    tir::for_each_expr_of(stmt, [&](const tir::ExprRef& expr) {
      tir::for_each_expr(*expr, [&](const Expr& part) {
        if (part.kind == ExprKind::load) ++accesses.loads[part.var];
      });
    });
  };
  add(root);
  for (const tir::Block* block : tir::blocks_of(root)) tir::for_each_stmt(*block, add);
}

Accesses accesses_of(const tir::Block& block) {
  Accesses accesses;
  for (const tir::Stmt& stmt : block) add_accesses(stmt, accesses);
  return accesses;
}

std::set<VarId> loaded_by(const Expr& root) {
  std::set<VarId> storages;
  tir::for_each_expr(root, [&](const Expr& expr) {
    if (expr.kind == ExprKind::load) storages.insert(expr.var);
  });
  return storages;
}

}  // namespace usmp::loops
