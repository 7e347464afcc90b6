// What is not an integer, or may leave its type, is not known; nor is anything that is made of it, but for products
// with choices that do not depend on it.
// Tests: tests/liveness/index_program_test.cpp, against evaluation point by point.
#include "liveness/index_program.hpp"

#include <algorithm>
#include <array>
#include <optional>

#include "usmp/support/checked.hpp"
#include "usmp/tir/constants.hpp"
#include "usmp/tir/ranges.hpp"
#include "usmp/tir/visit.hpp"

namespace usmp::liveness {
namespace {

using tir::Expr;
using tir::ExprKind;
using tir::ExprRef;

std::int64_t floor_div(std::int64_t a, std::int64_t b) {
  const std::int64_t quotient = a / b;
  return a % b != 0 && (a < 0) != (b < 0) ? quotient - 1 : quotient;
}

// The hull of four results that may have overflowed.
Interval hull(const std::array<std::optional<std::int64_t>, 4>& corners) {
  Interval result{.low = std::numeric_limits<std::int64_t>::max(), .high = std::numeric_limits<std::int64_t>::min()};
  for (const auto& corner : corners) {
    if (!corner) return {};
    result.low = std::min(result.low, *corner);
    result.high = std::max(result.high, *corner);
  }
  return result;
}

Interval product(const Interval& a, const Interval& b) {
  return hull(
      {checked_mul(a.low, b.low), checked_mul(a.low, b.high), checked_mul(a.high, b.low), checked_mul(a.high, b.high)});
}

Interval sum(const Interval& a, const Interval& b) {
  const auto low = checked_add(a.low, b.low);
  const auto high = checked_add(a.high, b.high);
  return low && high ? Interval{*low, *high} : Interval{};
}

// By a positive constant.
Interval quotient(const Interval& a, std::int64_t by, bool truncates) {
  if (truncates) return {a.low / by, a.high / by};
  return {floor_div(a.low, by), floor_div(a.high, by)};
}

Interval remainder(const Interval& a, std::int64_t by, bool truncates) {
  const bool is_one_period = floor_div(a.low, by) == floor_div(a.high, by);
  const auto base = checked_mul(floor_div(a.low, by), by);
  if (is_one_period && base && (!truncates || a.low >= 0)) return {a.low - *base, a.high - *base};
  if (!truncates) return {0, by - 1};
  return {a.low < 0 ? 1 - by : 0, a.high > 0 ? by - 1 : 0};
}

constexpr Interval either{.low = 0, .high = 1};

bool is_false(const Interval& a) { return a.low == 0 && a.high == 0; }
bool is_true(const Interval& a) { return a.low > 0 || a.high < 0; }

// C compares operands of a narrow type as values of that type.
bool cuts_operands(const Expr& expr) {
  const bool is_narrow = tir::promoted(expr.type) != expr.type;
  return is_narrow && (expr.kind == ExprKind::min || expr.kind == ExprKind::max);
}

Interval interval_of(tir::DataType type) {
  const auto range = tir::range_of_type(type);
  return {.low = range->low, .high = range->high};
}

Interval truth(bool is_always, bool is_never) {
  if (is_always) return {1, 1};
  return is_never ? Interval{0, 0} : either;
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
      if (expr.text == "tir.if_then_else" && expr.operands.size() == 3) return {.code = Code::choose};
      return {};
    default:
      return {};
  }
}

Interval IndexProgram::run(const Environment& environment) {
  for (std::size_t i = 0; i < instructions_.size(); ++i) {
    const Instruction& instruction = instructions_[i];
    Interval value = compute(instruction, environment);
    const bool is_bounded = instruction.type.low <= instruction.type.high;
    if (is_bounded && (value.low < instruction.type.low || value.high > instruction.type.high)) value = {};
    values_[i] = value;
  }
  return values_.back();
}

Interval IndexProgram::compute(const Instruction& instruction, const Environment& environment) const {
  switch (instruction.code) {
    case Code::unknown:
      return {};
    case Code::constant:
      return {instruction.value, instruction.value};
    case Code::variable:
      return instruction.a < environment.size() ? environment[instruction.a] : Interval{};
    case Code::copy:
      return values_[instruction.a];
    case Code::choose: {
      const Interval& condition = values_[instruction.a];
      const Interval& yes = values_[instruction.b];
      const Interval& no = values_[instruction.c];
      if (is_true(condition)) return yes;
      if (is_false(condition)) return no;
      if (!yes.is_known() || !no.is_known()) return {};
      return {std::min(yes.low, no.low), std::max(yes.high, no.high)};
    }
    case Code::not_: {
      const Interval& a = values_[instruction.a];
      return truth(is_false(a), is_true(a));
    }
    default:
      return arithmetic(instruction.code, values_[instruction.a], values_[instruction.b]);
  }
}

Interval IndexProgram::arithmetic(Code code, const Interval& a, const Interval& b) const {
  const bool is_truth = code == Code::less || code == Code::less_or_equal || code == Code::equal ||
                        code == Code::and_ || code == Code::or_;
  if (!a.is_known() || !b.is_known()) return is_truth ? either : Interval{};
  switch (code) {
    case Code::add:
      return sum(a, b);
    case Code::sub: {
      const Interval negative = product(b, {-1, -1});
      return negative.is_known() ? sum(a, negative) : Interval{};
    }
    case Code::mul:
      return product(a, b);
    case Code::div:
    case Code::floor_div:
      return b.is_point() && b.low > 0 ? quotient(a, b.low, code == Code::div) : Interval{};
    case Code::mod:
    case Code::floor_mod:
      return b.is_point() && b.low > 0 ? remainder(a, b.low, code == Code::mod) : Interval{};
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
