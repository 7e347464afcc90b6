// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// Finds the windows, copies their data and lays out their weights.
#include "kernels/small_windows.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <map>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "kernels/constants.hpp"
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

constexpr std::int64_t most_at_once = 64;  // bytes
constexpr std::int64_t most_window_parts = 2;
// What fours lack may add to the constants: bytes, or percent of them.
constexpr std::int64_t most_added = 64;
constexpr std::int64_t most_added_percent = 1;

// A loop over terms, or over sums, as a digit of the weights' index and of the number of a term.
struct TermDigit {
  const tir::For* loop = nullptr;
  std::int64_t extent = 1;  // its variable is in [0, extent)
  std::int64_t weight = 0;  // distance of neighbours
  std::int64_t place = 0;   // likewise in the window
};

// Values of the outermost digit that are copied together.
struct WindowPart {
  std::int64_t first = 0;
  std::int64_t rows = 0;
  std::int64_t first_term = 0;
  std::int64_t length = 0;  // terms
  std::int64_t padded = 0;  // likewise, with those that fours lack
};

struct SmallWindow {
  std::vector<const tir::For*> run = {};  // terms side by side in memory, innermost first
  std::vector<TermDigit> terms = {};      // outermost first; the run's are last
  TermDigit sums = {};
  std::int64_t row = 1;     // terms of the run
  std::int64_t length = 1;  // all terms
  std::vector<WindowPart> parts = {};
  ConstantData weights = nullptr;
};

bool is_whole(const TermDigit& digit) {
  return tir::as_int(*digit.loop->min) == 0 && tir::as_int(*digit.loop->extent) == digit.extent;
}
bool is_whole(const SmallWindow& window) {
  return std::ranges::all_of(window.terms, [](const TermDigit& digit) { return is_whole(digit); });
}

// Whether it saves more instructions of a Cortex-M4 than copying takes.
bool is_worth_copying(const SmallWindow& window) {
  const std::int64_t blocks = window.sums.extent / width;
  const std::int64_t rows = window.length / window.row;
  const std::int64_t rest = window.row % width;
  const std::int64_t before = blocks * rows * (14 + window.row / width * 26 + rest * 12);
  std::int64_t after = rows * (8 + window.row / width * 2 + rest * 2) + (is_whole(window) ? 0 : 16);
  for (const WindowPart& part : window.parts) after += blocks * (22 + part.padded / width * 17);
  return before > after;
}

class Taker {
 public:
  Taker(tir::Module& module, const Core& core) : module_(module), in_rows_(core.in_rows) {}

  void run() && {
    std::vector<tir::Function*> functions;
    for (tir::Function& function : module_.functions) {
      const bool has_constants = constants_.add(function.body);
      if (has_constants && !tir::is_opaque(module_, function)) functions.push_back(&function);
    }
    left_ = std::max(most_added, constants_.bytes() * most_added_percent / 100);
    for (tir::Function* function : functions) take_in(*function);
    replace_constants(module_, replaced_);
  }

 private:
  void take_in(tir::Function& function) {
    storage_.clear();
    for (const tir::Param& param : function.params) storage_.emplace(param.var, false);
    tir::for_each_stmt(function.body, [&](const Stmt& stmt) {
      const auto* allocate = std::get_if<tir::Allocate>(&stmt.node);
      if (allocate != nullptr) storage_.emplace(allocate->var, true);
    });
    arith::Facts facts(module_);
    facts.bind_ranges(function);
    loops::edit(function.body, facts,
                {.before =
                     [&](Block& block, std::size_t& at, arith::Facts& known) {
                       auto* around = std::get_if<tir::For>(&block[at].node);
                       if (around != nullptr && around->row_runs == 0) take_inside(*around, known);
                       return loops::Next::enter;
                     },
                 .after = {}});
  }

  // The nests directly inside of a loop: it and they become one function.
  void take_inside(tir::For& around, arith::Facts& facts) {
    const std::size_t mark = facts.mark();
    facts.bind_loop(around);
    for (std::size_t i = 1; i < around.body.size(); ++i) {
      loops::bind_after(around.body[i - 1], facts);
      const auto* nest = std::get_if<tir::For>(&around.body[i].node);
      const auto sum = nest == nullptr ? std::nullopt : product_sum(*nest, facts);
      if (!sum || !sets_to_0(around.body[i - 1], *sum, facts) || !are_apart(*sum)) continue;
      const std::size_t before = facts.mark();
      for (const tir::For* loop : sum->loops) facts.bind_loop(*loop);
      const std::optional<SmallWindow> window = window_of(*sum, facts);
      facts.restore(before);
      if (!window || !fits(*window)) continue;
      Block made = taken(*sum, *window, std::move(around.body[i - 1]));
      const auto at = around.body.begin() + static_cast<std::ptrdiff_t>(i) - 1;
      i += made.size() - 2;
      const auto next = around.body.erase(at, at + 2);  // `sum` is gone with them
      around.body.insert(next, std::make_move_iterator(made.begin()), std::make_move_iterator(made.end()));
    }
    facts.restore(mark);
  }

