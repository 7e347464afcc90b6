// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// Finds the smallest number of parts that fit, from the weights, and writes their loops.
#include "kernels/wide_sums.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <limits>
#include <map>
#include <optional>
#include <utility>
#include <vector>

#include "kernels/product_sum.hpp"
#include "kernels/run.hpp"
#include "usmp/loops/edit.hpp"
#include "usmp/loops/walk.hpp"
#include "usmp/tir/integer_types.hpp"
#include "usmp/tir/visit.hpp"

namespace usmp::kernels {
namespace {

using tir::Block;
using tir::ExprKind;
using tir::ExprRef;
using tir::Stmt;
using tir::VarId;

constexpr std::int64_t most_sums = 64;
constexpr std::int64_t least_terms = 16;  // of a part
constexpr std::int64_t most_pieces = 64;  // of a loop
constexpr std::int64_t most_of_part = std::numeric_limits<std::int32_t>::max();

// The value in 32 bits, where it is a load of up to 16 bits with casts and sums with literals of 16 bits around it.
// Null: it is something else.
ExprRef in_32_bits(const ExprRef& root) {
  constexpr std::size_t most_nodes = 6;
  struct Around {
    const tir::Expr* node;
    std::int64_t number;  // that is added or subtracted
  };
  std::vector<Around> around;
  ExprRef value = root;
  for (std::size_t i = 0; i < most_nodes && value->kind != ExprKind::load; ++i) {
    std::size_t side = 0;
    std::int64_t number = 0;
    if (value->kind == ExprKind::add || value->kind == ExprKind::sub) {
      side = value->kind == ExprKind::add && tir::as_int(*value->operands[0]) ? 1 : 0;
      const auto literal = tir::as_int(*value->operands[1 - side]);
      if (!literal || !Interval{*literal, *literal}.within(*tir::range_of_type(tir::int16_type))) return nullptr;
      number = *literal;
    } else if (value->kind != ExprKind::cast) {
      return nullptr;
    }
    around.push_back({value.get(), number});
    value = value->operands[side];
  }
  if (value->kind != ExprKind::load || !value->type.is_integer() || value->type.bits > 16) return nullptr;
  for (std::size_t i = around.size(); i-- > 0;) {
    const auto& [node, number] = around[i];
    const tir::DataType type = node->type == tir::int64_type ? tir::int32_type : node->type;
    if (node->kind == ExprKind::cast) {
      value = tir::make_cast(type, value);
    } else if (value->type == type) {
      value = tir::make_binary(node->kind, value, tir::make_int(number, type));
    } else {
      return nullptr;
    }
  }
  return value;
}

// A loop over terms: its variable is in [0, extent), and neighbours' weights are `weight` apart.
struct TermLoop {
  const tir::For* loop = nullptr;
  std::int64_t extent = 1;
  std::int64_t weight = 0;
};

// All terms of a sum, in loops from outside.
struct Terms {
  std::vector<TermLoop> loops;
  std::int64_t sums = 1;
  std::int64_t sum_weight = 0;              // distance of the weights of neighbouring sums
  std::vector<std::int64_t> first_weights;  // of the first sum, for all values of variables around the nest
  std::vector<std::int64_t> sizes;          // of the weights, times the largest of data
};

// So many loops stand around a part, and the one that is next inside is in equal pieces.
struct Parts {
  std::size_t around = 0;
  std::int64_t pieces = 1;
};

// The most that the terms of a part may add up to, of any sum. O(terms · sums).
std::int64_t largest_part(const Terms& terms, const Parts& parts) {
  const std::size_t count = terms.loops.size();
  std::vector<std::int64_t> numbers(count, 1);  // of parts that a loop makes
  std::int64_t all = 1;
  for (std::size_t i = 0; i < count && i <= parts.around; ++i) {
    numbers[i] = i < parts.around ? terms.loops[i].extent : parts.pieces;
    all *= numbers[i];
  }
  std::int64_t largest = 0;
  for (std::int64_t sum = 0; sum < std::ssize(terms.first_weights) * terms.sums; ++sum) {
    const std::int64_t first = terms.first_weights[static_cast<std::size_t>(sum / terms.sums)];
    std::vector<std::int64_t> of_parts(static_cast<std::size_t>(all), 0);
    std::vector<std::int64_t> values(count, 0);  // of the loops' variables
    for (bool goes_on = true; goes_on;) {
      std::int64_t part = 0;
      std::int64_t weight = first + sum % terms.sums * terms.sum_weight;
      for (std::size_t i = 0; i < count; ++i) {
        part = part * numbers[i] + values[i] * numbers[i] / terms.loops[i].extent;
        weight += values[i] * terms.loops[i].weight;
      }
      of_parts[static_cast<std::size_t>(part)] += terms.sizes[static_cast<std::size_t>(weight)];
      goes_on = false;
      for (std::size_t i = count; i-- > 0 && !goes_on;) {
        goes_on = ++values[i] < terms.loops[i].extent;
        if (!goes_on) values[i] = 0;
      }
    }
    largest = std::max(largest, *std::ranges::max_element(of_parts));
  }
  return largest;
}

// The fewest parts that fit, of a loop in pieces preferably those whose terms fours divide. Nothing: parts that fit
// are too small.
std::optional<Parts> parts_of(const Terms& terms) {
  Parts parts;
  std::int64_t above = 0;  // the most without the last loop around
  for (; parts.around < terms.loops.size(); ++parts.around) {
    const std::int64_t largest = largest_part(terms, parts);
    if (largest <= most_of_part) break;
    above = largest;
  }
  if (parts.around > 0) {
    const tir::For& loop = *terms.loops[parts.around - 1].loop;
    const auto extent = tir::as_int(*loop.min) == 0 ? tir::as_int(*loop.extent) : std::nullopt;
    const std::int64_t least = above / most_of_part + 1;
    std::optional<Parts> found;
    for (const std::int64_t by : {width, std::int64_t{1}}) {
      for (std::int64_t pieces = least; extent && !found && pieces < *extent && pieces <= most_pieces; ++pieces) {
        const Parts tried{parts.around - 1, pieces};
        const bool divides = *extent % pieces == 0 && *extent / pieces % by == 0;
        if (divides && largest_part(terms, tried) <= most_of_part) found = tried;
      }
    }
    parts = found.value_or(parts);
  }
  std::int64_t count = 1;
  for (std::size_t i = parts.around; i < terms.loops.size(); ++i) count *= terms.loops[i].extent;
  return count / parts.pieces < least_terms ? std::nullopt : std::optional(parts);
}

// storage[index] = storage[index] + term
tir::Store added_to(VarId storage, const ExprRef& index, const ExprRef& term) {
  const ExprRef before = tir::make_load(term->type, storage, index);
  return {storage, index, tir::make_binary(ExprKind::add, before, term), nullptr};
}

class WideParter {
 public:
  explicit WideParter(tir::Module& module) : module_(module) {}

