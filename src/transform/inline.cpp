// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// Tries each producer on copies of its readers, and keeps them if every load has become the value.
#include "transform/inline.hpp"

#include <algorithm>
#include <optional>
#include <utility>

#include "usmp/loops/cost.hpp"
#include "usmp/loops/edit.hpp"
#include "usmp/loops/injective_nest.hpp"
#include "usmp/loops/walk.hpp"
#include "usmp/tir/visit.hpp"

namespace usmp::transform {
namespace {

using tir::Block;
using tir::Expr;
using tir::ExprKind;
using tir::ExprRef;
using tir::Stmt;
using tir::VarId;

// A copy with a border of zero.
bool is_padding(const Expr& value) {
  if (!has_border(value)) return false;
  const Expr& border = *value.operands[2];
  return border.kind == ExprKind::int_imm ? border.int_value == 0 : border.float_value == 0;
}

// One buffer and its readers, on copies of the statements: nothing changes unless all of it can.
class Inliner {
 public:
  // May add so many nodes to the function.
  Inliner(const loops::InjectiveNest& nest, Inlining inlining, std::size_t budget)
      : nest_(nest), inlining_(inlining), budget_(budget) {}

  // Whether every load in the statement has become the value.
  bool take(Stmt& stmt, arith::Facts& facts, double outer_trips) {
    trips_ = loops::Trips(outer_trips);
    const auto before = [this](Block& block, std::size_t& at, arith::Facts& here) {
      const bool is_known = tir::blocks_of(block[at]).empty() || std::holds_alternative<tir::For>(block[at].node) ||
                            std::holds_alternative<tir::IfThenElse>(block[at].node);
      possible_ = possible_ && is_known;
      tir::for_each_expr_of(block[at], [&](ExprRef& expr) { expr = loops::rewritten(expr, here, replacement()); });
      trips_.enter(block[at], here);
      return loops::Next::enter;
    };
    const auto after = [this](const Block& block, std::size_t& at, const arith::Facts&) { trips_.leave(block[at]); };
    Block block;
    block.push_back(std::move(stmt));
    loops::edit(block, facts, {.before = before, .after = after});
    stmt = std::move(block.front());
    return possible_;
  }

  [[nodiscard]] std::size_t budget() const { return budget_; }  // what is left of it

  [[nodiscard]] bool pays(double elements) const {
    if (inlining_ == Inlining::padding) return is_padding(*nest_.value);
    const double each = loops::work(*nest_.value);
    return reads_ * (each - 1) <= elements * (each + 1);
  }

 private:
  loops::RewriteExpr replacement() {
    return [this](const ExprRef& expr, const arith::Facts& here) -> ExprRef {
      if (expr->kind != ExprKind::load || expr->var != nest_.storage || !possible_) return nullptr;
      ExprRef value = value_at(*expr, here);
      if (!value) possible_ = false;
      reads_ += trips_.count();
      return value;
    };
  }

  ExprRef value_at(const Expr& load, const arith::Facts& here) {
    const auto index = here.affine(*load.operands[0]);
    if (!index) return nullptr;
    const auto iteration = loops::iteration_of(nest_, *index, here, load.operands[0]->type);
    if (!iteration) return nullptr;
    arith::Facts facts = here;
    for (const ExprRef& guard : nest_.guards) {
      const ExprRef condition = loops::substituted(guard, facts, *iteration);
      if (!facts.truth(*condition).value_or(false)) return nullptr;
    }
    ExprRef value = loops::as_stored(loops::substituted(nest_.value, facts, *iteration));
    const std::size_t size = value ? loops::tree_size(*value) : 0;
    if (!value || size > loops::max_expression_nodes || size > budget_) return nullptr;
    budget_ -= size;
    return value;
  }

  const loops::InjectiveNest& nest_;
  const Inlining inlining_;
  std::size_t budget_;
  bool possible_ = true;
  double reads_ = 0;
  loops::Trips trips_;
};

class FunctionInliner {
 public:
  FunctionInliner(const tir::Module& module, tir::Function& function, const ParamAliases& aliases, Inlining inlining)
      : function_(function), aliases_(aliases), inlining_(inlining), facts_(module) {}

  std::vector<VarId> run() {
    tir::for_each_stmt(function_.body, [&](const Stmt& stmt) {
      if (const auto* allocate = std::get_if<tir::Allocate>(&stmt.node)) allocated_.insert(allocate->var);
    });
    all_ = loops::accesses_of(function_.body);
    loops::Trips trips;
    const auto before = [&](Block& block, std::size_t& at, arith::Facts& here) {
      if (take_in(block, at, trips.count())) return loops::Next::again;
      trips.enter(block[at], here);
      return loops::Next::enter;
    };
    const auto after = [&](const Block& block, std::size_t& at, const arith::Facts&) { trips.leave(block[at]); };
    loops::edit(function_.body, facts_, {.before = before, .after = after});
    return std::move(gone_);
  }

