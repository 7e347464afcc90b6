// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// Looks for a reduction inside of a loop, and writes loops over the row that clear, add and use its sums.
#include "transform/interchange_reductions.hpp"

#include <algorithm>
#include <optional>
#include <utility>

#include "usmp/arith/facts.hpp"
#include "usmp/loops/edit.hpp"
#include "usmp/loops/reduction.hpp"
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

constexpr std::int64_t min_row = 4;  // shorter rows are no vectors

// The parts of a loop's body: declarations, a = init, loops that add to a, and what is done with the sum.
struct SumLoop {
  tir::Allocate sum;
  Block lets;  // at the start of the body
  Stmt init;
  Stmt terms;
  Block rest;
};

const tir::Store* store_to(const Stmt& stmt, VarId storage) {
  const auto* store = std::get_if<tir::Store>(&stmt.node);
  return store != nullptr && store->storage == storage ? store : nullptr;
}

class ReductionInterchange {
 public:
  ReductionInterchange(tir::Module& module, tir::Function& function, const ParamAliases& aliases)
      : module_(module), function_(function), aliases_(aliases), facts_(module) {}

  std::vector<VarId> run() {
    const auto before = [this](Block& block, std::size_t& at, arith::Facts&) {
      const auto* loop = std::get_if<tir::For>(&block[at].node);
      auto rows = loop == nullptr ? std::nullopt : in_rows(*loop);
      if (!rows) return loops::Next::enter;
      const auto place = block.erase(block.begin() + static_cast<std::ptrdiff_t>(at));
      block.insert(place, std::make_move_iterator(rows->begin()), std::make_move_iterator(rows->end()));
      at += rows->size() - 1;
      return loops::Next::skip;
    };
    loops::edit(function_.body, facts_, {.before = before, .after = {}});
    return std::move(sums_);
  }

 private:
  std::optional<Block> in_rows(const tir::For& loop) {
    const auto count = tir::as_int(*loop.extent);
    if (tir::as_int(*loop.min) != 0 || !count || *count < min_row || *count > max_row) return std::nullopt;
    auto parts = parts_of(loop);
    if (!parts || has_one_term(parts->terms)) return std::nullopt;
    const std::size_t mark = facts_.mark();
    facts_.bind_loop(loop);
    moving_ = {loop.var};
    for (const Stmt& let : parts->lets) bind_let(let);
    const bool possible = is_sum(parts->terms, parts->sum.var, loop.var) && is_independent(*parts);
    facts_.restore(mark);
    Block terms = parts->lets;
    terms.push_back(parts->terms);
    if (!possible || !loops::expand_lets(terms, {})) return std::nullopt;
    parts->terms = std::move(terms.front());
    sums_.push_back(parts->sum.var);
    return rows_of(loop, *count, std::move(*parts));
  }

  // Nothing: the body has other parts, or others in between.
  std::optional<SumLoop> parts_of(const tir::For& loop) const {
    SumLoop parts{{}, {}, {}, {}, {}};
    std::size_t i = 0;
    bool declared = false;
    for (; i < loop.body.size(); ++i) {
      const Stmt& stmt = loop.body[i];
      if (const auto* allocate = std::get_if<tir::Allocate>(&stmt.node)) {
        if (declared || tir::element_count(*allocate) != 1) return std::nullopt;
        parts.sum = *allocate;
        declared = true;
      } else if (std::holds_alternative<tir::Let>(stmt.node)) {
        parts.lets.push_back(stmt);
      } else {
        break;
      }
    }
    if (!declared || loop.body.size() < i + 3) return std::nullopt;
    const tir::Store* const init = store_to(loop.body[i], parts.sum.var);
    if (init == nullptr || !loops::loaded_by(*init->value).empty()) return std::nullopt;
    parts.init = loop.body[i];
    parts.terms = loop.body[i + 1];
    parts.rest.assign(loop.body.begin() + static_cast<std::ptrdiff_t>(i) + 2, loop.body.end());
    for (const Stmt& let : parts.lets) {
      if (!loops::loaded_by(*std::get<tir::Let>(let.node).value).empty()) return std::nullopt;
    }
    if (!all_index_zero(parts, parts.sum.var) || loops::accesses_of(parts.rest).stores_of(parts.sum.var) > 0) {
      return std::nullopt;
    }
    return parts;
  }

