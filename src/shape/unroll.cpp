// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// Copies the body for each iteration, with the number in the variable's place and new variables for its lets.
#include "shape/unroll.hpp"

#include <cstddef>
#include <cstdint>
#include <iterator>
#include <utility>
#include <variant>
#include <vector>

#include "usmp/arith/facts.hpp"
#include "usmp/loops/edit.hpp"
#include "usmp/loops/walk.hpp"
#include "usmp/tir/visit.hpp"

namespace usmp::shape {
namespace {

using tir::Stmt;

constexpr std::int64_t most_iterations = 4;
constexpr std::size_t most_nodes = 40;

bool is_short(const tir::For& loop) {
  const auto extent = tir::as_int(*loop.extent);
  return tir::as_int(*loop.min) && extent.value_or(0) >= 2 && *extent <= most_iterations;
}

// Whether the variable, which becomes a number, is only in places of elements and in sums: compilers warn of what other
// operators do with numbers.
bool is_in_places(const tir::ExprRef& root, tir::VarId var, const arith::Facts& facts) {
  if (!tir::mentions(*root, var) || facts.affine(*root)) return true;
  bool in_places = true;
  std::vector<const tir::Expr*> pending = {root.get()};
  while (!pending.empty() && in_places) {
    const tir::Expr& expr = *pending.back();
    pending.pop_back();
    const bool is_place = expr.kind == tir::ExprKind::load && facts.affine(*expr.operands[0]);
    in_places = expr.kind != tir::ExprKind::var || expr.var != var;
    for (const tir::ExprRef& operand : expr.operands) {
      if (!is_place || operand != expr.operands[0]) pending.push_back(operand.get());
    }
  }
  return in_places;
}

bool is_simple(const tir::For& loop, const arith::Facts& facts) {
  std::size_t nodes = 0;
  std::size_t stores = 0;
  bool is_simple = true;
  for (const Stmt& stmt : loop.body) {
    const auto* store = std::get_if<tir::Store>(&stmt.node);
    const auto* let = std::get_if<tir::Let>(&stmt.node);
    if (store == nullptr && let == nullptr) return false;
    if (store != nullptr) ++stores;
    if (let != nullptr && let->value->type.is_handle()) return false;  // which copies cannot rename
    tir::for_each_expr_of(stmt, [&](const tir::ExprRef& expr) {
      nodes += loops::tree_size(*expr);
      is_simple = is_simple && nodes <= most_nodes && is_in_places(expr, loop.var, facts);
    });
  }
  return is_simple && stores == 1;
}

// The body for one iteration, its lets new variables.
tir::Block iteration(tir::Module& module, const tir::For& loop, std::int64_t i, const arith::Facts& known) {
  Stmt body{tir::Scope{loop.body}};
  loops::freshen(body, module);
  tir::Block block = std::move(std::get<tir::Scope>(body.node).body);
  const tir::DataType type = module.var(loop.var).type;
  const loops::Substitution values = {{loop.var, tir::make_int(*tir::as_int(*loop.min) + i, type)}};
  arith::Facts facts = known;
  for (Stmt& stmt : block) {
    tir::for_each_expr_of(stmt, [&](tir::ExprRef& expr) { expr = loops::substituted(expr, facts, values); });
    if (auto* store = std::get_if<tir::Store>(&stmt.node)) store->index = facts.simplified(store->index);
    if (auto* let = std::get_if<tir::Let>(&stmt.node)) let->value = facts.simplified(let->value);
    loops::bind_after(stmt, facts);
  }
  return block;
}

// Puts the iterations in the place of the loop, in a scope if there is more in the block.
void write_out(tir::Module& module, tir::Block& block, std::size_t& at, const arith::Facts& facts) {
  const tir::For loop = std::get<tir::For>(std::move(block[at].node));
  tir::Block result;
  for (std::int64_t i = 0; i < *tir::as_int(*loop.extent); ++i) {
    tir::Block one = iteration(module, loop, i, facts);
    std::move(one.begin(), one.end(), std::back_inserter(result));
  }
  if (block.size() > 1) {
    block[at] = {tir::Scope{std::move(result)}};
    return;
  }
  block = std::move(result);
  at = block.size() - 1;
}

}  // namespace

void unroll(tir::Module& module) {
  const auto edit = [&](tir::Block& block, std::size_t& at, arith::Facts& facts) {
    const auto* loop = std::get_if<tir::For>(&block[at].node);
    if (loop == nullptr || !is_short(*loop) || !is_simple(*loop, facts)) return loops::Next::enter;
    write_out(module, block, at, facts);
    return loops::Next::skip;
  };
  for (tir::Function& function : module.functions) {
    if (tir::is_opaque(module, function)) continue;
    arith::Facts facts(module);
    facts.bind_ranges(function);
    loops::edit(function.body, facts, {.before = edit, .after = {}});
  }
}

}  // namespace usmp::shape
