// SPDX-License-Identifier: Apache-2.0
#include "usmp/kernels/estimate.hpp"

#include <algorithm>
#include <cstddef>

#include "usmp/loops/cost.hpp"
#include "usmp/loops/range_walk.hpp"
#include "usmp/program/call_graph.hpp"
#include "usmp/tir/visit.hpp"

namespace usmp::kernels {
namespace {

// Instructions, from the code that GCC 12 writes for a Cortex-M4.
constexpr double of_dot4 = 5.75;         // one load, two unpackings, two products; a quarter of those of the data
constexpr double of_lane_product = 2.5;  // one product; a quarter of two loads and four unpackings
constexpr double of_four = 5.75;         // terms of one sum in a run, with its part of the loop
constexpr double of_tap = 2.6;           // one term of one sum in a run of lanes
constexpr double of_run_sum = 3;         // loaded and stored
constexpr double of_run = 40;            // the call, registers that are saved, and where the run begins
constexpr double of_iteration = 2;
constexpr double of_loop = 6;  // around it: bounds, registers that are kept
constexpr double of_call = 20;

double instructions_of(const tir::Expr& value) {
  if (value.op == tir::Op::dot4) return of_dot4;
  if (value.op == tir::Op::lane_product) return of_lane_product;
  return loops::work(value);
}

class Estimator {
 public:
  Estimator(const tir::Module& module, const std::vector<Estimate>& known) : module_(module), known_(known) {}

  Estimate run(const tir::Function& function) {
    result_.instructions = 0;
    loops::visit_with_ranges(function, {},
                             [&](const tir::Stmt& stmt, const loops::RangeContext& context) { add(stmt, context); });
    return std::move(result_);
  }

 private:
  void add(const tir::Stmt& stmt, const loops::RangeContext& context) {
    if (const auto* loop = std::get_if<tir::For>(&stmt.node)) {
      const auto extent = context.ranges.of(*loop->extent);
      count(of_loop, context);
      if (loop->row_runs > 0) {
        count(of_iteration * static_cast<double>(loop->row_runs), {context.ranges, 1});
      } else {
        count(extent ? of_iteration * static_cast<double>(std::max<std::int64_t>(extent->high, 0)) : 0, context);
      }
    } else if (const auto* store = std::get_if<tir::Store>(&stmt.node)) {
      const bool is_held = registers_.contains(store->storage) && !is_product(*store->value);
      count(is_held ? of_held(*store) : instructions_of(*store->value) + (is_product(*store->value) ? 0 : 1), context);
    } else if (const auto* allocate = std::get_if<tir::Allocate>(&stmt.node)) {
      if (allocate->on_stack) registers_.insert(allocate->var);
    } else if (const auto* branch = std::get_if<tir::IfThenElse>(&stmt.node)) {
      skip_rest_of_window(*branch);
    } else if (const auto* evaluate = std::get_if<tir::Evaluate>(&stmt.node)) {
      if (tir::is_run(evaluate->value->op) && !rests_.contains(evaluate->value.get()))
        count_run(*evaluate->value, context);
    } else if (const auto* let = std::get_if<tir::Let>(&stmt.node)) {
      count(loops::work(*let->value), context);
    }
    tir::for_each_expr_of(stmt, [&](const tir::ExprRef& root) {
      tir::for_each_expr(*root, [&](const tir::Expr& expr) { add_calls(expr, context); });
    });
  }

  // Held sums share half of what their terms load.
  static double of_held(const tir::Store& store) {
    double loads = 0;
    double own = 0;
    tir::for_each_expr(*store.value, [&](const tir::Expr& expr) {
      if (expr.kind != tir::ExprKind::load) return true;
      (expr.var == store.storage ? own : loads) += 1;
      return false;
    });
    return loops::work(*store.value) - own - loads / 2;
  }

  // What a window has beyond the end of a ring is small, and there seldom.
  void skip_rest_of_window(const tir::IfThenElse& branch) {
    for (const tir::Stmt& stmt : branch.then_body) {
      const auto* evaluate = std::get_if<tir::Evaluate>(&stmt.node);
      if (evaluate != nullptr && tir::is_run(evaluate->value->op)) rests_.insert(evaluate->value.get());
    }
  }

  void count_run(const tir::Expr& run, const loops::RangeContext& context) {
    const bool is_dot = run.op == tir::Op::dot_run;
    const auto most = [&](std::size_t i) -> std::optional<double> {
      const auto range = context.ranges.of(*run.operands[i]);
      return range ? std::optional(static_cast<double>(std::max<std::int64_t>(range->high, 0))) : std::nullopt;
    };
    const auto blocks = most(4);
    const auto terms = most(is_dot ? 6 : 5);
    if (!blocks || !terms) return result_.instructions.reset();
    const auto sums = static_cast<double>(is_dot ? tir::as_int(*run.operands[8]).value() : 4) * *blocks;
    count(of_run + sums * (of_run_sum + *terms * (is_dot ? of_four : of_tap)), context);
  }

  static bool is_product(const tir::Expr& value) {
    return value.op == tir::Op::dot4 || value.op == tir::Op::lane_product;
  }

  void add_calls(const tir::Expr& expr, const loops::RangeContext& context) {
    if (is_product(expr) || tir::is_run(expr.op))
      result_.kernels.emplace(tir::info(expr.op).name.substr(std::string_view("usmp.").size()));
    const auto call = tir::named_call(expr);
    if (!call) return;
    const auto callee = module_.find(*call->name);
    if (!callee || !known_[*callee].instructions) {
      result_.instructions.reset();
      return;
    }
    count(of_call + *known_[*callee].instructions, context);
    result_.kernels.insert(known_[*callee].kernels.begin(), known_[*callee].kernels.end());
  }

  void count(double instructions, const loops::RangeContext& context) {
    if (instructions == 0 || !result_.instructions) return;
    if (!context.runs) return result_.instructions.reset();
    *result_.instructions += instructions * static_cast<double>(*context.runs);
  }

  const tir::Module& module_;
  const std::vector<Estimate>& known_;
  Estimate result_;
  std::set<const tir::Expr*> rests_;  // runs that are not counted
  std::set<tir::VarId> registers_;
};

}  // namespace

std::vector<Estimate> estimates(const tir::Module& module) {
  std::vector<Estimate> known(module.functions.size());
  for (const std::size_t index : program::callees_first(module, program::call_graph(module))) {
    if (tir::is_opaque(module, module.functions[index])) continue;
    known[index] = Estimator(module, known).run(module.functions[index]);
  }
  return known;
}

}  // namespace usmp::kernels
