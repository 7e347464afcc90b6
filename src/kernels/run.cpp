// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// Joins loops over which data and weights advance as over one, and copies the loops around with fresh variables.
#include "kernels/run.hpp"

#include <algorithm>
#include <cstddef>
#include <utility>

#include "usmp/tir/visit.hpp"

namespace usmp::kernels {
namespace {

using tir::Block;
using tir::ExprKind;
using tir::ExprRef;
using tir::VarId;

bool mentions_any(const tir::Expr& root, const std::vector<const tir::For*>& loops) {
  bool found = false;
  tir::for_each_expr(root, [&](const tir::Expr& expr) {
    found = found || (expr.kind == ExprKind::var &&
                      std::ranges::any_of(loops, [&](const tir::For* loop) { return loop->var == expr.var; }));
    return !found;
  });
  return found;
}

// Whether the loop is over terms outside of the run.
bool is_around(const ProductSum& sum, const std::vector<const tir::For*>& run, const tir::For* loop) {
  return loop != sum.sums && std::ranges::find(run, loop) == run.end();
}

}  // namespace

ExprRef plus(const ExprRef& a, const ExprRef& b) {
  if (tir::as_int(*a) == 0) return b;
  if (tir::as_int(*b) == 0) return a;
  if (tir::as_int(*a) && tir::as_int(*b)) return tir::make_int(*tir::as_int(*a) + *tir::as_int(*b), a->type);
  return tir::make_binary(ExprKind::add, a, b);
}

ExprRef times(const ExprRef& a, std::int64_t by) {
  if (by == 1) return a;
  if (const auto value = tir::as_int(*a)) return tir::make_int(*value * by, a->type);
  return tir::make_binary(ExprKind::mul, a, tir::make_int(by, a->type));
}

ExprRef over(const ExprRef& a, std::int64_t by) {
  if (const auto value = tir::as_int(*a)) return tir::make_int(*value / by, a->type);
  return tir::make_binary(ExprKind::div, a, tir::make_int(by, a->type));
}

ExprRef with_values(const ExprRef& root, const loops::Substitution& values) {
  tir::ExprRewriter rewriter([](const ExprRef& expr) -> ExprRef {
    if (expr->kind == ExprKind::add) return plus(expr->operands[0], expr->operands[1]);
    const bool is_product = expr->kind == ExprKind::mul;
    const bool divides = tir::is_division(expr->kind);
    if (divides && tir::as_int(*expr->operands[0]) == 0 && tir::as_int(*expr->operands[1]).value_or(0) > 0) {
      return expr->operands[0];
    }
    if (is_product && tir::as_int(*expr->operands[0]) == 0) return expr->operands[0];
    if (is_product && tir::as_int(*expr->operands[1]) == 0) return expr->operands[1];
    return nullptr;
  });
  return rewriter.rewritten(loops::renamed(root, values));
}

ExprRef at(const Factor& factor, const loops::Substitution& values) {
  return tir::make_load(factor.load->type, factor.load->var, with_values(factor.load->operands[0], values));
}

VarId add_register(tir::Module& module, Block& block, const std::string& name, tir::DataType type,
                   std::int64_t elements) {
  const VarId var = loops::fresh_var(module, name, tir::handle_type);
  module.vars[var.index()].element = type;
  block.emplace_back().node.emplace<tir::Allocate>(tir::Allocate{.var = var,
                                                                 .type = type,
                                                                 .extents = {tir::make_int(elements)},
                                                                 .condition = nullptr,
                                                                 .candidate_pools = {},
                                                                 .on_stack = true,
                                                                 .was_on_stack = elements > 1});
  return var;
}

tir::DataType vector_type(tir::DataType type, std::int64_t lanes) {
  return type.with_lanes(static_cast<std::uint16_t>(lanes));
}

ExprRef neighbours(const ExprRef& index, std::int64_t lanes) {
  if (lanes == 1) return index;
  tir::Expr ramp;
  ramp.kind = tir::ExprKind::ramp;
  ramp.type = vector_type(index->type, lanes);
  ramp.operands = {index, tir::make_int(1, index->type)};
  return tir::make_expr(std::move(ramp));
}

ExprRef repeated(const ExprRef& value, std::int64_t lanes) {
  if (lanes == 1) return value;
  tir::Expr broadcast;
  broadcast.kind = tir::ExprKind::broadcast;
  broadcast.type = vector_type(value->type, lanes);
  broadcast.operands = {value};
  return tir::make_expr(std::move(broadcast));
}

ExprRef value_of(const tir::Module& module, VarId var, std::int64_t lanes) {
  return tir::make_load(vector_type(module.var(var).element, lanes), var, neighbours(tir::make_int(0), lanes));
}

void set_register(Block& block, VarId var, ExprRef value, std::int64_t lanes) {
  block.emplace_back().node.emplace<tir::Store>(
      tir::Store{var, neighbours(tir::make_int(0), lanes), std::move(value), nullptr});
}

ExprRef named(tir::Module& module, Block& block, const std::string& name, ExprRef value) {
  if (tir::as_int(*value)) return value;
  const VarId var = loops::fresh_var(module, name, value->type);
  block.emplace_back().node.emplace<tir::Let>(tir::Let{var, std::move(value)});
  return tir::make_var(module, var);
}

bool bounds_mention(const ProductSum& sum, const std::vector<const tir::For*>& loops) {
  return std::ranges::any_of(sum.loops, [&](const tir::For* loop) {
    return mentions_any(*loop->min, loops) || mentions_any(*loop->extent, loops);
  });
}

std::optional<Run> run_of(const tir::Module& module, const ProductSum& sum, arith::Facts& facts) {
  Run run{.loops = data_run(sum), .inside = 1, .start = nullptr, .length = nullptr, .outermost = {}};
  const std::size_t mark = facts.mark();
  for (const tir::For* loop : sum.loops) facts.bind_loop(*loop);
  while (run.loops.size() > 1 && !is_one_loop(module, sum.weight, run.loops, facts)) run.loops.pop_back();
  if (!run.loops.empty()) run.outermost = facts.interval(arith::variable(run.loops.back()->var));
  facts.restore(mark);
  const auto has_type = [&](const tir::For* loop) { return loop->extent->type == run.loops.front()->extent->type; };
  if (run.loops.empty() || bounds_mention(sum, run.loops) || !std::ranges::all_of(run.loops, has_type)) {
    return std::nullopt;
  }
  for (std::size_t i = 0; i + 1 < run.loops.size(); ++i) run.inside *= *tir::as_int(*run.loops[i]->extent);
  run.start = times(run.loops.back()->min, run.inside);
  run.length = times(run.loops.back()->extent, run.inside);
  return run;
}

bool is_one_loop(const tir::Module& module, const Factor& factor, const std::vector<const tir::For*>& run,
                 const arith::Facts& facts) {
  ExprRef number;
  std::int64_t length = 1;
  loops::Substitution values;
  for (const tir::For* loop : run) {
    const ExprRef part = times(tir::make_var(module, loop->var), length);
    number = number == nullptr ? part : tir::make_binary(ExprKind::add, part, number);
    values[loop->var] = tir::make_int(0, part->type);
    length *= tir::as_int(*loop->extent).value_or(1);
  }
  values[run.front()->var] = number;
  const auto joined = facts.affine(*loops::renamed(factor.load->operands[0], values));
  return joined && *joined == factor.index;
}

loops::Substitution fresh_loops(tir::Module& module, const ProductSum& sum, const std::vector<const tir::For*>& run,
                                arith::Facts& facts) {
  loops::Substitution values;
  for (const tir::For* loop : sum.loops) {
    if (!is_around(sum, run, loop)) continue;
    const tir::Var var = module.var(loop->var);
    const VarId fresh = loops::fresh_var(module, var.name, var.type);
    facts.bind_loop({fresh, loops::renamed(loop->min, values), loops::renamed(loop->extent, values), {}});
    values.emplace(loop->var, tir::make_var(module, fresh));
  }
  return values;
}

Block around(const ProductSum& sum, const std::vector<const tir::For*>& run, Block body,
             const loops::Substitution& values) {
  for (std::size_t i = sum.loops.size(); i-- > 0;) {
    const tir::For* loop = sum.loops[i];
    if (!is_around(sum, run, loop)) continue;
    Block outer;
    outer.emplace_back().node.emplace<tir::For>(tir::For{values.at(loop->var)->var, loops::renamed(loop->min, values),
                                                         loops::renamed(loop->extent, values), std::move(body)});
    body = std::move(outer);
  }
  return body;
}

}  // namespace usmp::kernels
