// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// Finds runs and windows whose data and weights lie as an operator reads them, and calls that in the loops around.
#include "kernels/add_runs.hpp"

#include <algorithm>
#include <cstddef>
#include <utility>
#include <vector>

#include "kernels/pairs.hpp"
#include "kernels/run.hpp"
#include "usmp/tir/integer_types.hpp"
#include "usmp/tir/visit.hpp"

namespace usmp::kernels {
namespace {

using tir::Block;
using tir::ExprKind;
using tir::ExprRef;
using tir::VarId;

// The remainder that finds a row or pixel in a ring: data[((p + x) mod rows) · distance + …], where x is a loop's
// variable and nothing else mentions it.
struct RingPlace {
  ExprRef remainder;
  ExprRef value;  // of the remainder; unsigned where that is proved to be the same, which takes fewer instructions
  std::int64_t rows = 0;
  std::int64_t distance = 0;
  arith::Affine number;  // the dividend
  arith::Affine index;   // of the data, without the place
};

constexpr std::size_t most_parts = 8;  // of a bound; TVM's have two or three

// What one call adds up: all iterations of a loop.
struct Window {
  std::vector<const tir::For*> loops;  // `loop` is the last, those before it are inside it
  const tir::For* loop = nullptr;
  std::int64_t data_distance = 0;  // of iterations; of a ring between its ends
  std::int64_t weight_distance = 0;
  std::int64_t inside = 1;  // terms of an iteration
  std::optional<RingPlace> ring = {};
};

ExprRef replaced(const ExprRef& root, const tir::Expr& part, const ExprRef& by) {
  tir::ExprRewriter rewriter([&](const ExprRef& expr) -> ExprRef { return tir::is_same(*expr, part) ? by : nullptr; });
  return rewriter.rewritten(root);
}

class RunWriter {
 public:
  RunWriter(tir::Module& module, const ProductSum& sum, const Core& core, arith::Facts& facts, const tir::For* passes)
      : module_(module),
        sum_(sum),
        in_rows_(core.in_rows && sum.form == Form::dot),
        row_terms_(core.in_rows ? 0 : core.row_terms),
        has_windows_(passes != nullptr || (core.whole_windows && !core.in_rows)),
        sums_(sum.form == Form::lanes ? width
              : core.in_rows          ? 1
                                      : core.sums),
        facts_(facts),
        passes_(passes) {}

  std::optional<AddedRuns> run(bool are_set_to_0) {
    const std::int64_t count = *tir::as_int(*sum_.sums->extent);
    if (count % sums_ != 0 || module_.var(sum_.sums->var).type != tir::int32_type) return std::nullopt;
    blocks_ = count / sums_;
    if (sum_.weight.term != nullptr) return are_set_to_0 && sums_ == width ? run_of_pairs() : std::nullopt;
    if (sum_.step != 1 && passes_ == nullptr) return std::nullopt;
    const bool are_in_blocks = sum_.weights == Lie::in_blocks || (has_windows_ && blocks_ == 1 && may_be_window(sum_));
    if (auto window = are_in_blocks && are_set_to_0 ? window_of_lanes() : std::nullopt) return window;
    if (sum_.weights == Lie::in_blocks) return std::nullopt;
    if (passes_ != nullptr) return std::nullopt;
    const std::size_t mark = facts_.mark();
    for (const tir::For* loop : sum_.loops) facts_.bind_loop(*loop);
    const std::optional<Window> window = sum_.form == Form::dot ? dot_window() : lane_window();
    const bool is_possible = window && window->loop->extent->type == tir::int32_type && find_distance(*window);
    const bool begins_at_0 = are_set_to_0 && is_possible && run_once_at_least();
    facts_.restore(mark);
    if (!is_possible) return may_be_window_of_rows() ? window_of_rows(are_set_to_0) : std::nullopt;
    return AddedRuns{statements(*window, begins_at_0), begins_at_0};
  }

