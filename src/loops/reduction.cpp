// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// Compares the load in a sum with the element that the store overwrites.
#include "usmp/loops/reduction.hpp"

#include "usmp/tir/visit.hpp"

namespace usmp::loops {

bool adds_to_element(const tir::Store& store, std::size_t side) {
  const tir::Expr& value = *store.value;
  if (store.predicate != nullptr || value.kind != tir::ExprKind::add) return false;
  const tir::Expr& before = *value.operands[side];
  return before.kind == tir::ExprKind::load && before.var == store.storage && before.operands.size() == 1 &&
         before.type == value.type && tir::is_same(*before.operands[0], *store.index);
}

const tir::Expr* added_term(const tir::Store& store) {
  return adds_to_element(store, 0) ? store.value->operands[1].get() : nullptr;
}

}  // namespace usmp::loops
