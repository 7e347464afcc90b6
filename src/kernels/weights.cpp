// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// Takes the indices of weights apart into digits, sorts these by the loops that read them, and moves the data alike.
#include "kernels/weights.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <utility>

#include "kernels/constants.hpp"
#include "kernels/pairs.hpp"
#include "kernels/product_sum.hpp"
#include "usmp/loops/edit.hpp"
#include "usmp/loops/walk.hpp"
#include "usmp/tir/element_order.hpp"
#include "usmp/tir/visit.hpp"

namespace usmp::kernels {
namespace {

using tir::Stmt;
using tir::VarId;

// A digit of the index: a variable that runs over [0, extent), or the quotient or remainder of one.
struct Digit {
  enum class Part : std::uint8_t { whole, quotient, remainder };
  VarId var;
  Part part = Part::whole;
  std::int64_t by = 1;  // of quotient and remainder
  std::int64_t extent = 1;
  std::int64_t before = 1;  // distance of neighbours
  std::int64_t after = 1;
};

// What becomes of a candidate's weights if they become pairs.
struct Pairs {
  ConstantData data;
  tir::ExprRef index;
  tir::ExprRef term;       // its number, of which pairs tell whether it is even
  std::int64_t terms = 0;  // of a sum
};

struct Candidate {
  const tir::Expr* load = nullptr;
  ConstantData data;
  std::vector<Digit> digits;  // in the order that they have before, outermost first
  tir::ExprRef index;         // afterwards
  bool is_moved = false;      // by 128
  std::optional<Pairs> pairs = {};
};

bool same_places(const std::vector<Digit>& a, const std::vector<Digit>& b) {
  return std::ranges::equal(a, b, [](const Digit& x, const Digit& y) {
    return x.extent == y.extent && x.before == y.before && x.after == y.after;
  });
}

class Layout {
 public:
  Layout(tir::Module& module, const Core& core)
      : module_(module),
        sums_(core.sums),
        in_rows_(core.in_rows),
        whole_windows_(core.whole_windows),
        paired_terms_(core.paired_terms),
        front_percent_(core.front_percent) {}

  void run() && {
    for (tir::Function& function : module_.functions) {
      const bool has_constants = constants_.add(function.body);
      if (has_constants && !tir::is_opaque(module_, function)) find_candidates(function.body);
    }
    limit_pairs();
    std::map<VarId, const Candidate*> indices;  // of its constant, which nothing else loads
    std::map<const tir::Constant*, ConstantData> turned;
    std::map<VarId, std::vector<NewConstant>> replaced;
    for (const Candidate* candidate : fit_for_all()) {
      ConstantData& after = turned[candidate->data.get()];
      if (!after) after = candidate->pairs ? candidate->pairs->data : rearranged(*candidate->data, *candidate);
      replaced[candidate->load->var] = {{candidate->load->var, after}};
      indices.emplace(candidate->load->var, candidate);
    }
    if (indices.empty()) return;
    replace_constants(module_, replaced);
    for (tir::Function& function : module_.functions) {
      loops::rewrite_expressions(function.body, [&](const tir::ExprRef& expr) -> tir::ExprRef {
        const auto found = expr->kind == tir::ExprKind::load ? indices.find(expr->var) : indices.end();
        if (found == indices.end()) return nullptr;
        const Candidate& candidate = *found->second;
        if (candidate.pairs) {
          const tir::ExprRef pair = tir::make_load(pair_type, expr->var, candidate.pairs->index);
          const std::vector<tir::ExprRef> operands = {pair, candidate.pairs->term};
          return tir::make_cast(expr->type, tir::make_call(tir::int32_type, tir::Op::paired_weight, operands));
        }
        if (!candidate.is_moved) return tir::make_load(expr->type, expr->var, candidate.index);
        const tir::ExprRef byte = tir::make_load(tir::uint8_type, expr->var, candidate.index);
        const tir::ExprRef value = tir::make_binary(tir::ExprKind::add, tir::make_cast(tir::int32_type, byte),
                                                    tir::make_int(unsigned_weight_offset));
        return tir::make_cast(expr->type, value);
      });
    }
  }