 private:
  // --- What is side by side: all loops are bound ---------------------------------------------------------------------

  std::optional<Window> dot_window() {
    const std::optional<Run> run = run_of(module_, sum_, facts_);
    if (!run) return std::nullopt;
    Window window{run->loops, run->loops.back(), run->inside, 0, run->inside};
    if (auto around = window_of_ring(*run)) window = std::move(*around);
    const bool has_whole_fours = in_rows_ || window.inside % width == 0 ||
                                 (tir::as_int(*window.loop->min) == 0 &&
                                  tir::as_int(*window.loop->extent).value_or(1) * window.inside % width == 0);
    return has_whole_fours ? std::optional(std::move(window)) : std::nullopt;
  }

  // Whole rows or pixels of a ring, one after the other.
  std::optional<Window> window_of_ring(const Run& run) {
    const auto length = tir::as_int(*run.length);
    if (!length || *length < 1 || tir::as_int(*run.start) != 0) return std::nullopt;
    for (const tir::For* loop : sum_.loops) {
      if (loop == sum_.sums || std::ranges::find(run.loops, loop) != run.loops.end()) continue;
      auto ring = ring_place(*loop);
      if (!ring || ring->distance != *length) continue;
      Window window{run.loops, loop, ring->distance, 0, *length, std::move(ring)};
      window.loops.push_back(loop);
      const bool is_run =
          !bounds_mention(sum_, window.loops) && is_one_loop(module_, sum_.weight, window.loops, facts_);
      return is_run ? std::optional(std::move(window)) : std::nullopt;
    }
    return std::nullopt;
  }

  std::optional<Window> lane_window() {
    const auto innermost = std::ranges::find_if(sum_.loops.rbegin(), sum_.loops.rend(),
                                                [&](const tir::For* loop) { return loop != sum_.sums; });
    if (innermost == sum_.loops.rend()) return std::nullopt;
    Window window{{*innermost}, *innermost, 0, sum_.weight.index.factor((*innermost)->var)};
    const VarId x = window.loop->var;
    if (!sum_.weight.is_linear_in(x)) return std::nullopt;
    window.ring = ring_place(*window.loop);
    if (!window.ring && !sum_.data.is_linear_in(x)) return std::nullopt;
    window.data_distance = window.ring ? window.ring->distance : sum_.data.index.factor(x);
    return window;
  }

  std::optional<RingPlace> ring_place(const tir::For& loop) {
    const ExprRef& index = sum_.data.load->operands[0];
    RingPlace place;
    std::size_t remainders = 0;
    tir::for_each_expr(*index, [&](const tir::Expr& expr) {
      const bool is_remainder = expr.kind == ExprKind::mod || expr.kind == ExprKind::floor_mod;
      if (!is_remainder || !tir::mentions(expr, loop.var)) return;
      ++remainders;
      place.remainder = tir::make_expr(expr);
    });
    const auto rows = remainders == 1 ? tir::as_int(*place.remainder->operands[1]) : std::nullopt;
    if (!rows || place.remainder->type != tir::int32_type || !is_at_most(loop.extent, *rows)) return std::nullopt;
    const auto number = facts_.affine(*place.remainder->operands[0]);
    if (!number || number->factor(loop.var) != 1 || number->without(loop.var).mentions(loop.var)) return std::nullopt;
    const VarId p = loops::fresh_var(module_, "place", tir::int32_type);
    const auto with_place = facts_.affine(*replaced(index, *place.remainder, tir::make_var(module_, p)));
    if (!with_place || with_place->mentions(loop.var) || with_place->without(p).mentions(p)) return std::nullopt;
    place.value = place.remainder;
    const ExprRef& dividend = place.remainder->operands[0];
    if (facts_.truth(*tir::make_binary(ExprKind::ge, dividend, tir::make_int(0))) == true) {
      constexpr tir::DataType uint32{tir::TypeCode::uint, 32, 1};
      const ExprRef remainder =
          tir::make_binary(ExprKind::mod, tir::make_cast(uint32, dividend), tir::make_int(*rows, uint32));
      place.value = tir::make_cast(tir::int32_type, remainder);
    }
    place.rows = *rows;
    place.distance = with_place->factor(p);
    place.number = *number;
    place.index = with_place->without(p);
    return place.distance > 0 ? std::optional(std::move(place)) : std::nullopt;
  }

