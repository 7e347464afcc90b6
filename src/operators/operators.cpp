// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// Counts products times runs, adds those of callees, and sorts operands into read and written ones.
#include "usmp/operators/operators.hpp"

#include <utility>

#include "operators/products.hpp"
#include "usmp/loops/range_walk.hpp"
#include "usmp/program/call_graph.hpp"
#include "usmp/program/effects.hpp"
#include "usmp/support/checked.hpp"
#include "usmp/tir/visit.hpp"

namespace usmp::operators {
namespace {

std::optional<std::int64_t> checked_sum(std::optional<std::int64_t> total, std::int64_t count,
                                        std::optional<std::int64_t> times) {
  const auto product = times ? checked_mul(count, *times) : std::nullopt;
  return total && product ? checked_add(*total, *product) : std::nullopt;
}

// By function, with those that it calls.
std::vector<std::optional<std::int64_t>> sums_with_callees(const tir::Module& module) {
  std::vector<std::optional<std::int64_t>> sums(module.functions.size());
  for (const std::size_t index : program::callees_first(module, program::call_graph(module))) {
    const tir::Function& function = module.functions[index];
    if (tir::is_opaque(module, function)) continue;
    sums[index] = multiply_accumulates(function);
    loops::visit_with_ranges(function, {}, [&](const tir::Stmt& stmt, const loops::RangeContext& context) {
      tir::for_each_expr_of(stmt, [&](const tir::ExprRef& root) {
        tir::for_each_expr(*root, [&](const tir::Expr& expr) {
          const auto call = tir::named_call(expr);
          if (!call) return;
          const auto callee = module.find(*call->name);
          const auto of_callee = callee ? sums[*callee] : std::nullopt;
          sums[index] = of_callee ? checked_sum(sums[index], *of_callee, context.runs) : std::nullopt;
        });
      });
    });
  }
  return sums;
}

std::string operand_text(const tir::Param& param) {
  std::string text = tir::to_string(param.element) + "[";
  if (!param.shape) return text + "?]";
  for (std::size_t i = 0; i < param.shape->size(); ++i) {
    text += (i > 0 ? "," : "") + std::to_string((*param.shape)[i]);
  }
  return text + "]";
}

}  // namespace

std::optional<std::int64_t> multiply_accumulates(const tir::Function& function) {
  // What a loop's bound may be if it is read from memory, or a parameter: nobody runs it so often.
  constexpr std::int64_t anything = INT32_MAX;
  std::optional<std::int64_t> total = 0;
  Lets lets;
  loops::visit_with_ranges(function, {}, [&](const tir::Stmt& stmt, const loops::RangeContext& context) {
    lets.add(stmt);
    if (const auto* loop = std::get_if<tir::For>(&stmt.node)) {
      const auto extent = context.ranges.of(*loop->extent);
      if (!extent || extent->high >= anything) total = std::nullopt;
    }
    const auto* store = std::get_if<tir::Store>(&stmt.node);
    if (store == nullptr) return;
    const auto count = std::ssize(added_products(*store, lets)) * store->value->type.lanes;
    if (count > 0) total = checked_sum(total, count, context.runs);
  });
  return total;
}

std::vector<Operator> operators_of(const tir::Module& module) {
  std::vector<Operator> result;
  std::vector<std::optional<std::int64_t>> sums = sums_with_callees(module);
  const auto effects = program::param_effects(module);
  for (std::size_t i = 0; i < module.functions.size(); ++i) {
    const tir::Function& function = module.functions[i];
    const bool opaque = tir::is_opaque(module, function);
    Operator& one = result.emplace_back(opaque ? external_operator(function.name) : Operator());
    if (!opaque) {
      one.kind = kind_of(module, function);
      one.multiply_accumulates = sums[i];
    }
    for (std::size_t k = 0; k < function.params.size(); ++k) {
      const tir::Param& param = function.params[k];
      if (!param.is_tensor) continue;
      (effects[i][k].may_be_written() ? one.writes : one.reads).push_back(operand_text(param));
    }
    if (opaque && one.reads.empty()) one.reads.swap(one.writes);  // nobody knows what it writes
  }
  return result;
}

Operator called_operator(const tir::Module& module, const std::vector<Operator>& all, const std::string& callee) {
  const auto index = module.find(callee);
  return index ? all[*index] : external_operator(callee);
}

}  // namespace usmp::operators
