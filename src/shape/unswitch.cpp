// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// Takes the first condition that no iteration changes, decides it in two copies of the loop, and asks it in front.
#include "shape/unswitch.hpp"

#include <algorithm>
#include <cstddef>
#include <iterator>
#include <optional>
#include <set>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "usmp/arith/ranges.hpp"
#include "usmp/tir/visit.hpp"

namespace usmp::shape {
namespace {

using tir::Block;
using tir::Expr;
using tir::ExprKind;
using tir::ExprRef;
using tir::Stmt;
using tir::VarId;

// Branches count against what compilers and readers take of blocks inside each other; real loops are far from it.
constexpr std::size_t deepest_loop = 100;

// A loop's choices are all compared with the condition that is taken; without limits that takes time that grows with
// the square of the loop's size. Real conditions have some ten nodes, real loops some ten of them.
constexpr std::size_t largest_condition = 200;  // nodes, as a tree
constexpr std::size_t most_choices = 200;       // of a loop

// Sides of another type than the whole would be converted by it.
bool is_choice(const Expr& expr) {
  if (expr.operands.size() != 3 || expr.operands[1]->type != expr.type || expr.operands[2]->type != expr.type) {
    return false;
  }
  return expr.kind == ExprKind::select || (expr.kind == ExprKind::call && expr.op == tir::Op::if_then_else);
}

// Whether a value of this kind is made of constants, variables and operands alone.
bool is_plain_node(const Expr& expr) {
  const bool is_call = expr.kind == ExprKind::call && !tir::info(expr.op).is_folded;
  return !is_call && expr.kind != ExprKind::load && expr.kind != ExprKind::let && !expr.type.is_vector() &&
         !expr.type.is_handle();
}

bool is_plain(const Expr& value) {
  bool plain = true;
  tir::for_each_expr(value, [&](const Expr& expr) { return plain = plain && is_plain_node(expr); });
  return plain;
}

bool is_small(const Expr& condition) {
  std::size_t nodes = 0;
  tir::for_each_expr(condition, [&](const Expr&) { return ++nodes <= largest_condition; });
  return nodes <= largest_condition;
}

// Whether expressions are made of constants and of variables that do not change.
class Steadiness {
 public:
  explicit Steadiness(VarId changing) : changing_({changing}) {}

  void bind(const tir::Let& let) {
    if (!holds(let.value)) changing_.insert(let.var);
  }

  // What it has told of an expression must not change afterwards: variables are bound before they are mentioned.
  bool holds(const ExprRef& value) {
    tir::for_each_expr_bottom_up(
        value, [&](const Expr& expr) { return known_.contains(&expr); },
        [&](const ExprRef& expr) {
          const bool changes = expr->kind == ExprKind::var && changing_.contains(expr->var);
          known_[expr.get()] =
              !changes && is_plain_node(*expr) &&
              std::ranges::all_of(expr->operands, [&](const ExprRef& part) { return known_.at(part.get()); });
        });
    return known_.at(value.get());
  }