  // How the weights of a run lie (Op::dot_run): sets the distance of blocks.
  bool find_distance(const Window& window) {
    if (sum_.form == Form::lanes) return true;
    if (in_rows_) return find_distance_of_rows(window);
    if (sum_.weight.offset != 0) return false;
    const tir::For& front = *window.loops.front();
    const VarId start = bound("start", window.loop->min, window);
    const VarId four = bound("four", window.loop->extent, window);
    const VarId b = loops::fresh_var(module_, "b", tir::int32_type);
    facts_.bind_interval(b, Interval{0, blocks_ - 1});
    const auto place = [&](bool is_first, std::int64_t i, std::int64_t k) {
      loops::Substitution values;
      for (const tir::For* loop : window.loops) values[loop->var] = tir::make_int(0, loop->extent->type);
      ExprRef fours = tir::make_var(module_, start);
      if (!is_first) fours = plus(fours, tir::make_var(module_, four));
      values[front.var] = plus(times(fours, width), tir::make_int(k));
      values[sum_.sums->var] =
          is_first ? tir::make_int(0) : plus(times(tir::make_var(module_, b), sums_), tir::make_int(i));
      return facts_.affine(*loops::renamed(sum_.weight.load->operands[0], values));
    };
    const auto first = place(true, 0, 0);
    for (std::int64_t i = 0; i < sums_; ++i) {
      for (std::int64_t k = 0; k < width; ++k) {
        const auto here = place(false, i, k);
        const auto from_first = first && here ? arith::difference(*here, *first) : std::nullopt;
        if (!from_first || from_first->factor(four) != width * sums_) return false;
        const arith::Affine rest = from_first->without(four).without(b);
        if (!rest.is_constant() || rest.constant != width * i + k) return false;
        if (i + k == 0) distance_ = from_first->factor(b);
        if (from_first->factor(b) != distance_) return false;
      }
    }
    return true;
  }

  // Terms are side by side; that all of the window's are one loop is known.
  bool find_distance_of_rows(const Window& window) {
    const VarId k = window.loops.front()->var;
    const VarId s = sum_.sums->var;
    distance_ = sum_.weight.index.factor(s);
    return sum_.weight.is_linear_in(k) && sum_.weight.index.factor(k) == 1 && sum_.weight.is_linear_in(s);
  }

  // A number of fours of the window, from 0 on up to what the bound of its loop may be.
  VarId bound(const char* name, const ExprRef& bound, const Window& window) {
    const VarId var = loops::fresh_var(module_, name, tir::int32_type);
    const auto value = facts_.affine(*bound);
    const auto most = value ? facts_.interval(*value) : std::nullopt;
    facts_.bind_interval(
        var, most ? std::optional(Interval{0, std::max<std::int64_t>(most->high, 0) * window.inside / width})
                  : std::nullopt);
    return var;
  }

  // Whatever is bound. Bounds of windows that borders cut are min(…) - max(…).
  [[nodiscard]] bool run_once_at_least() const {
    return std::ranges::all_of(sum_.loops, [&](const tir::For* loop) {
      const Parts of = parts(loop->extent);
      return std::ranges::all_of(of.ends, [&](const ExprRef& end) {
        return std::ranges::all_of(of.begins, [&](const ExprRef& begin) {
          return facts_.truth(*tir::make_binary(ExprKind::gt, end, begin)) == true;
        });
      });
    });
  }

