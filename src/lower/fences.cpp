// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// Copies blocks with a fence in front of each statement that acts, but the first.
#include "lower/fences.hpp"

#include <algorithm>
#include <utility>
#include <vector>

#include "usmp/lower/outline.hpp"
#include "usmp/tir/visit.hpp"

namespace usmp::lower {
namespace {

using tir::Block;
using tir::Expr;
using tir::ExprKind;
using tir::Stmt;

bool is_fence(const Stmt& stmt) {
  const auto* evaluate = std::get_if<tir::Evaluate>(&stmt.node);
  return evaluate != nullptr && evaluate->value->op == tir::Op::memory_fence;
}

}  // namespace

Stmt fence() { return {tir::Evaluate{tir::make_call(tir::void_type, tir::Op::memory_fence, {})}}; }

bool is_free_of_memory(const Expr& value) {
  bool found = false;
  tir::for_each_expr(
      value, [&](const Expr& expr) { found = found || expr.kind == ExprKind::load || expr.kind == ExprKind::call; });
  return !found;
}

bool is_passive(const Stmt& stmt) {
  if (const auto* let = std::get_if<tir::Let>(&stmt.node)) {
    return let->value->type.is_handle() || is_free_of_memory(*let->value);
  }
  return std::holds_alternative<tir::AllocateConst>(stmt.node) || std::holds_alternative<tir::Allocate>(stmt.node);
}

Block fenced(const Block& block) {
  Block result;
  bool acted = false;
  for (const Stmt& stmt : block) {
    if (is_fence(stmt)) continue;
    if (!is_passive(stmt)) {
      if (acted) result.push_back(fence());
      acted = true;
    }
    result.push_back(stmt);
  }
  return result;
}

Block fenced_inside(const Block& block) {
  Block result = fenced(block);
  std::vector<Block*> pending;
  const auto add_inner = [&](Block& outer) {
    for (Stmt& stmt : outer) {
      for (Block* inner : tir::blocks_of(stmt)) pending.push_back(inner);
    }
  };
  add_inner(result);
  while (!pending.empty()) {
    Block& inner = *pending.back();
    pending.pop_back();
    inner = fenced(inner);
    if (std::any_of(inner.begin(), inner.end(), is_fence)) inner.push_back(fence());
    add_inner(inner);
  }
  return result;
}

}  // namespace usmp::lower
