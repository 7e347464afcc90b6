#include "lower/unswitch.hpp"

#include <algorithm>
#include <cstddef>
#include <iterator>
#include <map>
#include <optional>
#include <set>
#include <utility>
#include <vector>

#include "usmp/tir/constants.hpp"
#include "usmp/tir/visit.hpp"

namespace usmp::lower {
namespace {

using tir::Block;
using tir::Expr;
using tir::ExprKind;
using tir::ExprRef;
using tir::Stmt;
using tir::VarId;

// Branches count against what compilers and readers take of blocks inside each other; real loops are far from it.
constexpr std::size_t deepest_loop = 100;

bool is_choice(const Expr& expr) {
  if (expr.operands.size() != 3) return false;
  return expr.kind == ExprKind::select || (expr.kind == ExprKind::call && expr.text == "tir.if_then_else");
}

// Whether the value is made of constants and variables alone.
bool is_plain(const Expr& value) {
  bool plain = true;
  tir::for_each_expr(value, [&](const Expr& expr) {
    const bool is_call = expr.kind == ExprKind::call && !tir::is_folded_operator(expr.text);
    plain = plain && !is_call && expr.kind != ExprKind::load && expr.kind != ExprKind::let && !expr.type.is_vector() &&
            !expr.type.is_handle();
    return plain;
  });
  return plain;
}

bool mentions_any(const Expr& value, const std::set<VarId>& vars) {
  bool found = false;
  tir::for_each_expr(value, [&](const Expr& expr) {
    found = found || (expr.kind == ExprKind::var && vars.contains(expr.var));
    return !found;
  });
  return found;
}

// Lets and stores, no variable bound twice.
bool is_simple_body(const tir::For& loop) {
  std::set<VarId> bound = {loop.var};
  bool stores = false;
  for (const Stmt& stmt : loop.body) {
    if (const auto* let = std::get_if<tir::Let>(&stmt.node)) {
      if (!bound.insert(let->var).second) return false;
    } else if (const auto* store = std::get_if<tir::Store>(&stmt.node)) {
      if (store->predicate != nullptr) return false;
      stores = true;
    } else {
      return false;
    }
  }
  return stores;
}

// The variables that the body binds to values which may change from one iteration to the next, the loop's included.
std::set<VarId> changing_vars(const tir::For& loop) {
  std::set<VarId> changing = {loop.var};
  for (const Stmt& stmt : loop.body) {
    const auto* let = std::get_if<tir::Let>(&stmt.node);
    if (let != nullptr && (!is_plain(*let->value) || mentions_any(*let->value, changing))) changing.insert(let->var);
  }
  return changing;
}

// The first condition that is the same in all iterations and asked in each of them.
ExprRef steady_condition(const Expr& value, const std::set<VarId>& changing) {
  ExprRef found;
  std::vector<const Expr*> pending = {&value};
  while (!pending.empty() && found == nullptr) {
    const Expr& expr = *pending.back();
    pending.pop_back();
    std::size_t asked = expr.operands.size();
    if (is_choice(expr)) {
      const ExprRef& condition = expr.operands[0];
      const bool is_constant = tir::as_int(*condition).has_value();
      if (!is_constant && is_plain(*condition) && !mentions_any(*condition, changing)) found = condition;
      asked = 1;  // the others only if the condition says so
    } else if (expr.kind == ExprKind::and_ || expr.kind == ExprKind::or_) {
      asked = 1;
    }
    for (std::size_t i = asked; i-- > 0;) pending.push_back(expr.operands[i].get());
  }
  return found;
}

// The expression with every choice by `condition` decided.
ExprRef decided(const ExprRef& root, const Expr& condition, bool holds) {
  std::map<const Expr*, ExprRef> results;
  tir::for_each_expr_bottom_up(
      root, [&](const Expr& expr) { return results.contains(&expr); },
      [&](const ExprRef& expr) {
        if (is_choice(*expr) && tir::is_same(*expr->operands[0], condition)) {
          results[expr.get()] = results.at(expr->operands[holds ? 1 : 2].get());
          return;
        }
        Expr changed = *expr;
        bool differs = false;
        for (ExprRef& operand : changed.operands) {
          const ExprRef& result = results.at(operand.get());
          differs = differs || result != operand;
          operand = result;
        }
        results[expr.get()] = differs ? tir::make_expr(std::move(changed)) : expr;
      });
  return results.at(root.get());
}

// Lets that nothing in the block mentions any more go.
void drop_unused_lets(Block& body) {
  std::set<VarId> used;
  for (std::size_t i = body.size(); i-- > 0;) {
    const auto* let = std::get_if<tir::Let>(&body[i].node);
    if (let != nullptr && !used.contains(let->var) && is_plain(*let->value)) {
      body.erase(body.begin() + static_cast<std::ptrdiff_t>(i));
      continue;
    }
    tir::for_each_expr_of(body[i], [&](const ExprRef& root) {
      tir::for_each_expr(*root, [&](const Expr& expr) {
        if (expr.kind == ExprKind::var || expr.kind == ExprKind::load) used.insert(expr.var);
      });
    });
  }
}

class Unswitch {
 public:
  explicit Unswitch(const tir::For& loop) : loop_(loop) {}

