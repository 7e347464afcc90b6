// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// Counts operations times the runs of their statements, and weighs them with the core's costs.
#include "usmp/kernels/estimate.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <map>
#include <utility>

#include "usmp/loops/cost.hpp"
#include "usmp/loops/range_walk.hpp"
#include "usmp/program/call_graph.hpp"
#include "usmp/tir/visit.hpp"

namespace usmp::kernels {
namespace {

// Instructions of any core, from the code that GCC 12 writes for a Cortex-M4.
constexpr double of_run_sum = 3;  // loaded and stored
constexpr double of_run = 40;     // the call, registers that are saved, and where the run begins
constexpr double of_any_iteration = 2;
constexpr double of_loop = 6;  // around it: bounds, registers that are kept
constexpr double of_call = 20;
constexpr double bytes_of_vector = 16;
constexpr std::int64_t width_of_lanes = 4;

// How often what a core's costs are of happens.
struct Work {
  double plain = 0;
  double dot_run_fours = 0;
  double pair_run_fours = 0;
  double window_fours = 0;
  double window_terms = 0;
  double lane_run_taps = 0;
  double dot4s = 0;
  double row_sums = 0;
  double row_vectors = 0;
  double lane_products = 0;
  double high_products = 0;
  double float_operations = 0;
  double float_calls = 0;

  void add(const Work& other, double times) {
    plain += other.plain * times;
    dot_run_fours += other.dot_run_fours * times;
    pair_run_fours += other.pair_run_fours * times;
    window_fours += other.window_fours * times;
    window_terms += other.window_terms * times;
    lane_run_taps += other.lane_run_taps * times;
    dot4s += other.dot4s * times;
    row_sums += other.row_sums * times;
    row_vectors += other.row_vectors * times;
    lane_products += other.lane_products * times;
    high_products += other.high_products * times;
    float_operations += other.float_operations * times;
    float_calls += other.float_calls * times;
  }
  [[nodiscard]] double instructions(const Core& core) const {
    return plain * core.plain + dot_run_fours * core.dot_run_four + lane_run_taps * core.lane_run_tap +
           pair_run_fours * core.pair_run_four + window_fours * core.window_four + window_terms * core.window_term +
           row_sums * core.row_sum + row_vectors * core.row_vector + dot4s * core.dot4 +
           lane_products * core.lane_product + high_products * core.high_product +
           float_operations * core.float_operation + float_calls * core.float_call;
  }
};

bool is_float_operation(const tir::Expr& expr) {
  switch (expr.kind) {
    case tir::ExprKind::add:
    case tir::ExprKind::sub:
    case tir::ExprKind::mul:
    case tir::ExprKind::div:
      return expr.type.is_float();
    case tir::ExprKind::cast:
      return expr.type.is_float() != expr.operands[0]->type.is_float();
    case tir::ExprKind::min:
    case tir::ExprKind::max:
    case tir::ExprKind::lt:
    case tir::ExprKind::le:
    case tir::ExprKind::gt:
    case tir::ExprKind::ge:
      return expr.operands[0]->type.is_float();
    default:
      return false;
  }
}

Work work_of(const tir::Expr& value) {
  if (value.op == tir::Op::dot4) return {.dot4s = 1};
  if (value.op == tir::Op::lane_product) return {.lane_products = 1};
  Work work{.plain = loops::work(value)};
  tir::for_each_expr(value, [&](const tir::Expr& expr) {
    if (expr.op == tir::Op::multiply_high) ++work.high_products;
    if (is_float_operation(expr)) ++work.float_operations;
    if (expr.kind == tir::ExprKind::call && expr.type.is_float() && !tir::info(expr.op).c_name.empty())
      ++work.float_calls;
    return expr.kind != tir::ExprKind::load;
  });
  return work;
}

// What one call takes. No work: not known.
struct Known {
  std::optional<Work> work;
  std::set<std::string> kernels;
  std::map<std::uint32_t, Estimate::Part> parts;
};

class Estimator {
 public:
  Estimator(const tir::Module& module, const Core& core, const std::vector<Known>& known)
      : module_(module), core_(core), known_(known) {}

