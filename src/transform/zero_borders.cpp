// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// Finds the buffers and all sums that read them, computes the tables, and then changes everything at once.
#include "transform/zero_borders.hpp"

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <map>
#include <memory>
#include <optional>
#include <utility>

#include "usmp/arith/facts.hpp"
#include "usmp/loops/accesses.hpp"
#include "usmp/loops/edit.hpp"
#include "usmp/loops/injective_nest.hpp"
#include "usmp/loops/reduction.hpp"
#include "usmp/loops/walk.hpp"
#include "usmp/support/checked.hpp"
#include "usmp/support/text.hpp"
#include "usmp/tir/integer_types.hpp"
#include "usmp/tir/visit.hpp"

namespace usmp::transform {
namespace {

using tir::Block;
using tir::Expr;
using tir::ExprKind;
using tir::ExprRef;
using tir::Stmt;
using tir::VarId;

constexpr std::int64_t most_products = 1 << 24;  // of one table
constexpr std::int64_t most_factor = 255 + 255;  // of a weight, in an entry of the table and a term together

// What is loaded, behind casts that keep its value if it has up to 16 bits; null: something else.
const Expr* loaded(const Expr& root) {
  const Expr* expr = &root;
  while (expr->kind == ExprKind::cast && expr->type.is_int() && expr->type.bits >= 16 && !expr->type.is_vector()) {
    expr = expr->operands[0].get();
  }
  return expr->kind == ExprKind::load && expr->operands.size() == 1 && !expr->type.is_vector() ? expr : nullptr;
}

// The only store of loops directly inside each other, with lets around it.
tir::Store* only_store(Stmt& stmt) {
  Block* body = nullptr;
  for (auto* loop = std::get_if<tir::For>(&stmt.node); loop != nullptr; loop = tir::only_loop(loop->body)) {
    body = &loop->body;
  }
  if (body == nullptr) return std::get_if<tir::Store>(&stmt.node);
  if (body->empty()) return nullptr;
  const bool are_lets = std::all_of(body->begin(), body->end() - 1,
                                    [](const Stmt& one) { return std::holds_alternative<tir::Let>(one.node); });
  return are_lets ? std::get_if<tir::Store>(&body->back().node) : nullptr;
}

struct Digit {
  std::int64_t factor = 0;
  std::int64_t extent = 1;
};

// A sum that reads the buffer: an element of the table is added to it.
struct Sum {
  tir::Store* begin = nullptr;  // stores 0
  Stmt* reader = nullptr;       // the only one, if it reads no element more than once
  ExprRef row;                  // of the table; null: there is one
  std::shared_ptr<const tir::Constant> table;
};

class BorderMover {
 public:
  BorderMover(tir::Module& module, tir::Function& function) : module_(module), function_(function), facts_(module) {}

  std::optional<MovedBorders> run() {
    all_ = loops::accesses_of(function_.body);
    tir::for_each_block(function_.body, [&](Block& block) {
      for (Stmt& stmt : block) {
        if (auto* constant = std::get_if<tir::AllocateConst>(&stmt.node)) constants_[constant->var] = constant->data;
        if (auto* allocate = std::get_if<tir::Allocate>(&stmt.node)) allocates_[allocate->var] = allocate;
      }
    });
    for (Stmt& stmt : function_.body) find_buffer(stmt);
    if (buffers_.empty() || !find_sums()) return std::nullopt;
    MovedBorders moved{.before = function_, .elements = {}};
    for (const auto& [buffer, store] : buffers_) moved.elements[buffer] = module_.var(buffer).element;
    change();
    return moved;
  }

 private:
  void find_buffer(Stmt& stmt) {
    tir::Store* store = std::holds_alternative<tir::For>(stmt.node) ? only_store(stmt) : nullptr;
    if (store == nullptr || !allocates_.contains(store->storage) || all_.stores_of(store->storage) != 1) return;
    if (!tir::is_if_then_else(*store->value)) return;
    const tir::DataType type = store->value->type;
    const auto border = tir::as_int(*store->value->operands[2]);
    const bool is_byte = type.is_integer() && type.bits == 8 && !type.is_vector();
    if (!is_byte || !border || *border == 0 || allocates_[store->storage]->type != type) return;
    if (!loops::injective_nest(stmt, facts_)) return;
    buffers_.emplace(store->storage, store);
  }

