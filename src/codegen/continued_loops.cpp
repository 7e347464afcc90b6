// SPDX-License-Identifier: Apache-2.0
#include "codegen/continued_loops.hpp"

#include <algorithm>
#include <cstdint>
#include <optional>
#include <span>

#include "usmp/arith/constants.hpp"
#include "usmp/support/checked.hpp"
#include "usmp/tir/visit.hpp"

namespace usmp::codegen {
namespace {

using tir::Expr;
using tir::ExprKind;
using tir::VarId;

constexpr std::int64_t most_iterations = 65536;

// The values that a loop's variable has in all: each once, in order.
struct Run {
  const tir::For* loop;
  std::int64_t begin;
  std::int64_t end;
};

// The expression where `var` has the value. Nothing: it depends on more, or is undefined.
std::optional<std::int64_t> value_at(const Expr& root, VarId var, std::int64_t value) {
  using Value = std::optional<std::int64_t>;
  return tir::fold<Value>(root, tir::append_operands, [&](const Expr& expr, std::span<Value> operands) -> Value {
    if (expr.kind == ExprKind::var) return expr.var == var ? Value(value) : std::nullopt;
    if (const auto literal = tir::as_int(expr)) return literal;
    if (operands.empty()) return std::nullopt;
    std::vector<std::int64_t> row;
    for (const Value& operand : operands) {
      if (!operand) return std::nullopt;
      row.push_back(*operand);
    }
    return arith::constant_value(expr, row);
  });
}

// All iterations of `inner`, in those of the loop around it. Nothing: some iteration does not begin where the one
// before it ended, or not known.
std::optional<Run> continued(const tir::For& inner, const Run& around) {
  if (tir::as_int(*inner.min)) return std::nullopt;
  std::optional<Run> all;
  for (std::int64_t i = around.begin; i < around.end; ++i) {
    const auto begin = value_at(*inner.min, around.loop->var, i);
    const auto count = value_at(*inner.extent, around.loop->var, i);
    const auto end = begin && count ? checked_add(*begin, *count) : std::nullopt;
    if (!end) return std::nullopt;
    if (!all) all = Run{&inner, *begin, *begin};
    // Either way the variable alone says where it goes on, and an iteration without rows leaves it as it is.
    if (*count > 0 ? *begin != all->end : *end > all->end) return std::nullopt;
    all->end = std::max(all->end, *end);
  }
  return all;
}

// Those that run once in an iteration.
void append_inner_loops(const tir::Block& block, std::vector<const tir::For*>& loops) {
  std::vector<const tir::Block*> blocks = {&block};
  for (std::size_t i = 0; i < blocks.size(); ++i) {
    for (const tir::Stmt& stmt : *blocks[i]) {
      if (const auto* scope = std::get_if<tir::Scope>(&stmt.node)) blocks.push_back(&scope->body);
      const auto* loop = std::get_if<tir::For>(&stmt.node);
      if (loop != nullptr && loop->row_runs > 0) loops.push_back(loop);
    }
  }
}

}  // namespace

ContinuedLoops continued_loops(const tir::Block& body) {
  ContinuedLoops found;
  tir::for_each_stmt(body, [&](const tir::Stmt& stmt) {
    const auto* root = std::get_if<tir::For>(&stmt.node);
    if (root == nullptr || root->row_runs == 0) return;
    const auto first = tir::as_int(*root->min);
    const auto count = tir::as_int(*root->extent);
    if (!first || !count) return;
    std::vector<Run> runs = {{root, *first, *first + *count}};
    for (std::size_t i = 0; i < runs.size(); ++i) {
      const Run around = runs[i];
      if (around.end - around.begin > most_iterations) continue;
      std::vector<const tir::For*> loops;
      append_inner_loops(around.loop->body, loops);
      for (const tir::For* loop : loops) {
        const auto run = continued(*loop, around);
        if (!run || !found.vars.insert(loop->var).second) continue;
        runs.push_back(*run);
        found.declared_at[root->var].push_back({loop->var, run->begin});
      }
    }
  });
  return found;
}

}  // namespace usmp::codegen
