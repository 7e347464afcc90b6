// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// Recognises a nest by its one store, and tells data from weights by the loops that their indices depend on.
#include "kernels/product_sum.hpp"

#include <algorithm>
#include <limits>
#include <utility>

#include "usmp/loops/edit.hpp"
#include "usmp/loops/reduction.hpp"
#include "usmp/loops/walk.hpp"
#include "usmp/support/checked.hpp"
#include "usmp/support/interval.hpp"
#include "usmp/tir/integer_types.hpp"
#include "usmp/tir/visit.hpp"

namespace usmp::kernels {
namespace {

using tir::Expr;
using tir::ExprKind;
using tir::ExprRef;

constexpr Interval int16_range{std::numeric_limits<std::int16_t>::min(), std::numeric_limits<std::int16_t>::max()};

bool is_factor(tir::DataType type) {
  return type.is_integer() && !type.is_vector() && (type.bits == 8 || (type.bits == 16 && type.is_int()));
}

// Casts and sums with literals around a load, from outside; the value is that of the load plus `offset`.
std::optional<Factor> factor_of(const ExprRef& root, const arith::Facts& facts) {
  constexpr std::size_t most_nodes = 6;
  std::vector<const Expr*> casts;
  std::vector<std::int64_t> offsets_at_casts;
  Factor factor{.load = root, .offset = 0, .index = {}, .inside = {}, .term = nullptr};
  for (std::size_t i = 0; i < most_nodes && factor.load->kind != ExprKind::load; ++i) {
    const ExprRef value = factor.load;
    const bool fits = value->type.is_integer() && value->type.bits <= 32 && !value->type.is_vector();
    if (!fits) return std::nullopt;
    if (value->kind == ExprKind::cast) {
      casts.push_back(value.get());
      offsets_at_casts.push_back(factor.offset);
      factor.load = value->operands[0];
      continue;
    }
    if (value->op == tir::Op::paired_weight) {
      factor.term = value->operands[1];
      factor.load = value->operands[0];
      break;
    }
    if (value->kind != ExprKind::add && value->kind != ExprKind::sub) return std::nullopt;
    auto number = tir::as_int(*value->operands[1]);
    std::size_t side = 0;
    if (!number && value->kind == ExprKind::add) {
      number = tir::as_int(*value->operands[0]);
      side = 1;
    }
    if (!number || !value->type.is_int() || *number < int16_range.low || *number > int16_range.high)
      return std::nullopt;
    factor.offset += value->kind == ExprKind::add ? *number : -*number;
    factor.load = value->operands[side];
  }
  const Expr& load = *factor.load;
  if (load.kind != ExprKind::load || load.operands.size() != 1 || !is_factor(load.type)) return std::nullopt;
  const Interval elements = tir::range_of_type(factor.term == nullptr ? load.type : tir::int8_type).value();
  for (std::size_t i = 0; i < casts.size(); ++i) {  // what is added outside of a cast is not in its value
    const std::int64_t inside = factor.offset - offsets_at_casts[i];
    const auto kept = tir::range_of_type(casts[i]->type);
    if (!kept || !Interval{elements.low + inside, elements.high + inside}.within(*kept)) return std::nullopt;
  }
  if (!Interval{elements.low + factor.offset, elements.high + factor.offset}.within(int16_range)) return std::nullopt;
  auto index = affine_of(load.operands[0], facts, factor.inside);
  if (!index) return std::nullopt;
  factor.index = std::move(*index);
  return factor;
}

bool is_arithmetic(const Expr& root) {
  bool is = true;
  tir::for_each_expr(root, [&](const Expr& expr) {
    is = is && expr.kind != ExprKind::load && expr.kind != ExprKind::call && expr.kind != ExprKind::let;
    return is;
  });
  return is;
}

// Adds the variables of a value that a quotient or remainder toward zero takes part in. False: it is none, or decided
// by something else than variables.
bool add_variables_of_quotient(const Expr& root, std::set<tir::VarId>& inside) {
  bool divides = false;
  bool varies = false;
  tir::for_each_expr(root, [&](const Expr& part) {
    divides = divides || part.kind == ExprKind::div || part.kind == ExprKind::mod;
    varies = varies || part.kind == ExprKind::var;
  });
  if (!divides || !varies || !is_arithmetic(root)) return false;
  tir::for_each_expr(root, [&](const Expr& part) {
    if (part.kind == ExprKind::var) inside.insert(part.var);
  });
  return true;
}

bool is_loop_from_zero(const tir::For& loop) { return tir::as_int(*loop.min) == 0 && tir::as_int(*loop.extent) > 0; }

// The loop that numbers the sums: the only one that the index of the store has, once.
const tir::For* loop_over_sums(const ProductSum& sum, const arith::Affine& index) {
  const tir::For* found = nullptr;
  for (const tir::For* loop : sum.loops) {
    if (!index.mentions(loop->var)) continue;
    if (found != nullptr || index.factor(loop->var) < 1 || index.without(loop->var).mentions(loop->var)) return nullptr;
    found = loop;
  }
  return found != nullptr && is_loop_from_zero(*found) ? found : nullptr;
}

// Whether four sums from a multiple of four on have their elements side by side.
bool is_in_blocks(const Factor& factor, const tir::For& sums, const arith::Facts& facts) {
  Expr block;
  block.kind = ExprKind::var;
  block.type = sums.extent->type;
  block.var = sums.var;
  const ExprRef begin = tir::make_binary(ExprKind::mul, tir::make_expr(block), tir::make_int(width, block.type));
  const auto place = [&](std::int64_t i) {
    const ExprRef s = tir::make_binary(ExprKind::add, begin, tir::make_int(i, block.type));
    return facts.affine(*loops::renamed(factor.load->operands[0], {{sums.var, s}}));
  };
  const auto first = place(0);
  for (std::int64_t i = 1; i < width; ++i) {
    const auto here = place(i);
    const auto between = first && here ? arith::difference(*here, *first) : std::nullopt;
    if (!between || !between->is_constant() || between->constant != i) return false;
  }
  return tir::as_int(*sums.extent).value() % width == 0;
}

// Sets form and factors, in the order that the form wants. The loops are bound.
bool find_form(ProductSum& sum, Factor a, Factor b, const arith::Facts& facts) {
  const tir::VarId s = sum.sums->var;
  if (!b.mentions(s)) std::swap(a, b);
  if (!b.mentions(s)) return false;
  sum.form = a.mentions(s) ? Form::lanes : Form::dot;
  const auto is_side_by_side = [&](const Factor& factor) {
    return factor.index.factor(s) == 1 && factor.is_linear_in(s);
  };
  // Only data have a number to add, and only weights are in blocks.
  if (sum.form == Form::lanes && (b.offset != 0 || !is_side_by_side(a))) std::swap(a, b);
  if (sum.form == Form::dot && sum.step != 1) return false;
  if (sum.form == Form::lanes) {
    sum.weights = is_side_by_side(b)                  ? Lie::side_by_side
                  : is_in_blocks(b, *sum.sums, facts) ? Lie::in_blocks
                                                      : Lie::apart;
    const bool are_known = sum.weights != Lie::apart || (sum.step != 1 && b.is_linear_in(s));
    if (!is_side_by_side(a) || !are_known) return false;
  }
  const bool is_moved_byte =
      sum.form == Form::dot && b.offset == unsigned_weight_offset && b.load->type == tir::uint8_type;
  if (b.offset != 0 && !is_moved_byte) return false;
  if (a.term != nullptr || (b.term != nullptr && sum.form == Form::lanes)) return false;
  sum.data = std::move(a);
  sum.weight = std::move(b);
  return true;
}

}  // namespace

std::optional<arith::Affine> affine_of(const ExprRef& index, const arith::Facts& facts, std::set<tir::VarId>& inside) {
  tir::ExprRewriter rewriter([&](const ExprRef& expr) { return arith::as_floor(expr, facts); });
  const ExprRef floors = rewriter.rewritten(index);
  std::optional<arith::Affine> whole = facts.affine(*floors);
  if (whole) return whole;
  whole = arith::Affine();
  std::vector<std::pair<ExprRef, std::int64_t>> parts = {{floors, 1}};  // with their factors
  while (!parts.empty() && whole) {
    const auto [part, factor] = std::move(parts.back());
    parts.pop_back();
    const bool is_sum = part->kind == ExprKind::add || part->kind == ExprKind::sub;
    const auto literal = part->kind == ExprKind::mul ? tir::as_int(*part->operands[1]) : std::nullopt;
    const auto product = checked_mul(factor, literal.value_or(part->kind == ExprKind::sub ? -1 : 1));
    if ((is_sum || literal) && !product) return std::nullopt;
    if (is_sum) parts.emplace_back(part->operands[0], factor);
    if (is_sum || literal) {
      parts.emplace_back(part->operands[is_sum ? 1 : 0], *product);
    } else if (const auto value = facts.affine(*part)) {
      const auto term = arith::scaled(*value, factor);
      whole = term ? arith::sum(*whole, *term) : std::nullopt;
    } else if (!add_variables_of_quotient(*part, inside)) {
      return std::nullopt;
    }
  }
  return whole;
}

std::optional<AddedProduct> added_product(const tir::For& outermost) {
  AddedProduct nest;
  for (const tir::For* loop = &outermost; loop != nullptr; loop = tir::only_loop(loop->body)) {
    if (loop->row_runs != 0) return std::nullopt;
    nest.loops.push_back(loop);
  }
  const tir::Block& innermost = nest.loops.back()->body;
  nest.store = innermost.size() == 1 ? std::get_if<tir::Store>(&innermost[0].node) : nullptr;
  nest.product = nest.store == nullptr ? nullptr : loops::added_term(*nest.store);
  const bool is_product = nest.product != nullptr && nest.product->kind == ExprKind::mul;
  return is_product ? std::optional(std::move(nest)) : std::nullopt;
}

std::optional<ProductSum> product_sum(const tir::For& outermost, arith::Facts& facts) {
  std::optional<AddedProduct> nest = added_product(outermost);
  if (!nest || nest->product->type != tir::int32_type) return std::nullopt;
  const Expr* term = nest->product;
  ProductSum sum;
  sum.loops = std::move(nest->loops);
  sum.store = nest->store;
  const auto has_bounds = [](const tir::For* loop) {
    return is_arithmetic(*loop->min) && is_arithmetic(*loop->extent);
  };
  if (!std::ranges::all_of(sum.loops, has_bounds)) return std::nullopt;
  const std::size_t mark = facts.mark();
  for (const tir::For* loop : sum.loops) facts.bind_loop(*loop);
  const auto index = facts.affine(*sum.store->index);
  auto a = factor_of(term->operands[0], facts);
  auto b = factor_of(term->operands[1], facts);
  sum.sums = index && a && b ? loop_over_sums(sum, *index) : nullptr;
  if (sum.sums != nullptr) sum.step = index->factor(sum.sums->var);
  const bool has_form = sum.sums != nullptr && find_form(sum, std::move(*a), std::move(*b), facts);
  facts.restore(mark);
  if (!has_form) return std::nullopt;
  const bool is_rectangle = std::ranges::none_of(sum.loops, [&](const tir::For* loop) {
    return tir::mentions(*loop->min, sum.sums->var) || tir::mentions(*loop->extent, sum.sums->var);
  });
  return is_rectangle ? std::optional(std::move(sum)) : std::nullopt;
}

ExprRef first_value(const tir::Stmt& stmt, const ProductSum& sum, arith::Facts& facts) {
  const auto* loop = std::get_if<tir::For>(&stmt.node);
  const auto* store =
      loop == nullptr || loop->body.empty() ? nullptr : std::get_if<tir::Store>(&loop->body.back().node);
  if (store == nullptr || store->storage != sum.store->storage || store->predicate != nullptr ||
      store->value->kind != ExprKind::int_imm || store->value->type != tir::int32_type ||
      tir::as_int(*loop->min) != 0 || tir::as_int(*loop->extent) != tir::as_int(*sum.sums->extent)) {
    return nullptr;
  }
  const std::size_t mark = facts.mark();
  facts.bind_loop(*loop);
  bool has_lets = true;  // in front, and nothing else
  for (std::size_t i = 0; i + 1 < loop->body.size(); ++i) {
    const auto* let = std::get_if<tir::Let>(&loop->body[i].node);
    has_lets = has_lets && let != nullptr && tir::is_pure(*let->value);
    loops::bind_after(loop->body[i], facts);
  }
  const auto index = facts.affine(*store->index);
  facts.restore(mark);
  facts.bind_loop(*sum.sums);
  const auto sums = facts.affine(*sum.store->index);
  facts.restore(mark);
  const bool is_same = has_lets && index && sums && index->factor(loop->var) == sum.step &&
                       index->without(loop->var) == sums->without(sum.sums->var);
  return is_same ? store->value : nullptr;
}

bool sets_to_0(const tir::Stmt& stmt, const ProductSum& sum, arith::Facts& facts) {
  const ExprRef value = first_value(stmt, sum, facts);
  return value != nullptr && tir::as_int(*value) == 0;
}

void expand_names_in_sums(tir::Module& module) {
  for (tir::Function& function : module.functions) {
    tir::for_each_block(function.body, [&](tir::Block& block) {
      for (tir::Stmt& stmt : block) {
        auto* loop = std::get_if<tir::For>(&stmt.node);
        if (loop == nullptr || loop->body.size() < 2) continue;
        const auto* store = std::get_if<tir::Store>(&loop->body.back().node);
        if (store == nullptr || loops::added_term(*store) == nullptr) continue;
        const bool are_names = std::all_of(loop->body.begin(), loop->body.end() - 1, [](const tir::Stmt& one) {
          const auto* let = std::get_if<tir::Let>(&one.node);
          return let != nullptr && is_arithmetic(*let->value);
        });
        tir::Block body = are_names ? loop->body : tir::Block();
        if (are_names && loops::expand_lets(body, {})) loop->body = std::move(body);
      }
    });
  }
}

bool may_be_window(const ProductSum& sum) {
  const bool are_bytes = sum.data.load->type.bits == 8 && sum.weight.load->type.bits == 8;
  return sum.form == Form::lanes && are_bytes && sum.weights != Lie::in_blocks && sum.loops.size() <= 3 &&
         tir::as_int(*sum.sums->extent).value() % width == 0 &&
         std::ranges::all_of(sum.loops, [](const tir::For* loop) { return loop->extent->type == tir::int32_type; });
}

std::vector<const tir::For*> data_run(const ProductSum& sum) {
  const Factor& factor = sum.data;
  std::vector<const tir::For*> run;
  std::int64_t length = 1;
  while (true) {
    const auto next = std::ranges::find_if(sum.loops, [&](const tir::For* loop) {
      return factor.index.factor(loop->var) == length && factor.is_linear_in(loop->var) &&
             std::ranges::find(run, loop) == run.end();
    });
    if (next == sum.loops.end()) return run;
    run.push_back(*next);
    const auto extent = tir::as_int(*(*next)->extent);
    if (!is_loop_from_zero(**next)) return run;
    length *= *extent;
  }
}

}  // namespace usmp::kernels