  // What stands in the place of the loop; nothing if it stays.
  std::optional<Block> run() {
    const auto count = tir::as_int(*loop_.extent);
    if (!count || *count < 2 || !tir::as_int(*loop_.min) || !is_simple_body(loop_)) return std::nullopt;
    const ExprRef condition = find_condition();
    if (condition == nullptr) return std::nullopt;
    take_out_lets(*condition);
    Block result = std::move(lets_);
    result.push_back({tir::IfThenElse{condition, {side(*condition, true)}, {side(*condition, false)}}});
    return result;
  }

 private:
  [[nodiscard]] ExprRef find_condition() const {
    const std::set<VarId> changing = changing_vars(loop_);
    for (const Stmt& stmt : loop_.body) {
      const auto* store = std::get_if<tir::Store>(&stmt.node);
      if (store == nullptr) continue;
      if (ExprRef condition = steady_condition(*store->value, changing)) return condition;
    }
    return nullptr;
  }

  // The lets that the condition is made of, and those that these are made of, go in front of the branch.
  void take_out_lets(const Expr& condition) {
    std::set<VarId> needed;
    const auto need = [&](const Expr& value) {
      tir::for_each_expr(value, [&](const Expr& expr) {
        if (expr.kind == ExprKind::var) needed.insert(expr.var);
      });
    };
    need(condition);
    for (std::size_t i = loop_.body.size(); i-- > 0;) {
      const auto* let = std::get_if<tir::Let>(&loop_.body[i].node);
      if (let == nullptr || !needed.contains(let->var)) continue;
      need(*let->value);
      lets_.insert(lets_.begin(), loop_.body[i]);
      loop_.body.erase(loop_.body.begin() + static_cast<std::ptrdiff_t>(i));
    }
  }

  [[nodiscard]] Stmt side(const Expr& condition, bool holds) const {
    tir::For loop = loop_;
    for (Stmt& stmt : loop.body) {
      tir::for_each_expr_of(stmt, [&](ExprRef& expr) { expr = decided(expr, condition, holds); });
    }
    drop_unused_lets(loop.body);
    return {std::move(loop)};
  }

  tir::For loop_;
  Block lets_;
};

void unswitch_block(Block& outermost) {
  struct Place {
    Block* block;
    std::size_t depth;
  };
  std::vector<Place> pending = {{&outermost, 0}};
  while (!pending.empty()) {
    const Place place = pending.back();
    pending.pop_back();
    if (place.depth > deepest_loop) continue;
    Block result;
    std::vector<std::size_t> rest;  // of `result`, the statements whose blocks are still to be seen
    for (Stmt& stmt : *place.block) {
      const auto* loop = std::get_if<tir::For>(&stmt.node);
      std::optional<Block> changed = loop == nullptr ? std::nullopt : Unswitch(*loop).run();
      if (changed) {
        std::move(changed->begin(), changed->end(), std::back_inserter(result));
      } else {
        rest.push_back(result.size());
        result.push_back(std::move(stmt));
      }
    }
    *place.block = std::move(result);
    for (const std::size_t i : rest) {
      for (Block* inner : tir::blocks_of((*place.block)[i])) pending.push_back({inner, place.depth + 1});
    }
  }
}

}  // namespace

void unswitch(tir::Module& module) {
  for (tir::Function& function : module.functions) {
    if (!tir::is_opaque(module, function)) unswitch_block(function.body);
  }
}

}  // namespace usmp::lower
