// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// Replaces each nest by calls that add runs where its data have some, else by blocks of sums in registers.
#include "kernels/blocks.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "kernels/add_runs.hpp"
#include "kernels/product_sum.hpp"
#include "kernels/run.hpp"
#include "usmp/loops/edit.hpp"
#include "usmp/loops/sum_storage.hpp"
#include "usmp/loops/walk.hpp"
#include "usmp/tir/visit.hpp"

namespace usmp::kernels {
namespace {

using tir::Block;
using tir::ExprKind;
using tir::ExprRef;
using tir::Stmt;
using tir::VarId;

// How many terms whole fours leave over; less than 1: none.
ExprRef rest_of(const ExprRef& length) {
  if (const auto value = tir::as_int(*length)) return tir::make_int(*value % width, length->type);
  return tir::make_binary(ExprKind::mod, length, tir::make_int(width, length->type));
}

class Blocker {
 public:
  Blocker(tir::Module& module, tir::Function& function, const Core& core)
      : module_(module), function_(function), core_(core), sums_(core.sums), storage_(function) {}

  void run() {
    arith::Facts facts(module_);
    facts.bind_ranges(function_);
    loops::edit(function_.body, facts,
                {.before =
                     [&](Block& block, std::size_t& at, arith::Facts& known) {
                       const auto* loop = std::get_if<tir::For>(&block[at].node);
                       if (loop == nullptr) return loops::Next::enter;
                       if (auto passes = all_passes(*loop, known)) {
                         block[at] = {tir::Scope{std::move(*passes)}};
                         return loops::Next::skip;
                       }
                       const auto sum = product_sum(*loop, known);
                       if (!sum || sum->weights == Lie::apart || !is_possible(*sum)) return loops::Next::enter;
                       const std::size_t before = before_lets(block, at, sum->store->storage);
                       const ExprRef first = before == 0 ? nullptr : first_value(block[before - 1], *sum, known);
                       const bool are_set_to_0 = first != nullptr && tir::as_int(*first) == 0;
                       bool begins = first != nullptr;
                       std::optional<Block> made;
                       if (auto runs = add_runs(module_, *sum, core_, are_set_to_0, known)) {
                         made = std::move(runs->statements);
                         begins = runs->begins_at_0;
                       } else {
                         made = blocked(*sum, first, known);
                       }
                       if (!made) return loops::Next::enter;
                       block[at] = {tir::Scope{std::move(*made)}};
                       if (begins) {
                         block.erase(block.begin() + static_cast<std::ptrdiff_t>(before) - 1);
                         --at;
                       }
                       return loops::Next::skip;
                     },
                 .after = {}});
  }

 private:
  [[nodiscard]] bool is_possible(const ProductSum& sum) const {
    const VarId storage = sum.store->storage;
    return storage_.is_alone(storage) && storage_.may_read(*sum.store->value->operands[1], storage) &&
           storage_.may_read(*sum.store->index, storage);
  }

  // Takes the place of a loop over sums that share data, in which these are set to 0 and added up.
  std::optional<Block> all_passes(const tir::For& loop, arith::Facts& facts) {
    const auto* nest = loop.body.size() == 2 ? std::get_if<tir::For>(&loop.body[1].node) : nullptr;
    if (nest == nullptr || tir::as_int(*loop.min) != 0) return std::nullopt;
    const std::size_t mark = facts.mark();
    facts.bind_loop(loop);
    std::optional<Block> made;
    const auto sum = product_sum(*nest, facts);
    if (sum && sum->step != 1 && tir::as_int(*loop.extent) == sum->step && is_possible(*sum)) {
      const auto index = facts.affine(*sum->store->index);
      const bool are_passes = sets_to_0(loop.body[0], *sum, facts) && index && index->factor(loop.var) == 1 &&
                              !index->without(loop.var).mentions(loop.var) && !sum->data.mentions(loop.var) &&
                              !bounds_mention(*sum, {&loop});
      if (auto runs = are_passes ? add_runs(module_, *sum, core_, true, facts, &loop) : std::nullopt)
        made = std::move(runs->statements);
    }
    facts.restore(mark);
    return made;
  }

  // The first of the lets in front of the statement that do not read the sums; the statement itself: there are none.
  [[nodiscard]] std::size_t before_lets(const Block& block, std::size_t at, VarId sums) const {
    while (at > 0) {
      const auto* let = std::get_if<tir::Let>(&block[at - 1].node);
      if (let == nullptr || !storage_.may_read(*let->value, sums)) break;
      --at;
    }
    return at;
  }

