// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// Evaluates the bounds of an inner row loop in every iteration around it, and compares each begin with the last end.
#include "codegen/continued_loops.hpp"

#include <algorithm>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

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

// An expression of a loop's variable, for many values of it: its parts, operands first.
class Evaluation {
 public:
  Evaluation(const Expr& root, VarId var) : var_(var) {
    std::vector<const Expr*> pending = {&root};
    while (!pending.empty()) {
      const Expr& expr = *pending.back();
      pending.pop_back();
      parts_.push_back(&expr);
      if (!tir::as_int(expr)) tir::append_operands(expr, pending);
    }
    std::ranges::reverse(parts_);
  }

  // Nothing: it depends on more, or is undefined.
  std::optional<std::int64_t> at(std::int64_t value) {
    values_.clear();
    for (const Expr* part : parts_) {
      const std::size_t count = part->operands.size();
      std::optional<std::int64_t> result = tir::as_int(*part);
      if (!result && part->kind == ExprKind::var && part->var == var_) result = value;
      if (!result && count > 0) {
        const std::span<const std::int64_t> operands(values_.end() - static_cast<std::ptrdiff_t>(count), values_.end());
        result = arith::constant_value(*part, operands);
        values_.resize(values_.size() - count);
      }
      if (!result) return std::nullopt;
      values_.push_back(*result);
    }
    return values_.back();
  }

 private:
  VarId var_;
  std::vector<const Expr*> parts_;
  std::vector<std::int64_t> values_;
};

// All iterations of `inner`, in those of the loop around it. Nothing: some iteration does not begin where the one
// before it ended, or not known.
std::optional<Run> continued(const tir::For& inner, const Run& around) {
  if (tir::as_int(*inner.min)) return std::nullopt;
  std::optional<Run> all;
  Evaluation min(*inner.min, around.loop->var);
  Evaluation extent(*inner.extent, around.loop->var);
  for (std::int64_t i = around.begin; i < around.end; ++i) {
    const auto begin = min.at(i);
    const auto count = extent.at(i);
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
