#include "usmp/tir/ranges.hpp"

#include <algorithm>
#include <limits>
#include <set>
#include <utility>

#include "usmp/support/checked.hpp"
#include "usmp/tir/constants.hpp"
#include "usmp/tir/visit.hpp"

namespace usmp::tir {
namespace {

using Bound = std::optional<std::int64_t>;

Bound checked_sub(std::int64_t a, std::int64_t b) {
  std::int64_t difference = 0;
  if (__builtin_sub_overflow(a, b, &difference)) return std::nullopt;
  return difference;
}

std::optional<Range> make_range(Bound low, Bound high) {
  if (!low || !high) return std::nullopt;
  return Range{*low, *high};
}

std::optional<Range> join(const std::optional<Range>& a, const std::optional<Range>& b) {
  if (!a || !b) return std::nullopt;
  return Range{std::min(a->low, b->low), std::max(a->high, b->high)};
}

std::int64_t floor_div(std::int64_t a, std::int64_t b) { return a / b - (a % b < 0 ? 1 : 0); }  // b > 0

std::optional<Range> product(const Range& a, const Range& b) {
  const Bound corners[] = {checked_mul(a.low, b.low), checked_mul(a.low, b.high), checked_mul(a.high, b.low),
                           checked_mul(a.high, b.high)};
  Range result{std::numeric_limits<std::int64_t>::max(), std::numeric_limits<std::int64_t>::min()};
  for (const Bound& corner : corners) {
    if (!corner) return std::nullopt;
    result.low = std::min(result.low, *corner);
    result.high = std::max(result.high, *corner);
  }
  return result;
}

// What is left of the values once they are cut to the type.
std::optional<Range> cut(const std::optional<Range>& range, DataType type) {
  const auto whole = range_of_type(type);
  const bool fits = range && whole && range->low >= whole->low && range->high <= whole->high;
  return fits ? range : whole;
}

// Of the value of a C expression.
DataType held_type(const Expr& expr) {
  const bool from_memory = expr.kind == ExprKind::load || expr.kind == ExprKind::var || expr.kind == ExprKind::cast ||
                           expr.kind == ExprKind::int_imm;
  return from_memory ? expr.type : promoted(expr.type);
}

// Its type and its variable's binding tell what there is to know; what is below does not count.
bool is_leaf(const Expr& expr) {
  if (!range_of_type(held_type(expr))) return true;
  switch (expr.kind) {
    case ExprKind::add:
    case ExprKind::sub:
    case ExprKind::mul:
    case ExprKind::div:
    case ExprKind::mod:
    case ExprKind::floor_div:
    case ExprKind::floor_mod:
    case ExprKind::min:
    case ExprKind::max:
    case ExprKind::select:
    case ExprKind::cast:
    case ExprKind::broadcast:
    case ExprKind::ramp:
      return false;
    case ExprKind::call:
      return !is_folded_operator(expr.text) && expr.text != "tir.q_multiply_shift";
    default:
      return !is_condition(expr.kind);
  }
}

// Quotients and remainders by a divisor that is known to be positive.
std::optional<Range> division(ExprKind kind, const Range& a, const Range& b) {
  if (b.low <= 0) return std::nullopt;
  const std::int64_t largest_rest = b.high - 1;
  switch (kind) {
    case ExprKind::div:  // moves towards 0
      return Range{std::min(a.low / b.low, a.low / b.high), std::max(a.high / b.low, a.high / b.high)};
    case ExprKind::floor_div:
      return Range{std::min(floor_div(a.low, b.low), floor_div(a.low, b.high)),
                   std::max(floor_div(a.high, b.low), floor_div(a.high, b.high))};
    case ExprKind::mod:
      return Range{a.low < 0 ? std::max(-largest_rest, a.low) : 0, a.high > 0 ? std::min(largest_rest, a.high) : 0};
    default:
      if (a.low >= 0) return Range{0, std::min(largest_rest, a.high)};
      return Range{0, largest_rest};
  }
}

// q_multiply_shift(x, factor, q, shift) is monotone in x as long as nothing wraps: x · factor · 2^(shift − q), rounded
// with halves up. Nothing: it may wrap, or the arguments make no sense.
Bound fixed_point_product(std::int64_t x, std::int64_t factor, std::int64_t q, std::int64_t shift) {
  const std::int64_t left = std::max<std::int64_t>(shift, 0);
  const std::int64_t right = q - std::min<std::int64_t>(shift, 0);
  if (q < 1 || q > 62 || left > 31 || right > 62) return std::nullopt;
  const Bound shifted = checked_mul(x, std::int64_t{1} << left);
  const Bound product = shifted ? checked_mul(*shifted, factor) : std::nullopt;
  const Bound sum = product ? checked_add(*product, std::int64_t{1} << (right - 1)) : std::nullopt;
  if (!sum) return std::nullopt;
  const std::int64_t result = *sum >> right;
  const auto limits = range_of_type(int32_type);
  if (result < limits->low || result > limits->high) return std::nullopt;
  return result;
}

std::optional<Range> fixed_point_product(const Range& x, std::int64_t factor, std::int64_t q, std::int64_t shift) {
  // By one half, TVM rounds in 32 bits, where the half that it adds may wrap.
  if (factor == std::int64_t{1} << 30) {
    const std::int64_t half = shift < 1 && shift > -31 ? std::int64_t{1} << -shift : 0;
    if (q != 31 || shift < -30 || x.high + half > range_of_type(int32_type)->high) return std::nullopt;
  }
  const Bound first = fixed_point_product(x.low, factor, q, shift);
  const Bound last = fixed_point_product(x.high, factor, q, shift);
  if (!first || !last) return std::nullopt;
  return Range{std::min(*first, *last), std::max(*first, *last)};
}

}  // namespace

std::optional<Range> range_of_type(DataType type) {
  if (type.is_bool()) return Range{0, 1};
  if (type.is_int() && type.bits > 0 && type.bits <= 64) {
    const std::int64_t high = std::numeric_limits<std::int64_t>::max() >> (64 - type.bits);
    return Range{-high - 1, high};
  }
  if (type.is_uint() && type.bits > 0 && type.bits < 64) {
    return Range{0, std::numeric_limits<std::int64_t>::max() >> (63 - type.bits)};
  }
  return std::nullopt;
}

DataType promoted(DataType type) {
  const bool narrow = type.is_integer() && type.bits < 32 && !type.is_bool();
  return narrow ? int32_type : type.element();
}

void Ranges::bind(VarId var, Value value) {
  if (vars_.contains(var)) known_.clear();
  vars_[var] = std::move(value);
}

std::optional<Ranges::Value> Ranges::bound(VarId var) const {
  const auto found = vars_.find(var);
  return found == vars_.end() ? std::nullopt : std::make_optional(found->second);
}

void Ranges::bind_storage(VarId storage, DataType element, Range range) {
  known_.clear();
  storages_[storage] = {element, range};
}

void Ranges::bind_let(VarId var, const Expr& value) { bind(var, of_cut(value)); }

std::optional<Range> Ranges::of_cut(const Expr& expr) { return cut(of(expr), expr.type); }

void Ranges::bind_loop(VarId var, const Expr& min, const Expr& extent) {
  const auto first = of(min);
  const auto count = of(extent);
  if (!first) return bind(var, std::nullopt);
  const auto end = count ? checked_add(first->high, count->high) : std::nullopt;
  const auto last = end ? checked_sub(*end, 1) : end;
  // A loop that never runs has no values; any interval is right inside it.
  bind(var, Range{first->low, std::max(last.value_or(std::numeric_limits<std::int64_t>::max()), first->low)});
}

Ranges::Value Ranges::value_of_operand(const ExprRef& expr) const {
  const auto found = known_.find(expr.get());
  return found == known_.end() ? of_leaf(*expr) : found->second.value;
}

bool Ranges::never_negative(const Expr& expr) {
  if (expr.type.is_uint() && expr.type.bits >= 32) return true;
  const auto range = of(expr);
  return range && range->low >= 0;
}

Ranges::Value Ranges::value(const Expr& expr) {
  if (is_leaf(expr)) return of_leaf(expr);
  const auto is_done = [&](const Expr& operand) { return is_leaf(operand) || known_.contains(&operand); };
  for (const ExprRef& operand : expr.operands) {
    for_each_expr_bottom_up(operand, is_done, [&](const ExprRef& part) {
      known_.emplace(part.get(), Known{part, compute(*part)});
    });
  }
  return compute(expr);
}

std::optional<std::int64_t> Ranges::constant(const Expr& expr) {
  const Value known = value(expr);
  return known.constants.size() == 1 ? std::optional(known.constants[0]) : std::nullopt;
}

Ranges::Value Ranges::of_leaf(const Expr& expr) const {
  const auto whole = range_of_type(held_type(expr));
  if (!whole) {
    // A small uint64 constant is known, everything else of the type is not.
    const bool small = expr.kind == ExprKind::int_imm && expr.type.is_uint() && expr.int_value >= 0;
    return small ? Value{Range{expr.int_value, expr.int_value}, {expr.int_value}} : Value{};
  }
  if (expr.kind == ExprKind::int_imm) {
    const auto value = value_in_type(expr.int_value, expr.type);
    return value && is_c_integer(expr.type) ? Value{Range{*value, *value}, {*value}} : Value{whole, {}};
  }
  if (expr.kind == ExprKind::load) {
    const auto storage = storages_.find(expr.var);
    const bool is_known = storage != storages_.end() && storage->second.type == expr.type.element();
    return {is_known ? storage->second.range : whole, {}};
  }
  const auto found = expr.kind == ExprKind::var ? vars_.find(expr.var) : vars_.end();
  if (found == vars_.end() || !found->second.range) return {whole, {}};
  const Range range{std::max(found->second.range->low, whole->low), std::min(found->second.range->high, whole->high)};
  if (range.low > range.high) return {whole, {}};
  return {range, found->second.constants};
}

Ranges::Value Ranges::compute(const Expr& expr) {
  std::vector<std::int64_t> constants = folded(expr);
  if (constants.empty()) return {compute_range(expr), {}};
  return {Range{constants.front(), constants.back()}, std::move(constants)};
}

// Ascending, each once.
std::vector<std::int64_t> Ranges::folded(const Expr& expr) const {
  const bool is_choice =
      expr.kind == ExprKind::select || (expr.kind == ExprKind::call && expr.text == "tir.if_then_else");
  std::vector<std::vector<std::int64_t>> rows = {{}};  // one for each combination of the operands' values
  for (const ExprRef& operand : expr.operands) {
    std::vector<std::int64_t> constants = value_of_operand(operand).constants;
    if (is_choice && constants.empty() && &operand == &expr.operands[0]) constants = {0, 1};
    std::vector<std::vector<std::int64_t>> longer;
    for (const auto& row : rows) {
      for (const std::int64_t value : constants) {
        longer.push_back(row);
        longer.back().push_back(value);
      }
    }
    rows = std::move(longer);
    if (rows.empty() || rows.size() > 2 * most_constants) return {};
  }
  std::set<std::int64_t> values;
  for (const auto& row : rows) {
    const auto value = constant_value(expr, row);
    if (!value) return {};
    values.insert(*value);
  }
  return values.size() <= most_constants ? std::vector(values.begin(), values.end()) : std::vector<std::int64_t>();
}

std::optional<Range> Ranges::compute_range(const Expr& expr) {
  const auto whole = range_of_type(held_type(expr));
  if (!whole || is_condition(expr.kind)) return whole;
  switch (expr.kind) {
    case ExprKind::select: {
      const auto joined = join(of_operand(expr.operands[1]), of_operand(expr.operands[2]));
      return joined ? joined : whole;
    }
    case ExprKind::cast: {
      const auto inner = of_operand(expr.operands[0]);
      if (expr.operands[0]->type.is_float() || !inner || expr.type.is_bool()) return whole;
      return inner->low >= whole->low && inner->high <= whole->high ? inner : whole;
    }
    case ExprKind::broadcast:
      return of_operand(expr.operands[0]);
    case ExprKind::ramp: {
      const auto base = of_operand(expr.operands[0]);
      const auto stride = of_operand(expr.operands[1]);
      if (!base || !stride) return whole;
      const auto reach = product(*stride, Range{0, expr.type.lanes - 1});
      if (!reach) return whole;
      const auto range = make_range(checked_add(base->low, reach->low), checked_add(base->high, reach->high));
      return range ? range : whole;
    }
    case ExprKind::call: {
      const auto range = compute_call(expr);
      return range ? range : whole;
    }
    default: {
      const auto range = compute_arithmetic(expr);
      return range ? range : whole;
    }
  }
}

std::optional<Range> Ranges::compute_arithmetic(const Expr& expr) {
  if (expr.operands.size() != 2 || expr.type.is_bool()) return std::nullopt;
  const auto a = of_operand(expr.operands[0]);
  const auto b = of_operand(expr.operands[1]);
  if (!a || !b) return std::nullopt;
  std::optional<Range> range;
  switch (expr.kind) {
    case ExprKind::add:
      range = make_range(checked_add(a->low, b->low), checked_add(a->high, b->high));
      break;
    case ExprKind::sub:
      range = make_range(checked_sub(a->low, b->high), checked_sub(a->high, b->low));
      break;
    case ExprKind::mul:
      range = product(*a, *b);
      break;
    case ExprKind::div:
    case ExprKind::mod:
    case ExprKind::floor_div:
    case ExprKind::floor_mod:
      return division(expr.kind, *a, *b);
    case ExprKind::min:
    case ExprKind::max: {
      const Range x = *cut(a, expr.type);
      const Range y = *cut(b, expr.type);
      if (expr.kind == ExprKind::min) return Range{std::min(x.low, y.low), std::min(x.high, y.high)};
      return Range{std::max(x.low, y.low), std::max(x.high, y.high)};
    }
    default:
      return std::nullopt;
  }
  if (!range) return std::nullopt;
  const DataType type = promoted(expr.type);
  const auto limits = range_of_type(type);
  if (type.is_uint() && (range->low < limits->low || range->high > limits->high)) return limits;  // it wraps
  range->low = std::clamp(range->low, limits->low, limits->high);
  range->high = std::clamp(range->high, limits->low, limits->high);
  return range;
}

std::optional<Range> Ranges::compute_call(const Expr& expr) {
  if (expr.text == "tir.likely" && expr.operands.size() == 1) return of_operand(expr.operands[0]);
  if (expr.text == "tir.if_then_else" && expr.operands.size() == 3) {
    return join(of_operand(expr.operands[1]), of_operand(expr.operands[2]));
  }
  if (expr.text == "tir.shift_right" && expr.operands.size() == 2) {
    const auto a = of_operand(expr.operands[0]);
    const auto b = of_operand(expr.operands[1]);
    if (!a || !b || !b->is_point() || b->low < 0 || b->low > 62) return std::nullopt;
    return Range{a->low >> b->low, a->high >> b->low};
  }
  if (expr.text == "tir.bitwise_not" && expr.operands.size() == 1 && promoted(expr.type).is_int()) {
    const auto a = of_operand(expr.operands[0]);
    return a ? std::optional(Range{-1 - a->high, -1 - a->low}) : std::nullopt;
  }
  if (expr.text == "tir.bitwise_and" && expr.operands.size() == 2) {
    const auto a = of_operand(expr.operands[0]);
    const auto b = of_operand(expr.operands[1]);
    if (b && b->low >= 0) return Range{0, a && a->low >= 0 ? std::min(a->high, b->high) : b->high};
    if (a && a->low >= 0) return Range{0, a->high};
  }
  if (expr.text == "tir.q_multiply_shift" && expr.operands.size() == 4 && expr.type.element() == int32_type) {
    std::int64_t constants[3] = {};
    for (std::size_t i = 0; i < 3; ++i) {
      const auto constant = of_operand(expr.operands[i + 1]);
      if (!constant || !constant->is_point()) return std::nullopt;
      constants[i] = constant->low;
    }
    const auto x = of_operand(expr.operands[0]);
    return x ? fixed_point_product(*x, constants[0], constants[1], constants[2]) : std::nullopt;
  }
  return std::nullopt;
}

}  // namespace usmp::tir
