// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// Scans functions for allocates and early returns, and hands the former on to all callers.
#include "replay/facts.hpp"

#include <cstddef>

#include "usmp/tir/visit.hpp"

namespace usmp::replay {
namespace {

bool is_return(const tir::Expr& expr) { return expr.kind == tir::ExprKind::call && expr.op == tir::Op::ret; }

// "return 0" at the end.
bool ends_well(const tir::Function& function) {
  if (function.body.empty()) return false;
  const auto* last = std::get_if<tir::Evaluate>(&function.body.back().node);
  if (last == nullptr || !is_return(*last->value) || last->value->operands.size() != 1) return false;
  return tir::as_int(*last->value->operands[0]) == 0;
}

}  // namespace

std::vector<Facts> facts_of(const tir::Module& module, const Followed& followed) {
  std::vector<Facts> facts(module.functions.size());
  std::vector<std::vector<std::size_t>> callers(module.functions.size());
  std::vector<std::size_t> pending;
  for (std::size_t i = 0; i < module.functions.size(); ++i) {
    const tir::Function& function = module.functions[i];
    std::size_t returns = 0;
    tir::for_each_expr_in(function.body, [&](const tir::Expr& expr) {
      if (is_return(expr)) ++returns;
      const auto call = tir::named_call(expr);
      if (!call) return;
      if (const auto callee = module.find(*call->name)) callers[*callee].push_back(i);
    });
    tir::for_each_stmt(function.body, [&](const tir::Stmt& stmt) {
      const auto* allocate = std::get_if<tir::Allocate>(&stmt.node);
      if (allocate != nullptr && followed.contains(allocate->var)) facts[i].declares = true;
    });
    facts[i].returns_early = returns > (ends_well(function) ? 1U : 0U);
    if (facts[i].declares) pending.push_back(i);
  }
  while (!pending.empty()) {
    const std::size_t function = pending.back();
    pending.pop_back();
    for (const std::size_t caller : callers[function]) {
      if (facts[caller].declares) continue;
      facts[caller].declares = true;
      pending.push_back(caller);
    }
  }
  return facts;
}

}  // namespace usmp::replay