 private:
  void find_candidates(const tir::Block& body) {
    arith::Facts facts(module_);
    std::map<const tir::For*, const Stmt*> in_front;  // of a nest inside of a loop that is one function with both
    tir::for_each_stmt(body, [&](const Stmt& stmt) {
      const auto* around = std::get_if<tir::For>(&stmt.node);
      const auto* allocate = std::get_if<tir::Allocate>(&stmt.node);
      if (allocate != nullptr && allocate->ring) rings_.insert(allocate->var);
      if (around == nullptr || around->row_runs != 0) return;
      for (std::size_t i = 1; i < around->body.size(); ++i) {
        if (const auto* nest = std::get_if<tir::For>(&around->body[i].node)) in_front[nest] = &around->body[i - 1];
      }
    });
    loops::visit(body, facts,
                 {.before =
                      [&](const Stmt& stmt, const arith::Facts& known) {
                        const auto* loop = std::get_if<tir::For>(&stmt.node);
                        if (loop == nullptr || seen_.contains(loop)) return;
                        arith::Facts inside = known;
                        const auto sum = product_sum(*loop, inside);
                        if (!sum) return;
                        seen_.insert(sum->loops.begin(), sum->loops.end());
                        const bool has_windows = sum->step != 1 || (whole_windows_ && !in_rows_);
                        if (sum->form == Form::lanes && !has_windows) return;
                        const auto front = in_front.find(loop);
                        if (front != in_front.end() && sets_to_0(*front->second, *sum, inside)) begun_.insert(loop);
                        for (const tir::For* one : sum->loops) inside.bind_loop(*one);
                        if (auto candidate = candidate_of(*sum, inside)) candidates_.push_back(std::move(*candidate));
                      },
                  .after = {},
                  .expr = {}});
  }

  std::optional<Candidate> candidate_of(const ProductSum& sum, const arith::Facts& facts) const {
    const tir::Expr& load = *sum.weight.load;
    const bool has_order = sum.form == Form::dot || (begun_.contains(sum.loops.front()) && may_be_window(sum));
    if (sum.weight.term != nullptr || !has_order) return std::nullopt;
    const ConstantData constant = constants_.read_once(load.var);
    if (constant == nullptr) return std::nullopt;
    const tir::Constant& data = *constant;
    auto digits = digits_of(sum.weight.index, facts);
    if (data.type != load.type || !digits || sum.weight.index.constant != 0 || !sum.weight.inside.empty())
      return std::nullopt;
    std::int64_t size = 1;
    for (std::size_t i = digits->size(); i-- > 0;) {
      Digit& digit = (*digits)[i];
      if (digit.before != size) return std::nullopt;
      size *= digit.extent;
    }
    if (size * data.type.bytes() != static_cast<std::int64_t>(data.bytes.size())) return std::nullopt;
    if (!in_rows_ && sum.weight.offset != 0) return std::nullopt;
    if (!in_rows_ || sum.form == Form::lanes) interleave(*digits, sum);
    std::vector<Digit*> order;
    order.reserve(digits->size());
    for (Digit& digit : *digits) order.push_back(&digit);
    std::ranges::stable_sort(order, {}, [&](const Digit* digit) { return -place_of(sum, *digit); });
    arith::Affine index;
    std::int64_t distance = 1;
    for (std::size_t i = order.size(); i-- > 0;) {
      order[i]->after = distance;
      distance *= order[i]->extent;
    }
    const bool is_moved = in_rows_ && sum.form == Form::dot && is_moved_by_128(sum);
    if (!is_moved && std::ranges::all_of(*digits, [](const Digit& digit) { return digit.before == digit.after; }))
      return std::nullopt;
    for (const Digit& digit : *digits) {
      const auto value = value_of(digit, facts);
      const auto term = value ? scaled(*value, digit.after) : std::nullopt;
      const auto with = term ? arith::sum(index, *term) : std::nullopt;
      if (!with) return std::nullopt;
      index = *with;
    }
    const tir::DataType type = load.operands[0]->type;
    if (!facts.fits(index, type)) return std::nullopt;
    Candidate candidate{&load, constant, std::move(*digits), facts.expr(index, type), is_moved, {}};
    if (paired_terms_ > 0 && sums_ == width && may_be_paired(sum)) pair(candidate, sum, data, facts);
    return candidate;
  }