  void run(tir::Function& function) {
    constants_.clear();
    tir::for_each_stmt(function.body, [&](const Stmt& stmt) {
      const auto* constant = std::get_if<tir::AllocateConst>(&stmt.node);
      if (constant != nullptr) constants_.emplace(constant->var, constant->data.get());
    });
    arith::Facts facts(module_);
    facts.bind_ranges(function);
    loops::edit(function.body, facts,
                {.before =
                     [&](Block& block, std::size_t& at, arith::Facts& known) {
                       const auto* nest = std::get_if<tir::For>(&block[at].node);
                       Block parted = nest == nullptr ? Block() : in_parts(*nest, known);
                       if (parted.empty()) return loops::Next::enter;
                       const auto place = block.erase(block.begin() + static_cast<std::ptrdiff_t>(at));
                       at += parted.size() - 1;
                       block.insert(place, std::make_move_iterator(parted.begin()),
                                    std::make_move_iterator(parted.end()));
                       return loops::Next::skip;
                     },
                 .after = {}});
  }

 private:
  // What becomes of the nest; empty: it is none of wide sums, or nothing proves that its parts fit.
  Block in_parts(const tir::For& nest, arith::Facts& facts) {
    const std::optional<AddedProduct> wide = added_product(nest);
    if (!wide || wide->product->type != tir::int64_type) return {};
    const ExprRef a = in_32_bits(wide->product->operands[0]);
    const ExprRef b = in_32_bits(wide->product->operands[1]);
    if (a == nullptr || b == nullptr || a->type != tir::int32_type || b->type != tir::int32_type) return {};

    // The nest as it would be if it did not need 64 bits.
    const tir::Store& store = *wide->store;
    const ExprRef product = tir::make_binary(ExprKind::mul, a, b);
    tir::For narrow = nest;
    tir::For* innermost = &narrow;
    while (tir::For* loop = tir::only_loop(innermost->body)) innermost = loop;
    innermost->body[0] = {added_to(store.storage, store.index, product)};
    const auto sum = product_sum(narrow, facts);
    const std::optional<Terms> terms = sum ? terms_of(*sum, facts) : std::nullopt;
    const std::optional<Parts> parts = terms ? parts_of(*terms) : std::nullopt;
    return parts ? written(store, product, *sum, *terms, *parts) : Block();
  }