  [[nodiscard]] bool is_at_most(const ExprRef& extent, std::int64_t most) const {
    const Parts of = parts(extent);
    return std::ranges::any_of(of.ends, [&](const ExprRef& end) {
      return std::ranges::any_of(of.begins, [&](const ExprRef& begin) {
        const ExprRef limit = plus(begin, tir::make_int(most, begin->type));
        return facts_.truth(*tir::make_binary(ExprKind::le, end, limit)) == true;
      });
    });
  }

  // The least of the first minus the greatest of the second.
  struct Parts {
    std::vector<ExprRef> ends, begins;
  };
  static Parts parts(const ExprRef& extent) {
    if (extent->kind != ExprKind::sub) return {leaves(ExprKind::min, extent), {tir::make_int(0, extent->type)}};
    return {leaves(ExprKind::min, extent->operands[0]), leaves(ExprKind::max, extent->operands[1])};
  }
  static std::vector<ExprRef> leaves(ExprKind kind, const ExprRef& root) {
    std::vector<ExprRef> found = {root};
    for (std::size_t i = 0; i < found.size(); ++i) {
      while (found[i]->kind == kind && found.size() < most_parts) {
        const ExprRef whole = found[i];
        found.push_back(whole->operands[1]);
        found[i] = whole->operands[0];
      }
    }
    return found;
  }

  // --- Windows of rows whose terms fours do not divide, or which borders cut -----------------------------------------

  [[nodiscard]] bool may_be_window_of_rows() const {
    return row_terms_ > 0 && sums_ == width && sum_.form == Form::dot && sum_.data.load->type.bits == 8 &&
           sum_.weight.load->type.bits == 8 && sum_.weight.offset == 0;
  }

  std::optional<AddedRuns> window_of_rows(bool are_set_to_0) {
    const std::size_t mark = facts_.mark();
    for (const tir::For* loop : sum_.loops) facts_.bind_loop(*loop);
    const std::optional<Run> run = run_of(module_, sum_, facts_);
    facts_.restore(mark);
    if (!run || !run->outermost || (run->outermost->high + 1) * run->inside < row_terms_) return std::nullopt;
    const tir::For* rows = nullptr;
    for (const tir::For* loop : sum_.loops) {
      if (loop == sum_.sums || std::ranges::find(run->loops, loop) != run->loops.end()) continue;
      if (rows != nullptr) return std::nullopt;
      rows = loop;
    }
    const VarId k = run->loops.front()->var;
    const auto is_linear = [&](const Factor& factor) { return rows == nullptr || factor.is_linear_in(rows->var); };
    const auto is_int32 = [](const tir::For* loop) { return loop == nullptr || loop->extent->type == tir::int32_type; };
    if (!is_linear(sum_.data) || !is_linear(sum_.weight) || !sum_.weight.is_linear_in(sum_.sums->var) ||
        !sum_.weight.is_linear_in(k) || sum_.weight.index.factor(k) != 1 || !is_int32(rows) ||
        !is_int32(run->loops.back()) ||
        (rows != nullptr && (tir::mentions(*run->start, rows->var) || tir::mentions(*run->length, rows->var)))) {
      return std::nullopt;
    }
    loops::Substitution values;
    for (const tir::For* loop : run->loops) values[loop->var] = tir::make_int(0, loop->extent->type);
    values[run->loops.back()->var] = run->loops.back()->min;
    if (rows != nullptr) values[rows->var] = rows->min;
    values[sum_.sums->var] = tir::make_int(0);
    const auto distance = [&](const Factor& factor) {
      return tir::make_int(rows == nullptr ? 0 : factor.index.factor(rows->var));
    };
    const tir::Expr& weight = *sum_.weight.load;
    AddedRuns added{{}, are_set_to_0};
    added.statements.emplace_back().node.emplace<tir::Evaluate>(tir::Evaluate{tir::make_call(
        tir::void_type, tir::Op::window_run,
        {tir::make_load(tir::int32_type, sum_.store->storage, with_values(sum_.store->index, values)),
         at(sum_.data, values), tir::make_load(weight.type, weight.var, with_values(weight.operands[0], values)),
         tir::make_int(are_set_to_0 ? 0 : 1), tir::make_int(blocks_),
         tir::make_int(sum_.weight.index.factor(sum_.sums->var)), rows == nullptr ? tir::make_int(1) : rows->extent,
         distance(sum_.data), distance(sum_.weight), run->length, tir::make_int(sum_.data.offset)})});
    return added;
  }