  // A sum that is one product, as behind a border that is skipped: a row of them saves nothing.
  static bool has_one_term(const Stmt& terms) {
    const Stmt* stmt = &terms;
    while (const auto* loop = std::get_if<tir::For>(&stmt->node)) {
      if (tir::as_int(*loop->extent) != 1) return false;
      if (loop->body.empty()) break;
      stmt = &loop->body.back();
    }
    return true;
  }

  static bool all_index_zero(const SumLoop& parts, VarId sum) {
    bool zero = true;
    const auto look = [&](const Stmt& root) {
      const auto one = [&](const Stmt& stmt) {
        if (const auto* store = store_to(stmt, sum)) zero = zero && tir::as_int(*store->index) == 0;
        tir::for_each_expr_of(stmt, [&](const ExprRef& expr) {
          tir::for_each_expr(*expr, [&](const Expr& part) {
            if (part.kind == ExprKind::load && part.var == sum) zero = zero && tir::as_int(*part.operands[0]) == 0;
          });
        });
      };
      one(root);
      for (const Block* block : tir::blocks_of(root)) tir::for_each_stmt(*block, one);
    };
    look(parts.init);
    look(parts.terms);
    for (const Stmt& stmt : parts.rest) look(stmt);
    return zero;
  }

  // Whether the statement is loops and branches around lets and one store a = a + term, none of whose bounds or
  // conditions have to do with `row`, and the term's elements stand side by side.
  bool is_sum(const Stmt& root, VarId sum, VarId row) {
    if (!std::holds_alternative<tir::For>(root.node)) return false;
    const std::size_t mark = facts_.mark();
    const Stmt* stmt = &root;
    while (stmt != nullptr && !std::holds_alternative<tir::Store>(stmt->node)) {
      const Block* body = nullptr;
      if (const auto* loop = std::get_if<tir::For>(&stmt->node)) {
        if (moves(*loop->min) || moves(*loop->extent)) break;
        facts_.bind_loop(*loop);
        body = &loop->body;
      } else if (const auto* branch = std::get_if<tir::IfThenElse>(&stmt->node)) {
        if (!branch->else_body.empty() || moves(*branch->condition)) break;
        body = &branch->then_body;
      } else {
        break;
      }
      stmt = only_statement(*body);
    }
    const auto* store = stmt == nullptr ? nullptr : std::get_if<tir::Store>(&stmt->node);
    const bool holds = store != nullptr && store->storage == sum && loops::adds_to_element(*store, 0) &&
                       stands_side_by_side(*store->value->operands[1], sum, row);
    facts_.restore(mark);
    return holds;
  }

  // The one that is no let of an index.
  const Stmt* only_statement(const Block& block) {
    const Stmt* only = nullptr;
    for (const Stmt& stmt : block) {
      if (const auto* let = std::get_if<tir::Let>(&stmt.node)) {
        if (only != nullptr || !loops::loaded_by(*let->value).empty()) return nullptr;
        bind_let(stmt);
      } else if (only != nullptr) {
        return nullptr;
      } else {
        only = &stmt;
      }
    }
    return only;
  }

  static bool is_load_of(const Expr& expr, VarId storage) { return expr.kind == ExprKind::load && expr.var == storage; }

  // Whether the value may differ from element to element of the row. What reads memory counts, too.
  [[nodiscard]] bool moves(const Expr& expr) const {
    bool found = false;
    tir::for_each_expr(expr, [&](const Expr& part) {
      found = found || part.kind == ExprKind::load || (part.kind == ExprKind::var && moving_.contains(part.var));
    });
    return found;
  }

  void bind_let(const Stmt& stmt) {
    const auto& let = std::get<tir::Let>(stmt.node);
    if (moves(*let.value)) moving_.insert(let.var);
    loops::bind_after(stmt, facts_);
  }

