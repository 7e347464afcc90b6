// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// Loop permutation, after Allen and Kennedy (Optimizing Compilers for Modern Architectures, 5.4). Iterations of loops
// that move access different elements of all that is stored, so no dependence goes from one to another; the loops that
// stay are in the same order for each of them.
#include "transform/sort_loops.hpp"

#include <algorithm>
#include <functional>
#include <optional>
#include <set>
#include <utility>
#include <vector>

#include "usmp/arith/facts.hpp"
#include "usmp/loops/accesses.hpp"
#include "usmp/loops/edit.hpp"
#include "usmp/loops/walk.hpp"
#include "usmp/support/checked.hpp"
#include "usmp/tir/visit.hpp"

namespace usmp::transform {
namespace {

using tir::VarId;

bool is_constant(const tir::For& loop) {
  return tir::as_int(*loop.min) == 0 && tir::as_int(*loop.extent).value_or(0) >= 1 && loop.row_runs == 0;
}

class NestSorter {
 public:
  // `nest`: a loop. `buffers`: what it may store to; null: anything.
  NestSorter(tir::Module& module, const ParamAliases& aliases, tir::Stmt& nest, const std::set<VarId>* buffers)
      : module_(module), aliases_(aliases), stmt_(nest), buffers_(buffers) {}

  void sort() {
    const auto order = find_order();
    if (order && !std::ranges::is_sorted(*order)) permute(*order);
  }

  void join_tiles() {
    const auto order = find_order();
    if (!order || std::ranges::is_sorted(*order)) return;
    std::vector<std::size_t> joined;  // places in the order, of the outer ones
    for (std::size_t i = 0; i + 1 < order->size(); ++i) {
      const std::size_t outer = (*order)[i];
      const std::size_t inner = (*order)[i + 1];
      const bool are_parts = factors_[inner] > 0 && outer + 1 < inner &&
                             factors_[outer] == factors_[inner] * *tir::as_int(*nest_[inner]->extent);
      if (are_parts) joined.push_back(i);
    }
    permute(*order);
    if (joined.size() != 1) return;
    const std::size_t vars = module_.vars.size();
    tir::Stmt before = stmt_;
    if (join(joined[0])) return;
    module_.vars.resize(vars);
    stmt_ = std::move(before);
  }

 private:
  // Nothing: the loops are as they have to be.
  std::optional<std::vector<std::size_t>> find_order() {
    for (auto* loop = &std::get<tir::For>(stmt_.node); loop != nullptr && is_constant(*loop);
         loop = tir::only_loop(loop->body)) {
      nest_.push_back(loop);
    }
    if (nest_.size() < 2) return std::nullopt;
    note_inside();
    loops::add_accesses(stmt_, accesses_);
    std::optional<std::vector<std::size_t>> order;
    for (const auto& [storage, count] : accesses_.stores) {
      if (own_.contains(storage)) continue;
      auto own = order_of(storage);
      if (!own || (order && *order != *own)) return std::nullopt;
      order = std::move(own);
    }
    return order;
  }

  // That loop and the one directly inside. False: something depends on one of them alone.
  bool join(std::size_t at) {
    tir::For& outer = *nest_[at];
    tir::For& inner = *nest_[at + 1];
    const auto counts = [&](const tir::For& loop) { return module_.var(loop.var).type == tir::int32_type; };
    auto both = counts(outer) && counts(inner) ? loops::joined(module_, outer, inner, module_.var(inner.var).name)
                                               : std::nullopt;
    if (!both) return false;
    const VarId var = both->loop.var;
    both->loop.body = std::move(inner.body);
    if (!loops::expand_lets(both->loop.body, {})) return false;
    arith::Facts facts(module_);
    for (std::size_t i = 0; i < at; ++i) facts.bind_loop(*nest_[i]);
    facts.bind_loop(both->loop);
    bool is_plain = true;
    const auto before = [&](tir::Block& block, std::size_t& i, arith::Facts& here) {
      tir::for_each_expr_of(block[i], [&](tir::ExprRef& expr) {
        expr = loops::substituted(expr, here, both->values);
        if (expr->type == tir::int32_type) expr = here.simplified(expr);
        tir::for_each_expr(*expr, [&](const tir::Expr& part) {
          const bool divides = part.kind == tir::ExprKind::floor_div || part.kind == tir::ExprKind::floor_mod;
          is_plain = is_plain && !(divides && tir::mentions(*part.operands[0], var));
        });
      });
      return loops::Next::enter;
    };
    loops::edit(both->loop.body, facts, {.before = before, .after = {}});
    outer = std::move(both->loop);
    return is_plain;
  }

  // What the nest declares.
  void note_inside() {
    for (const tir::For* loop : nest_) variables_.insert(loop->var);
    tir::for_each_stmt(nest_.back()->body, [&](const tir::Stmt& stmt) {
      if (const auto* allocate = std::get_if<tir::Allocate>(&stmt.node)) own_.insert(allocate->var);
      if (const auto* let = std::get_if<tir::Let>(&stmt.node)) variables_.insert(let->var);
      if (const auto* loop = std::get_if<tir::For>(&stmt.node)) variables_.insert(loop->var);
    });
  }

  // How an index is made of the loops.
  struct Digits {
    arith::Affine outside;  // of variables that do not change in the nest
    std::vector<std::int64_t> factors;

