// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// Integer expressions and their intervals.
#include <algorithm>

#include "random_modules/generator.hpp"
#include "usmp/tir/builder.hpp"

namespace usmp::random_modules {
namespace {

bool is_narrow(DataType type) { return type.bits < 32; }
Wide magnitude(const Typed& value) { return std::max(value.high, -value.low); }
bool fits(const Typed& value, DataType type) { return value.low >= lowest(type) && value.high <= highest(type); }

// The interval once the value is cut to its type.
Typed cut(const Typed& value, DataType type) {
  return fits(value, type) ? value : Typed{value.expr, lowest(type), highest(type)};
}

// Any number of as many bits as the operands need.
Typed of_bits(ExprRef expr, const Typed& a, const Typed& b) {
  Wide bound = 1;
  while (bound <= std::max({a.high, b.high, -a.low - 1, -b.low - 1})) bound *= 2;
  return {std::move(expr), a.low < 0 || b.low < 0 ? -bound : Wide{0}, bound - 1};
}

}  // namespace

Number Generator::held(VarId var, DataType type, const Typed& value) {
  const Typed held = type.is_float() ? value : cut(value, type);
  return {var, type, held.low, held.high};
}

// Values of narrow types that may lie outside of them stay so more often than not.
Typed Generator::integer(DataType type, Scope& scope, int depth) {
  Typed result;
  if (depth <= 0) {
    result = random_.chance(50) ? load(type, scope, 0) : leaf(type, scope);
  } else {
    result = integer_operation(type, scope, depth);
  }
  if (fits(result, type) || random_.chance(70)) return result;
  return whole(tir::make_cast(type, result.expr), type);
}

Typed Generator::integer_operation(DataType type, Scope& scope, int depth) {
  const bool is_vector = type.is_vector();
  // What leaves a narrow type has to stand wherever an operand may, and often where C cuts it.
  if (is_narrow(type) && random_.chance(25)) {
    return random_.chance(70) ? sum_or_product(type, scope, depth) : min_or_max(type, scope, depth);
  }
  switch (random_.below(24)) {
    case 0:
    case 1:
    case 2:
    case 3:
      return sum_or_product(type, scope, depth);
    case 4:
    case 5:
      return division(type, scope, depth);
    case 6:
      return min_or_max(type, scope, depth);
    case 7:
    case 8: {
      ExprRef test = condition(scope, depth - 1, random_.chance(50) ? 1 : type.lanes);
      const Typed yes = integer(type, scope, depth - 1);
      const Typed no = integer(type, scope, depth - 1);
      return {choice(type, test, yes.expr, no.expr), std::min(yes.low, no.low), std::max(yes.high, no.high)};
    }
    case 9:
      return bitwise(type, scope, depth);
    case 10:
      return shift(type, scope, depth);
    case 11:
    case 12:
      return integer_cast(type, scope, depth);
    case 13:
      if (is_in_c_) return load(type, scope, depth);
      return counted_bits(type, scope, depth);
    case 14:
      if (type.bits >= 32) return fixed_point(type, scope, depth);
      return integer_cast(type, scope, depth);
    case 15:
      if (type.element() == tir::int32_type) return fixed_point_per_axis(type, scope, depth);
      return is_in_c_ ? load(type, scope, depth) : integer_reinterpret(type, scope, depth);
    case 16: {
      Typed inside = integer(type, scope, depth - 1);
      inside.expr = call("likely", type, {inside.expr});
      return inside;
    }
    case 17:
      if (is_vector) return shuffled(type, scope, depth);
      return let(type, scope, depth);
    case 18:
      return is_in_c_ ? min_or_max(type, scope, depth) : integer_reinterpret(type, scope, depth);
    case 19:
      if (is_vector) {
        const Typed base = limited(integer(type.element(), scope, depth - 1), type.element(), 40);
        const std::int64_t least = type.is_uint() ? 0 : -3;
        const std::int64_t stride = random_.between(least, 3);
        const std::int64_t reach = stride * (type.lanes - 1);
        const ExprRef ramp = node(ExprKind::ramp, type, {base.expr, tir::make_int(stride, type.element())});
        return {ramp, base.low + std::min<std::int64_t>(reach, 0), base.high + std::max<std::int64_t>(reach, 0)};
      }
      if (type == tir::int32_type && !is_in_c_ && random_.chance(50)) return extern_sum(scope);
      return load(type, scope, depth);
    default:
      return load(type, scope, depth);
  }
}

Typed Generator::sum_or_product(DataType type, Scope& scope, int depth) {
  static const std::vector<ExprKind> kinds = {ExprKind::add, ExprKind::sub, ExprKind::mul};
  const ExprKind kind = random_.pick(kinds);
  Typed a = integer(type, scope, depth - 1);
  Typed b = integer(type, scope, depth - 1);
  const DataType computed = is_narrow(type) ? tir::int32_type : type.element();
  const bool wraps = computed.is_uint();
  const auto combine = [&]() -> Typed {
    const ExprRef expr = tir::make_binary(kind, a.expr, b.expr);
    if (kind == ExprKind::add) return {expr, a.low + b.low, a.high + b.high};
    if (kind == ExprKind::sub) return {expr, a.low - b.high, a.high - b.low};
    const auto corners = {a.low * b.low, a.low * b.high, a.high * b.low, a.high * b.high};
    return {expr, std::min(corners), std::max(corners)};
  };
  if (wraps) {
    const ExprRef expr = tir::make_binary(kind, a.expr, b.expr);
    return whole(expr, type);
  }
  const Wide bound = Wide{1} << (kind == ExprKind::mul ? computed.bits / 2 - 2 : computed.bits - 3);
  const auto is_small = [&](const Typed& operand) { return is_narrow(type) && magnitude(operand) <= bound; };
  if (!is_small(a)) a = limited(a, type, bound);
  if (!is_small(b)) b = limited(b, type, bound);
  return combine();
}

Typed Generator::limited(Typed value, DataType type, Wide bound) {
  if (value.low >= (type.is_int() ? -bound : Wide{0}) && value.high <= bound) return value;
  if (!fits(value, type)) {
    value = whole(tir::make_cast(type, value.expr), type);
    if (magnitude(value) <= bound) return value;
  }
  Wide power = 1;
  while (power * 2 <= bound) power *= 2;
  switch (random_.below(4)) {
    case 0:
      return {call("bitwise_and", type, {value.expr, constant(power - 1, type)}), 0, power - 1};
    case 1: {
      const Wide divisor = random_.chance(50) ? power : std::max<Wide>(power - random_.below(3), 1);
      return {tir::make_binary(ExprKind::floor_mod, value.expr, constant(divisor, type)), 0, divisor - 1};
    }
    case 2: {
      const Wide divisor = std::max<Wide>(bound - random_.below(2), 1);
      const ExprRef expr = tir::make_binary(ExprKind::mod, value.expr, constant(divisor, type));
      return {expr, value.low < 0 ? 1 - divisor : Wide{0}, value.high > 0 ? divisor - 1 : Wide{0}};
    }
    default: {
      const Wide least = type.is_int() ? -bound : Wide{0};
      const ExprRef high = tir::make_binary(ExprKind::min, value.expr, constant(bound, type));
      return {tir::make_binary(ExprKind::max, high, constant(least, type)), std::max(value.low, least),
              std::min(std::max(value.high, least), bound)};
    }
  }
}

Typed Generator::division(DataType type, Scope& scope, int depth) {
  static const std::vector<ExprKind> kinds = {ExprKind::div, ExprKind::mod, ExprKind::floor_div, ExprKind::floor_mod};
  const ExprKind kind = random_.pick(kinds);
  Typed a = integer(type, scope, depth - 1);
  const DataType computed = promoted_type(type);
  if (a.low == lowest(computed)) a = limited(a, type, highest(type) / 2);  // the least number / -1 overflows
  Typed b;
  if (random_.chance(60)) {
    std::int64_t divisor = random_.chance(50) ? std::int64_t{1} << random_.below(6) : random_.between(1, 12);
    if (type.is_int() && random_.chance(25)) divisor = -divisor;
    b = {constant(divisor, type), divisor, divisor};
  } else {
    const Typed any = integer(type, scope, depth - 1);
    if (random_.chance(50)) {
      b = {tir::make_binary(ExprKind::max, any.expr, constant(1, type)), 1, highest(type)};
    } else {
      b = of_bits(call("bitwise_or", type, {any.expr, constant(1, type)}), any, {{}, 1, 1});
    }
  }
  const bool is_signed = computed.is_int();
  const ExprRef expr = tir::make_binary(kind, a.expr, b.expr);
  const bool is_quotient = kind == ExprKind::div || kind == ExprKind::floor_div;
  if (is_quotient) return {expr, is_signed ? -magnitude(a) : Wide{0}, magnitude(a)};
  const Wide rest = magnitude(b) - 1;
  const Wide largest = kind == ExprKind::mod ? std::min(rest, magnitude(a)) : rest;
  return {expr, is_signed ? -largest : Wide{0}, largest};
}

Typed Generator::min_or_max(DataType type, Scope& scope, int depth) {
  const bool is_min = random_.chance(50);
  const Typed a = cut(integer(type, scope, depth - 1), type);
  const Typed b = cut(integer(type, scope, depth - 1), type);
  const ExprRef expr = tir::make_binary(is_min ? ExprKind::min : ExprKind::max, a.expr, b.expr);
  if (is_min) return {expr, std::min(a.low, b.low), std::min(a.high, b.high)};
  return {expr, std::max(a.low, b.low), std::max(a.high, b.high)};
}

Typed Generator::bitwise(DataType type, Scope& scope, int depth) {
  static const std::vector<std::string> ops = {"bitwise_and", "bitwise_or", "bitwise_xor", "bitwise_not"};
  const std::string& op = random_.pick(ops);
  const Typed a = integer(type, scope, depth - 1);
  if (op == "bitwise_not") {
    const ExprRef expr = call(op, type, {a.expr});
    return is_narrow(type) ? Typed{expr, -1 - a.high, -1 - a.low} : whole(expr, type);
  }
  const Typed b = integer(type, scope, depth - 1);
  const ExprRef expr = call(op, type, {a.expr, b.expr});
  return is_narrow(type) ? of_bits(expr, a, b) : whole(expr, type);
}

Typed Generator::shift(DataType type, Scope& scope, int depth) {
  const bool left = random_.chance(50);
  const Typed a = integer(type, scope, depth - 1);
  ExprRef count = constant(random_.below(type.bits), type);
  if (random_.chance(30)) {
    const Typed any = integer(type, scope, depth - 1);
    count = call("bitwise_and", type, {any.expr, constant(type.bits - 1, type)});
  }
  const ExprRef expr = call(left ? "shift_left" : "shift_right", type, {a.expr, count});
  if (!is_narrow(type)) return whole(expr, type);
  if (!left) return {expr, std::min<Wide>(a.low, 0), std::max<Wide>(a.high, 0)};
  const Wide most = Wide{1} << (type.bits - 1);
  const Typed shifted{expr, std::min<Wide>(a.low * most, 0), std::max<Wide>(a.high * most, 0)};
  return fits(shifted, tir::int32_type) ? shifted : Typed{expr, lowest(tir::int32_type), highest(tir::int32_type)};
}

Typed Generator::counted_bits(DataType type, Scope& scope, int depth) {
  if (type.element() == tir::int32_type && random_.chance(50)) {
    static const std::vector<DataType> types = {tir::int32_type, tir::int64_type, uint64_type,
                                                type_of(tir::TypeCode::uint, 32)};
    const DataType counted = random_.pick(types).with_lanes(type.lanes);
    const Typed any = integer(counted, scope, depth - 1);
    const ExprRef not_zero = call("bitwise_or", counted, {any.expr, constant(1, counted)});
    return {call("clz", type, {not_zero}), 0, 64};
  }
  const Typed any = integer(type, scope, depth - 1);
  return {call("popcount", type, {any.expr}), 0, type.bits};
}

Typed Generator::integer_cast(DataType type, Scope& scope, int depth) {
  if (random_.chance(25)) {
    const DataType from = some_float_type().with_lanes(type.lanes);
    const double bound = from.bits == 16 || type.bits == 8 ? 100.0 : type.bits == 16 ? 30000.0 : 1e9;
    ExprRef number = clamped(floating(from, scope, depth - 1), from, bound);
    if (type.is_uint()) number = tir::make_binary(ExprKind::max, number, real_constant(0, from));
    const Wide most = static_cast<Wide>(bound) + 1000;  // halves round the bound
    return {tir::make_cast(type, number), type.is_uint() ? Wide{0} : std::max(-most, lowest(type)),
            std::min(most, highest(type))};
  }
  if (random_.chance(20)) return {tir::make_cast(type, condition(scope, depth - 1, type.lanes)), 0, 1};
  const DataType from = some_integer_type().with_lanes(type.lanes);
  const Typed inside = integer(from, scope, depth - 1);
  const ExprRef expr = tir::make_cast(type, inside.expr);
  return fits(inside, type) ? Typed{expr, inside.low, inside.high} : whole(expr, type);
}

Typed Generator::integer_reinterpret(DataType type, Scope& scope, int depth) {
  DataType from = type_of(random_.chance(50) ? tir::TypeCode::int_ : tir::TypeCode::uint, type.bits);
  if (type.bits > 8 && random_.chance(50)) from = type_of(tir::TypeCode::float_, type.bits);
  if (type.bits == 16 && from.is_float() && random_.chance(50)) from = type_of(tir::TypeCode::bfloat, 16);
  from = from.with_lanes(type.lanes);
  if (from.is_float()) {
    const ExprRef number = clamped(floating(from, scope, depth - 1), from, 100.0);
    return whole(call("reinterpret", type, {number}), type);
  }
  const Typed number = integer(from, scope, depth - 1);
  return whole(call("reinterpret", type, {number.expr}), type);
}

Typed Generator::fixed_point(DataType type, Scope& scope, int depth) {
  if (type.element() != tir::int32_type) {
    if (!type.is_uint() || is_in_c_) return integer_cast(type, scope, depth);
    const std::int64_t low = random_.between(0, UINT32_MAX);
    const std::int64_t high = type.bits == 64 ? random_.between(0, UINT32_MAX) : 0;
    const ExprRef parts = call(
        "large_uint_imm", type.element(),
        {tir::make_int(low, type_of(tir::TypeCode::uint, 32)), tir::make_int(high, type_of(tir::TypeCode::uint, 32))});
    return whole(broadcast(parts, type.lanes), type);
  }
  const Typed x = limited(integer(type, scope, depth - 1), type, Wide{1} << 20);
  const std::int64_t factor = random_.chance(30) ? std::int64_t{1} << 30 : random_.between(-(1 << 30), INT32_MAX);
  std::int64_t shift = random_.between(-20, 8);
  // Where TVM rounds in 32 bits, half of the divisor must be left.
  if (factor == 1 << 30) shift = random_.between(-20, 8);
  const std::vector<ExprRef> operands = {x.expr, constant(factor, type), constant(31, type), constant(shift, type)};
  return whole(tir::make_call(type, tir::fixed_point_op(operands), operands), type);
}

Typed Generator::fixed_point_per_axis(DataType type, Scope& scope, int depth) {
  const Typed x = limited(integer(type, scope, depth - 1), type, Wide{1} << 18);
  const Typed y = integer(type, scope, depth - 1);
  const Typed left = limited(integer(type, scope, depth - 1), type, 4);
  const Typed right = limited(integer(type, scope, depth - 1), type, 8);
  const auto never_negative = [&](const Typed& count) {
    return count.low >= 0 ? count.expr : tir::make_binary(ExprKind::max, count.expr, constant(0, type));
  };
  const ExprRef left_count = never_negative(left);
  const ExprRef right_count = never_negative(right);
  const ExprRef is_left = condition(scope, depth - 1, type.lanes);
  const ExprRef is_right = condition(scope, depth - 1, type.lanes);
  return whole(call("q_multiply_shift_per_axis", type,
                    {x.expr, y.expr, left_count, right_count, constant(31, type), is_left, is_right}),
               type);
}

Typed Generator::extern_sum(Scope& scope) {
  const std::size_t found =
      find_storage(scope, [](const Storage& s) { return s.readable && s.element == int8_type && s.elements > 0; });
  if (found == SIZE_MAX || scope.is_entry) return leaf(tir::int32_type, scope);
  const Storage storage = scope.storages[found];
  const std::int64_t elements = random_.between(1, storage.elements);
  const ExprRef pointer = pointer_to(storage, parameter(Parameter::Mode::in, storage.element, elements), true);
  imports_.insert(imported_sum());
  const ExprRef expr = call("call_pure_extern", tir::int32_type,
                            {tir::make_string(std::string(module_name) + "_sum"), pointer, tir::make_int(elements)});
  return {expr, -128 * elements, 127 * elements};
}

}  // namespace usmp::random_modules