  // Whether no store to the sums changes data: they are storage of the function, and the data are in another one.
  [[nodiscard]] bool are_apart(const ProductSum& sum) const {
    const auto sums = storage_.find(sum.store->storage);
    return sums != storage_.end() && sums->second && sum.data.load->var != sum.store->storage &&
           storage_.contains(sum.data.load->var);
  }

  // Whether what fours lack may be added to the constants.
  bool fits(const SmallWindow& window) {
    std::int64_t more = 0;
    for (const WindowPart& part : window.parts) more += (part.padded - part.length) * window.sums.extent;
    if (more > left_) return false;
    left_ -= more;
    return true;
  }

  // All loops are bound.
  std::optional<SmallWindow> window_of(const ProductSum& sum, const arith::Facts& facts) const {
    const tir::DataType data = sum.data.load->type;
    const tir::DataType weight = sum.weight.load->type;
    const std::int64_t zero = -sum.data.offset;
    const bool has_weights = in_rows_ || weight == tir::int8_type;
    if (sum.form != Form::dot || data.bits != 8 || !has_weights || sum.weight.term != nullptr ||
        sum.weight.offset != 0 || sum.weight.index.constant != 0 || !sum.weight.inside.empty() ||
        !Interval{zero, zero}.within(*tir::range_of_type(data))) {
      return std::nullopt;
    }
    SmallWindow window{.run = data_run(sum), .weights = constants_.read_once(sum.weight.load->var)};
    if (window.weights == nullptr || window.weights->type != weight || constants_.sharers(window.weights.get()) != 1 ||
        !find_digits(window, sum, facts) || !find_parts(window)) {
      return std::nullopt;
    }
    const bool is_one_run = window.run.size() == window.terms.size();
    if (in_rows_) return is_one_run ? std::nullopt : std::optional(std::move(window));
    const bool has_fours = is_one_run && is_whole(window) && window.length % width == 0;
    return has_fours || window.sums.extent % width != 0 || !is_worth_copying(window) ? std::nullopt
                                                                                     : std::optional(std::move(window));
  }

  // Whether each weight belongs to one term of one sum, and loops over terms can be in any order.
  static bool find_digits(SmallWindow& window, const ProductSum& sum, const arith::Facts& facts) {
    std::vector<const tir::For*> loops;
    std::vector<TermDigit> digits;
    arith::Affine others = sum.weight.index;
    for (const tir::For* loop : sum.loops) {
      const auto range = facts.interval(arith::variable(loop->var));
      const std::int64_t distance = sum.weight.index.factor(loop->var);
      others = others.without(loop->var);
      if (!range || range->low != 0 || range->high >= static_cast<std::int64_t>(window.weights->bytes.size()) ||
          !sum.weight.is_linear_in(loop->var) || loop->extent->type != tir::int32_type) {
        return false;
      }
      digits.push_back({loop, range->high + 1, distance, 0});
      if (loop == sum.sums) {
        window.sums = digits.back();
      } else {
        window.terms.push_back(digits.back());
        loops.push_back(loop);
      }
    }
    if (!others.is_constant() || window.run.empty() || bounds_mention(sum, loops)) return false;
    std::erase_if(digits, [](const TermDigit& digit) { return digit.extent == 1; });
    std::ranges::sort(digits, {}, &TermDigit::weight);
    const std::int64_t bytes = window.weights->type.bytes();
    std::int64_t size = 1;
    for (const TermDigit& digit : digits) {
      if (digit.weight != size) return false;
      size *= digit.extent;
    }
    if (size * bytes != static_cast<std::int64_t>(window.weights->bytes.size())) return false;
    const auto in_run = [&](const TermDigit& digit) {
      return std::ranges::find(window.run, digit.loop) - window.run.begin();
    };
    std::ranges::stable_sort(window.terms, [&](const TermDigit& a, const TermDigit& b) {
      return in_run(a) != in_run(b) ? in_run(a) > in_run(b)
                                    : sum.data.index.factor(a.loop->var) > sum.data.index.factor(b.loop->var);
    });
    for (std::size_t i = window.terms.size(); i-- > 0;) {
      TermDigit& digit = window.terms[i];
      digit.place = window.length;
      window.length *= digit.extent;
      if (window.terms.size() - i == window.run.size()) window.row = window.length;
      if (window.length > most_window_parts * most_at_once) return false;
    }
    return true;
  }