  // Makes pairs of the weights in blocks of fours, where all that a call adds up is theirs.
  void pair(Candidate& candidate, const ProductSum& sum, const tir::Constant& data, const arith::Facts& facts) const {
    const std::vector<const tir::For*> run = data_run(sum);
    std::int64_t terms = 1;
    for (const tir::For* loop : run) terms *= *tir::as_int(*loop->extent);
    const auto more_than_one = [](const tir::For* loop) { return tir::as_int(*loop->extent) != 1; };
    const bool is_in_pieces = std::ranges::count_if(run, more_than_one) > 1 && rings_.contains(sum.data.load->var);
    if (terms < paired_terms_ || is_in_pieces || !begun_.contains(sum.loops.front())) return;
    std::int64_t own = 1;  // terms of its weights
    bool has_fours = false;
    arith::Affine index;
    index.constant = numbers_in_front;
    const auto add = [&](const Digit& digit, std::int64_t distance) {
      const auto value = value_of(digit, facts);
      const auto term = value ? scaled(*value, distance) : std::nullopt;
      const auto with = term ? arith::sum(index, *term) : std::nullopt;
      if (with) index = *with;
      return with.has_value();
    };
    const std::int64_t block = width * terms;
    for (const Digit& digit : candidate.digits) {
      const bool is_term = std::ranges::any_of(run, [&](const tir::For* loop) { return loop->var == digit.var; });
      if (is_term) own *= digit.extent;
      if (digit.part == Digit::Part::remainder && is_term) {
        // The half of the remainder: half of the number without twice the quotient.
        has_fours = true;
        Digit part = digit;
        part.part = Digit::Part::quotient;
        if (!add(part, -width / 2)) return;
        part.by = width / 2;
        if (!add(part, 1)) return;
        continue;
      }
      const bool is_outside = !is_term && digit.after >= block;
      if (!add(digit, is_outside ? digit.after / block * (block / 2 + numbers_in_front) : digit.after / 2)) return;
    }
    const tir::DataType type = candidate.load->operands[0]->type;
    if (!has_fours || own != terms || !facts.fits(index, type)) return;
    const auto bytes = paired(rearranged(data, candidate)->bytes, terms, sum.data.load->type, sum.data.offset);
    if (!bytes) return;
    const auto numbers = static_cast<std::int64_t>(bytes->size()) / 2;
    candidate.pairs = {std::make_shared<const tir::Constant>(tir::Constant{pair_type, {numbers}, *bytes}),
                       facts.expr(index, type), tir::make_var(module_, run.front()->var), terms};
  }

  // Data without sign are multiplied with weights without one; the data's sum times 128 is what that is too much.
  static bool is_moved_by_128(const ProductSum& sum) {
    const tir::DataType data = sum.data.load->type;
    const bool has_sign = data.is_int();
    return sum.weight.load->type.is_int() && sum.weight.load->type.bits == 8 && data.bits == 8 &&
           sum.data.offset == (has_sign ? 128 : 0);
  }

  // Four terms of one sum, then those of the next sum of the block: where there are whole fours and blocks, one pointer
  // reads all weights of a block one after the other. Of lanes a term of four sums, then the next term.
  void interleave(std::vector<Digit>& digits, const ProductSum& sum) const {
    if (sum.form == Form::lanes) return split(digits, sum.sums->var, width);
    const auto run = data_run(sum);
    // A window that the border cuts begins anywhere: no four of its terms are those of a block.
    if (run.empty() || tir::as_int(*run.front()->min) != 0 || !tir::as_int(*run.front()->extent)) return;
    const std::pair<VarId, std::int64_t> parts[] = {{sum.sums->var, sums_}, {run.front()->var, width}};
    for (const auto& [var, by] : parts) {
      const auto digit = std::ranges::find(digits, var, &Digit::var);
      if (digit == digits.end() || digit->extent % by != 0) return;
    }
    for (const auto& [var, by] : parts) split(digits, var, by);
  }

  // The variable's digit becomes two, its quotient and its remainder.
  static void split(std::vector<Digit>& digits, VarId var, std::int64_t by) {
    const auto digit = std::ranges::find(digits, var, &Digit::var);
    if (digit == digits.end()) return;
    digit->by = by;
    Digit high = *digit;
    high.part = Digit::Part::quotient;
    high.extent /= by;
    high.before *= by;
    digit->part = Digit::Part::remainder;
    digit->extent = by;
    digits.insert(digit, high);
  }

  // What is in front of pairs is at most a part of all constants. Sums of many terms have the least of it.
  void limit_pairs() {
    std::int64_t left = constants_.bytes() * front_percent_ / 100;
    std::vector<Candidate*> paired_ones;
    for (Candidate& candidate : candidates_) {
      if (candidate.pairs) paired_ones.push_back(&candidate);
    }
    std::ranges::stable_sort(paired_ones, std::ranges::greater{},
                             [](const Candidate* one) { return one->pairs->terms; });
    for (Candidate* one : paired_ones) {
      const std::size_t more = one->pairs->data->bytes.size() - one->data->bytes.size();
      left -= static_cast<std::int64_t>(more);
      if (left < 0) one->pairs.reset();
    }
  }

