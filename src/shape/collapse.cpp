// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// Puts quotient and remainder of one counter in the place of both variables; these have to join to it again.
#include "shape/collapse.hpp"

#include <cstddef>
#include <cstdint>
#include <limits>
#include <map>
#include <optional>
#include <set>
#include <utility>
#include <vector>

#include "usmp/arith/facts.hpp"
#include "usmp/loops/edit.hpp"
#include "usmp/loops/walk.hpp"
#include "usmp/tir/visit.hpp"

namespace usmp::shape {
namespace {

using tir::Expr;
using tir::ExprKind;
using tir::ExprRef;
using tir::Stmt;
using tir::VarId;

// Each loop of a nest rewrites what is in it.
constexpr std::size_t most_statements = 200;

bool is_short_enough(const tir::Block& body) {
  std::size_t statements = 0;
  tir::for_each_stmt(body, [&](const Stmt&) { ++statements; });
  return statements <= most_statements;
}

// Nothing: it does not count from 0, or runs a number of times that is not known.
std::optional<std::int64_t> count_of(const tir::For& loop) {
  const auto min = tir::as_int(*loop.min);
  const auto extent = tir::as_int(*loop.extent);
  if (min != 0 || extent.value_or(0) < 1 || loop.row_runs != 0) return std::nullopt;
  return extent;
}

bool is_quotient_of(const Expr& expr, VarId var) {
  return (expr.kind == ExprKind::floor_div || expr.kind == ExprKind::floor_mod) &&
         tir::mentions(*expr.operands[0], var);
}

// Whether quotients and remainders of the variable have all become the variable itself.
bool is_rejoined(const ExprRef& root, VarId var) {
  bool rejoined = true;
  tir::for_each_expr(*root, [&](const Expr& expr) { return rejoined = rejoined && !is_quotient_of(expr, var); });
  return rejoined;
}

// A variable that is replaced, or a sum in simplest form: other terms of an index may be of any kind.
ExprRef rewritten_part(const ExprRef& part, const arith::Facts& facts, const loops::Substitution& values) {
  if (part->kind == ExprKind::var) {
    const auto found = values.find(part->var);
    return found == values.end() ? nullptr : found->second;
  }
  const bool is_sum = part->kind == ExprKind::add || part->kind == ExprKind::sub;
  return is_sum && part->type == tir::int32_type ? facts.simplified(part) : nullptr;
}

// What stores, loops and branches are made of, through lets; lets of other variables are no use.
std::set<VarId> needed_in(const tir::Block& body) {
  std::map<VarId, ExprRef> values;
  std::vector<VarId> pending;
  const auto add_mentioned = [&](const Expr& value) {
    tir::for_each_expr(value, [&](const Expr& expr) {
      if (expr.kind == ExprKind::var || expr.kind == ExprKind::load) pending.push_back(expr.var);
    });
  };
  tir::for_each_stmt(body, [&](const Stmt& stmt) {
    const auto* let = std::get_if<tir::Let>(&stmt.node);
    if (let != nullptr && tir::is_pure(*let->value) && values.emplace(let->var, let->value).second) return;
    if (const auto* store = std::get_if<tir::Store>(&stmt.node)) pending.push_back(store->storage);
    tir::for_each_expr_of(stmt, [&](const ExprRef& expr) { add_mentioned(*expr); });
  });
  std::set<VarId> needed;
  while (!pending.empty()) {
    const VarId var = pending.back();
    pending.pop_back();
    const auto let = needed.insert(var).second ? values.find(var) : values.end();
    if (let != values.end()) add_mentioned(*let->second);
  }
  return needed;
}

void drop_unneeded_lets(tir::Block& body) {
  const std::set<VarId> needed = needed_in(body);
  tir::for_each_block(body, [&](tir::Block& block) {
    std::erase_if(block, [&](const Stmt& stmt) {
      const auto* let = std::get_if<tir::Let>(&stmt.node);
      return let != nullptr && !needed.contains(let->var) && tir::is_pure(*let->value);
    });
  });
}

// Replaces the two variables in the body by quotient and remainder of one, as long as these join again to that one.
bool rewrite_body(tir::Block& body, arith::Facts& facts, const loops::Substitution& values, VarId counter) {
  bool rejoined = true;
  loops::edit(body, facts,
              {.before =
                   [&](tir::Block& block, std::size_t& at, arith::Facts& here) {
                     tir::for_each_expr_of(block[at], [&](ExprRef& expr) {
                       if (!rejoined) return;
                       expr = loops::rewritten(expr, here, [&](const ExprRef& part, const arith::Facts& there) {
                         return rewritten_part(part, there, values);
                       });
                       rejoined = is_rejoined(expr, counter);
                     });
                     return rejoined ? loops::Next::enter : loops::Next::skip;
                   },
               .after = {}});
  return rejoined;
}

// The loop and the one in it as one; nothing: they stay.
std::optional<tir::For> collapsed(tir::Module& module, const tir::For& outer, const arith::Facts& known) {
  const tir::For* inner = tir::only_loop(outer.body);
  if (inner == nullptr || !is_short_enough(inner->body)) return std::nullopt;
  const auto times = count_of(outer);
  const auto count = count_of(*inner);
  const tir::DataType type = module.var(inner->var).type;
  if (!times || !count || type != tir::int32_type || module.var(outer.var).type != type) return std::nullopt;
  if (*times > std::numeric_limits<std::int32_t>::max() / *count) return std::nullopt;

  tir::For result = *inner;
  const VarId counter = loops::fresh_var(module, module.var(outer.var).name + "_" + module.var(inner->var).name, type);
  result.var = counter;
  result.extent = tir::make_int(*times * *count, type);
  const ExprRef var = tir::make_var(module, counter);
  const ExprRef size = tir::make_int(*count, type);
  const loops::Substitution values = {{outer.var, tir::make_binary(ExprKind::floor_div, var, size)},
                                      {inner->var, tir::make_binary(ExprKind::floor_mod, var, size)}};
  arith::Facts facts = known;
  facts.bind_loop(result);
  if (!rewrite_body(result.body, facts, values, counter)) return std::nullopt;
  return result;
}

}  // namespace

void collapse(tir::Module& module) {
  for (tir::Function& function : module.functions) {
    if (tir::is_opaque(module, function)) continue;
    drop_unneeded_lets(function.body);
    arith::Facts facts(module);
    facts.bind_ranges(function);
    loops::edit(function.body, facts,
                {.before = [](tir::Block&, std::size_t&, arith::Facts&) { return loops::Next::enter; },
                 .after =
                     [&](tir::Block& block, std::size_t& at, arith::Facts& here) {
                       const auto* loop = std::get_if<tir::For>(&block[at].node);
                       if (loop == nullptr) return;
                       if (auto one = collapsed(module, *loop, here)) block[at] = {std::move(*one)};
                     }});
  }
}

}  // namespace usmp::shape
