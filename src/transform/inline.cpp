#include "transform/inline.hpp"

#include <algorithm>
#include <optional>
#include <utility>

#include "transform/map_nest.hpp"
#include "transform/rewrite.hpp"
#include "transform/work.hpp"
#include "usmp/tir/visit.hpp"

namespace usmp::transform {
namespace {

using tir::Block;
using tir::Expr;
using tir::ExprKind;
using tir::ExprRef;
using tir::Stmt;
using tir::VarId;

// A value that is zero unless a condition holds, and next to no work if it does.
bool is_padding(const Expr& value) {
  constexpr double next_to_none = 3;
  if (!is_if_then_else(value)) return false;
  const Expr& border = *value.operands[2];
  const bool is_zero = (border.kind == ExprKind::int_imm && border.int_value == 0) ||
                       (border.kind == ExprKind::float_imm && border.float_value == 0);
  return is_zero && work(*value.operands[1]) <= next_to_none;
}

// One buffer and its readers, on copies of the statements: nothing changes unless all of it can.
class Inliner {
 public:
  // May add so many nodes to the function.
  Inliner(const MapNest& nest, Inlining inlining, std::size_t budget)
      : nest_(nest), inlining_(inlining), budget_(budget) {}

  // Whether every load in the statement has become the value.
  bool take(Stmt& stmt, arith::Facts& facts, double outer_trips) {
    trips_ = outer_trips;
    visit(stmt, facts);
    return possible_;
  }

  [[nodiscard]] std::size_t replaced() const { return replaced_; }
  [[nodiscard]] std::size_t budget() const { return budget_; }  // what is left of it

  [[nodiscard]] bool pays(double elements) const {
    if (inlining_ == Inlining::padding) return is_padding(*nest_.value);
    const double each = work(*nest_.value);
    return reads_ * (each - 1) <= elements * (each + 1);
  }

 private:
  // NOLINTBEGIN(misc-no-recursion): a level a block; the reader bounds those.
  void visit(Stmt& stmt, arith::Facts& facts) {
    auto* loop = std::get_if<tir::For>(&stmt.node);
    if (loop == nullptr) {
      if (const auto blocks = tir::blocks_of(stmt); blocks.empty()) return rewrite(stmt, facts, replacement());
      auto* branch = std::get_if<tir::IfThenElse>(&stmt.node);
      if (branch == nullptr) {
        possible_ = false;
        return;
      }
      branch->condition = rewritten(branch->condition, facts, replacement());
      const std::size_t mark = facts.mark();
      facts.assume(*branch->condition);
      visit(branch->then_body, facts);
      facts.restore(mark);
      visit(branch->else_body, facts);
      return;
    }
    loop->min = rewritten(loop->min, facts, replacement());
    loop->extent = rewritten(loop->extent, facts, replacement());
    const double outer = trips_;
    const std::size_t mark = facts.mark();
    trips_ *= trips(*loop, facts);
    facts.bind_loop(*loop);
    visit(loop->body, facts);
    facts.restore(mark);
    trips_ = outer;
  }

  void visit(Block& block, arith::Facts& facts) {
    const std::size_t mark = facts.mark();
    for (Stmt& stmt : block) visit(stmt, facts);
    facts.restore(mark);
  }
  // NOLINTEND(misc-no-recursion)

  RewriteExpr replacement() {
    return [this](const ExprRef& expr, const arith::Facts& here) -> ExprRef {
      if (expr->kind != ExprKind::load || expr->var != nest_.storage || !possible_) return nullptr;
      ExprRef value = value_at(*expr, here);
      if (!value) possible_ = false;
      ++replaced_;
      reads_ += trips_;
      return value;
    };
  }

  ExprRef value_at(const Expr& load, const arith::Facts& here) {
    const auto index = here.affine(*load.operands[0]);
    if (!index) return nullptr;
    const auto iteration = iteration_of(nest_, *index, here, load.operands[0]->type);
    if (!iteration) return nullptr;
    arith::Facts facts = here;
    for (const ExprRef& guard : nest_.guards) {
      const ExprRef condition = substituted(guard, facts, *iteration);
      if (!facts.truth(*condition).value_or(false)) return nullptr;
    }
    ExprRef value = as_stored(substituted(nest_.value, facts, *iteration));
    const std::size_t size = value ? tree_size(*value) : 0;
    if (!value || size > max_expression_nodes || size > budget_) return nullptr;
    budget_ -= size;
    return value;
  }

  const MapNest& nest_;
  const Inlining inlining_;
  std::size_t budget_;
  bool possible_ = true;
  std::size_t replaced_ = 0;
  double reads_ = 0;
  double trips_ = 1;
};

class FunctionInliner {
 public:
  FunctionInliner(const tir::Module& module, tir::Function& function, const ParamAliases& aliases, Inlining inlining)
      : function_(function), aliases_(aliases), inlining_(inlining), facts_(module) {}

