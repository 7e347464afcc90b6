// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// Adds up operations, times the iterations of the loops around them.
#include "usmp/loops/cost.hpp"

#include <algorithm>
#include <map>
#include <utility>
#include <vector>

#include "usmp/loops/accesses.hpp"
#include "usmp/loops/range_walk.hpp"
#include "usmp/loops/walk.hpp"
#include "usmp/support/checked.hpp"
#include "usmp/tir/visit.hpp"

namespace usmp::loops {
namespace {

using tir::Expr;
using tir::ExprKind;

constexpr double division_cost = 4;

double weight_of(const Expr& expr) {
  if (tir::is_division(expr.kind)) return division_cost;
  switch (expr.kind) {
    case ExprKind::int_imm:
    case ExprKind::float_imm:
    case ExprKind::string_imm:
    case ExprKind::var:
    case ExprKind::cast:
      return 0;
    case ExprKind::call:
      return tir::info(expr.op).cost;
    default:
      return 1;
  }
}

// Counts what the statements of a function do.
class Counter {
 public:
  void add(const tir::Stmt& stmt, const RangeContext& context) {
    runs_ = context.runs;
    if (const auto* store = std::get_if<tir::Store>(&stmt.node)) {
      count(1);
      add_index(*store->index);
      add_value(*store->value);
    } else if (const auto* branch = std::get_if<tir::IfThenElse>(&stmt.node)) {
      count(1);
      add_value(*branch->condition);
    } else if (const auto* let = std::get_if<tir::Let>(&stmt.node)) {
      add_let(*let);
    } else if (const auto* loop = std::get_if<tir::For>(&stmt.node)) {
      if (!loaded_by(*loop->min).empty() || !loaded_by(*loop->extent).empty()) total_ = std::nullopt;
      const auto extent = context.ranges.of(*loop->extent);
      const bool known = runs_ && extent && extent->high >= 0;
      changes_[loop->var] = known ? checked_mul(*runs_, extent->high) : std::nullopt;
    }
  }

  [[nodiscard]] std::optional<double> total() const { return total_; }

 private:
  void count(double operations) { count(operations, runs_); }
  void count(double operations, std::optional<std::int64_t> times) {
    if (operations == 0 || !total_) return;
    total_ = times ? std::optional(*total_ + operations * static_cast<double>(*times)) : std::nullopt;
  }

  // Index arithmetic counts as an index, where it stands.
  void add_let(const tir::Let& let) {
    if (let.value->type.is_float() || !loaded_by(*let.value).empty()) {
      add_value(*let.value);
      changes_[let.var] = runs_;
    } else {
      add_index(*let.value);
      changes_[let.var] = changes_of(*let.value);
    }
  }

  void add_index(const Expr& index) {
    tir::for_each_expr(index, [&](const Expr& expr) {
      if (tir::is_division(expr.kind)) count(division_cost, changes_of(expr));
    });
  }

  // With choices and the indices of loads.
  void add_value(const Expr& root) {
    tir::for_each_expr(root, [&](const Expr& expr) {
      count(weight_of(expr));
      if (tir::is_if_then_else(expr)) count(1);
      if (expr.kind != ExprKind::load) return true;
      add_index(*expr.operands[0]);
      return false;
    });
  }

  // How often the value of index arithmetic changes: compilers compute it outside of the loops that it does not know.
  std::optional<std::int64_t> changes_of(const Expr& root) const {
    std::optional<std::int64_t> most = 1;
    tir::for_each_expr(root, [&](const Expr& expr) {
      if (expr.kind == ExprKind::load) most = most ? runs_ : most;
      if (expr.kind != ExprKind::var) return;
      const auto found = changes_.find(expr.var);
      if (found == changes_.end()) return;
      most = most && found->second ? std::optional(std::max(*most, *found->second)) : std::nullopt;
    });
    return most;
  }

  std::optional<double> total_ = 0;
  std::optional<std::int64_t> runs_;                           // of the statement at hand
  std::map<tir::VarId, std::optional<std::int64_t>> changes_;  // how often a variable does
};

}  // namespace

double work(const Expr& root) {
  double total = 0;
  tir::for_each_expr(root, [&](const Expr& expr) {
    total += weight_of(expr);
    return expr.kind != ExprKind::load;
  });
  return total;
}

std::optional<double> work_of(const tir::Function& function) {
  Counter counter;
  visit_with_ranges(function, {},
                    [&](const tir::Stmt& stmt, const RangeContext& context) { counter.add(stmt, context); });
  return counter.total();
}

double work_of(const tir::Module& module) {
  std::vector<std::optional<double>> known(module.functions.size());
  for (std::size_t i = 0; i < known.size(); ++i) known[i] = work_of(module.functions[i]);
  double total = known[module.entry].value_or(0);
  visit_with_ranges(module.functions[module.entry], {}, [&](const tir::Stmt& stmt, const RangeContext& context) {
    tir::for_each_expr_of(stmt, [&](const tir::ExprRef& root) {
      tir::for_each_expr(*root, [&](const Expr& expr) {
        const auto call = tir::named_call(expr);
        const auto callee = call ? module.find(*call->name) : std::nullopt;
        if (callee) total += known[*callee].value_or(0) * static_cast<double>(context.runs.value_or(1));
      });
    });
  });
  return total;
}

void Trips::enter(const tir::Stmt& stmt, const arith::Facts& facts) {
  const auto* loop = std::get_if<tir::For>(&stmt.node);
  if (loop == nullptr) return;
  const auto extent = facts.affine(*loop->extent);
  const auto reach = extent ? facts.interval(*extent) : std::nullopt;
  constexpr double unknown = 1e6;
  const double inside = counts_.back() * (reach ? static_cast<double>(reach->high) : unknown);
  counts_.push_back(loop->row_runs > 0 ? static_cast<double>(loop->row_runs) * counts_.front() : inside);
}

void Trips::leave(const tir::Stmt& stmt) {
  if (std::holds_alternative<tir::For>(stmt.node)) counts_.pop_back();
}

void visit_with_trips(const tir::Block& root, arith::Facts& facts,
                      const std::function<void(const tir::Stmt& stmt, double trips)>& visit_stmt) {
  Trips trips;
  const auto before = [&](const tir::Stmt& stmt, const arith::Facts& here) {
    visit_stmt(stmt, trips.count());
    trips.enter(stmt, here);
  };
  visit(root, facts, {.before = before, .after = [&](const tir::Stmt& stmt) { trips.leave(stmt); }, .expr = {}});
}

}  // namespace usmp::loops
