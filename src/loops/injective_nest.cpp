// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// Walks down to the one store, and proves its index a mixed-radix number of the loops.
#include "usmp/loops/injective_nest.hpp"

#include <algorithm>
#include <utility>

#include "usmp/loops/coverage.hpp"
#include "usmp/loops/walk.hpp"
#include "usmp/support/checked.hpp"
#include "usmp/tir/visit.hpp"

namespace usmp::loops {
namespace {

using tir::ExprRef;

// Walks down to the one store of a nest, collecting what stands around it.
class Parser {
 public:
  explicit Parser(arith::Facts& facts) : facts_(facts) {}

  std::optional<InjectiveNest> parse(const tir::Stmt& root) {
    const tir::Stmt* stmt = &root;
    while (const tir::Block* body = body_of(*stmt)) {
      stmt = only_statement(*body);
      if (stmt == nullptr) return std::nullopt;
    }
    const auto* store = std::get_if<tir::Store>(&stmt->node);
    if (store == nullptr) return std::nullopt;
    const auto index = facts_.affine(*store->index);
    if (!index) return std::nullopt;
    nest_.storage = store->storage;
    nest_.index = *index;
    nest_.value = renamed(store->value, lets_);
    if (tree_size(*nest_.value) > max_expression_nodes) return std::nullopt;
    if (!places_loops()) return std::nullopt;
    return std::move(nest_);
  }

 private:
  // The body of a loop or branch that belongs to the nest; null: the statement is none.
  const tir::Block* body_of(const tir::Stmt& stmt) {
    if (const auto* loop = std::get_if<tir::For>(&stmt.node)) {
      const auto min = tir::as_int(*loop->min);
      const auto extent = tir::as_int(*loop->extent);
      if (!min || !extent || *extent < 1) return nullptr;
      facts_.bind_loop(*loop);
      nest_.loops.push_back({loop->var, loop->extent->type, 0, *min, *extent});
      return &loop->body;
    }
    const auto* branch = std::get_if<tir::IfThenElse>(&stmt.node);
    if (branch == nullptr || !branch->else_body.empty()) return nullptr;
    nest_.guards.push_back(renamed(branch->condition, lets_));
    if (tree_size(*nest_.guards.back()) > max_expression_nodes) return nullptr;
    return &branch->then_body;
  }

  // That is no let; null: there is none, or several.
  const tir::Stmt* only_statement(const tir::Block& body) {
    const tir::Stmt* only = nullptr;
    for (const tir::Stmt& stmt : body) {
      if (const auto* let = std::get_if<tir::Let>(&stmt.node)) {
        if (only != nullptr) return nullptr;
        ExprRef value = as_stored(renamed(let->value, lets_));
        if (!value || tree_size(*value) > max_expression_nodes) return nullptr;
        lets_[let->var] = std::move(value);
        bind_after(stmt, facts_);
        continue;
      }
      if (only != nullptr) return nullptr;
      only = &stmt;
    }
    return only;
  }

  // Whether different iterations have different indices.
  bool places_loops() {
    for (NestLoop& loop : nest_.loops) {
      loop.factor = nest_.index.factor(loop.var);
      if (loop.factor < 0) return false;
    }
    std::stable_sort(nest_.loops.begin(), nest_.loops.end(),
                     [](const NestLoop& a, const NestLoop& b) { return a.factor > b.factor; });
    MixedRadix numbers;
    for (const NestLoop& loop : nest_.loops) numbers.digits.push_back({loop.factor, loop.extent});
    if (!is_injective(numbers)) return false;
    // Nothing else of the index may change within the nest.
    for (const auto& [atom, factor] : nest_.index.terms) {
      if (atom.kind == arith::Atom::Kind::var) continue;
      for (const NestLoop& loop : nest_.loops) {
        if (atom.whole->mentions(loop.var)) return false;
      }
    }
    return true;
  }

  arith::Facts& facts_;
  InjectiveNest nest_;
  Substitution lets_;
};

}  // namespace

double InjectiveNest::elements() const {
  double count = 1;
  for (const NestLoop& loop : loops) count *= static_cast<double>(loop.extent);
  return count;
}

std::optional<Interval> InjectiveNest::dense_elements() const {
  if (!guards.empty()) return std::nullopt;
  std::map<tir::VarId, Interval> ranges;
  for (const NestLoop& loop : loops) {
    const auto end = checked_add(loop.min, loop.extent);
    const auto last = end ? checked_sub(*end, 1) : std::nullopt;
    if (!last) return std::nullopt;
    ranges[loop.var] = {loop.min, *last};
  }
  const auto numbers = mixed_radix(index, ranges);
  return numbers ? dense_values(*numbers) : std::nullopt;
}

std::optional<InjectiveNest> injective_nest(const tir::Stmt& stmt, arith::Facts& facts) {
  const std::size_t mark = facts.mark();
  auto nest = Parser(facts).parse(stmt);
  facts.restore(mark);
  return nest;
}

std::optional<std::vector<arith::Affine>> counts_at(const InjectiveNest& nest, const arith::Affine& index,
                                                    const arith::Facts& facts) {
  // What is left of the index after the loops' least values and all that they do not change are taken off.
  arith::Affine fixed = nest.index;
  for (const NestLoop& loop : nest.loops) {
    const auto start = checked_mul(loop.factor, loop.min);
    if (!start) return std::nullopt;
    fixed = fixed.without(loop.var);
    const auto constant = checked_add(fixed.constant, *start);
    if (!constant) return std::nullopt;
    fixed.constant = *constant;
  }
  auto rest = difference(index, fixed);
  std::vector<arith::Affine> counts;
  for (const NestLoop& loop : nest.loops) {
    arith::Affine count;
    if (loop.extent > 1) {
      auto division = rest ? facts.divide(*rest, loop.factor) : std::nullopt;
      if (!division) return std::nullopt;
      const auto reach = facts.interval(division->quotient);
      if (!reach || !reach->within({0, loop.extent - 1})) return std::nullopt;
      count = std::move(division->quotient);
      rest = std::move(division->remainder);
    }
    const auto constant = checked_add(count.constant, loop.min);
    if (!constant) return std::nullopt;
    count.constant = *constant;
    counts.push_back(std::move(count));
  }
  if (!rest || !rest->is_constant() || rest->constant != 0) return std::nullopt;
  return counts;
}

std::optional<Substitution> iteration_of(const InjectiveNest& nest, const arith::Affine& index,
                                         const arith::Facts& facts, tir::DataType index_type) {
  const auto counts = counts_at(nest, index, facts);
  if (!counts) return std::nullopt;
  Substitution values;
  for (std::size_t i = 0; i < nest.loops.size(); ++i) {
    const NestLoop& loop = nest.loops[i];
    const arith::Affine& count = (*counts)[i];
    if (count.is_constant()) {
      values[loop.var] = tir::make_int(count.constant, loop.type);
    } else {
      if (!facts.fits(count, index_type)) return std::nullopt;
      ExprRef value = facts.expr(count, index_type);
      values[loop.var] = index_type == loop.type ? value : tir::make_cast(loop.type, std::move(value));
    }
  }
  return values;
}

}  // namespace usmp::loops