    friend bool operator==(const Digits&, const Digits&) = default;
  };

  // The loops as they are to stand. Nothing: none moves.
  std::optional<std::vector<std::size_t>> order_of(VarId storage) {
    const auto meets = [&](const auto& access) {
      return access.first != storage && !own_.contains(access.first) && aliases_.may_alias(access.first, storage);
    };
    if ((buffers_ != nullptr && !buffers_->contains(storage)) || std::ranges::any_of(accesses_.loads, meets) ||
        std::ranges::any_of(accesses_.stores, meets)) {
      return std::nullopt;
    }
    std::optional<Digits> digits;
    bool is_divided = true;
    arith::Facts facts(module_);
    loops::visit_accesses(stmt_, facts, [&](VarId var, const tir::Expr& index, bool, const arith::Facts& here) {
      if (var != storage || !is_divided) return;
      const auto form = here.affine(index);
      const auto own = form ? digits_of(*form, here) : std::nullopt;
      is_divided = own && (!digits || *digits == *own);
      digits = own;
    });
    if (!is_divided || !digits) return std::nullopt;
    factors_ = digits->factors;
    std::vector<std::size_t> order;
    std::vector<std::size_t> rest;
    for (std::size_t i = 0; i < nest_.size(); ++i) {
      const bool is_row = i + 1 == nest_.size() && digits->factors[i] == 1 && is_innermost();
      (digits->factors[i] > 0 && !is_row ? order : rest).push_back(i);
    }
    std::ranges::stable_sort(order, std::greater<>(), [&](std::size_t i) { return digits->factors[i]; });
    order.insert(order.end(), rest.begin(), rest.end());
    return order;
  }

  [[nodiscard]] bool is_innermost() const {
    return std::ranges::all_of(nest_.back()->body, [](const tir::Stmt& stmt) { return tir::blocks_of(stmt).empty(); });
  }

  // Nothing: two iterations of the loops with factors may have the same index.
  std::optional<Digits> digits_of(const arith::Affine& index, const arith::Facts& facts) const {
    Digits digits;
    arith::Affine inside = index;
    inside.terms = {};
    for (const arith::Terms::Term& term : index.terms) {
      const arith::Atom& atom = term.first;
      const bool is_inside = std::ranges::any_of(variables_, [&](VarId var) {
        return atom.kind == arith::Atom::Kind::var ? atom.var == var : atom.whole->mentions(var);
      });
      (is_inside ? inside : digits.outside).terms.add(term);
    }
    digits.outside.measure();
    inside.measure();
    std::vector<std::pair<std::int64_t, std::int64_t>> by_factor;  // and extent
    for (const tir::For* loop : nest_) {
      const std::int64_t factor = inside.factor(loop->var);
      digits.factors.push_back(factor);
      if (factor < 0) return std::nullopt;
      if (factor > 0) by_factor.emplace_back(factor, *tir::as_int(*loop->extent));
      inside = inside.without(loop->var);
      if (inside.mentions(loop->var)) return std::nullopt;
    }
    const auto rest = facts.interval(inside);
    if (!rest || rest->low < 0 || by_factor.empty()) return std::nullopt;
    std::ranges::sort(by_factor);
    std::int64_t below = rest->high;  // the largest that smaller factors make
    for (const auto& [factor, extent] : by_factor) {
      if (factor <= below) return std::nullopt;
      const auto most = checked_mul(factor, extent - 1);
      const auto sum = most ? checked_add(below, *most) : std::nullopt;
      if (!sum) return std::nullopt;
      below = *sum;
    }
    return digits;
  }

  void permute(const std::vector<std::size_t>& order) {
    std::vector<tir::For> headers;
    for (const tir::For* loop : nest_) headers.push_back({loop->var, loop->min, loop->extent, {}});
    for (std::size_t i = 0; i < nest_.size(); ++i) {
      nest_[i]->var = headers[order[i]].var;
      nest_[i]->min = headers[order[i]].min;
      nest_[i]->extent = headers[order[i]].extent;
    }
  }

  tir::Module& module_;
  const ParamAliases& aliases_;
  tir::Stmt& stmt_;
  const std::set<VarId>* buffers_;
  std::vector<tir::For*> nest_;  // the outermost first
  loops::Accesses accesses_;
  std::set<VarId> variables_;          // that change in the nest
  std::set<VarId> own_;                // buffers that it declares
  std::vector<std::int64_t> factors_;  // of the loops, in the index of what was looked at last
};

}  // namespace

void sort_loops(tir::Module& module, tir::Function& function, const ParamAliases& aliases) {
  std::set<VarId> buffers;
  tir::for_each_stmt(function.body, [&](const tir::Stmt& stmt) {
    if (const auto* allocate = std::get_if<tir::Allocate>(&stmt.node)) buffers.insert(allocate->var);
  });
  tir::for_each_block(function.body, [&](tir::Block& block) {
    for (tir::Stmt& stmt : block) {
      if (std::holds_alternative<tir::For>(stmt.node)) NestSorter(module, aliases, stmt, &buffers).sort();
    }
  });
}

void join_tiles(tir::Module& module, tir::Function& function, const ParamAliases& aliases) {
  for (tir::Stmt& stmt : function.body) {
    if (std::holds_alternative<tir::For>(stmt.node)) NestSorter(module, aliases, stmt, nullptr).join_tiles();
  }
}

}  // namespace usmp::transform