  std::optional<Block> blocked(const ProductSum& sum, const ExprRef& first, arith::Facts& facts) {
    const std::optional<Run> run = sum.form == Form::dot ? run_of(module_, sum, facts) : Run{};
    if (!run || sum.weight.offset != 0 || sum.weight.term != nullptr) return std::nullopt;
    is_side_by_side_ = true;
    const std::int64_t count = *tir::as_int(*sum.sums->extent);
    if (sum.form == Form::lanes && count < width) return std::nullopt;
    Block result;
    const tir::DataType type = module_.var(sum.sums->var).type;
    const std::int64_t together = sum.form == Form::dot ? sums_ : width;
    if (count / together > 1) {
      const VarId b = loops::fresh_var(module_, module_.var(sum.sums->var).name + "_block", type);
      const std::size_t mark = facts.mark();
      tir::For loop{b, tir::make_int(0, type), tir::make_int(count / together, type), {}};
      facts.bind_loop(loop);
      loop.body = block_of(sum, *run, first, times(tir::make_var(module_, b), together), together, facts);
      facts.restore(mark);
      result.emplace_back().node.emplace<tir::For>(std::move(loop));
    } else if (count / together == 1) {
      result = block_of(sum, *run, first, tir::make_int(0, type), together, facts);
    }
    if (const std::int64_t rest = count % together; rest > 0) {
      tir::Scope last{block_of(sum, *run, first, tir::make_int(count - rest, type), rest, facts)};
      result.emplace_back().node.emplace<tir::Scope>(std::move(last));
    }
    return is_side_by_side_ ? std::optional(std::move(result)) : std::nullopt;
  }

  // Whether four terms from a place on are side by side.
  static bool are_side_by_side(const Factor& factor, VarId k, const loops::Substitution& values,
                               const arith::Facts& facts) {
    std::optional<arith::Affine> first;
    for (std::int64_t i = 0; i < width; ++i) {
      loops::Substitution places = values;
      places[k] = plus(values.at(k), tir::make_int(i, values.at(k)->type));
      const auto place = facts.affine(*loops::renamed(factor.load->operands[0], places));
      if (i == 0) first = place;
      const auto between = place && first ? arith::difference(*place, *first) : std::nullopt;
      if (!between || !between->is_constant() || between->constant != i) return false;
    }
    return true;
  }

  // `count` sums from `from` on.
  Block block_of(const ProductSum& sum, const Run& run, const ExprRef& first, const ExprRef& from, std::int64_t count,
                 arith::Facts& facts) {
    Block result;
    std::vector<VarId> sums;
    std::vector<ExprRef> places;
    for (std::int64_t i = 0; i < count; ++i) {
      const VarId s = add_register(module_, result, "sum" + std::to_string(i), tir::int32_type);
      sums.push_back(s);
      const ExprRef number = plus(from, tir::make_int(i, from->type));
      places.push_back(with_values(sum.store->index, {{sum.sums->var, number}}));
      set_register(result, s,
                   first != nullptr ? first : tir::make_load(tir::int32_type, sum.store->storage, places.back()));
    }
    Block terms = sum.form == Form::dot ? dots(sum, run, sums, from, facts) : lanes(sum, sums, from, facts);
    std::move(terms.begin(), terms.end(), std::back_inserter(result));
    for (std::size_t i = 0; i < sums.size(); ++i) {
      result.emplace_back().node.emplace<tir::Store>(
          tir::Store{sum.store->storage, places[i], value_of(module_, sums[i]), nullptr});
    }
    return result;
  }

