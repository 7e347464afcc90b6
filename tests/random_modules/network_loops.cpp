// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// Loop nests and what is computed element by element.
#include <algorithm>

#include "random_modules/network_generator.hpp"

namespace usmp::random_modules {

using tir::make_binary;
using tir::make_cast;
using tir::make_float;
using tir::make_int;

std::int64_t elements_of(const Shape& shape) {
  std::int64_t count = 1;
  for (const std::int64_t extent : shape) count *= extent;
  return count;
}

// --- Indices ---------------------------------------------------------------------------------------------------------

// Sums of sums are few terms long.
// NOLINTNEXTLINE(misc-no-recursion)
ExprRef plus(const ExprRef& a, const ExprRef& b) {
  const auto left = tir::as_int(*a);
  const auto right = tir::as_int(*b);
  if (left && right) return make_int(*left + *right);
  if (left == 0) return b;
  if (right == 0) return a;
  if (b->kind == ExprKind::add) return plus(plus(a, b->operands[0]), b->operands[1]);
  return make_binary(ExprKind::add, a, b);
}

ExprRef times(const ExprRef& a, std::int64_t factor) {
  if (const auto value = tir::as_int(*a)) return make_int(*value * factor);
  if (factor == 0) return make_int(0);
  return factor == 1 ? a : make_binary(ExprKind::mul, a, make_int(factor));
}

ExprRef minus(const ExprRef& a, std::int64_t amount) {
  if (const auto value = tir::as_int(*a)) return make_int(*value - amount);
  return amount == 0 ? a : make_binary(ExprKind::sub, a, make_int(amount));
}

ExprRef floor_quotient(const ExprRef& a, std::int64_t divisor) {
  if (const auto value = tir::as_int(*a)) return make_int(*value / divisor);
  return divisor == 1 ? a : make_binary(ExprKind::floor_div, a, make_int(divisor));
}

ExprRef floor_remainder(const ExprRef& a, std::int64_t divisor) {
  if (const auto value = tir::as_int(*a)) return make_int(*value % divisor);
  return divisor == 1 ? make_int(0) : make_binary(ExprKind::floor_mod, a, make_int(divisor));
}

ExprRef index_of(const Shape& shape, const std::vector<ExprRef>& axes) {
  ExprRef index = make_int(0);
  std::int64_t stride = elements_of(shape);
  for (std::size_t i = 0; i < shape.size(); ++i) {
    stride /= shape[i];
    if (shape[i] > 1) index = plus(index, times(axes[i], stride));
  }
  return index;
}

// --- Nests -----------------------------------------------------------------------------------------------------------

void NetworkGenerator::loops(Block& out, const std::vector<std::pair<VarId, std::int64_t>>& vars,
                             const std::function<void(Block&)>& write) {
  Block body;
  write(body);
  for (std::size_t i = vars.size(); i-- > 0;) {
    tir::For loop{vars[i].first, make_int(0), make_int(vars[i].second), std::move(body)};
    body.clear();
    body.push_back({std::move(loop)});
  }
  std::move(body.begin(), body.end(), std::back_inserter(out));
}

void NetworkGenerator::bind_linear(Block& body, Axes& axes) {
  if (!random_.chance(50) || tir::as_int(*axes.linear)) return;
  const VarId var = new_var("cse_var_1", tir::int32_type);
  body.push_back({tir::Let{var, axes.linear}});
  axes.linear = tir::make_var(module_, var);
}

// A loop a dimension, the first ones fused, or the last one split.
void NetworkGenerator::nest(Block& out, const Shape& shape, const WriteBody& write) {
  if (random_.chance(25) && shape.back() > 1) return split_last(out, shape, write);
  const std::size_t fused = random_.chance(45) ? random_.index(shape.size()) + 1 : 1;
  std::vector<std::pair<VarId, std::int64_t>> vars;
  Axes axes{.shape = shape, .axis = std::vector<ExprRef>(shape.size(), make_int(0)), .linear = {}};
  const std::int64_t extent = elements_of(Shape(shape.begin(), shape.begin() + static_cast<std::ptrdiff_t>(fused)));
  const bool keeps_unit_loops = random_.chance(10);
  ExprRef outer = make_int(0);
  if (extent > 1 || keeps_unit_loops) {
    vars.emplace_back(new_var(fused > 1 ? "ax0.ax1.fused" : "ax0", tir::int32_type), extent);
    outer = tir::make_var(module_, vars.back().first);
  }
  std::int64_t stride = extent;
  for (std::size_t i = 0; i < fused; ++i) {
    stride /= shape[i];
    const ExprRef quotient = floor_quotient(outer, stride);
    axes.axis[i] = i == 0 ? quotient : floor_remainder(quotient, shape[i]);
  }
  for (std::size_t i = fused; i < shape.size(); ++i) {
    if (shape[i] == 1 && !keeps_unit_loops) continue;
    vars.emplace_back(new_var("ax" + std::to_string(i), tir::int32_type), shape[i]);
    axes.axis[i] = tir::make_var(module_, vars.back().first);
  }
  // The fused index is taken as it is.
  axes.linear = times(outer, elements_of(shape) / extent);
  axes.linear = plus(axes.linear, index_of(Shape(shape.begin() + static_cast<std::ptrdiff_t>(fused), shape.end()),
                                           {axes.axis.begin() + static_cast<std::ptrdiff_t>(fused), axes.axis.end()}));
  loops(out, vars, [&](Block& body) {
    bind_linear(body, axes);
    write(body, axes);
  });
}

// The last dimension as outer · width + inner, guarded where the width does not divide it.
void NetworkGenerator::split_last(Block& out, const Shape& shape, const WriteBody& write) {
  const std::int64_t last = shape.back();
  const std::int64_t unit = last % 2 == 0 && random_.chance(60) ? last / 2 : 1;
  const std::int64_t units = last / unit;
  const std::int64_t width = random_.between(1, units);
  const std::int64_t outer_extent = (units + width - 1) / width;
  std::vector<std::pair<VarId, std::int64_t>> vars;
  Axes axes{.shape = shape, .axis = std::vector<ExprRef>(shape.size(), make_int(0)), .linear = {}};
  for (std::size_t i = 0; i + 1 < shape.size(); ++i) {
    if (shape[i] == 1) continue;
    vars.emplace_back(new_var("ax" + std::to_string(i), tir::int32_type), shape[i]);
    axes.axis[i] = tir::make_var(module_, vars.back().first);
  }
  vars.emplace_back(new_var("ax1.outer", tir::int32_type), outer_extent);
  const ExprRef outer = tir::make_var(module_, vars.back().first);
  vars.emplace_back(new_var("ax1.inner", tir::int32_type), width * unit);
  const ExprRef inner = tir::make_var(module_, vars.back().first);
  axes.axis.back() = plus(times(outer, width * unit), inner);
  axes.linear = index_of(shape, axes.axis);
  const bool is_guarded = units % width != 0;
  loops(out, vars, [&](Block& body) {
    if (!is_guarded) {
      bind_linear(body, axes);
      return write(body, axes);
    }
    tir::IfThenElse guard{
        make_binary(ExprKind::lt, plus(times(outer, width), floor_quotient(inner, unit)), make_int(units)), {}, {}};
    bind_linear(guard.then_body, axes);
    write(guard.then_body, axes);
    body.push_back({std::move(guard)});
  });
}

void add_store(Block& body, VarId storage, const ExprRef& index, const ExprRef& value) {
  body.push_back({tir::Store{storage, index, value, {}}});
}

// --- Accesses --------------------------------------------------------------------------------------------------------

Value NetworkGenerator::load_at(const Tensor& tensor, const ExprRef& index) const {
  return {tir::make_load(tensor.type, tensor.var, index), tensor.range};
}

Value NetworkGenerator::load(const Tensor& tensor, const Axes& axes) {
  const bool spells_out = random_.chance(20);
  return load_at(tensor, spells_out ? index_of(axes.shape, axes.axis) : axes.linear);
}

void NetworkGenerator::store(Block& body, const Tensor& tensor, const Axes& axes, const ExprRef& value) {
  const bool spells_out = random_.chance(20);
  add_store(body, tensor.var, spells_out ? index_of(axes.shape, axes.axis) : axes.linear, value);
}

// --- Element by element ----------------------------------------------------------------------------------------------

namespace {

Range type_range(DataType type) {
  return {static_cast<std::int64_t>(lowest(type)), static_cast<std::int64_t>(highest(type))};
}

bool lies_in(Range range, DataType type) {
  const Range all = type_range(type);
  return range.low >= all.low && range.high <= all.high;
}

// Once a value of the type holds it.
Range cut(Range range, DataType type) { return type.is_float() || lies_in(range, type) ? range : type_range(type); }

Range clipped(Range range, std::int64_t low, std::int64_t high) {
  return {std::clamp(range.low, low, high), std::clamp(range.high, low, high)};
}

constexpr std::int64_t large = std::int64_t{1} << 29;

ElementStep cast_step(DataType to) {
  return [to](const Value& value, const ExprRef&) -> Value {
    return {make_cast(to, value.expr), cut(value.range, to)};
  };
}

ElementStep offset_step(std::int64_t amount) {
  return [amount](const Value& value, const ExprRef&) -> Value {
    const DataType type = value.expr->type;
    const bool subtracts = (amount < 0) == type.is_uint();  // TVM writes x - -128
    const ExprRef sum = make_binary(subtracts ? ExprKind::sub : ExprKind::add, value.expr,
                                    make_int(subtracts ? -amount : amount, type));
    const Range range{value.range.low + amount, value.range.high + amount};
    return {sum, range};
  };
}

ElementStep clip_step(std::int64_t low, std::int64_t high) {
  return [low, high](const Value& value, const ExprRef&) -> Value {
    const DataType type = value.expr->type;
    const ExprRef least = make_binary(ExprKind::min, value.expr, make_int(high, type));
    return {make_binary(ExprKind::max, least, make_int(low, type)), clipped(cut(value.range, type), low, high)};
  };
}

ElementStep call_step(const std::string& op) {
  return [op](const Value& value, const ExprRef&) -> Value {
    return {tir::make_call(value.expr->type, op, {value.expr}), {}};
  };
}

ElementStep float_step(ExprKind kind, double number) {
  return [kind, number](const Value& value, const ExprRef&) -> Value {
    return {make_binary(kind, value.expr, make_float(number, value.expr->type)), {}};
  };
}

}  // namespace

ElementStep NetworkGenerator::some_float_step(std::int64_t channels) {
  switch (random_.below(8)) {
    case 0:
      return float_step(ExprKind::max, 0);
    case 1:
      return float_step(ExprKind::mul, 0.37);
    case 2:
      return float_step(ExprKind::div, 3);
    case 3:
      return call_step("tir.sigmoid");
    case 4:
      return call_step("tir.tanh");
    case 5:
      return [](const Value& value, const ExprRef&) -> Value {
        const DataType type = value.expr->type;
        const ExprRef low =
            make_binary(ExprKind::max, tir::make_call(type, "tir.round", {value.expr}), make_float(-128, type));
        return {make_cast(int8_type, make_binary(ExprKind::min, low, make_float(127, type))), {-128, 127}};
      };
    default: {
      const Tensor bias = weights(float32_type, {channels}, {});
      const ExprKind kind = random_.chance(50) ? ExprKind::add : ExprKind::mul;
      return [this, bias, kind](const Value& value, const ExprRef& channel) -> Value {
        return {make_binary(kind, value.expr, load_at(bias, channel).expr), {}};
      };
    }
  }
}

ElementStep NetworkGenerator::some_integer_step(DataType type, Range range, std::int64_t channels) {
  const DataType int16_type = type_of(tir::TypeCode::int_, 16);
  const bool is_small = range.low > -large && range.high < large;
  switch (random_.below(9)) {
    case 0:
      return clip_step(lies_in({-128, 127}, type) ? -128 : 0, 127);
    case 1:
      return cast_step(int8_type);
    case 2:
      return cast_step(int16_type);
    case 3:
      if (type.bits <= 32) return cast_step(float32_type);
      break;
    case 4:
      return cast_step(type_of(tir::TypeCode::uint, 8));
    case 5:
      if (type != tir::int32_type) return cast_step(tir::int32_type);
      return clip_step(0, 6);
    case 6:
      if (type == tir::int32_type && is_small) {
        const Tensor bias = weights(tir::int32_type, {channels}, {-1000, 1000});
        return [this, bias](const Value& value, const ExprRef& channel) -> Value {
          return {make_binary(ExprKind::add, value.expr, load_at(bias, channel).expr),
                  {value.range.low - 1000, value.range.high + 1000}};
        };
      }
      break;
    default:
      break;
  }
  if (!is_small) return clip_step(-1000, 1000);
  static const std::vector<std::int64_t> amounts = {-128, 128, -5, 5, 1, 37};
  const std::int64_t amount = random_.pick(amounts);
  return offset_step(lies_in({-std::abs(amount), std::abs(amount)}, type) ? amount : 3);
}

ElementStep NetworkGenerator::some_step(DataType type, Range range, std::int64_t channels) {
  return type.is_float() ? some_float_step(channels) : some_integer_step(type, range, channels);
}

// int32 sums → int8, mostly widened again and with the zero point taken off.
std::vector<ElementStep> NetworkGenerator::requantisation(Range range, std::int64_t channels) {
  std::vector<ElementStep> steps;
  if (random_.chance(80)) {
    const Tensor bias = weights(tir::int32_type, {channels}, {-2000, 2000});
    steps.emplace_back([this, bias](const Value& value, const ExprRef& channel) -> Value {
      return {make_binary(ExprKind::add, value.expr, load_at(bias, channel).expr),
              {value.range.low - 2000, value.range.high + 2000}};
    });
  }
  const std::int64_t most = std::max(std::abs(range.low), std::abs(range.high)) + 2002;
  const std::int64_t shift = random_.between(0, 9);
  if (random_.chance(60)) {
    const Tensor factor = weights(tir::int32_type, {channels}, {1 << 30, INT32_MAX});
    const Tensor left = weights(tir::int32_type, {channels}, {0, 0});
    const Tensor right = weights(tir::int32_type, {channels}, {shift, random_.chance(50) ? shift : shift + 3});
    steps.emplace_back([=, this](const Value& value, const ExprRef& channel) -> Value {
      const auto at = [&](const Tensor& tensor) { return load_at(tensor, channel).expr; };
      return {tir::make_call(tir::int32_type, "tir.q_multiply_shift_per_axis",
                             {value.expr, at(factor), at(left), at(right), make_int(31), make_int(0, tir::bool_type),
                              make_int(1, tir::bool_type)}),
              {-most, most}};
    });
  } else {
    const std::int64_t factor = random_.between((1 << 30) + 1, INT32_MAX);
    steps.emplace_back([=](const Value& value, const ExprRef&) -> Value {
      return {tir::make_call(tir::int32_type, "tir.q_multiply_shift",
                             {value.expr, make_int(factor), make_int(31), make_int(-shift)}),
              {-most, most}};
    });
  }
  static const std::vector<std::int64_t> zero_points = {-128, 0, 5, -3};
  const std::int64_t zero_point = random_.pick(zero_points);
  if (zero_point != 0) steps.push_back(offset_step(zero_point));
  steps.push_back(clip_step(-128, 127));
  if (random_.chance(85)) steps.push_back(cast_step(int8_type));
  if (random_.chance(60)) {
    steps.push_back(cast_step(type_of(tir::TypeCode::int_, 16)));
    steps.push_back(offset_step(-zero_point));
  }
  return steps;
}

Value NetworkGenerator::applied(Value value, const std::vector<ElementStep>& steps, const ExprRef& channel) const {
  for (const ElementStep& step : steps) value = step(value, channel);
  value.range = cut(value.range, value.expr->type);
  return value;
}

void NetworkGenerator::apply_into(Block& body, const Tensor& input, const std::vector<ElementStep>& steps,
                                  const Tensor& target) {
  nest(body, input.shape, [&](Block& inner, const Axes& axes) {
    store(inner, target, axes, applied(load(input, axes), steps, axes.axis.back()).expr);
  });
}

Tensor NetworkGenerator::step_into_buffer(Block& body, const Tensor& input, const std::vector<ElementStep>& steps) {
  // A trial run for type and range.
  const Value trial = applied({tir::make_load(input.type, input.var, make_int(0)), input.range}, steps, make_int(0));
  static const std::vector<std::string> names = {"T_add", "compute", "T_cast", "T_subtract", "T_relu", "T_multiply"};
  const Tensor target = buffer(body, random_.pick(names), trial.expr->type, input.shape, trial.range);
  apply_into(body, input, steps, target);
  return target;
}

}  // namespace usmp::random_modules
