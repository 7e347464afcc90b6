// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// Expressions of any type: conditions, loads, indices, choices, lets, vectors.
#include <algorithm>
#include <iterator>

#include "random_modules/generator.hpp"

namespace usmp::random_modules {

ExprRef Generator::node(ExprKind kind, DataType type, std::vector<ExprRef> operands, VarId var) {
  Expr expr;
  expr.kind = kind;
  expr.type = type;
  expr.operands = std::move(operands);
  expr.var = var;
  return std::make_shared<const Expr>(std::move(expr));
}

ExprRef Generator::call(const std::string& op, DataType type, std::vector<ExprRef> operands) {
  return tir::make_call(type, "tir." + op, std::move(operands));
}

ExprRef Generator::broadcast(ExprRef value, std::uint16_t lanes) {
  if (lanes == 1) return value;
  const DataType type = value->type.with_lanes(lanes);
  return node(ExprKind::broadcast, type, {std::move(value)});
}

ExprRef Generator::constant(Wide value, DataType type) {
  return broadcast(tir::make_int(static_cast<std::int64_t>(value), type.element()), type.lanes);
}

ExprRef Generator::real_constant(double value, DataType type) {
  return broadcast(tir::make_float(value, type.element()), type.lanes);
}

Typed Generator::value(DataType type, Scope& scope, int depth) {
  if (type.is_bool()) return {condition(scope, depth, type.lanes), 0, 1};
  if (type.is_float()) return {floating(type, scope, depth), 0, 0};
  return integer(type, scope, depth);
}

// --- Conditions ------------------------------------------------------------------------------------------------------

ExprRef Generator::condition(Scope& scope, int depth, std::uint16_t lanes) {
  const DataType type = tir::bool_type.with_lanes(lanes);
  if (depth <= 0) {
    if (random_.chance(20)) return constant(random_.below(2), type);
    return random_.chance(30) ? leaf(type, scope).expr : comparison(scope, 0, lanes);
  }
  switch (random_.below(14)) {
    case 0:
    case 1: {
      const ExprKind kind = random_.chance(50) ? ExprKind::and_ : ExprKind::or_;
      ExprRef a = condition(scope, depth - 1, lanes);
      ExprRef b = condition(scope, depth - 1, lanes);
      return node(kind, type, {std::move(a), std::move(b)});
    }
    case 2:
      return node(ExprKind::not_, type, {condition(scope, depth - 1, lanes)});
    case 3: {
      static const std::vector<std::string> ops = {"bitwise_and", "bitwise_or", "bitwise_xor"};
      const std::string& op = random_.pick(ops);
      ExprRef a = condition(scope, depth - 1, lanes);
      ExprRef b = condition(scope, depth - 1, lanes);
      return call(op, type, {std::move(a), std::move(b)});
    }
    case 4: {
      static const std::vector<std::string> ops = {"isnan", "isinf", "isfinite"};
      const std::string op = is_in_c_ ? "isnan" : random_.pick(ops);
      const DataType tested = some_float_type().with_lanes(lanes);
      return call(op, type, {floating(tested, scope, depth - 1)});
    }
    case 5:
      return call("likely", type, {condition(scope, depth - 1, lanes)});
    case 6: {
      const DataType from = (random_.chance(50) ? some_float_type() : some_integer_type()).with_lanes(lanes);
      return tir::make_cast(type, value(from, scope, depth - 1).expr);
    }
    case 7:
      return load(type, scope, depth).expr;
    case 8: {
      ExprRef test = condition(scope, depth - 1, random_.chance(50) ? 1 : lanes);
      ExprRef yes = condition(scope, depth - 1, lanes);
      ExprRef no = condition(scope, depth - 1, lanes);
      return choice(type, test, std::move(yes), std::move(no));
    }
    case 9:
      if (lanes == 1) return let(type, scope, depth).expr;
      return shuffled(type, scope, depth).expr;
    case 10:
      if (random_.chance(60) || is_in_c_ || scope.storages.empty())
        return call("bitwise_not", type, {condition(scope, 0, lanes)});
      return broadcast(call("isnullptr", tir::bool_type, {tir::make_var(module_, random_.pick(scope.storages).var)}),
                       lanes);
    default:
      return comparison(scope, depth, lanes);
  }
}

ExprRef Generator::comparison(Scope& scope, int depth, std::uint16_t lanes) {
  static const std::vector<ExprKind> kinds = {ExprKind::eq, ExprKind::ne, ExprKind::lt,
                                              ExprKind::le, ExprKind::gt, ExprKind::ge};
  const ExprKind kind = random_.pick(kinds);
  DataType type = tir::int32_type;
  if (random_.chance(50)) type = random_.chance(70) ? some_integer_type() : some_float_type();
  type = type.with_lanes(lanes);
  ExprRef a = value(type, scope, depth - 1).expr;
  ExprRef b = value(type, scope, depth - 1).expr;
  return tir::make_binary(kind, std::move(a), std::move(b));
}

ExprRef Generator::bounds_check(const Typed& index, std::int64_t elements) {
  const DataType type = index.expr->type;
  const ExprRef low = tir::make_binary(ExprKind::le, constant(0, type), index.expr);
  const ExprRef high = tir::make_binary(ExprKind::lt, index.expr, constant(elements, type));
  return tir::make_binary(ExprKind::and_, low, high);
}

// --- Choices, lets, shuffles -----------------------------------------------------------------------------------------

ExprRef Generator::choice(DataType type, const ExprRef& condition, ExprRef yes, ExprRef no) {
  const bool lazy = random_.chance(50) && condition->type.lanes == 1;
  if (lazy) return call("if_then_else", type, {condition, std::move(yes), std::move(no)});
  return node(ExprKind::select, type, {condition, std::move(yes), std::move(no)});
}

// Often one whose scope has ended: lets side by side may bind the same variable.
VarId Generator::let_var(DataType type) {
  const auto has_type = [&](VarId var) { return module_.var(var).type == type; };
  const auto found = std::find_if(ended_lets_.rbegin(), ended_lets_.rend(), has_type);
  if (found == ended_lets_.rend() || !random_.chance(70)) return new_var(some_name("let"), type);
  const VarId var = *found;
  ended_lets_.erase(std::next(found).base());
  return var;
}

// let y = (let x = max(a, b) in min(x, b)) in (let x = c in max(y, x)), where c is a constant or a variable: y stands
// for a value that is printed inside the other let of x, and were c if x were taken for that one.
Typed Generator::crossed_lets(DataType type, Scope& scope, int depth) {
  const Typed a = value(type, scope, depth - 1);
  const Typed b = leaf(type, scope);
  const Typed c = leaf(type, scope);
  const VarId x = let_var(type);
  const VarId y = new_var(some_name("let"), type);
  const auto use = [&](VarId var) { return tir::make_var(module_, var); };
  const ExprRef larger = tir::make_binary(ExprKind::max, a.expr, b.expr);
  const ExprRef first = node(ExprKind::let, type, {larger, tir::make_binary(ExprKind::min, use(x), b.expr)}, x);
  const ExprRef second = node(ExprKind::let, type, {c.expr, tir::make_binary(ExprKind::max, use(y), use(x))}, x);
  ended_lets_.push_back(x);
  return {node(ExprKind::let, type, {first, second}, y), std::max(b.low, c.low), std::max(b.high, c.high)};
}

Typed Generator::let(DataType type, Scope& scope, int depth) {
  if (!type.is_bool() && random_.chance(15)) return crossed_lets(type, scope, depth);
  const DataType bound_type = some_type();
  const Typed bound = value(bound_type, scope, depth - 1);
  const VarId var = let_var(bound_type);
  scope.numbers.push_back(held(var, bound_type, bound));
  const Typed body = value(type, scope, depth - 1);
  scope.numbers.pop_back();
  ended_lets_.push_back(var);
  return {node(ExprKind::let, type, {bound.expr, body.expr}, var), body.low, body.high};
}

Typed Generator::shuffled(DataType type, Scope& scope, int depth) {
  const auto vectors = static_cast<std::size_t>(random_.between(1, 2));
  Typed result;
  std::vector<ExprRef> operands;
  std::int64_t lanes = 0;
  for (std::size_t i = 0; i < vectors; ++i) {
    const bool scalar = random_.chance(20);
    const Typed part = value(scalar ? type.element() : type, scope, depth - 1);
    lanes += part.expr->type.lanes;
    result.low = i == 0 ? part.low : std::min(result.low, part.low);
    result.high = i == 0 ? part.high : std::max(result.high, part.high);
    operands.push_back(part.expr);
  }
  for (std::size_t i = 0; i < type.lanes; ++i) operands.push_back(tir::make_int(random_.below(lanes)));
  Expr expr;
  expr.kind = ExprKind::shuffle;
  expr.type = type;
  expr.operands = std::move(operands);
  expr.int_value = static_cast<std::int64_t>(vectors);
  result.expr = std::make_shared<const Expr>(std::move(expr));
  return result;
}

// --- Loads -----------------------------------------------------------------------------------------------------------

Typed Generator::load(DataType type, Scope& scope, int depth) {
  const DataType element = type.element();
  if (type.lanes == 1 && random_.chance(12)) {
    Typed guarded;
    if (guarded_load(type, scope, guarded)) return guarded;
  }
  // Now and then the bytes of another type.
  const bool punned = random_.chance(6);
  const std::size_t found = find_storage(scope, [&](const Storage& storage) {
    if (!storage.readable) return false;
    if (punned) return !storage.has_nan && storage.bytes() >= type.bytes() && storage.is_aligned_for(element);
    return storage.element == element && storage.elements >= type.lanes;
  });
  if (found == SIZE_MAX) return converted_load(type, scope, depth);
  const Storage storage = scope.storages[found];
  const std::int64_t elements = storage.elements_of(element);
  const ExprRef at =
      type.lanes == 1 ? index(elements, scope, depth - 1).expr : vector_index(elements, type.lanes, scope, false);
  std::vector<ExprRef> operands = {at};
  if (random_.chance(8) && !is_in_c_) operands.push_back(condition(scope, depth - 1, type.lanes));
  const ExprRef expr = node(ExprKind::load, type, std::move(operands), storage.var);
  return whole(expr, type);
}

// Loads from a storage of another integer type, if there is one.
Typed Generator::converted_load(DataType type, Scope& scope, int depth) {
  const std::size_t other = find_storage(scope, [&](const Storage& s) {
    return s.readable && s.elements >= type.lanes && !s.element.is_float() && s.element != type.element();
  });
  if (other == SIZE_MAX || type.is_bool() || random_.chance(30)) return leaf(type, scope);
  const Typed loaded = load(scope.storages[other].element.with_lanes(type.lanes), scope, depth);
  const ExprRef expr = tir::make_cast(type, loaded.expr);
  const bool fits = !type.is_float() && loaded.low >= lowest(type) && loaded.high <= highest(type);
  return fits ? Typed{expr, loaded.low, loaded.high} : whole(expr, type);
}

// A load whose index is out of bounds where it is not taken.
bool Generator::guarded_load(DataType type, Scope& scope, Typed& result) {
  const std::size_t found = find_storage(scope, [&](const Storage& s) { return s.readable && s.element == type; });
  std::vector<Number> indices;
  for (const Number& number : scope.numbers) {
    if (number.type == tir::int32_type && number.high - number.low < 1000) indices.push_back(number);
  }
  if (found == SIZE_MAX || indices.empty()) return false;
  const Storage storage = scope.storages[found];
  const Number number = random_.pick(indices);
  const std::int64_t shift = random_.between(-2, 2);
  Typed at{tir::make_var(module_, number.var), number.low + shift, number.high + shift};
  if (at.low < -100000 || at.high > 100000) return false;
  if (shift != 0) at.expr = tir::make_binary(ExprKind::add, at.expr, tir::make_int(shift));
  const ExprRef check = bounds_check(at, storage.elements);
  if (random_.chance(30) && !is_in_c_) {
    result = whole(node(ExprKind::load, type, {at.expr, check}, storage.var), type);
    return true;
  }
  const Typed other = leaf(type, scope);
  result = whole(call("if_then_else", type, {check, tir::make_load(type, storage.var, at.expr), other.expr}), type);
  return true;
}

Typed Generator::index(std::int64_t elements, Scope& scope, int depth) {
  const DataType type = random_.chance(92) ? tir::int32_type : tir::int64_type;
  if (elements == 1 || random_.chance(20)) {
    const std::int64_t at = random_.below(elements);
    return {tir::make_int(at, type), at, at};
  }
  if (depth > 0 && random_.chance(8)) {  // an index out of memory
    const Typed any = integer(type, scope, 1);
    return {tir::make_binary(ExprKind::floor_mod, any.expr, tir::make_int(elements, type)), 0, elements - 1};
  }
  Typed sum{tir::make_int(0, type), 0, 0};
  for (std::int64_t terms = random_.between(1, 3); terms > 0; --terms) {
    std::vector<Number> usable;
    for (const Number& number : scope.numbers) {
      if (number.type == type && number.low > -5000 && number.high < 5000) usable.push_back(number);
    }
    if (usable.empty()) break;
    const Number number = random_.pick(usable);
    const std::int64_t factor = random_.chance(60) ? 1 : random_.between(-3, 6);
    ExprRef term = tir::make_var(module_, number.var);
    if (factor != 1) term = tir::make_binary(ExprKind::mul, term, tir::make_int(factor, type));
    sum.expr = tir::as_int(*sum.expr) ? term : tir::make_binary(ExprKind::add, sum.expr, term);
    sum.low += std::min(number.low * factor, number.high * factor);
    sum.high += std::max(number.low * factor, number.high * factor);
  }
  if (random_.chance(30)) {
    const std::int64_t shift = random_.between(-3, 3);
    sum.expr = tir::make_binary(ExprKind::add, sum.expr, tir::make_int(shift, type));
    sum.low += shift;
    sum.high += shift;
  }
  if (sum.low >= 0 && sum.high < elements) return sum;
  const bool is_power = (elements & (elements - 1)) == 0;
  if (is_power && random_.chance(40)) {
    return {call("bitwise_and", type, {sum.expr, tir::make_int(elements - 1, type)}), 0, elements - 1};
  }
  if (random_.chance(40)) {
    const ExprRef high = tir::make_binary(ExprKind::min, sum.expr, tir::make_int(elements - 1, type));
    return {tir::make_binary(ExprKind::max, high, tir::make_int(0, type)), 0, elements - 1};
  }
  if (sum.low >= 0 && random_.chance(50)) {
    return {tir::make_binary(ExprKind::mod, sum.expr, tir::make_int(elements, type)), 0, elements - 1};
  }
  return {tir::make_binary(ExprKind::floor_mod, sum.expr, tir::make_int(elements, type)), 0, elements - 1};
}

ExprRef Generator::vector_index(std::int64_t elements, std::uint16_t lanes, Scope& scope, bool distinct) {
  if (!distinct && random_.chance(15)) return broadcast(index(elements, scope, 1).expr, lanes);
  if (!distinct && random_.chance(15)) {
    const DataType type = tir::int32_type.with_lanes(lanes);
    const Typed any = integer(type, scope, 1);
    return tir::make_binary(ExprKind::floor_mod, any.expr, constant(elements, type));
  }
  const std::int64_t widest = (elements - 1) / (lanes - 1);
  std::int64_t stride = random_.chance(70) ? 1 : random_.between(1, std::max<std::int64_t>(widest, 1));
  const std::int64_t reach = stride * (lanes - 1);
  Typed base = index(elements - reach, scope, 0);
  if (random_.chance(15)) {  // backwards
    base.expr = tir::make_binary(ExprKind::add, base.expr, tir::make_int(reach, base.expr->type));
    stride = -stride;
  }
  const DataType type = base.expr->type.with_lanes(lanes);
  return node(ExprKind::ramp, type, {base.expr, tir::make_int(stride, base.expr->type)});
}

Typed Generator::leaf(DataType type, Scope& scope) {
  const DataType element = type.element();
  std::vector<Number> fitting;
  for (const Number& number : scope.numbers) {
    if (number.type == element || number.type == type) fitting.push_back(number);
  }
  if (!fitting.empty() && random_.chance(70)) {
    const Number number = random_.pick(fitting);
    ExprRef var = tir::make_var(module_, number.var);
    return {number.type == type ? std::move(var) : broadcast(std::move(var), type.lanes), number.low, number.high};
  }
  if (element.is_bool()) return {constant(random_.below(2), type), 0, 1};
  if (element.is_float()) {
    static const std::vector<double> values = {0.0,  1.0,    -1.0,  0.5,   -0.25, 3.0,    1e-3,   100.0, -7.5,
                                               -0.0, 1e30,   1e-40, 0.1,   2.5,   65504., 1e300,  6e-8,  -3.4e38,
                                               16.0, -123.4, 1e9,   0.999, 1e-7,  255.0,  -1e-20, 0.3};
    double number = random_.pick(values);
    if (random_.chance(2) && !is_in_c_) number = random_.chance(50) ? __builtin_inf() : -__builtin_inf();
    return {real_constant(number, type), 0, 0};
  }
  Wide number = random_.between(-8, 20);
  if (random_.chance(10)) number = random_.chance(50) ? lowest(element) : highest(element);
  if (random_.chance(10)) number = widened(static_cast<std::int64_t>(random_.next()), uint64_type);
  number = widened(wrapped(number, element), element);
  return {constant(number, type), number, number};
}

Typed Generator::whole(ExprRef expr, DataType type) {
  if (type.is_float()) return {std::move(expr), 0, 0};
  return {std::move(expr), lowest(type), highest(type)};
}

}  // namespace usmp::random_modules