 private:
  std::set<VarId> changing_;
  std::unordered_map<const Expr*, bool> known_;
};

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

// Appends what is evaluated whenever the expression is: of what it is made of, without what conditions guard, and
// without what stands in the scope of a variable that the expression binds itself.
void append_asked(const Expr& expr, std::vector<const Expr*>& pending) {
  const bool is_lazy = expr.kind == ExprKind::select ||
                       (expr.kind == ExprKind::call && expr.op == tir::Op::if_then_else) ||
                       expr.kind == ExprKind::and_ || expr.kind == ExprKind::or_ || expr.kind == ExprKind::let;
  const std::size_t end = is_lazy && !expr.operands.empty() ? 1 : expr.operands.size();
  for (std::size_t i = end; i-- > 0;) pending.push_back(expr.operands[i].get());
}

// The first condition that is the same in all iterations and asked in each of them.
ExprRef steady_condition(const Expr& value, Steadiness& steady) {
  std::vector<const Expr*> pending = {&value};
  while (!pending.empty()) {
    const Expr& expr = *pending.back();
    pending.pop_back();
    if (is_choice(expr)) {
      const ExprRef& condition = expr.operands[0];
      if (!tir::as_int(*condition) && steady.holds(condition) && is_small(*condition)) return condition;
    }
    append_asked(expr, pending);
  }
  return nullptr;
}

bool has_few_choices(const tir::For& loop) {
  std::size_t choices = 0;
  for (const Stmt& stmt : loop.body) {
    tir::for_each_expr_of(stmt, [&](const ExprRef& root) {
      tir::for_each_expr(*root, [&](const Expr& expr) {
        if (is_choice(expr)) ++choices;
        return choices <= most_choices;
      });
    });
  }
  return choices <= most_choices;
}

// The expression with every choice by `condition` decided.
ExprRef decided(const ExprRef& root, const Expr& condition, bool holds) {
  tir::ExprRewriter rewriter([&](const ExprRef& expr) -> ExprRef {
    const bool is_decided = is_choice(*expr) && tir::is_same(*expr->operands[0], condition);
    return is_decided ? expr->operands[holds ? 1 : 2] : nullptr;
  });
  return rewriter.rewritten(root);
}

// The statements for which `stays`, asked from the last to the first, holds; the others are given back, in order.
template <class Stays>
Block take_out(Block& body, const Stays& stays) {
  Block kept;
  Block taken;
  for (std::size_t i = body.size(); i-- > 0;) {
    Block& to = stays(std::as_const(body[i])) ? kept : taken;
    to.push_back(std::move(body[i]));
  }
  std::ranges::reverse(kept);
  std::ranges::reverse(taken);
  body = std::move(kept);
  return taken;
}

void add_mentioned(const Expr& value, std::set<VarId>& vars) {
  tir::for_each_expr(value, [&](const Expr& expr) {
    if (expr.kind == ExprKind::var || expr.kind == ExprKind::load) vars.insert(expr.var);
  });
}

// Lets that nothing in the block mentions any more go.
void drop_unused_lets(Block& body) {
  std::set<VarId> used;
  (void)take_out(body, [&](const Stmt& stmt) {
    const auto* let = std::get_if<tir::Let>(&stmt.node);
    if (let != nullptr && !used.contains(let->var) && is_plain(*let->value)) return false;
    tir::for_each_expr_of(stmt, [&](const ExprRef& root) { add_mentioned(*root, used); });
    return true;
  });
}

class Unswitch {
 public:
  explicit Unswitch(const tir::For& loop) : loop_(loop) {}

  // What stands in the place of the loop; nothing if it stays.
  std::optional<Block> run() {
    const auto count = tir::as_int(*loop_.extent);
    if (!count || *count < 2 || !tir::as_int(*loop_.min) || !is_simple_body(loop_) || !has_few_choices(loop_)) {
      return std::nullopt;
    }
    const ExprRef condition = find_condition();
    if (condition == nullptr) return std::nullopt;
    take_out_lets(*condition);
    Block result = std::move(lets_);
    result.push_back({tir::IfThenElse{condition, {side(*condition, true)}, {side(*condition, false)}}});
    return result;
  }

 private:
  [[nodiscard]] ExprRef find_condition() const {
    Steadiness steady(loop_.var);
    for (const Stmt& stmt : loop_.body) {
      if (const auto* let = std::get_if<tir::Let>(&stmt.node)) steady.bind(*let);
      const auto* store = std::get_if<tir::Store>(&stmt.node);
      if (store == nullptr) continue;
      if (ExprRef condition = steady_condition(*store->value, steady)) return condition;
    }
    return nullptr;
  }

  // The lets that the condition is made of, and those that these are made of, go in front of the branch.
  void take_out_lets(const Expr& condition) {
    std::set<VarId> needed;
    add_mentioned(condition, needed);
    lets_ = take_out(loop_.body, [&](const Stmt& stmt) {
      const auto* let = std::get_if<tir::Let>(&stmt.node);
      if (let == nullptr || !needed.contains(let->var)) return true;
      add_mentioned(*let->value, needed);
      return false;
    });
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
      if (changed && changed->size() > 1 && &stmt != &place.block->back()) {
        result.push_back({tir::Scope{std::move(*changed)}});  // what follows may bind the same variables
      } else if (changed) {
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

}  // namespace usmp::shape