  Known run(const tir::Function& function) {
    result_.work = Work{};
    loops::visit_with_ranges(function, {},
                             [&](const tir::Stmt& stmt, const loops::RangeContext& context) { add(stmt, context); });
    return std::move(result_);
  }

 private:
  void add(const tir::Stmt& stmt, const loops::RangeContext& context) {
    if (const auto* loop = std::get_if<tir::For>(&stmt.node)) {
      const auto extent = context.ranges.of(*loop->extent);
      count({.plain = of_loop}, context);
      const bool is_lanes = is_over_neighbours(*loop);
      if (is_lanes) lanes_.insert(&std::get<tir::Store>(loop->body.back().node));
      const double of_iteration = is_lanes ? of_any_iteration * core_.lanes : of_any_iteration;
      if (loop->row_runs > 0) {
        count({.plain = of_iteration * static_cast<double>(loop->row_runs)}, {context.ranges, 1});
      } else if (extent) {
        count({.plain = of_iteration * static_cast<double>(std::max<std::int64_t>(extent->high, 0))}, context);
      }
    } else if (const auto* store = std::get_if<tir::Store>(&stmt.node)) {
      const bool is_held = registers_.contains(store->storage) && !is_product(*store->value);
      Work work = work_of(*store->value);
      if (is_held) {
        work.plain = of_held(*store);
      } else if (!is_product(*store->value)) {
        ++work.plain;
      }
      if (lanes_.contains(store)) work = in_lanes(work);
      count(work, context);
    } else if (const auto* allocate = std::get_if<tir::Allocate>(&stmt.node)) {
      if (allocate->on_stack) registers_.insert(allocate->var);
    } else if (const auto* branch = std::get_if<tir::IfThenElse>(&stmt.node)) {
      skip_rest_of_window(*branch);
    } else if (const auto* evaluate = std::get_if<tir::Evaluate>(&stmt.node)) {
      if (tir::is_run(evaluate->value->op) && !rests_.contains(evaluate)) count_run(*evaluate->value, context);
    } else if (const auto* let = std::get_if<tir::Let>(&stmt.node)) {
      count(work_of(*let->value), context);
    }
    tir::for_each_expr_of(stmt, [&](const tir::ExprRef& root) {
      tir::for_each_expr(*root, [&](const tir::Expr& expr) { add_calls(expr, context); });
    });
  }

  // What a core takes four at a time: a number of elements that fours divide; with vectors also bytes that are copied.
  [[nodiscard]] bool is_over_neighbours(const tir::For& loop) const {
    const auto* store = loop.body.empty() ? nullptr : std::get_if<tir::Store>(&loop.body.back().node);
    if (core_.lanes == 1 || store == nullptr || !store->value->type.is_integer() || store->value->type.is_vector())
      return false;
    const auto extent = tir::as_int(*loop.extent);
    const bool is_copy = store->value->kind == tir::ExprKind::load && store->value->type.bits == 8;
    const bool has_fours = extent && *extent % width_of_lanes == 0;
    return tir::mentions(*store->index, loop.var) && (is_copy ? core_.in_rows : has_fours);
  }
  [[nodiscard]] Work in_lanes(const Work& work) const {
    Work result;
    result.add(work, core_.lanes);
    return result;
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
      if (evaluate != nullptr && tir::is_run(evaluate->value->op)) rests_.insert(evaluate);
    }
  }