  [[nodiscard]] std::int64_t border_of(VarId buffer) const {
    return *tir::as_int(*buffers_.at(buffer)->value->operands[2]);
  }

  // Whether all loads of the buffers are in sums of products with constants.
  bool find_sums() {
    bool is_possible = true;
    const auto reads = [&](const Stmt& stmt) {
      loops::Accesses accesses;
      loops::add_accesses(stmt, accesses);
      return std::ranges::any_of(buffers_, [&](const auto& one) { return accesses.loads_of(one.first) > 0; });
    };
    const auto before = [&](Block& block, std::size_t& at, arith::Facts& here) {
      if (!is_possible || !reads(block[at])) return loops::Next::skip;
      if (auto sum = sum_of(block, at, here)) {
        sums_.push_back(std::move(*sum));
        return loops::Next::skip;
      }
      const bool is_direct = tir::blocks_of(block[at]).empty() || reads_itself(block[at]);
      if (is_direct) is_possible = false;
      return loops::Next::enter;
    };
    loops::edit(function_.body, facts_, {.before = before, .after = {}});
    return is_possible && !sums_.empty();
  }

  // In a bound or condition.
  bool reads_itself(const Stmt& stmt) const {
    bool found = false;
    tir::for_each_expr_of(stmt, [&](const ExprRef& root) {
      tir::for_each_expr(*root, [&](const Expr& expr) {
        found = found || (expr.kind == ExprKind::load && buffers_.contains(expr.var));
      });
    });
    return found;
  }

  std::optional<Sum> sum_of(Block& block, std::size_t at, arith::Facts& here) {
    Stmt nest = block[at];
    std::vector<const tir::For*> loops;
    for (auto* loop = std::get_if<tir::For>(&nest.node); loop != nullptr; loop = tir::only_loop(loop->body)) {
      if (tir::as_int(*loop->min) != 0 || tir::as_int(*loop->extent).value_or(0) < 1) return std::nullopt;
      loops.push_back(loop);
      if (tir::only_loop(loop->body) == nullptr && !loops::expand_lets(loop->body, {})) return std::nullopt;
    }
    if (loops.empty()) return std::nullopt;
    const tir::Store* store = only_store(nest);
    if (store == nullptr || store->predicate != nullptr || loops.back()->body.size() != 1) return std::nullopt;
    const Expr* term = loops::added_term(*store);
    const bool is_product = term != nullptr && term->kind == ExprKind::mul;
    if (!is_product || term->type != tir::int32_type) return std::nullopt;
    const Expr* data = loaded(*term->operands[0]);
    const Expr* weight = loaded(*term->operands[1]);
    if (data == nullptr || weight == nullptr) return std::nullopt;
    if (!buffers_.contains(data->var)) std::swap(data, weight);
    const auto constant = constants_.find(weight->var);
    if (!buffers_.contains(data->var) || constant == constants_.end()) return std::nullopt;
    const auto allocate = allocates_.find(store->storage);
    // Written here, and where it begins.
    if (allocate == allocates_.end() || all_.stores_of(store->storage) != 2) return std::nullopt;
    Sum sum;
    for (std::size_t i = at; i-- > 0 && sum.begin == nullptr;) {
      sum.begin = begin_of(block[i], store->storage);
      loops::Accesses between;
      loops::add_accesses(block[i], between);
      if (between.loads_of(store->storage) > 0) return std::nullopt;
    }
    const auto elements = tir::element_count(*allocate->second);
    if (sum.begin == nullptr || !elements) return std::nullopt;
    if (all_.loads_of(store->storage) == 2) sum.reader = reader_of(block, at, store->storage, *elements);
    const std::size_t mark = here.mark();
    for (const tir::For* loop : loops) here.bind_loop(*loop);
    const auto index = here.affine(*store->index);
    const auto place = here.affine(*weight->operands[0]);
    const bool is_made =
        index && place &&
        make_table(sum, loops, *index, *place, *elements, *constant->second, border_of(data->var), here);
    here.restore(mark);
    return is_made ? std::optional(std::move(sum)) : std::nullopt;
  }

  // The store of zeros. Null: the statement has none.
  static tir::Store* begin_of(Stmt& stmt, VarId storage) {
    tir::Store* store = only_store(stmt);
    const bool is_it = store != nullptr && store->storage == storage && store->predicate == nullptr &&
                       store->value->type == tir::int32_type && tir::as_int(*store->value) == 0;
    return is_it ? store : nullptr;
  }