  static std::optional<arith::Affine> value_of(const Digit& digit, const arith::Facts& facts) {
    const arith::Affine whole = arith::variable(digit.var);
    if (digit.part == Digit::Part::whole) return whole;
    const auto parts = facts.divide(whole, digit.by);
    if (!parts) return std::nullopt;
    return digit.part == Digit::Part::quotient ? parts->quotient : parts->remainder;
  }

  // How far outside the digit shall be.
  static std::int64_t place_of(const ProductSum& sum, const Digit& digit) {
    constexpr std::int64_t outermost = std::numeric_limits<std::int64_t>::max();
    const VarId var = digit.var;
    const bool is_sum = var == sum.sums->var;
    if (digit.part == Digit::Part::remainder) return is_sum ? -1 : -2;
    if (is_sum) return outermost - 1;
    const bool is_term = std::ranges::any_of(sum.loops, [&](const tir::For* loop) { return loop->var == var; });
    if (!is_term) return outermost;
    const std::int64_t distance = sum.data.index.factor(var);
    return distance <= 0 ? outermost - 2 : distance;
  }

  static std::optional<std::vector<Digit>> digits_of(const arith::Affine& index, const arith::Facts& facts) {
    std::vector<Digit> digits;
    for (const auto& [atom, factor] : index.terms) {
      if (atom.kind != arith::Atom::Kind::var) return std::nullopt;
      const auto range = facts.interval(arith::variable(atom.var));
      constexpr std::int64_t most = std::int64_t{1} << 31;
      if (!range || range->low != 0 || range->high >= most) return std::nullopt;
      digits.push_back({.var = atom.var, .extent = range->high + 1, .before = factor, .after = 1});
    }
    std::ranges::stable_sort(digits, std::ranges::greater{}, &Digit::before);
    return digits;
  }

  // Those of which all that share the constant's data change as they do.
  [[nodiscard]] std::vector<const Candidate*> fit_for_all() const {
    struct Alike {
      const Candidate* first;
      std::size_t count = 0;
    };
    std::map<const tir::Constant*, Alike> by_data;
    for (const Candidate& candidate : candidates_) {
      Alike& alike = by_data.try_emplace(candidate.data.get(), Alike{&candidate}).first->second;
      const std::optional<Pairs>& pairs = alike.first->pairs;
      const bool are_same_pairs =
          !pairs || !candidate.pairs ? !pairs && !candidate.pairs : pairs->data->bytes == candidate.pairs->data->bytes;
      const bool is_same = alike.first->is_moved == candidate.is_moved && are_same_pairs;
      if (is_same && same_places(alike.first->digits, candidate.digits)) ++alike.count;
    }
    std::vector<const Candidate*> fit;
    for (const Candidate& candidate : candidates_) {
      const tir::Constant* data = candidate.data.get();
      if (by_data.at(data).count == constants_.sharers(data)) fit.push_back(&candidate);
    }
    return fit;
  }

  static ConstantData rearranged(const tir::Constant& data, const Candidate& candidate) {
    auto after = std::make_shared<tir::Constant>(data);
    std::vector<tir::ElementDigit> digits;
    digits.reserve(candidate.digits.size());
    for (const Digit& digit : candidate.digits) digits.push_back({digit.before, digit.after});
    after->bytes = tir::reordered(data, digits);
    if (!candidate.is_moved) return after;
    after->type = tir::uint8_type;
    for (char& byte : after->bytes) byte = static_cast<char>(static_cast<unsigned char>(byte) ^ 0x80U);
    return after;
  }

  tir::Module& module_;
  std::int64_t sums_;  // of a block
  bool in_rows_;
  bool whole_windows_;
  std::int64_t paired_terms_;  // the fewest; 0: none
  std::int64_t front_percent_;
  std::set<VarId> rings_;            // storage that holds the newest rows of a tensor
  std::set<const tir::For*> begun_;  // nests whose sums a loop in front sets to 0, inside of a loop around both
  DeclaredConstants constants_;
  std::set<const tir::For*> seen_;  // of sums
  std::vector<Candidate> candidates_;
};

}  // namespace

void lay_out_weights(tir::Module& module, const Core& core) { Layout(module, core).run(); }

}  // namespace usmp::kernels