 private:
  // Whether the statement was a nest whose buffer needs no place any more.
  bool take_in(Block& block, std::size_t at, double outer_trips) {
    const auto stored = last_stored(block[at]);
    if (!stored || !allocated_.contains(*stored)) return false;
    const std::size_t loads = all_.loads_of(*stored);
    if (loads == 0 || all_.stores_of(*stored) != 1) return false;
    const auto nest = loops::injective_nest(block[at], facts_);
    if (!nest) return false;
    const std::size_t last = last_reader(block, at, nest->storage, loads);
    if (last == 0 || may_change(*nest, block, at + 1, last + 1)) return false;
    Inliner inliner(*nest, inlining_, budget_);
    std::vector<std::pair<std::size_t, Stmt>> readers;
    const std::size_t mark = facts_.mark();
    bool possible = true;
    for (std::size_t j = at + 1; j <= last && possible; ++j) {
      loops::Accesses accesses;
      loops::add_accesses(block[j], accesses);
      if (accesses.loads_of(nest->storage) > 0) {
        readers.emplace_back(j, block[j]);
        possible = inliner.take(readers.back().second, facts_, outer_trips);
      }
      loops::bind_after(block[j], facts_);
    }
    facts_.restore(mark);
    if (!possible || !inliner.pays(outer_trips * nest->elements())) return false;
    budget_ = inliner.budget();
    for (auto& [j, stmt] : readers) block[j] = std::move(stmt);
    const VarId storage = nest->storage;
    block.erase(block.begin() + static_cast<std::ptrdiff_t>(at));
    gone_.push_back(storage);
    all_ = loops::accesses_of(function_.body);
    return true;
  }

  // What the innermost of the last statements stores to: if it is a nest with one store, that.
  static std::optional<VarId> last_stored(const Stmt& nest) {
    const Stmt* stmt = &nest;
    while (true) {
      if (const auto* store = std::get_if<tir::Store>(&stmt->node)) return store->storage;
      const auto blocks = tir::blocks_of(*stmt);
      if (blocks.empty() || blocks.front()->empty()) return std::nullopt;
      stmt = &blocks.front()->back();
    }
  }

  // The last statement of the block that reads the storage, if all reads stand behind `at` in it, so that the nest has
  // none; else 0.
  static std::size_t last_reader(const Block& block, std::size_t at, VarId storage, std::size_t loads) {
    std::size_t found = 0;
    for (std::size_t j = at + 1; j < block.size(); ++j) {
      loops::Accesses accesses;
      loops::add_accesses(block[j], accesses);
      found += accesses.loads_of(storage);
      if (found == loads) return j;
    }
    return 0;
  }

  // Whether statements [begin, end) of the block may write what the nest's value reads.
  [[nodiscard]] bool may_change(const loops::InjectiveNest& nest, const Block& block, std::size_t begin,
                                std::size_t end) const {
    std::set<VarId> read = loops::loaded_by(*nest.value);
    for (const ExprRef& guard : nest.guards) read.merge(loops::loaded_by(*guard));
    loops::Accesses between;
    for (std::size_t j = begin; j < end; ++j) loops::add_accesses(block[j], between);
    return std::any_of(between.stores.begin(), between.stores.end(), [&](const auto& store) {
      return std::any_of(read.begin(), read.end(), [&](VarId var) { return aliases_.may_alias(var, store.first); });
    });
  }

  tir::Function& function_;
  const ParamAliases& aliases_;
  const Inlining inlining_;
  std::size_t budget_ = max_expressions;
  arith::Facts facts_;
  std::set<VarId> allocated_;
  loops::Accesses all_;
  std::vector<VarId> gone_;
};

}  // namespace

bool has_border(const Expr& value) {
  constexpr double next_to_none = 3;
  if (!tir::is_if_then_else(value)) return false;
  const ExprKind border = value.operands[2]->kind;
  return (border == ExprKind::int_imm || border == ExprKind::float_imm) &&
         loops::work(*value.operands[1]) <= next_to_none;
}

std::vector<VarId> inline_producers(const tir::Module& module, tir::Function& function, const ParamAliases& aliases,
                                    Inlining inlining) {
  std::vector<VarId> gone = FunctionInliner(module, function, aliases, inlining).run();
  loops::erase_allocates(function.body, std::set<VarId>(gone.begin(), gone.end()));
  return gone;
}

}  // namespace usmp::transform