  // Behind the sums: a store in loops that run at most once for each of them. Null: there is none.
  static Stmt* reader_of(Block& block, std::size_t at, VarId storage, std::int64_t elements) {
    for (std::size_t i = at + 1; i < block.size(); ++i) {
      loops::Accesses accesses;
      loops::add_accesses(block[i], accesses);
      if (accesses.loads_of(storage) == 0) continue;
      const tir::Store* store = only_store(block[i]);
      const bool reads = store != nullptr && loops::loaded_by(*store->value).contains(storage);
      std::int64_t times = 1;
      for (auto* loop = std::get_if<tir::For>(&block[i].node); loop != nullptr; loop = tir::only_loop(loop->body)) {
        const auto all = checked_mul(times, tir::as_int(*loop->extent).value_or(elements + 1));
        times = all.value_or(elements + 1);
      }
      return reads && times <= elements ? &block[i] : nullptr;
    }
    return nullptr;
  }

  // Entries are numbered by the variables around the nest that choose weights, then by the sum's element.
  bool make_table(Sum& sum, const std::vector<const tir::For*>& loops, arith::Affine index, arith::Affine place,
                  std::int64_t elements, const tir::Constant& weights, std::int64_t border,
                  const arith::Facts& here) const {
    std::vector<Digit> of_sum;  // in its element and in the place of the weight
    std::vector<Digit> terms;
    for (const tir::For* loop : loops) {
      const std::int64_t factor = index.factor(loop->var);
      const std::int64_t extent = *tir::as_int(*loop->extent);
      if (factor != 0 && place.factor(loop->var) != factor) return false;
      (factor != 0 ? of_sum : terms).push_back({place.factor(loop->var), extent});
      index = index.without(loop->var);
      place = place.without(loop->var);
    }
    if (!index.is_constant() || index.constant != 0) return false;
    std::vector<Digit> outside;
    std::int64_t distance = elements;
    std::vector<std::pair<VarId, std::int64_t>> rows;  // distance of entries, by variable
    for (const auto& [atom, factor] : place.terms) {
      const auto range = atom.kind == arith::Atom::Kind::var ? here.interval(arith::variable(atom.var)) : std::nullopt;
      if (!range || range->low != 0 || module_.var(atom.var).type != tir::int32_type) return false;
      outside.push_back({factor, range->high + 1});
      rows.emplace_back(atom.var, distance);
      const auto all = checked_mul(distance, range->high + 1);
      if (!all || *all > most_products) return false;
      distance = *all;
    }
    std::vector<std::int64_t> entries(static_cast<std::size_t>(distance));
    if (!fill(entries, outside, of_sum, terms, elements, place.constant, weights, border)) return false;
    auto table = std::make_shared<tir::Constant>();
    table->type = tir::int32_type;
    table->shape = {distance};
    for (const std::int64_t entry : entries) append_little_endian(table->bytes, static_cast<std::uint64_t>(entry), 4);
    sum.table = std::move(table);
    for (const auto& [var, by] : rows) {
      ExprRef row = tir::make_binary(ExprKind::mul, tir::make_var(module_, var), tir::make_int(by));
      sum.row = sum.row == nullptr ? std::move(row) : tir::make_binary(ExprKind::add, std::move(row), sum.row);
    }
    return true;
  }

  static std::int64_t product_of(const std::vector<Digit>& digits) {
    std::int64_t product = 1;
    for (const Digit& digit : digits)
      product = std::min(most_products + 1, product * std::min(digit.extent, most_products));
    return product;
  }

  // The sum of factor · value of the combination with that number, the first digit changing most often.
  static std::int64_t value_of(const std::vector<Digit>& digits, std::int64_t number) {
    std::int64_t value = 0;
    for (const Digit& digit : digits) {
      value += digit.factor * (number % digit.extent);
      number /= digit.extent;
    }
    return value;
  }