  void count_run(const tir::Expr& run, const loops::RangeContext& context) {
    const bool is_dot = run.op == tir::Op::dot_run;
    const auto most = [&](std::size_t i) -> std::optional<double> {
      const auto range = context.ranges.of(*run.operands[i]);
      return range ? std::optional(static_cast<double>(std::max<std::int64_t>(range->high, 0))) : std::nullopt;
    };
    if (run.op == tir::Op::pair_run) {
      const double sums = 4 * most(3).value_or(0);
      return count({.plain = of_run + sums * of_run_sum, .pair_run_fours = sums * most(4).value_or(0)}, context);
    }
    if (run.op == tir::Op::lane_window) {
      const auto rows = most(6);
      const auto taps = most(9);
      if (!rows || !taps) return result_.work.reset();
      const double sums = 4 * most(3).value_or(0) * static_cast<double>(tir::as_int(*run.operands[14]).value());
      Work work{.plain = of_run + sums * of_run_sum};
      (core_.in_rows ? work.lane_products : work.lane_run_taps) =
          sums * *rows * *taps * of_window_tap(tir::as_int(*run.operands[4]) == 9 * width_of_lanes);
      return count(work, context);
    }
    const bool is_row = run.op == tir::Op::row_run;
    const auto blocks = most(4);
    if (run.op == tir::Op::window_run) return count_window(blocks, most(6), most(9), context);
    const auto terms = most(is_dot || is_row ? 6 : 5);
    if (!blocks || !terms) return result_.work.reset();
    if (is_row) {
      const std::int64_t term = std::max(run.operands[1]->type.bytes(), run.operands[2]->type.bytes());
      const double vectors = std::ceil(*terms * static_cast<double>(term) / bytes_of_vector);
      return count({.plain = of_run, .row_sums = *blocks, .row_vectors = *blocks * vectors + vectors}, context);
    }
    const auto sums = static_cast<double>(is_dot ? tir::as_int(*run.operands[8]).value() : 4) * *blocks;
    Work work{.plain = of_run + sums * of_run_sum};
    (is_dot ? work.dot_run_fours : work.lane_run_taps) = sums * *terms;
    count(work, context);
  }

  // A tap of a window of lanes, as part of what a core takes for one elsewhere: nine taps may be written out.
  [[nodiscard]] double of_window_tap(bool is_nine) const {
    if (core_.in_rows) return 1.5;
    if (is_nine) return 1;
    return core_.whole_windows ? 1.3 : 0.82;
  }

  void count_window(std::optional<double> blocks, std::optional<double> rows, std::optional<double> terms,
                    const loops::RangeContext& context) {
    if (!blocks || !rows || !terms) return result_.work.reset();
    constexpr double of_row = 14;
    const double sums = 4 * *blocks;
    const double fours = std::floor(*terms / 4);
    count({.plain = of_run + sums * of_run_sum + *blocks * *rows * of_row,
           .window_fours = sums * *rows * fours,
           .window_terms = sums * *rows * (*terms - 4 * fours)},
          context);
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
    if (!callee || !known_[*callee].work) {
      result_.work.reset();
      return;
    }
    Work work = *known_[*callee].work;
    work.plain += of_call;
    count(work, context);
    const std::set<std::string>& kernels = known_[*callee].kernels;
    result_.kernels.insert(kernels.begin(), kernels.end());
    if (const std::uint32_t part = module_.functions[*callee].row_operator; part > 0 && context.runs) {
      result_.parts[part].instructions += work.instructions(core_) * static_cast<double>(*context.runs);
      result_.parts[part].kernels.insert(kernels.begin(), kernels.end());
    }
  }

  void count(const Work& work, const loops::RangeContext& context) {
    if (!result_.work) return;
    if (!context.runs) return result_.work.reset();
    result_.work->add(work, static_cast<double>(*context.runs));
  }

  const tir::Module& module_;
  const Core& core_;
  const std::vector<Known>& known_;
  Known result_;
  std::set<const tir::Store*> lanes_;     // in loops that vectors take
  std::set<const tir::Evaluate*> rests_;  // runs that are not counted
  std::set<tir::VarId> registers_;
};

}  // namespace

std::vector<Estimate> estimates(const tir::Module& module, const Core& core) {
  std::vector<Known> known(module.functions.size());
  std::vector<Estimate> result(module.functions.size());
  for (const std::size_t index : program::callees_first(module, program::call_graph(module))) {
    if (tir::is_opaque(module, module.functions[index])) continue;
    known[index] = Estimator(module, core, known).run(module.functions[index]);
    if (known[index].work) result[index].instructions = known[index].work->instructions(core);
    result[index].kernels = known[index].kernels;
    if (known[index].work) result[index].parts = std::move(known[index].parts);
  }
  return result;
}

}  // namespace usmp::kernels
