// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// What is not an integer, or may leave its type, is not known; nor is anything that is made of it, but for products
// with choices that do not depend on it.
// Tests: tests/liveness/index_program_test.cpp, against evaluation point by point.
#include "liveness/index_program.hpp"

#include <algorithm>
#include <cstdlib>
#include <limits>
#include <optional>

#include "usmp/support/interval.hpp"
#include "usmp/tir/integer_types.hpp"
#include "usmp/tir/visit.hpp"

namespace usmp::liveness {
namespace {

using tir::Expr;
using tir::ExprKind;
using tir::ExprRef;

Interval known(const IndexRange& a) { return {a.low, a.high}; }

IndexRange from(const std::optional<Interval>& a) {
  return a ? IndexRange{.low = a->low, .high = a->high} : IndexRange();
}

constexpr IndexRange either{.low = 0, .high = 1};

// Limits of linear forms: products and sums of what is within these are within int64.
constexpr std::size_t most_terms = 8;
constexpr std::int64_t most_factor = std::int64_t{1} << 27U;
constexpr std::int64_t most_value = std::int64_t{1} << 31U;      // of a variable
constexpr std::int64_t most_constant = std::int64_t{1} << 34U;   // magnitudes of all constants together
constexpr std::int64_t most_magnitude = std::int64_t{1} << 62U;  // of all together

bool is_false(const IndexRange& a) { return a.low == 0 && a.high == 0; }
bool is_true(const IndexRange& a) { return a.low > 0 || a.high < 0; }

// C compares operands of a narrow type as values of that type.
bool cuts_operands(const Expr& expr) {
  const bool is_narrow = tir::promoted(expr.type) != expr.type;
  return is_narrow && (expr.kind == ExprKind::min || expr.kind == ExprKind::max);
}

IndexRange interval_of(tir::DataType type) {
  const auto range = tir::range_of_type(type);
  return {.low = range->low, .high = range->high};
}

IndexRange truth(bool is_always, bool is_never) {
  if (is_always) return {1, 1};
  return is_never ? IndexRange{0, 0} : either;
}

}  // namespace

IndexProgram::IndexProgram(const Expr& expr, VariableNumbers& variables) {
  // The instruction that computes each node.
  std::unordered_map<const Expr*, std::uint32_t> places;
  const auto add = [&](const Expr& node) {
    if (places.contains(&node)) return;
    Instruction instruction = instruction_for(node, variables);
    const auto place = [&](std::size_t i) { return places.at(node.operands[i].get()); };
    switch (instruction.code) {
      case Code::unknown:
      case Code::constant:
      case Code::variable:
        break;
      case Code::not_:
      case Code::copy:
        instruction.a = place(0);
        break;
      case Code::choose:
        instruction.a = place(0);
        instruction.b = place(1);
        instruction.c = place(2);
        break;
      default:
        instruction.a = place(0);
        instruction.b = place(1);
        if (cuts_operands(node)) {
          for (std::uint32_t* operand : {&instruction.a, &instruction.b}) {
            instructions_.push_back({.code = Code::copy, .a = *operand, .type = interval_of(node.type)});
            *operand = static_cast<std::uint32_t>(instructions_.size() - 1);
          }
        }
        // a > b is b < a
        if (node.kind == ExprKind::gt || node.kind == ExprKind::ge) std::swap(instruction.a, instruction.b);
    }
    places.emplace(&node, static_cast<std::uint32_t>(instructions_.size()));
    instructions_.push_back(instruction);
    if (node.kind == ExprKind::ne) {
      const auto equal = static_cast<std::uint32_t>(instructions_.size() - 1);
      places[&node] = static_cast<std::uint32_t>(instructions_.size());
      instructions_.push_back({.code = Code::not_, .a = equal});
    }
  };
  const auto root = std::make_shared<const Expr>(expr);
  tir::for_each_expr_bottom_up(
      root, [&](const Expr& node) { return places.contains(&node); }, [&](const ExprRef& node) { add(*node); });
  values_.resize(instructions_.size());
  find_steps();
  const auto is_variable = [](const Instruction& instruction) { return instruction.code == Code::variable; };
  if (std::ranges::none_of(instructions_, is_variable)) always_ = run({});
}

// Most indices are sums of multiples of loop variables, which are computed at once: where the sum of all magnitudes is
// in the type, so is everything on the way, and intervals add up in any order.
void IndexProgram::find_steps() {
  std::vector<std::optional<LinearForm>> forms(instructions_.size());
  std::vector<bool> is_needed(instructions_.size(), false);
  for (std::size_t i = 0; i < instructions_.size(); ++i) {
    if (instructions_[i].code == Code::unknown) return;
    forms[i] = linear_form(instructions_[i], forms);
    if (forms[i]) continue;
    const bool is_variable = instructions_[i].code == Code::variable;
    const auto number = is_variable ? std::optional(instructions_[i].a) : std::nullopt;
    forms[i] = {.terms = {{static_cast<std::uint32_t>(i), 1, 0, number}}, .limit = most_magnitude};
  }
  is_needed.back() = true;
  for (std::size_t i = instructions_.size(); i-- > 0;) {
    if (!is_needed[i]) continue;
    const Instruction& instruction = instructions_[i];
    const bool is_itself = forms[i]->terms.size() == 1 && forms[i]->terms.front().instruction == i;
    if (!is_itself) {
      for (const Term& term : forms[i]->terms)
        is_needed[term.instruction] = is_needed[term.instruction] || !term.number;
    } else if (instruction.code != Code::constant && instruction.code != Code::variable) {
      is_needed[instruction.a] = true;
      if (instruction.code != Code::not_ && instruction.code != Code::copy) is_needed[instruction.b] = true;
      if (instruction.code == Code::choose) is_needed[instruction.c] = true;
    }
  }
  for (std::size_t i = 0; i < instructions_.size(); ++i) {
    if (!is_needed[i]) continue;
    const LinearForm& form = *forms[i];
    const bool is_itself = form.terms.size() == 1 && form.terms.front().instruction == i;
    Computation step{.instruction = static_cast<std::uint32_t>(i)};
    if (!is_itself) {
      step.is_linear = true;
      step.first_term = static_cast<std::uint32_t>(terms_.size());
      step.terms = static_cast<std::uint32_t>(form.terms.size());
      step.constant = form.constant;
      step.magnitude = form.magnitude;
      step.limit = form.limit;
      terms_.insert(terms_.end(), form.terms.begin(), form.terms.end());
    }
    steps_.push_back(step);
  }
}

// Nothing: it is none, or too large a one.
std::optional<IndexProgram::LinearForm> IndexProgram::linear_form(
    const Instruction& instruction, const std::vector<std::optional<LinearForm>>& earlier) const {
  const bool is_bounded = instruction.type.low <= instruction.type.high;
  const std::int64_t limit =
      is_bounded ? std::min({most_magnitude, instruction.type.high,
                             -std::max(instruction.type.low, -std::numeric_limits<std::int64_t>::max())})
                 : most_magnitude;
  const auto is_small = [](const LinearForm& form) {
    return form.terms.size() <= most_terms && form.magnitude <= most_constant &&
           std::ranges::all_of(form.terms,
                               [](const Term& term) { return term.added + term.subtracted <= most_factor; });
  };
  switch (instruction.code) {
    case Code::constant:
      if (instruction.value < -most_factor || instruction.value > most_factor) return std::nullopt;
      return LinearForm{
          .terms = {}, .constant = instruction.value, .magnitude = std::abs(instruction.value), .limit = limit};
    case Code::copy: {
      LinearForm form = *earlier[instruction.a];
      form.limit = std::min(form.limit, limit);
      return form;
    }
    case Code::add:
    case Code::sub: {
      LinearForm form = *earlier[instruction.a];
      const LinearForm& other = *earlier[instruction.b];
      const bool is_sum = instruction.code == Code::add;
      form.constant += is_sum ? other.constant : -other.constant;
      form.magnitude += other.magnitude;
      form.limit = std::min({form.limit, other.limit, limit});
      for (const Term& term : other.terms) {
        const auto place = std::ranges::lower_bound(form.terms, term.instruction, {}, &Term::instruction);
        const bool is_new = place == form.terms.end() || place->instruction != term.instruction;
        Term& sum = is_new ? *form.terms.insert(place, {term.instruction, 0, 0, term.number}) : *place;
        sum.added += is_sum ? term.added : term.subtracted;
        sum.subtracted += is_sum ? term.subtracted : term.added;
      }
      return is_small(form) ? std::optional(form) : std::nullopt;
    }
    case Code::mul: {
      const bool is_first = instructions_[instruction.a].code == Code::constant;
      const LinearForm& constant = *earlier[is_first ? instruction.a : instruction.b];
      LinearForm form = *earlier[is_first ? instruction.b : instruction.a];
      if (!constant.terms.empty() || constant.constant == 0) return std::nullopt;
      const std::int64_t factor = std::abs(constant.constant);
      if (factor > most_factor || constant.magnitude != factor) return std::nullopt;
      for (Term& term : form.terms) {
        if (constant.constant < 0) std::swap(term.added, term.subtracted);
        term.added *= factor;
        term.subtracted *= factor;
      }
      form.constant *= constant.constant;
      form.magnitude = form.magnitude * factor + factor;
      form.limit = std::min({form.limit, constant.limit, limit});
      return is_small(form) ? std::optional(form) : std::nullopt;
    }
    default:
      return std::nullopt;
  }
}

void IndexProgram::describe(std::vector<std::uint64_t>& words) const {
  words.push_back(instructions_.size());
  for (const Instruction& instruction : instructions_) {
    words.push_back(static_cast<std::uint64_t>(instruction.code) << 32U | instruction.a);
    words.push_back(std::uint64_t{instruction.b} << 32U | instruction.c);
    words.push_back(static_cast<std::uint64_t>(instruction.value));
    words.push_back(static_cast<std::uint64_t>(instruction.type.low));
    words.push_back(static_cast<std::uint64_t>(instruction.type.high));
  }
}

IndexProgram::Instruction IndexProgram::instruction_for(const Expr& expr, VariableNumbers& variables) {
  const auto range = tir::range_of_type(tir::promoted(expr.type));
  if (!range || expr.type.is_vector()) return {};
  const auto with = [&](Code code) {
    return Instruction{.code = code, .type = {.low = range->low, .high = range->high}};
  };
  switch (expr.kind) {
    case ExprKind::int_imm:
      // As C has it: modules may hold any number.
      if (const auto value = tir::value_in_type(expr.int_value, expr.type))
        return {.code = Code::constant, .value = *value};
      return {};
    case ExprKind::var:
      return {.code = Code::variable, .a = variables.of(expr.var)};
    case ExprKind::add:
      return with(Code::add);
    case ExprKind::sub:
      return with(Code::sub);
    case ExprKind::mul:
      return with(Code::mul);
    case ExprKind::div:
      return with(Code::div);
    case ExprKind::mod:
      return with(Code::mod);
    case ExprKind::floor_div:
      return with(Code::floor_div);
    case ExprKind::floor_mod:
      return with(Code::floor_mod);
    case ExprKind::min:
      return with(Code::min);
    case ExprKind::max:
      return with(Code::max);
    case ExprKind::lt:
    case ExprKind::gt:
      return {.code = Code::less};
    case ExprKind::le:
    case ExprKind::ge:
      return {.code = Code::less_or_equal};
    case ExprKind::eq:
    case ExprKind::ne:
      return {.code = Code::equal};
    case ExprKind::not_:
      return {.code = Code::not_};
    case ExprKind::and_:
      return {.code = Code::and_};
    case ExprKind::or_:
      return {.code = Code::or_};
    case ExprKind::select:
      return {.code = Code::choose};
    case ExprKind::cast: {
      const auto own = tir::range_of_type(expr.type);
      if (!own || expr.operands[0]->type.is_float()) return {};
      return {.code = Code::copy, .type = {.low = own->low, .high = own->high}};
    }
    case ExprKind::call:
      if (expr.op == tir::Op::if_then_else && expr.operands.size() == 3) return {.code = Code::choose};
      return {};
    default:
      return {};
  }
}

IndexRange IndexProgram::run(const Environment& environment) {
  if (always_) return *always_;
  if (steps_.empty()) return run_plainly(environment);
  for (const Computation& step : steps_) {
    if (!step.is_linear) {
      const Instruction& instruction = instructions_[step.instruction];
      const bool is_variable = instruction.code == Code::variable && instruction.a < environment.size();
      values_[step.instruction] = is_variable ? environment[instruction.a] : value_of(instruction, environment);
    } else if (!run_linear(step, environment)) {
      return run_plainly(environment);
    }
  }
  return values_.back();
}

IndexRange IndexProgram::run_plainly(const Environment& environment) {
  for (std::size_t i = 0; i < instructions_.size(); ++i) values_[i] = value_of(instructions_[i], environment);
  return values_.back();
}

IndexRange IndexProgram::value_of(const Instruction& instruction, const Environment& environment) const {
  const IndexRange value = compute(instruction, environment);
  const bool is_bounded = instruction.type.low <= instruction.type.high;
  if (is_bounded && (value.low < instruction.type.low || value.high > instruction.type.high)) return {};
  return value;
}

// False: something on the way may leave its type, or is not known.
bool IndexProgram::run_linear(const Computation& step, const Environment& environment) {
  IndexRange sum{step.constant, step.constant};
  std::int64_t magnitude = step.magnitude;
  for (std::uint32_t i = step.first_term; i < step.first_term + step.terms; ++i) {
    const Term& term = terms_[i];
    if (term.number && *term.number >= environment.size()) return false;
    const IndexRange& value = term.number ? environment[*term.number] : values_[term.instruction];
    if (value.low < -most_value || value.high > most_value) return false;
    sum.low += term.added * value.low - term.subtracted * value.high;
    sum.high += term.added * value.high - term.subtracted * value.low;
    magnitude += (term.added + term.subtracted) * std::max(std::abs(value.low), std::abs(value.high));
  }
  values_[step.instruction] = sum;
  return magnitude <= step.limit;
}

IndexRange IndexProgram::compute(const Instruction& instruction, const Environment& environment) const {
  switch (instruction.code) {
    case Code::unknown:
      return {};
    case Code::constant:
      return {instruction.value, instruction.value};
    case Code::variable:
      return instruction.a < environment.size() ? environment[instruction.a] : IndexRange{};
    case Code::copy:
      return values_[instruction.a];
    case Code::choose: {
      const IndexRange& condition = values_[instruction.a];
      const IndexRange& yes = values_[instruction.b];
      const IndexRange& no = values_[instruction.c];
      if (is_true(condition)) return yes;
      if (is_false(condition)) return no;
      if (!yes.is_known() || !no.is_known()) return {};
      return {std::min(yes.low, no.low), std::max(yes.high, no.high)};
    }
    case Code::not_: {
      const IndexRange& a = values_[instruction.a];
      return truth(is_false(a), is_true(a));
    }
    default:
      return arithmetic(instruction.code, values_[instruction.a], values_[instruction.b]);
  }
}

IndexRange IndexProgram::arithmetic(Code code, const IndexRange& a, const IndexRange& b) const {
  const bool is_truth = code == Code::less || code == Code::less_or_equal || code == Code::equal ||
                        code == Code::and_ || code == Code::or_;
  if (!a.is_known() || !b.is_known()) return is_truth ? either : IndexRange{};
  switch (code) {
    case Code::add:
      return from(sum(known(a), known(b)));
    case Code::sub:
      return from(difference(known(a), known(b)));
    case Code::mul:
      return from(product(known(a), known(b)));
    case Code::div:
    case Code::floor_div:
    case Code::mod:
    case Code::floor_mod: {
      if (b.low <= 0) return {};
      const bool is_floor = code == Code::floor_div || code == Code::floor_mod;
      const bool is_quotient = code == Code::div || code == Code::floor_div;
      const Rounding rounding = is_floor ? Rounding::down : Rounding::toward_zero;
      return from(is_quotient ? quotient(rounding, known(a), known(b)) : remainder(rounding, known(a), known(b)));
    }
    case Code::min:
      return {std::min(a.low, b.low), std::min(a.high, b.high)};
    case Code::max:
      return {std::max(a.low, b.low), std::max(a.high, b.high)};
    case Code::less:
      return truth(a.high < b.low, a.low >= b.high);
    case Code::less_or_equal:
      return truth(a.high <= b.low, a.low > b.high);
    case Code::equal:
      return truth(a.is_point() && b.is_point() && a.low == b.low, a.high < b.low || b.high < a.low);
    case Code::and_:
      return truth(is_true(a) && is_true(b), is_false(a) || is_false(b));
    case Code::or_:
      return truth(is_true(a) || is_true(b), is_false(a) && is_false(b));
    default:
      return {};
  }
}

}  // namespace usmp::liveness