  std::vector<VarId> run() {
    tir::for_each_stmt(function_.body, [&](const Stmt& stmt) {
      if (const auto* allocate = std::get_if<tir::Allocate>(&stmt.node)) allocated_.insert(allocate->var);
    });
    all_ = accesses_of(function_.body);
    visit(function_.body, 1);
    return std::move(gone_);
  }

 private:
  // NOLINTBEGIN(misc-no-recursion): a level a block; the reader bounds those.
  void visit(Block& block, double outer_trips) {
    const std::size_t mark = facts_.mark();
    for (std::size_t i = 0; i < block.size();) {
      if (take_in(block, i, outer_trips)) continue;  // the statement is gone
      Stmt& stmt = block[i++];
      if (auto* loop = std::get_if<tir::For>(&stmt.node)) {
        const std::size_t outside = facts_.mark();
        const double count = outer_trips * trips(*loop, facts_);
        facts_.bind_loop(*loop);
        visit(loop->body, count);
        facts_.restore(outside);
      } else if (auto* branch = std::get_if<tir::IfThenElse>(&stmt.node)) {
        const std::size_t outside = facts_.mark();
        facts_.assume(*branch->condition);
        visit(branch->then_body, outer_trips);
        facts_.restore(outside);
        visit(branch->else_body, outer_trips);
      }
      bind_after(stmt, facts_);
    }
    facts_.restore(mark);
  }
  // NOLINTEND(misc-no-recursion)

  // Whether the statement was a nest whose buffer needs no place any more.
  bool take_in(Block& block, std::size_t at, double outer_trips) {
    const auto nest = map_nest(block[at], facts_);
    if (!nest || !allocated_.contains(nest->storage)) return false;
    const std::size_t loads = all_.loads_of(nest->storage);
    if (loads == 0 || all_.stores_of(nest->storage) != 1 || loaded_by(*nest->value).contains(nest->storage))
      return false;
    const std::size_t last = last_reader(block, at, nest->storage, loads);
    if (last == 0 || may_change(*nest, block, at + 1, last + 1)) return false;
    Inliner inliner(*nest, inlining_, budget_);
    std::vector<std::pair<std::size_t, Stmt>> readers;
    const std::size_t mark = facts_.mark();
    bool possible = true;
    for (std::size_t j = at + 1; j <= last && possible; ++j) {
      Accesses accesses;
      add_accesses(block[j], accesses);
      if (accesses.loads_of(nest->storage) > 0) {
        readers.emplace_back(j, block[j]);
        possible = inliner.take(readers.back().second, facts_, outer_trips);
      }
      bind_after(block[j], facts_);
    }
    facts_.restore(mark);
    if (!possible || inliner.replaced() != loads || !inliner.pays(outer_trips * nest->elements())) return false;
    budget_ = inliner.budget();
    for (auto& [j, stmt] : readers) block[j] = std::move(stmt);
    const VarId storage = nest->storage;
    block.erase(block.begin() + static_cast<std::ptrdiff_t>(at));
    gone_.push_back(storage);
    all_ = accesses_of(function_.body);
    return true;
  }

  // The last statement of the block that reads the storage, if all reads stand behind `at` in it; else 0.
  static std::size_t last_reader(const Block& block, std::size_t at, VarId storage, std::size_t loads) {
    std::size_t found = 0;
    for (std::size_t j = at + 1; j < block.size(); ++j) {
      Accesses accesses;
      add_accesses(block[j], accesses);
      found += accesses.loads_of(storage);
      if (found == loads) return j;
    }
    return 0;
  }

  // Whether statements [begin, end) of the block may write what the nest's value reads.
  [[nodiscard]] bool may_change(const MapNest& nest, const Block& block, std::size_t begin, std::size_t end) const {
    std::set<VarId> read = loaded_by(*nest.value);
    for (const ExprRef& guard : nest.guards) read.merge(loaded_by(*guard));
    Accesses between;
    for (std::size_t j = begin; j < end; ++j) add_accesses(block[j], between);
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
  Accesses all_;
  std::vector<VarId> gone_;
};

void erase_allocates(Block& root, const std::set<VarId>& vars) {
  tir::for_each_block(root, [&](Block& block) {
    std::erase_if(block, [&](const Stmt& stmt) {
      const auto* allocate = std::get_if<tir::Allocate>(&stmt.node);
      return allocate != nullptr && vars.contains(allocate->var);
    });
  });
}

}  // namespace

std::vector<VarId> inline_producers(const tir::Module& module, tir::Function& function, const ParamAliases& aliases,
                                    Inlining inlining) {
  std::vector<VarId> gone = FunctionInliner(module, function, aliases, inlining).run();
  erase_allocates(function.body, std::set<VarId>(gone.begin(), gone.end()));
  return gone;
}

}  // namespace usmp::transform