  static bool fill(std::vector<std::int64_t>& entries, const std::vector<Digit>& outside,
                   const std::vector<Digit>& of_sum, const std::vector<Digit>& terms, std::int64_t elements,
                   std::int64_t constant, const tir::Constant& weights, std::int64_t border) {
    const std::int64_t outer = product_of(outside);
    const std::int64_t sums = product_of(of_sum);
    const std::int64_t each = product_of(terms);
    const auto pairs = checked_mul(outer, sums);
    const auto all = pairs ? checked_mul(*pairs, each) : std::nullopt;
    if (!all || *all > most_products) return false;
    for (std::int64_t o = 0; o < outer; ++o) {
      for (std::int64_t s = 0; s < sums; ++s) {
        const std::int64_t element = value_of(of_sum, s);
        std::int64_t sum = 0;
        std::int64_t size = 0;
        for (std::int64_t t = 0; t < each; ++t) {
          const auto weight = weight_at(weights, constant + value_of(outside, o) + element + value_of(terms, t));
          if (!weight) return false;
          sum += border * *weight;
          size += std::abs(*weight);
        }
        if (element < 0 || element >= elements || size > INT32_MAX / most_factor) return false;
        entries[static_cast<std::size_t>(o * elements + element)] = sum;
      }
    }
    return true;
  }

  // The weight, if it has up to 16 bits.
  static std::optional<std::int64_t> weight_at(const tir::Constant& weights, std::int64_t index) {
    const std::int64_t count = static_cast<std::int64_t>(weights.bytes.size()) / weights.type.bytes();
    if (!weights.type.is_integer() || weights.type.bits > 16 || index < 0 || index >= count) return std::nullopt;
    return tir::integer_of(tir::element_bits(weights, static_cast<std::size_t>(index)), weights.type);
  }

  // Where the sum is read, if that is possible: it can begin at 0, and other constants may be added there, too.
  static void add(const Sum& sum, VarId table) {
    const auto entry = [&](const ExprRef& element) {
      return tir::make_load(tir::int32_type, table,
                            sum.row == nullptr ? element : tir::make_binary(ExprKind::add, sum.row, element));
    };
    if (sum.reader == nullptr) {
      sum.begin->value = entry(sum.begin->index);
      return;
    }
    tir::ExprRewriter rewriter([&](const ExprRef& expr) -> ExprRef {
      const bool is_sum = expr->kind == ExprKind::load && expr->var == sum.begin->storage;
      return is_sum ? tir::make_binary(ExprKind::add, expr, entry(expr->operands[0])) : nullptr;
    });
    tir::Store& store = *only_store(*sum.reader);
    store.value = rewriter.rewritten(store.value);
  }

  void change() {
    for (const auto& [buffer, store] : buffers_) {
      const Expr& value = *store->value;
      const ExprRef moved = tir::make_binary(ExprKind::sub, tir::make_cast(tir::int16_type, value.operands[1]),
                                             tir::make_int(border_of(buffer), tir::int16_type));
      allocates_.at(buffer)->type = tir::int16_type;
      module_.vars[buffer.index()].element = tir::int16_type;
      store->value = tir::make_call(tir::int16_type, tir::Op::if_then_else,
                                    {value.operands[0], moved, tir::make_int(0, tir::int16_type)});
    }
    std::vector<Stmt> tables;
    for (Sum& sum : sums_) {
      const VarId var(module_.vars.size());
      module_.vars.push_back({"border", tir::handle_type, tir::int32_type, {}});
      add(sum, var);
      tables.push_back({tir::AllocateConst{var, tir::int32_type, std::move(sum.table), {}}});
    }
    loops::rewrite_expressions(function_.body, [&](const ExprRef& expr) -> ExprRef {
      const bool is_moved = expr->kind == ExprKind::load && buffers_.contains(expr->var);
      return is_moved ? tir::make_load(tir::int16_type, expr->var, expr->operands[0]) : nullptr;
    });
    function_.body.insert(function_.body.begin(), std::make_move_iterator(tables.begin()),
                          std::make_move_iterator(tables.end()));
  }

  tir::Module& module_;
  tir::Function& function_;
  arith::Facts facts_;
  loops::Accesses all_;
  std::map<VarId, std::shared_ptr<const tir::Constant>> constants_;
  std::map<VarId, tir::Allocate*> allocates_;
  std::map<VarId, tir::Store*> buffers_;  // that writes it
  std::vector<Sum> sums_;
};

}  // namespace

std::optional<MovedBorders> move_borders(tir::Module& module, tir::Function& function) {
  return BorderMover(module, function).run();
}

}  // namespace usmp::transform