  // Parts of the outermost digit's rows: of two, each has several, and they are not those of the run. False: too long.
  [[nodiscard]] bool find_parts(SmallWindow& window) const {
    const TermDigit& outer = window.terms.front();
    const std::int64_t parts = window.length > most_at_once ? most_window_parts : 1;
    const bool is_in_run = window.run.size() == window.terms.size();
    if (parts > 1 && (is_in_run || parts * outer.place > most_at_once)) return false;
    const std::int64_t rows = (outer.extent + parts - 1) / parts;
    for (std::int64_t first = 0; first < outer.extent; first += rows) {
      WindowPart part{.first = first, .rows = std::min(rows, outer.extent - first), .first_term = first * outer.place};
      part.length = part.rows * outer.place;
      part.padded = in_rows_ ? part.length : (part.length + width - 1) / width * width;
      if (part.padded > most_at_once) return false;
      window.parts.push_back(part);
    }
    return true;
  }

  // What becomes of the loop that sets the sums to 0, and of their nest.
  Block taken(const ProductSum& sum, const SmallWindow& window, Stmt zeros) {
    Block block;
    const std::int64_t length = window.parts.front().padded;
    const VarId array = add_register(module_, block, "window", sum.data.load->type, length);
    const VarId weights = sum.weight.load->var;
    std::vector<NewConstant>& after = replaced_[weights];
    std::size_t front = 0;  // of the first sums
    for (const WindowPart& part : window.parts) {
      const VarId var =
          after.empty() ? weights : loops::fresh_var(module_, module_.var(weights).name + "_rest", tir::handle_type);
      copy(block, sum, window, part, array);
      if (after.empty()) front = block.size();
      after.push_back({var, weights_of(window, part)});
      block.push_back(sums_of(sum, part, array, var));
    }
    block.insert(block.begin() + static_cast<std::ptrdiff_t>(front), std::move(zeros));
    return block;
  }

  // Fills the array at the end of the block.
  void copy(Block& block, const ProductSum& sum, const SmallWindow& window, const WindowPart& part, VarId array) {
    if (is_whole(window)) {
      add_rows(block, sum, window, part, array, true);
      fill(block, sum, array, part.length, part.padded);
      return;
    }
    fill(block, sum, array, 0, part.padded);
    if (in_rows_) {  // vectors copy any number alike
      add_rows(block, sum, window, part, array, false);
      return;
    }
    tir::IfThenElse parts;
    for (const TermDigit& digit : window.terms) {
      if (is_whole(digit)) continue;
      const ExprRef all = tir::make_binary(ExprKind::eq, digit.loop->extent, tir::make_int(digit.extent));
      parts.condition = parts.condition == nullptr ? all : tir::make_binary(ExprKind::and_, parts.condition, all);
    }
    add_rows(parts.then_body, sum, window, part, array, true);
    add_rows(parts.else_body, sum, window, part, array, false);
    block.emplace_back().node.emplace<tir::IfThenElse>(std::move(parts));
  }

  // Zero points.
  void fill(Block& block, const ProductSum& sum, VarId array, std::int64_t first, std::int64_t end) {
    if (first == end) return;
    const VarId i = loops::fresh_var(module_, "i", tir::int32_type);
    Block zero;
    zero.emplace_back().node.emplace<tir::Store>(
        tir::Store{array, tir::make_var(module_, i), tir::make_int(-sum.data.offset, sum.data.load->type), nullptr});
    block.emplace_back().node.emplace<tir::For>(
        tir::For{i, tir::make_int(first), tir::make_int(end - first), std::move(zero)});
  }

