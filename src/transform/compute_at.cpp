// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// Puts a copy of the loops that compute a part in front of the loop that reads it.
#include "transform/compute_at.hpp"

#include <algorithm>
#include <optional>
#include <set>
#include <utility>
#include <vector>

#include "transform/producer.hpp"
#include "usmp/loops/box.hpp"
#include "usmp/loops/edit.hpp"
#include "usmp/loops/walk.hpp"
#include "usmp/support/checked.hpp"
#include "usmp/tir/visit.hpp"

namespace usmp::transform {
namespace {

using tir::Block;
using tir::Expr;
using tir::ExprKind;
using tir::ExprRef;
using tir::Stmt;
using tir::VarId;

std::size_t loads_in(const Stmt& stmt, VarId storage) {
  loops::Accesses accesses;
  loops::add_accesses(stmt, accesses);
  return accesses.loads_of(storage);
}

// What is bound in a statement.
std::set<VarId> bound_in(const Stmt& root) {
  std::set<VarId> bound;
  std::vector<const Stmt*> pending = {&root};
  while (!pending.empty()) {
    const Stmt& stmt = *pending.back();
    pending.pop_back();
    if (const auto* loop = std::get_if<tir::For>(&stmt.node)) bound.insert(loop->var);
    if (const auto* let = std::get_if<tir::Let>(&stmt.node)) bound.insert(let->var);
    for (const Block* block : tir::blocks_of(stmt)) {
      for (const Stmt& inner : *block) pending.push_back(&inner);
    }
  }
  return bound;
}

// A smaller buffer for one statement: what it holds, and the statement reading it.
class LocalCopy {
 public:
  LocalCopy(tir::Module& module, const loops::InjectiveNest& nest, const Stmt& part)
      : module_(module), nest_(nest), part_(part) {}

  // Statements that stand in the place of the part: the smaller buffer's allocate, the loops that fill it, the part.
  // Nothing: not possible.
  std::optional<Block> make(arith::Facts& facts, const tir::Allocate& whole) {
    const std::size_t mark = facts.mark();
    box_ = loops::Box(bound_in(part_));
    const auto add_load = [this](const Expr& expr, const arith::Facts& here) {
      if (expr.kind != ExprKind::load || expr.var != nest_.storage || !possible_) return;
      const auto counts = counts_of(expr, here);
      possible_ = counts && box_.add(*counts, here);
    };
    loops::visit(part_, facts, {.before = {}, .after = {}, .expr = add_load});
    facts.restore(mark);
    if (!possible_ || !lies_in_nest(facts)) return std::nullopt;
    module_.vars.push_back(module_.var(nest_.storage));
    copy_ = VarId(module_.vars.size() - 1);
    auto filled = filling(facts);
    if (!filled) return std::nullopt;
    loops::rewrite(part_, facts, [&](const ExprRef& expr, const arith::Facts& here) -> ExprRef {
      return expr->kind == ExprKind::load && expr->var == nest_.storage ? read(*expr, here) : nullptr;
    });
    facts.restore(mark);
    if (!possible_) return std::nullopt;
    tir::Allocate allocate = whole;
    allocate.var = copy_;
    allocate.extents = {tir::make_int(*box_.size())};
    Block block;
    block.push_back(Stmt{std::move(allocate)});
    block.push_back(std::move(*filled));
    block.push_back(std::move(part_));
    return block;
  }

 private:
  std::optional<std::vector<arith::Affine>> counts_of(const Expr& load, const arith::Facts& here) const {
    const auto index = here.affine(*load.operands[0]);
    return index ? loops::counts_at(nest_, *index, here) : std::nullopt;
  }