  // --- Windows of lanes ----------------------------------------------------------------------------------------------

  // Where the data of a window are.
  struct LaneWindow {
    const tir::For* taps = nullptr;
    const tir::For* rows = nullptr;  // null: one
    std::int64_t x_row = 0;
    std::int64_t x_tap = 0;
    std::int64_t w_row = 0;
    std::int64_t size = 0;      // of a ring
    ExprRef remainder;          // that finds the place
    ExprRef value;              // of it
    std::int64_t distance = 0;  // of places
  };

  std::optional<AddedRuns> window_of_lanes() {
    const std::size_t mark = facts_.mark();
    for (const tir::For* loop : sum_.loops) facts_.bind_loop(*loop);
    const std::optional<LaneWindow> found = lanes_in_rows();
    const bool is_possible = found && find_distance_of_blocks(*found);
    facts_.restore(mark);
    if (!is_possible) return std::nullopt;
    const LaneWindow& window = *found;
    AddedRuns added{{}, true};
    loops::Substitution block;  // where the weights of one begin
    for (const tir::For* loop : sum_.loops) block[loop->var] = tir::make_int(0);
    if (passes_ != nullptr) block[passes_->var] = tir::make_int(0);
    loops::Substitution values = block;
    ExprRef rows = tir::make_int(1);
    if (window.rows != nullptr) {
      values[window.rows->var] = named(module_, added.statements, "row", window.rows->min);
      rows = window.rows->extent;
    }
    values[window.taps->var] = named(module_, added.statements, "tap", window.taps->min);
    ExprRef index = sum_.data.load->operands[0];
    ExprRef place = tir::make_int(0);
    if (window.size != 0) {
      index = replaced(index, *window.remainder, place);
      place = times(named(module_, added.statements, "place", loops::renamed(window.value, values)), window.distance);
    }
    ExprRef first = times(values.at(window.taps->var), width);
    if (window.rows != nullptr) first = plus(times(values.at(window.rows->var), window.w_row), first);
    const tir::Expr& weight = *sum_.weight.load;
    added.statements.emplace_back().node.emplace<tir::Evaluate>(tir::Evaluate{tir::make_call(
        tir::void_type, tir::Op::lane_window,
        {tir::make_load(tir::int32_type, sum_.store->storage, with_values(sum_.store->index, values)),
         tir::make_load(sum_.data.load->type, sum_.data.load->var, with_values(index, values)),
         tir::make_load(weight.type, weight.var, facts_.simplified(with_values(weight.operands[0], block))),
         tir::make_int(blocks_), tir::make_int(distance_), first, rows, tir::make_int(window.x_row),
         tir::make_int(window.w_row), window.taps->extent, tir::make_int(window.x_tap), tir::make_int(sum_.data.offset),
         place, tir::make_int(window.size), tir::make_int(sum_.step)})});
    return added;
  }

  // The loops over terms: of the taps, whose weights are blocks side by side, and of the rows. All loops are bound.
  std::optional<LaneWindow> lanes_in_rows() {
    LaneWindow window;
    for (const tir::For* loop : sum_.loops) {
      if (loop == sum_.sums) continue;
      if (loop->extent->type != tir::int32_type || !sum_.weight.is_linear_in(loop->var)) return std::nullopt;
      const tir::For*& kind = sum_.weight.index.factor(loop->var) == width ? window.taps : window.rows;
      if (kind != nullptr) return std::nullopt;
      kind = loop;
    }
    if (window.taps == nullptr || (window.rows != nullptr && bounds_mention(sum_, {window.rows, window.taps})))
      return std::nullopt;
    if (window.rows != nullptr && tir::as_int(*window.rows->extent) == 1 && tir::as_int(*window.rows->min) == 0)
      window.rows = nullptr;
    if (window.rows != nullptr) window.w_row = sum_.weight.index.factor(window.rows->var);
    return find_ring(window) ? std::optional(window) : std::nullopt;
  }