  // All values of a sum of multiples of variables, at most so many. Empty: there are more, or it is something else.
  static std::vector<std::int64_t> values_of(const arith::Affine& sum, std::int64_t most, const arith::Facts& facts) {
    constexpr std::int64_t far = std::int64_t{1} << 31;  // beyond constants
    const auto is_near = [](std::int64_t value) { return value > -far && value < far; };
    if (!is_near(sum.constant)) return {};
    std::vector<std::int64_t> values = {sum.constant};
    for (const auto& [atom, factor] : sum.terms) {
      const auto range = atom.kind == arith::Atom::Kind::var ? facts.interval(arith::variable(atom.var)) : std::nullopt;
      if (!range || !is_near(range->low) || !is_near(range->high) || !is_near(factor)) return {};
      const std::int64_t count = range->high - range->low + 1;
      if (count < 1 || count > most / std::ssize(values)) return {};
      std::vector<std::int64_t> all;
      for (const std::int64_t value : values) {
        for (std::int64_t i = range->low; i <= range->high; ++i) {
          all.push_back(value + i * factor);
          if (!is_near(all.back())) return {};
        }
      }
      values = std::move(all);
    }
    return values;
  }

  // Nothing: weights are not constant, their index is not a sum of multiples of the loops' variables, or loops depend
  // on each other.
  std::optional<Terms> terms_of(const ProductSum& sum, arith::Facts& facts) const {
    const auto constant = constants_.find(sum.weight.load->var);
    const std::int64_t sums = *tir::as_int(*sum.sums->extent);
    if (constant == constants_.end() || constant->second->type != sum.weight.load->type || sum.step != 1 ||
        sum.weight.term != nullptr || !sum.weight.inside.empty() || sums > most_sums) {
      return std::nullopt;
    }
    Terms terms{.loops = {},
                .sums = sums,
                .sum_weight = sum.weight.index.factor(sum.sums->var),
                .first_weights = {},
                .sizes = {}};
    const std::size_t mark = facts.mark();
    for (const tir::For* loop : sum.loops) facts.bind_loop(*loop);
    std::vector<const tir::For*> loops;
    arith::Affine others = sum.weight.index;
    bool is_known = terms.sum_weight >= 0;
    std::int64_t last = terms.sum_weight * (sums - 1);
    std::int64_t combinations = sums;
    const auto count = static_cast<std::int64_t>(constant->second->bytes.size()) / sum.weight.load->type.bytes();
    for (const tir::For* loop : sum.loops) {
      is_known = is_known && sum.weight.is_linear_in(loop->var);
      others = others.without(loop->var);
      if (loop == sum.sums) continue;
      const auto range = facts.interval(arith::variable(loop->var));
      const std::int64_t weight = sum.weight.index.factor(loop->var);
      is_known = is_known && range && range->low >= 0 && range->high < count && weight >= 0 && weight <= count;
      if (!is_known) break;
      terms.loops.push_back({loop, range->high + 1, weight});
      loops.push_back(loop);
      last += range->high * weight;
      combinations *= range->high + 1;
      is_known = combinations <= count;
      if (!is_known) break;
    }
    facts.restore(mark);
    if (!is_known || bounds_mention(sum, loops)) return std::nullopt;
    terms.first_weights = values_of(others, count / combinations, facts);
    const bool is_inside = !terms.first_weights.empty() && std::ranges::min(terms.first_weights) >= 0 &&
                           std::ranges::max(terms.first_weights) + last < count;
    if (!is_inside) return std::nullopt;
    const Interval data = tir::range_of_type(sum.data.load->type).value();
    const std::int64_t most = std::max(std::abs(data.low + sum.data.offset), std::abs(data.high + sum.data.offset));
    for (std::int64_t i = 0; i < count; ++i) {
      const std::uint64_t bits = tir::element_bits(*constant->second, static_cast<std::size_t>(i));
      const std::int64_t element = tir::integer_of(bits, constant->second->type);
      terms.sizes.push_back(most * std::abs(element + sum.weight.offset));
    }
    return terms;
  }

