#include "transform/narrow_walk.hpp"

#include <unordered_map>
#include <utility>
#include <variant>

#include "usmp/support/checked.hpp"
#include "usmp/tir/visit.hpp"

namespace usmp::transform {
namespace {

using tir::Expr;
using tir::ExprRef;

class Walker {
 public:
  Walker(tir::Ranges ranges, const std::function<void(const tir::Stmt&, const Place&)>& visit)
      : ranges_(std::move(ranges)), visit_(visit) {}

  void open(const tir::Block& /*block*/, const tir::Stmt* owner) {
    std::optional<std::int64_t> runs = runs_.empty() ? std::optional<std::int64_t>(1) : runs_.back();
    if (owner != nullptr && std::holds_alternative<tir::While>(owner->node)) runs = std::nullopt;
    if (const auto* loop = owner == nullptr ? nullptr : std::get_if<tir::For>(&owner->node)) {
      const auto extent = ranges_.of(*loop->extent);
      runs = runs && extent && extent->high >= 0 ? checked_mul(*runs, extent->high) : std::nullopt;
    }
    runs_.push_back(runs);
  }

  void close(const tir::Block& /*block*/, const tir::Stmt* /*owner*/) { runs_.pop_back(); }

  void statement(const tir::Stmt& stmt) {
    visit_(stmt, {ranges_, runs_.back()});
    if (const auto* loop = std::get_if<tir::For>(&stmt.node)) ranges_.bind_loop(loop->var, *loop->min, *loop->extent);
    if (const auto* let = std::get_if<tir::Let>(&stmt.node)) {
      // The variable is of the value's type, which may be narrower than what C computes.
      const auto whole = tir::range_of_type(let->value->type);
      const auto range = ranges_.of(*let->value);
      const bool fits = whole && range && range->low >= whole->low && range->high <= whole->high;
      ranges_.bind(let->var, fits ? range : whole);
    }
  }

 private:
  tir::Ranges ranges_;
  const std::function<void(const tir::Stmt&, const Place&)>& visit_;
  std::vector<std::optional<std::int64_t>> runs_;  // of the open blocks
};

class Rewriter {
 public:
  explicit Rewriter(const std::function<ExprRef(const ExprRef&)>& change) : change_(change) {}

  void rewrite(tir::Stmt& stmt) {
    tir::for_each_expr_of(stmt, [&](ExprRef& expr) { replace(expr); });
  }

 private:
  void replace(ExprRef& root) {
    tir::for_each_expr_bottom_up(
        root, [&](const Expr& expr) { return results_.contains(&expr); },
        [&](const ExprRef& expr) {
          ExprRef result = rebuilt(expr);
          results_.emplace(expr.get(), std::move(result));
          originals_.push_back(expr);
        });
    root = results_.at(root.get());
  }

  ExprRef rebuilt(const ExprRef& expr) const {
    ExprRef result = expr;
    bool changed = false;
    for (const ExprRef& operand : expr->operands) changed = changed || results_.at(operand.get()) != operand;
    if (changed) {
      Expr copy = *expr;
      for (ExprRef& operand : copy.operands) operand = results_.at(operand.get());
      result = tir::make_expr(std::move(copy));
    }
    ExprRef other = change_(result);
    return other ? other : result;
  }

  const std::function<ExprRef(const ExprRef&)>& change_;
  std::unordered_map<const Expr*, ExprRef> results_;  // looked up only
  std::vector<ExprRef> originals_;                    // kept alive, so that no other node can take an address
};

}  // namespace

void walk_operator(const tir::Function& function, tir::Ranges ranges,
                   const std::function<void(const tir::Stmt&, const Place&)>& visit) {
  Walker walker(std::move(ranges), visit);
  tir::walk(function.body, walker);
}

void rewrite_expressions(tir::Block& block, const std::function<ExprRef(const ExprRef&)>& change) {
  Rewriter rewriter(change);
  std::vector<tir::Block*> pending = {&block};
  while (!pending.empty()) {
    tir::Block& next = *pending.back();
    pending.pop_back();
    for (tir::Stmt& stmt : next) {
      rewriter.rewrite(stmt);
      for (tir::Block* inner : tir::blocks_of(stmt)) pending.push_back(inner);
    }
  }
}

}  // namespace usmp::transform