  bool find_ring(LaneWindow& window) {
    const VarId tap = window.taps->var;
    const auto is_step = [&](std::int64_t step) { return step > 0 && (window.size == 0 || step <= window.size); };
    if (auto pixels = ring_place(*window.taps)) {  // rows of it lie one after the other
      take(window, *pixels);
      window.x_tap = pixels->distance;
      if (window.rows == nullptr) return is_step(window.x_tap);
      const VarId row = window.rows->var;
      window.x_row = pixels->number.factor(row) * pixels->distance;
      return is_step(window.x_tap) && is_step(window.x_row) && !pixels->number.without(row).mentions(row) &&
             !pixels->index.mentions(row);
    }
    if (!sum_.data.is_linear_in(tap)) return false;
    window.x_tap = sum_.data.index.factor(tap);
    if (window.rows == nullptr) return is_step(window.x_tap);
    if (auto rows = ring_place(*window.rows)) {
      take(window, *rows);
      window.x_row = rows->distance;
      // A row's taps stay in it.
      return is_step(window.x_tap) && is_at_most(window.taps->extent, rows->distance / window.x_tap);
    }
    window.x_row = sum_.data.index.factor(window.rows->var);
    return sum_.data.is_linear_in(window.rows->var) && is_step(window.x_tap) && is_step(window.x_row);
  }
  static void take(LaneWindow& window, const RingPlace& ring) {
    window.remainder = ring.remainder;
    window.value = ring.value;
    window.distance = ring.distance;
    window.size = ring.rows * ring.distance;
  }

  // Sets the distance of the weights of two blocks; for one that is alone, its length. All loops are bound.
  bool find_distance_of_blocks(const LaneWindow& window) {
    const VarId b = loops::fresh_var(module_, "b", tir::int32_type);
    facts_.bind_interval(b, Interval{0, blocks_ - 1});
    const loops::Substitution values = {{sum_.sums->var, times(tir::make_var(module_, b), width)}};
    const auto place = facts_.affine(*loops::renamed(sum_.weight.load->operands[0], values));
    if (!place || place->without(b).mentions(b)) return false;
    distance_ = place->factor(b);
    if (blocks_ == 1) {
      const auto most = facts_.interval(arith::variable((window.rows != nullptr ? window.rows : window.taps)->var));
      distance_ = most ? (most->high + 1) * (window.rows != nullptr ? window.w_row : width) : 0;
    }
    return passes_ == nullptr ||
           (place->factor(passes_->var) == blocks_ * distance_ && !place->without(passes_->var).mentions(passes_->var));
  }

  // --- Weights as pairs ----------------------------------------------------------------------------------------------

  std::optional<AddedRuns> run_of_pairs() {
    const std::size_t mark = facts_.mark();
    for (const tir::For* loop : sum_.loops) facts_.bind_loop(*loop);
    const std::optional<Run> run = run_of(module_, sum_, facts_);
    const auto length = run ? tir::as_int(*run->length) : std::nullopt;
    const bool is_possible = length && *length > 0 && *length % width == 0 && tir::as_int(*run->start) == 0 &&
                             run->loops.size() + 1 == sum_.loops.size() && are_pairs_in_blocks(*run, *length);
    facts_.restore(mark);
    if (!is_possible) return std::nullopt;
    loops::Substitution values;
    for (const tir::For* loop : sum_.loops) values[loop->var] = tir::make_int(0, loop->extent->type);
    const tir::Expr& weight = *sum_.weight.load;
    const ExprRef place =
        plus(with_values(weight.operands[0], values), tir::make_int(-numbers_in_front, weight.operands[0]->type));
    AddedRuns added{{}, true};
    added.statements.emplace_back().node.emplace<tir::Evaluate>(tir::Evaluate{
        tir::make_call(tir::void_type, tir::Op::pair_run,
                       {tir::make_load(tir::int32_type, sum_.store->storage, with_values(sum_.store->index, values)),
                        at(sum_.data, values), tir::make_load(weight.type, weight.var, facts_.simplified(place)),
                        tir::make_int(blocks_), tir::make_int(*length / width), tir::make_int(sum_.data.offset)})});
    return added;
  }