  Block written(const tir::Store& store, const ExprRef& product, const ProductSum& sum, const Terms& terms,
                const Parts& parts) {
    const std::int64_t sums = terms.sums;
    Block inner;
    const VarId part = add_register(module_, inner, module_.var(store.storage).name + "_part", tir::int32_type, sums);
    const auto over_sums = [&](tir::For loop, tir::Store made) {
      loop.body.push_back({std::move(made)});
      inner.push_back({std::move(loop)});
    };
    const auto fresh_sums = [&] {
      return tir::For{loops::fresh_var(module_, module_.var(sum.sums->var).name, sum.sums->extent->type),
                      sum.sums->min,
                      sum.sums->extent,
                      {}};
    };
    tir::For zero = fresh_sums();
    over_sums(zero, {part, tir::make_var(module_, zero.var), tir::make_int(0, tir::int32_type), nullptr});

    // The loop that is in pieces numbers piece · length + what is inside.
    std::vector<tir::For> around;
    for (std::size_t i = 0; i < parts.around; ++i) around.push_back(without_body(*terms.loops[i].loop));
    loops::Substitution number;
    const tir::For* cut = parts.pieces > 1 ? terms.loops[parts.around].loop : nullptr;
    tir::For piece;
    if (cut != nullptr) {
      const tir::DataType type = cut->extent->type;
      const std::int64_t length = terms.loops[parts.around].extent / parts.pieces;
      around.push_back({loops::fresh_var(module_, module_.var(cut->var).name + "_part", type),
                        tir::make_int(0, type),
                        tir::make_int(parts.pieces, type),
                        {}});
      piece = {loops::fresh_var(module_, module_.var(cut->var).name, type),
               tir::make_int(0, type),
               tir::make_int(length, type),
               {}};
      number[cut->var] =
          plus(times(tir::make_var(module_, around.back().var), length), tir::make_var(module_, piece.var));
    }
    Stmt nest{added_to(part, tir::make_var(module_, sum.sums->var), loops::renamed(product, number))};
    for (std::size_t i = sum.loops.size(); i-- > 0;) {
      const tir::For* loop = sum.loops[i];
      const bool is_around =
          std::ranges::any_of(terms.loops.begin(), terms.loops.begin() + static_cast<std::ptrdiff_t>(parts.around),
                              [&](const TermLoop& one) { return one.loop == loop; });
      if (is_around) continue;
      tir::For kept = loop == cut ? piece : without_body(*loop);
      kept.body.push_back(std::move(nest));
      nest = {std::move(kept)};
    }
    inner.push_back(std::move(nest));

    tir::For add = fresh_sums();
    const ExprRef f = tir::make_var(module_, add.var);
    const ExprRef index = loops::renamed(store.index, {{sum.sums->var, f}});
    const ExprRef wide = tir::make_cast(tir::int64_type, tir::make_load(tir::int32_type, part, f));
    over_sums(add, added_to(store.storage, index, wide));

    for (std::size_t i = around.size(); i-- > 0;) {
      around[i].body = std::move(inner);
      inner = Block();
      inner.push_back({std::move(around[i])});
    }
    return inner;
  }

  static tir::For without_body(const tir::For& loop) {
    tir::For result{loop.var, loop.min, loop.extent, {}};
    result.row_operator = loop.row_operator;
    return result;
  }

  tir::Module& module_;
  std::map<VarId, const tir::Constant*> constants_;
};

}  // namespace

void part_wide_sums(tir::Module& module) {
  for (tir::Function& function : module.functions) {
    if (!tir::is_opaque(module, function)) WideParter(module).run(function);
  }
}

}  // namespace usmp::kernels
