// SPDX-License-Identifier: Apache-2.0
// What is not an integer, or may leave its type, is not known; nor is anything that is made of it, but for products
// with choices that do not depend on it.
// Tests: tests/liveness/index_program_test.cpp, against evaluation point by point.
#include "liveness/index_program.hpp"

#include <algorithm>
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
  // Of every node the instruction that computes it.
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
  for (std::size_t i = 0; i < instructions_.size(); ++i) {
    const Instruction& instruction = instructions_[i];
    IndexRange value = compute(instruction, environment);
    const bool is_bounded = instruction.type.low <= instruction.type.high;
    if (is_bounded && (value.low < instruction.type.low || value.high > instruction.type.high)) value = {};
    values_[i] = value;
  }
  return values_.back();
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