  // Whether the weights lie as Op::pair_run reads them. All loops are bound.
  bool are_pairs_in_blocks(const Run& run, std::int64_t length) {
    const tir::For& front = *run.loops.front();
    if (front.extent->type != tir::int32_type || sum_.weight.term->kind != ExprKind::var ||
        sum_.weight.term->var != front.var) {
      return false;
    }
    const VarId four = loops::fresh_var(module_, "four", tir::int32_type);
    const VarId b = loops::fresh_var(module_, "b", tir::int32_type);
    facts_.bind_interval(four, Interval{0, length / width - 1});
    facts_.bind_interval(b, Interval{0, blocks_ - 1});
    loops::Substitution values;
    for (const tir::For* loop : run.loops) values[loop->var] = tir::make_int(0, loop->extent->type);
    const auto place = [&](const ExprRef& s, const ExprRef& k) {
      values[front.var] = k;
      values[sum_.sums->var] = s;
      return facts_.affine(*loops::renamed(sum_.weight.load->operands[0], values));
    };
    const auto first = place(tir::make_int(0), tir::make_int(0));
    for (std::int64_t i = 0; i < width; ++i) {
      for (std::int64_t k = 0; k < width; ++k) {
        const auto here = place(plus(times(tir::make_var(module_, b), width), tir::make_int(i)),
                                plus(times(tir::make_var(module_, four), width), tir::make_int(k)));
        const auto from_first = first && here ? arith::difference(*here, *first) : std::nullopt;
        if (!from_first || from_first->factor(four) != 2 * width ||
            from_first->factor(b) != 2 * length + numbers_in_front) {
          return false;
        }
        const arith::Affine rest = from_first->without(four).without(b);
        if (!rest.is_constant() || rest.constant != 2 * i + k / 2) return false;
      }
    }
    return true;
  }

  // --- Statements ----------------------------------------------------------------------------------------------------

  Block statements(const Window& window, bool begins_at_0) {
    const std::size_t mark = facts_.mark();
    const loops::Substitution outside = fresh_loops(module_, sum_, window.loops, facts_);
    values_ = outside;
    for (const tir::For* loop : window.loops) values_[loop->var] = tir::make_int(0, loop->extent->type);
    values_[sum_.sums->var] = tir::make_int(0);
    const ExprRef keep = begins_at_0 ? is_later(window, outside) : tir::make_int(1);
    Block body;
    const ExprRef first = named(module_, body, "first", loops::renamed(window.loop->min, outside));
    const ExprRef count = named(module_, body, "count", loops::renamed(window.loop->extent, outside));
    if (window.ring) {
      const RingPlace& ring = *window.ring;
      loops::Substitution at_first = outside;
      at_first[window.loop->var] = first;
      const ExprRef place = named(module_, body, "place", loops::renamed(ring.value, at_first));
      const ExprRef to_end = tir::make_binary(ExprKind::sub, tir::make_int(ring.rows), place);
      const ExprRef part = named(module_, body, "part", tir::make_binary(ExprKind::min, count, to_end));
      call(body, window, place, first, part, keep);
      tir::IfThenElse wraps;
      wraps.condition = tir::make_binary(ExprKind::lt, part, count);
      call(wraps.then_body, window, tir::make_int(0), plus(first, part), tir::make_binary(ExprKind::sub, count, part),
           tir::make_int(1));
      body.emplace_back().node.emplace<tir::IfThenElse>(std::move(wraps));
    } else {
      call(body, window, nullptr, first, count, keep);
    }
    facts_.restore(mark);
    return around(sum_, window.loops, std::move(body), outside);
  }