  // Copies the rows that are inside of the border; `all`: it cuts none.
  void add_rows(Block& block, const ProductSum& sum, const SmallWindow& window, const WindowPart& part, VarId array,
                bool all) {
    const std::size_t rows = window.terms.size() - window.run.size();  // loops around the run
    std::vector<tir::For> around;
    for (std::size_t i = 0; i <= rows; ++i) {
      const TermDigit& digit = window.terms[i];
      const std::int64_t inside = i == rows ? digit.place : 1;  // the run is one loop
      const VarId var = loops::fresh_var(module_, i == rows ? "k" : module_.var(digit.loop->var).name, tir::int32_type);
      tir::For loop{var, digit.loop->min, digit.loop->extent, {}};
      if (all) {
        loop.min = tir::make_int(0);
        loop.extent = tir::make_int(digit.extent);
      }
      if (i == 0 && part.rows != digit.extent) {
        const ExprRef end = plus(loop.min, loop.extent);
        const auto least = [&](std::int64_t value) { return tir::make_int(value); };
        loop.min = all ? least(part.first) : tir::make_binary(ExprKind::max, loop.min, least(part.first));
        loop.extent =
            all ? least(part.rows)
                : tir::make_binary(ExprKind::sub, tir::make_binary(ExprKind::min, end, least(part.first + part.rows)),
                                   loop.min);
      }
      loop.min = times(loop.min, inside);
      loop.extent = times(loop.extent, inside);
      around.push_back(std::move(loop));
    }
    tir::For& copied = around.back();  // from 0 on, as vectors copy
    ExprRef place = plus(named(module_, block, "first", copied.min), tir::make_var(module_, copied.var));
    copied.extent = named(module_, block, "count", copied.extent);
    copied.min = tir::make_int(0);
    loops::Substitution values = {{sum.sums->var, tir::make_int(0)}};
    for (const tir::For* loop : window.run) values[loop->var] = tir::make_int(0);
    values[window.run.front()->var] = place;
    for (std::size_t i = rows; i-- > 0;) {
      const ExprRef row = tir::make_var(module_, around[i].var);
      values[window.terms[i].loop->var] = row;
      place = plus(times(row, window.terms[i].place), place);
    }
    Stmt body{tir::Store{array, plus(place, tir::make_int(-part.first_term)), at(sum.data, values), nullptr}};
    for (std::size_t i = around.size(); i-- > 0;) {
      around[i].body.push_back(std::move(body));
      body = Stmt{std::move(around[i])};
    }
    block.push_back(std::move(body));
  }

  Stmt sums_of(const ProductSum& sum, const WindowPart& part, VarId array, VarId weights) {
    const VarId k = loops::fresh_var(module_, "k", tir::int32_type);
    const VarId f = loops::fresh_var(module_, module_.var(sum.sums->var).name, tir::int32_type);
    const ExprRef number = tir::make_var(module_, k);
    const ExprRef place = plus(times(tir::make_var(module_, f), part.padded), number);
    tir::ExprRewriter rewriter([&](const ExprRef& expr) -> ExprRef {
      if (expr->kind != ExprKind::load) return nullptr;
      if (expr->var == sum.data.load->var) return tir::make_load(expr->type, array, number);
      return expr->var == sum.weight.load->var ? tir::make_load(expr->type, weights, place) : nullptr;
    });
    const loops::Substitution renamed = {{sum.sums->var, tir::make_var(module_, f)}};
    const tir::Store& store = *sum.store;
    tir::For sums{f, sum.sums->min, sum.sums->extent, {}};
    sums.body.push_back({tir::Store{store.storage, loops::renamed(store.index, renamed),
                                    loops::renamed(rewriter.rewritten(store.value), renamed), nullptr}});
    tir::For terms{k, tir::make_int(0), tir::make_int(part.padded), {}};
    terms.row_operator = sum.loops.front()->row_operator;
    terms.body.push_back({std::move(sums)});
    return {std::move(terms)};
  }

  static ConstantData weights_of(const SmallWindow& window, const WindowPart& part) {
    const auto bytes = static_cast<std::size_t>(window.weights->type.bytes());
    tir::Constant after{window.weights->type, {window.sums.extent * part.padded}, {}};
    after.bytes.assign(static_cast<std::size_t>(window.sums.extent * part.padded) * bytes, '\0');
    for (std::int64_t f = 0; f < window.sums.extent; ++f) {
      for (std::int64_t k = 0; k < part.length; ++k) {
        std::int64_t from = f * window.sums.weight;
        for (const TermDigit& digit : window.terms)
          from += (part.first_term + k) / digit.place % digit.extent * digit.weight;
        const auto to = static_cast<std::size_t>(f * part.padded + k);
        after.bytes.replace(to * bytes, bytes, window.weights->bytes, static_cast<std::size_t>(from) * bytes, bytes);
      }
    }
    return std::make_shared<const tir::Constant>(std::move(after));
  }

  tir::Module& module_;
  bool in_rows_;
  DeclaredConstants constants_;
  std::int64_t left_ = 0;          // bytes that constants may still become larger
  std::map<VarId, bool> storage_;  // of the function; true: its own
  std::map<VarId, std::vector<NewConstant>> replaced_;
};

}  // namespace

void take_small_windows(tir::Module& module, const Core& core) {
  if (core.in_rows || core.paired_terms > 0) Taker(module, core).run();
}

}  // namespace usmp::kernels
