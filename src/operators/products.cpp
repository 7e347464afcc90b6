// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// Takes sums apart, through casts and lets, and keeps products of two values that read memory.
#include "operators/products.hpp"

#include "usmp/tir/visit.hpp"

namespace usmp::operators {
namespace {

using tir::Expr;
using tir::ExprKind;

struct Sum {
  bool has_element = false;  // that the store overwrites
  std::vector<Product> products;
};

Sum sum_of(const tir::Store& store, const Lets& lets) {
  Sum sum;
  std::vector<const Expr*> pending = {store.value.get()};
  for (int steps = 0; !pending.empty() && steps < most_steps; ++steps) {
    const Expr& expr = lets.behind(*pending.back());
    pending.pop_back();
    switch (expr.kind) {
      case ExprKind::add:
      case ExprKind::sub:
        pending.push_back(expr.operands[1].get());
        pending.push_back(expr.operands[0].get());
        break;
      case ExprKind::mul:
        if (!lets.loads_of(*expr.operands[0]).empty() && !lets.loads_of(*expr.operands[1]).empty()) {
          sum.products.push_back({expr.operands[0].get(), expr.operands[1].get()});
        }
        break;
      case ExprKind::load:
        if (expr.var == store.storage && tir::is_same(*expr.operands[0], *store.index)) sum.has_element = true;
        break;
      default:
        break;
    }
  }
  return sum;
}

}  // namespace

void Lets::add(const tir::Stmt& stmt) {
  if (const auto* let = std::get_if<tir::Let>(&stmt.node)) values_[let->var] = let->value.get();
}

const Expr& Lets::behind(const Expr& expr) const {
  const Expr* at = &expr;
  for (int steps = 0; steps < most_steps; ++steps) {
    if (at->kind == ExprKind::cast) {
      at = at->operands[0].get();
      continue;
    }
    const auto value = at->kind == ExprKind::var ? values_.find(at->var) : values_.end();
    if (value == values_.end()) break;
    at = value->second;
  }
  return *at;
}

std::vector<const Expr*> Lets::loads_of(const Expr& root) const {
  std::vector<const Expr*> loads;
  std::vector<const Expr*> pending = {&root};
  for (int steps = 0; !pending.empty() && steps < most_steps; ++steps) {
    const Expr& expr = behind(*pending.back());
    pending.pop_back();
    if (expr.kind == ExprKind::load) {
      loads.push_back(&expr);
    } else {
      for (const tir::ExprRef& operand : expr.operands) pending.push_back(operand.get());
    }
  }
  return loads;
}

std::vector<Product> added_products(const tir::Store& store, const Lets& lets) {
  Sum sum = sum_of(store, lets);
  return sum.has_element ? std::move(sum.products) : std::vector<Product>();
}

bool accumulates(const tir::Store& store, const Lets& lets) { return sum_of(store, lets).has_element; }

}  // namespace usmp::operators