  // Whether every iteration of the box is one of the nest.
  [[nodiscard]] bool lies_in_nest(const arith::Facts& facts) {
    for (std::size_t i = 0; i < box_.sides().size(); ++i) {
      const loops::NestLoop& loop = nest_.loops[i];
      const loops::Side& side = box_.sides()[i];
      const auto base = facts.interval(side.base);
      const auto low = base ? checked_add(base->low, side.reach.low) : std::nullopt;
      const auto high = base ? checked_add(base->high, side.reach.high) : std::nullopt;
      const auto last = checked_add(loop.min, loop.extent - 1);
      if (!low || !high || !last || *low < loop.min || *high > *last) return false;
    }
    return box_.size().has_value();
  }

  std::optional<Stmt> filling(arith::Facts& facts) {
    const std::size_t mark = facts.mark();
    loops::Substitution iteration;
    arith::Affine place;
    std::vector<tir::For> loops;
    for (std::size_t i = 0; i < box_.sides().size(); ++i) {
      const loops::NestLoop& loop = nest_.loops[i];
      const loops::Side& side = box_.sides()[i];
      arith::Affine count = side.base;
      count.constant = side.reach.low;
      if (side.extent() > 1) {
        const VarId var = loops::fresh_var(module_, module_.var(loop.var).name, loop.type);
        loops.push_back({var, tir::make_int(0, loop.type), tir::make_int(side.extent(), loop.type), {}});
        facts.bind_loop(loops.back());
        const auto longer = sum(count, arith::variable(var));
        const auto behind = scaled(arith::variable(var), box_.stride(i));
        const auto further = behind ? sum(place, *behind) : std::nullopt;
        if (!longer || !further) return std::nullopt;
        count = *longer;
        place = *further;
      }
      if (!facts.fits(count, loop.type)) return std::nullopt;
      iteration[loop.var] = facts.expr(count, loop.type);
    }
    ExprRef value = loops::as_stored(loops::substituted(nest_.value, facts, iteration));
    const tir::DataType index_type = loops.empty() ? tir::int32_type : loops.front().extent->type;
    const bool fits = value && loops::tree_size(*value) <= loops::max_expression_nodes && facts.fits(place, index_type);
    if (!fits) return std::nullopt;
    Stmt stmt{tir::Store{
        .storage = copy_, .index = facts.expr(place, index_type), .value = std::move(value), .predicate = nullptr}};
    facts.restore(mark);
    for (std::size_t i = loops.size(); i-- > 0;) {
      loops[i].body.push_back(std::move(stmt));
      stmt = Stmt{std::move(loops[i])};
    }
    return stmt;
  }

  ExprRef read(const Expr& load, const arith::Facts& here) {
    const auto counts = counts_of(load, here);
    const auto place = counts ? box_.position(*counts) : std::nullopt;
    const tir::DataType type = load.operands[0]->type;
    if (!place || !here.fits(*place, type)) {
      possible_ = false;
      return nullptr;
    }
    return tir::make_load(load.type, copy_, here.expr(*place, type));
  }

  tir::Module& module_;
  const loops::InjectiveNest& nest_;
  Stmt part_;
  loops::Box box_{{}};  // of iterations of the nest
  VarId copy_;
  bool possible_ = true;
};

class Recomputer {
 public:
  Recomputer(tir::Module& module, tir::Function& function, const Producer& producer, std::size_t depth)
      : module_(module), function_(function), producer_(producer), depth_(depth), facts_(module) {}