  Block dots(const ProductSum& sum, const Run& run, const std::vector<VarId>& sums, const ExprRef& from,
             arith::Facts& facts) {
    const std::size_t mark = facts.mark();
    loops::Substitution values = fresh_loops(module_, sum, run.loops, facts);
    const loops::Substitution outside = values;
    for (const tir::For* loop : run.loops) values[loop->var] = tir::make_int(0, module_.var(loop->var).type);
    const VarId k = run.loops.front()->var;
    const tir::DataType type = module_.var(k).type;
    Block body;
    ExprRef start = loops::renamed(run.start, outside);
    ExprRef length = loops::renamed(run.length, outside);
    const bool has_fours = run.inside % width == 0;  // and begins with a whole one
    if (has_fours) start = loops::renamed(times(run.loops.back()->min, run.inside / width), outside);
    if (!tir::as_int(*start)) {
      start = named(module_, body, "start", start);
      bind_part(start, run, has_fours, facts);
    }
    const bool is_whole = run.inside % width == 0 || tir::as_int(*length).value_or(1) % width == 0;
    const auto constant = tir::as_int(*length);
    if (!constant && run.inside % width == 0) {
      length = loops::renamed(times(run.loops.back()->extent, run.inside / width), outside);
    } else if (!constant) {
      length = named(module_, body, "length", length);
    }
    const ExprRef fours = constant || !is_whole ? over(length, width) : length;
    const auto sum_of = [&](std::size_t i, const ExprRef& term, bool is_four) {
      loops::Substitution places = values;
      places[k] = has_fours ? times(plus(start, term), width) : plus(start, times(term, is_four ? width : 1));
      places[sum.sums->var] = plus(from, tir::make_int(static_cast<std::int64_t>(i), from->type));
      const ExprRef data = at(sum.data, places);
      if (is_four) is_side_by_side_ = is_side_by_side_ && are_side_by_side(sum.weight, k, places, facts);
      const ExprRef weight = tir::make_load(sum.weight.load->type, sum.weight.load->var,
                                            facts.simplified(loops::renamed(sum.weight.load->operands[0], places)));
      return is_four ? dot(value_of(module_, sums[i]), data, weight, sum.data.offset)
                     : product(sum, sums[i], data, weight);
    };
    const auto loop_over = [&](const ExprRef& first, const ExprRef& count, bool is_four) {
      if (tir::as_int(*count) == 0) return;
      const auto iterations = tir::as_int(*count);
      const std::size_t before = facts.mark();
      tir::For loop{loops::fresh_var(module_, module_.var(k).name, type), first, count, {}};
      facts.bind_loop(loop);
      const ExprRef x = iterations == 1 ? first : tir::make_var(module_, loop.var);
      if (!iterations) bind_part(x, run, is_four, facts);
      for (std::size_t i = 0; i < sums.size(); ++i) set_register(loop.body, sums[i], sum_of(i, x, is_four));
      facts.restore(before);
      if (iterations == 1) {
        std::move(loop.body.begin(), loop.body.end(), std::back_inserter(body));
      } else {
        body.emplace_back().node.emplace<tir::For>(std::move(loop));
      }
    };
    loop_over(tir::make_int(0, type), fours, true);
    if (!is_whole) {
      const ExprRef done = times(fours, width);
      loop_over(done, rest_of(length), false);
    }
    facts.restore(mark);
    return around(sum, run.loops, std::move(body), outside);
  }

  Block lanes(const ProductSum& sum, const std::vector<VarId>& sums, const ExprRef& from, arith::Facts& facts) {
    const std::size_t mark = facts.mark();
    loops::Substitution values = fresh_loops(module_, sum, {}, facts);
    const loops::Substitution outside = values;
    Block body;
    for (std::size_t i = 0; i < sums.size(); ++i) {
      const bool is_four = sums.size() == static_cast<std::size_t>(width);
      const auto lane = static_cast<std::int64_t>(i);
      values[sum.sums->var] = is_four ? from : plus(from, tir::make_int(lane, from->type));
      const ExprRef data = at(sum.data, values);
      const ExprRef weight = at(sum.weight, values);
      set_register(body, sums[i],
                   is_four ? tir::make_call(tir::int32_type, tir::Op::lane_product,
                                            {value_of(module_, sums[i]), data, weight, tir::make_int(sum.data.offset),
                                             tir::make_int(lane)})
                           : product(sum, sums[i], data, weight));
    }
    facts.restore(mark);
    return around(sum, {}, std::move(body), outside);
  }

  // A place or a number of places of the run, counted in fours or not.
  static void bind_part(const ExprRef& var, const Run& run, bool is_four, arith::Facts& facts) {
    if (!run.outermost) return;
    const std::int64_t most = (run.outermost->high - std::min<std::int64_t>(run.outermost->low, 0) + 1) * run.inside;
    facts.bind_interval(
        var->var, Interval{std::min<std::int64_t>(run.outermost->low, 0) * run.inside, is_four ? most / width : most});
  }

  static ExprRef dot(ExprRef s, ExprRef data, ExprRef weight, std::int64_t offset) {
    return tir::make_call(tir::int32_type, tir::Op::dot4,
                          {std::move(s), std::move(data), std::move(weight), tir::make_int(offset)});
  }
  [[nodiscard]] ExprRef product(const ProductSum& sum, VarId s, const ExprRef& data, const ExprRef& weight) const {
    const ExprRef value = plus(tir::make_cast(tir::int32_type, data), tir::make_int(sum.data.offset));
    return tir::make_binary(ExprKind::add, value_of(module_, s),
                            tir::make_binary(ExprKind::mul, value, tir::make_cast(tir::int32_type, weight)));
  }

  tir::Module& module_;
  tir::Function& function_;
  const Core& core_;
  std::int64_t sums_;  // of a block
  loops::SumStorage storage_;
  bool is_side_by_side_ = true;  // of the nest that is rewritten: each operator's four weights
};

}  // namespace

void block_sums(tir::Module& module, const Core& core) {
  for (tir::Function& function : module.functions) {
    if (!tir::is_opaque(module, function)) Blocker(module, function, core).run();
  }
}

}  // namespace usmp::kernels
