// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// Greedy: every place of the program is visited in a fixed order, and at each the changes it offers are tried. A change
// is named by its number in that order, so that it can be made on a copy.
#include "random_modules/shrink.hpp"

#include <algorithm>
#include <memory>
#include <optional>
#include <utility>

#include "usmp/tir/verify.hpp"

namespace usmp::random_modules {
namespace {

using tir::Block;
using tir::Expr;
using tir::ExprKind;
using tir::ExprRef;
using tir::Stmt;

// Makes the change of the given number, counting all that could be made.
class Change {
 public:
  explicit Change(std::size_t wanted) : wanted_(wanted) {}

  // False: there are fewer changes.
  bool make(TestModule& test) {
    if (test.packed && is_next()) {
      test.packed = false;
      return true;
    }
    tir::Module& module = test.module;
    for (std::size_t i = 0; i < module.functions.size() && !done_; ++i) {
      if (i == module.entry) continue;
      if (is_next()) {
        module.functions.erase(module.functions.begin() + static_cast<std::ptrdiff_t>(i));
        if (module.entry > i) --module.entry;
        return true;
      }
    }
    // Large parts first.
    for (tir::Function& function : module.functions) remove_runs(function.body);
    for (tir::Function& function : module.functions) visit(function.body);
    return done_;
  }

 private:
  bool is_next() {
    if (done_ || next_++ != wanted_) return false;
    done_ = true;
    return true;
  }

  void remove_runs(Block& block) {
    for (std::size_t length = block.size(); length >= 1 && !done_; length /= 2) {
      for (std::size_t begin = 0; begin + length <= block.size() && !done_; begin += length) {
        if (!is_next()) continue;
        const auto first = block.begin() + static_cast<std::ptrdiff_t>(begin);
        block.erase(first, first + static_cast<std::ptrdiff_t>(length));
        return;
      }
    }
    for (Stmt& stmt : block) {
      for (Block* inner : blocks_of(stmt)) {
        if (!done_) remove_runs(*inner);
      }
    }
  }

  static std::vector<Block*> blocks_of(Stmt& stmt) {
    if (auto* loop = std::get_if<tir::For>(&stmt.node)) return {&loop->body};
    if (auto* loop = std::get_if<tir::While>(&stmt.node)) return {&loop->body};
    if (auto* branch = std::get_if<tir::IfThenElse>(&stmt.node)) return {&branch->then_body, &branch->else_body};
    if (auto* scope = std::get_if<tir::Scope>(&stmt.node)) return {&scope->body};
    return {};
  }

  void visit(Block& block) {
    for (std::size_t i = 0; i < block.size() && !done_; ++i) {
      for (Block* inner : blocks_of(block[i])) {
        if (done_ || !is_next()) continue;
        Block lifted = std::move(*inner);
        block.erase(block.begin() + static_cast<std::ptrdiff_t>(i));
        block.insert(block.begin() + static_cast<std::ptrdiff_t>(i), std::make_move_iterator(lifted.begin()),
                     std::make_move_iterator(lifted.end()));
        return;
      }
      visit(block[i]);
      if (done_) return;
      for (Block* inner : blocks_of(block[i])) visit(*inner);
    }
  }

  void visit(Stmt& stmt) {
    std::visit(
        tir::Overloaded{[&](tir::Allocate& s) {
                          for (ExprRef& extent : s.extents) lessen(extent);
                          if (s.condition && is_next()) s.condition = {};
                          if (!s.candidate_pools.empty() && is_next()) s.candidate_pools.clear();
                        },
                        [](tir::AllocateConst&) {}, [&](tir::Let& s) { replace(s.value); },
                        [&](tir::Store& s) {
                          if (s.predicate && is_next()) s.predicate = {};
                          replace(s.value);
                          replace(s.index);
                          if (s.predicate) replace(s.predicate);
                        },
                        [&](tir::Evaluate& s) { replace(s.value); },
                        [&](tir::For& s) {
                          lessen(s.extent);
                          replace(s.min);
                          replace(s.extent);
                        },
                        [&](tir::While& s) { replace(s.condition); }, [&](tir::IfThenElse& s) { replace(s.condition); },
                        [&](tir::Assert& s) { replace(s.condition); }, [](tir::Scope&) {}},
        stmt.node);
  }

  void lessen(ExprRef& extent) {
    const auto value = tir::as_int(*extent);
    if (!value || *value < 2) return;
    for (const std::int64_t less : {std::int64_t{1}, *value / 2, *value - 1}) {
      if (is_next()) extent = tir::make_int(less, extent->type);
    }
  }

  // By a constant, by an operand of its type, or with an operand replaced.
  void replace(ExprRef& expr) {
    if (done_) return;
    const bool is_leaf = expr->operands.empty();
    const bool is_number = !expr->type.is_handle() && !expr->type.is_void();
    if (is_number && !expr->type.is_vector() && (!is_leaf || expr->kind == ExprKind::var)) {
      for (const int value : {0, 1}) {
        if (!is_next()) continue;
        expr = expr->type.is_float() ? tir::make_float(value, expr->type) : tir::make_int(value, expr->type);
        return;
      }
    }
    if (is_leaf || expr->op == tir::Op::address_of || expr->op == tir::Op::type_annotation) return;
    for (const ExprRef& operand : expr->operands) {
      if (operand->type != expr->type || operand->kind == ExprKind::string_imm || !is_next()) continue;
      expr = ExprRef(operand);
      return;
    }
    Expr copy = *expr;
    for (ExprRef& operand : copy.operands) {
      replace(operand);
      if (done_) {
        expr = std::make_shared<const Expr>(std::move(copy));
        return;
      }
    }
  }

  std::size_t wanted_;
  std::size_t next_ = 0;
  bool done_ = false;
};

// Passes end the program where a module is not well formed, be it where the run never comes.
bool is_defined(const TestModule& test) {
  if (tir::find_fault(test.module)) return false;
  try {
    (void)Interpreter(test.module).run(arguments_of(test));
    return true;
  } catch (const Undefined&) {
    return false;
  }
}

}  // namespace

TestModule shrink(const TestModule& failing, const std::function<bool(const TestModule&)>& fails,
                  std::size_t most_tries) {
  TestModule best = failing;
  std::size_t tries = 0;
  for (bool smaller = true; smaller && tries < most_tries;) {
    smaller = false;
    for (std::size_t number = 0; tries < most_tries;) {
      TestModule candidate = best;
      if (!Change(number).make(candidate)) break;
      if (!is_defined(candidate) || (++tries, !fails(candidate))) {
        ++number;
        continue;
      }
      best = std::move(candidate);  // the change of this number is another one now
      smaller = true;
    }
  }
  return best;
}

}  // namespace usmp::random_modules