  bool run() {
    for (const Stmt& stmt : function_.body) {
      const auto* allocate = std::get_if<tir::Allocate>(&stmt.node);
      if (allocate != nullptr && allocate->var == producer_.nest.storage) whole_ = *allocate;
    }
    if (depth_ != at_read && !producer_.nest.guards.empty()) return false;
    whole_.type = module_.var(whole_.var).element;
    if (whole_.type.is_void() || whole_.type.is_vector()) return false;
    Block body;
    for (std::size_t i = 0; i < function_.body.size(); ++i) {
      Stmt& stmt = function_.body[i];
      const bool reads = std::find(producer_.readers.begin(), producer_.readers.end(), i) != producer_.readers.end();
      loops::bind_after(stmt, facts_);
      if (!reads) {
        body.push_back(std::move(stmt));
      } else if (depth_ == at_read) {
        const std::size_t mark = facts_.mark();
        loops::rewrite(stmt, facts_,
                       [&](const ExprRef& expr, const arith::Facts& here) { return value_of(expr, here); });
        facts_.restore(mark);
        loops::bind_after(stmt, facts_);
        body.push_back(std::move(stmt));
      } else {
        Block replaced = with_copies(std::move(stmt), 0);
        std::move(replaced.begin(), replaced.end(), std::back_inserter(body));
      }
      if (!possible_) return false;
    }
    function_.body = std::move(body);
    // Bounds of loops may read it, too.
    return loops::accesses_of(function_.body).loads_of(producer_.nest.storage) == 0;
  }

 private:
  // NOLINTNEXTLINE(misc-no-recursion): at most max_depth deep.
  Block with_copies(Stmt stmt, std::size_t depth) {
    auto* loop = std::get_if<tir::For>(&stmt.node);
    const VarId storage = producer_.nest.storage;
    if (loop == nullptr || depth == depth_) {
      auto block = LocalCopy(module_, producer_.nest, stmt).make(facts_, whole_);
      if (block) return std::move(*block);
      possible_ = false;
      return {};
    }
    const std::size_t mark = facts_.mark();
    facts_.bind_loop(*loop);
    Block body;
    for (Stmt& inner : loop->body) {
      const bool reads = possible_ && loads_in(inner, storage) > 0;
      const Stmt copy = inner;
      if (!reads) {
        body.push_back(std::move(inner));
      } else {
        Block replaced = with_copies(std::move(inner), depth + 1);
        std::move(replaced.begin(), replaced.end(), std::back_inserter(body));
      }
      loops::bind_after(copy, facts_);
    }
    loop->body = std::move(body);
    facts_.restore(mark);
    Block block;
    block.push_back(std::move(stmt));
    return block;
  }

  ExprRef value_of(const ExprRef& load, const arith::Facts& here) {
    const loops::InjectiveNest& nest = producer_.nest;
    if (load->kind != ExprKind::load || load->var != nest.storage) return nullptr;
    const auto index = here.affine(*load->operands[0]);
    const auto iteration = index ? loops::iteration_of(nest, *index, here, load->operands[0]->type) : std::nullopt;
    possible_ = possible_ && iteration;
    if (!possible_) return nullptr;
    arith::Facts facts = here;
    for (const ExprRef& guard : nest.guards) {
      possible_ = possible_ && facts.truth(*loops::substituted(guard, facts, *iteration)).value_or(false);
    }
    ExprRef value = loops::as_stored(loops::substituted(nest.value, facts, *iteration));
    const std::size_t size = value ? loops::tree_size(*value) : 0;
    possible_ = possible_ && value && size <= loops::max_expression_nodes && size <= room_;
    if (!possible_) return nullptr;
    room_ -= size;
    return value;
  }

  tir::Module& module_;
  tir::Function& function_;
  const Producer& producer_;
  const std::size_t depth_;
  arith::Facts facts_;
  tir::Allocate whole_;
  std::size_t room_ = max_expressions;  // nodes that may be added
  bool possible_ = true;
};

}  // namespace

bool compute_at(tir::Module& module, std::size_t function, const ParamAliases& aliases, VarId buffer,
                std::size_t depth) {
  const std::size_t vars = module.vars.size();
  const auto producer = producer_of(module, function, aliases, buffer);
  tir::Function changed = module.functions[function];
  if (!producer || !Recomputer(module, changed, *producer, depth).run()) {
    module.vars.resize(vars);
    return false;
  }
  // Statements in front of the readers stand where they stood.
  erase_producer(changed, *producer);
  module.functions[function] = std::move(changed);
  return true;
}

}  // namespace usmp::transform