  // Whether each load of the term is of the same element for the whole row, or of neighbours, each perhaps for as many
  // elements of the row (depthwise convolutions with several outputs a channel); at least one of neighbours.
  bool stands_side_by_side(const Expr& term, VarId sum, VarId row) const {
    const auto is_shared = [&](const arith::Terms::Term& one) {
      const auto& [atom, factor] = one;
      return atom.kind == arith::Atom::Kind::quotient && factor == 1 && *atom.whole == arith::variable(row);
    };
    bool all = true;
    bool some = false;
    tir::for_each_expr(term, [&](const Expr& expr) {
      if (tir::is_if_then_else(expr)) all = false;
      if (expr.kind != ExprKind::load) return true;
      const auto index = facts_.affine(*expr.operands[0]);
      arith::Affine rest = index.value_or(arith::Affine()).without(row);
      const std::int64_t factor = index ? index->factor(row) : 2;
      if (factor == 0) rest.terms.erase_if(is_shared);
      all = all && expr.var != sum && !rest.mentions(row) && (factor == 0 || factor == 1);
      some = some || factor == 1;
      return false;
    });
    return all && some;
  }

  // Whether what follows the sum writes nothing that the sums read, so that all sums can be made first.
  [[nodiscard]] bool is_independent(const SumLoop& parts) const {
    loops::Accesses terms;
    loops::add_accesses(parts.terms, terms);
    const loops::Accesses rest = loops::accesses_of(parts.rest);
    const bool overwrites = std::any_of(rest.stores.begin(), rest.stores.end(), [&](const auto& store) {
      return std::any_of(terms.loads.begin(), terms.loads.end(),
                         [&](const auto& load) { return aliases_.may_alias(load.first, store.first); });
    });
    return !overwrites;
  }

  Block rows_of(const tir::For& loop, std::int64_t count, SumLoop parts) {
    const VarId sum = parts.sum.var;
    parts.sum.extents = {tir::make_int(count)};
    parts.sum.on_stack = false;
    const ExprRef index = tir::make_var(module_, loop.var);
    set_index(parts.init, sum, index);
    set_index(parts.terms, sum, index);
    for (Stmt& stmt : parts.rest) set_index(stmt, sum, index);
    put_inside(parts.terms, loop);
    Block rows;
    rows.push_back(Stmt{parts.sum});
    rows.push_back(row(loop, parts.lets, {parts.init}));
    loops::freshen(rows.back(), module_);
    rows.push_back(std::move(parts.terms));
    rows.push_back(row(loop, std::move(parts.lets), std::move(parts.rest)));
    return rows;
  }

  static Stmt row(const tir::For& loop, Block lets, Block body) {
    tir::For result{loop.var, loop.min, loop.extent, std::move(lets)};
    std::move(body.begin(), body.end(), std::back_inserter(result.body));
    return Stmt{std::move(result)};
  }

  // The row's loop around the innermost statement.
  void put_inside(Stmt& root, const tir::For& loop) {
    Stmt* innermost = &root;
    while (!std::holds_alternative<tir::Store>(innermost->node))
      innermost = &tir::blocks_of(*innermost).front()->back();
    *innermost = row(loop, {}, {*innermost});
    loops::freshen(*innermost, module_);
  }

  void set_index(Stmt& stmt, VarId sum, const ExprRef& index) const {
    arith::Facts facts(module_);
    loops::rewrite_indices(stmt, sum, facts, [&](const ExprRef&, const arith::Facts&) { return index; });
  }

  tir::Module& module_;
  tir::Function& function_;
  const ParamAliases& aliases_;
  arith::Facts facts_;
  std::set<VarId> moving_;  // the row's variable, and lets that are made of it
  std::vector<VarId> sums_;
};

}  // namespace

std::vector<VarId> interchange_reductions(tir::Module& module, tir::Function& function, const ParamAliases& aliases) {
  return ReductionInterchange(module, function, aliases).run();
}

}  // namespace usmp::transform