  // 0 in the first iteration of all loops around the window, else 1.
  ExprRef is_later(const Window& window, const loops::Substitution& outside) const {
    ExprRef later;
    for (const tir::For* loop : sum_.loops) {
      if (loop == sum_.sums || std::ranges::find(window.loops, loop) != window.loops.end()) continue;
      const ExprRef one = tir::make_binary(ExprKind::ne, outside.at(loop->var), loops::renamed(loop->min, outside));
      later = later == nullptr ? one : tir::make_binary(ExprKind::or_, later, one);
    }
    return later == nullptr ? tir::make_int(0) : tir::make_cast(tir::int32_type, later);
  }

  // Adds `count` iterations of the window from `first` on; their data are in a ring from `place` on.
  void call(Block& block, const Window& window, const ExprRef& place, const ExprRef& first, const ExprRef& count,
            const ExprRef& keep) {
    loops::Substitution values = values_;
    values[window.loop->var] = first;
    const ExprRef& index = sum_.data.load->operands[0];
    const ExprRef data = place == nullptr ? index : replaced(index, *window.ring->remainder, place);
    const Factor moved{tir::make_load(sum_.data.load->type, sum_.data.load->var, data), 0, {}, {}, nullptr};
    const tir::Expr& weight = *sum_.weight.load;
    std::vector<ExprRef> operands = {
        tir::make_load(tir::int32_type, sum_.store->storage, with_values(sum_.store->index, values)), at(moved, values),
        tir::make_load(weight.type, weight.var, facts_.simplified(with_values(weight.operands[0], values))), keep,
        tir::make_int(blocks_)};
    const bool is_dot = sum_.form == Form::dot;
    if (in_rows_) {
      operands.insert(operands.end(), {tir::make_int(distance_), times(count, window.inside),
                                       tir::make_int(sum_.data.offset), tir::make_int(sum_.weight.offset)});
    } else if (is_dot) {
      const bool are_fours = window.inside % width == 0;
      operands.insert(operands.end(),
                      {tir::make_int(distance_),
                       are_fours ? times(count, window.inside / width) : over(times(count, window.inside), width),
                       tir::make_int(sum_.data.offset), tir::make_int(sums_)});
    } else {
      operands.insert(operands.end(), {count, tir::make_int(window.data_distance),
                                       tir::make_int(window.weight_distance), tir::make_int(sum_.data.offset)});
    }
    block.emplace_back().node.emplace<tir::Evaluate>(tir::Evaluate{tir::make_call(tir::void_type,
                                                                                  in_rows_ ? tir::Op::row_run
                                                                                  : is_dot ? tir::Op::dot_run
                                                                                           : tir::Op::lane_run,
                                                                                  std::move(operands))});
  }

  tir::Module& module_;
  const ProductSum& sum_;
  bool in_rows_;
  std::int64_t row_terms_;
  bool has_windows_;   // of lanes
  std::int64_t sums_;  // of a block
  arith::Facts& facts_;
  const tir::For* passes_;  // over sums that share data; null: none do
  std::int64_t blocks_ = 0;
  std::int64_t distance_ = 0;
  loops::Substitution values_;  // the first of all sums and terms of the window
};

}  // namespace

std::optional<AddedRuns> add_runs(tir::Module& module, const ProductSum& sum, const Core& core, bool are_set_to_0,
                                  arith::Facts& facts, const tir::For* passes) {
  return RunWriter(module, sum, core, facts, passes).run(are_set_to_0);
}

}  // namespace usmp::kernels
