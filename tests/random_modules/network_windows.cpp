// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// Pads, convolutions, pools, softmax.
#include <algorithm>

#include "random_modules/network_generator.hpp"

namespace usmp::random_modules {

using tir::make_binary;
using tir::make_cast;
using tir::make_float;
using tir::make_int;

namespace {

ExprRef zero(DataType type) { return type.is_float() ? make_float(0, type) : make_int(0, type); }

std::int64_t largest(Range range) { return std::max(std::abs(range.low), std::abs(range.high)); }

// Conjunction of what of these is no tautology.
ExprRef all_of(const std::vector<ExprRef>& conditions) {
  ExprRef all;
  for (const ExprRef& condition : conditions) {
    all = all ? make_binary(ExprKind::and_, all, condition) : condition;
  }
  return all ? all : make_int(1, tir::bool_type);
}

ExprRef is_at_least(const ExprRef& axis, std::int64_t low) { return make_binary(ExprKind::le, make_int(low), axis); }
ExprRef is_below(const ExprRef& axis, std::int64_t high) { return make_binary(ExprKind::lt, axis, make_int(high)); }

}  // namespace

// Rows and columns around the input, on all sides or only behind it, zero or another value.
Tensor NetworkGenerator::pad(Block& body, const Tensor& input, std::int64_t amount) {
  const std::int64_t before = random_.chance(70) ? amount : 0;
  Shape shape = input.shape;
  shape[0] += before + amount;
  shape[1] += before + amount;
  const std::int64_t value =
      input.type.is_float() || random_.chance(60) ? 0 : random_.between(input.range.low, input.range.high);
  const Range range{std::min(input.range.low, value), std::max(input.range.high, value)};
  const Tensor target = buffer(body, random_.chance(50) ? "pad_temp" : "PaddedInput", input.type, shape, range);
  nest(body, shape, [&](Block& inner, const Axes& axes) {
    const std::int64_t begin = -before;
    std::vector<ExprRef> conditions;
    std::vector<ExprRef> source = axes.axis;
    for (std::size_t i = 0; i < 2; ++i) {
      if (before > 0) conditions.push_back(is_at_least(axes.axis[i], before));
      conditions.push_back(is_below(axes.axis[i], before + input.shape[i]));
    }
    // The offset stands at the end: i · 12 + j · 3 + c - 15.
    std::vector<std::int64_t> strides = {input.shape[1] * input.shape[2], input.shape[2]};
    ExprRef index = plus(plus(times(source[0], strides[0]), times(source[1], strides[1])), source[2]);
    index = minus(index, -begin * (strides[0] + strides[1]));
    const ExprRef padding = input.type.is_float() ? make_float(0, input.type) : make_int(value, input.type);
    store(inner, target, axes,
          tir::make_call(input.type, "tir.if_then_else", {all_of(conditions), load_at(input, index).expr, padding}));
  });
  return target;
}

// --- Sums of products ------------------------------------------------------------------------------------------------

bool NetworkGenerator::can_multiply(const Tensor& input, std::int64_t terms) const {
  return input.type.is_float() || largest(input.range) <= (INT32_MAX / 128) / (terms + 1);
}

// Mostly of bytes, which some have as 16 bits; as converters make them, -128 is none of them.
Tensor NetworkGenerator::product_weights(const Tensor& input, const Shape& shape, std::int64_t terms, DataType type) {
  if (input.type.is_float()) return weights(float32_type, shape, {});
  const Range bytes{of_weights_.chance(75) ? -127 : -128, 127};
  constexpr Range most{-9000, 8000};
  constexpr Range unsigned_bytes{-151, 104};  // without their zero point
  const Range range = type == int8_type || of_weights_.chance(60) ? bytes
                      : of_weights_.chance(50)                    ? unsigned_bytes
                                                                  : most;
  const bool is_possible = largest(input.range) <= INT32_MAX / largest(range) / (terms + 1);
  return weights(type, shape, is_possible ? range : bytes);
}

// Sums of a wide network: mostly whole blocks of four.
std::int64_t NetworkGenerator::many(std::int64_t blocks) {
  return random_.chance(60) ? 4 * random_.between(1, blocks) : random_.between(4, 4 * blocks);
}

Tensor NetworkGenerator::widened_product_target(Block& body, const Tensor& input, const Tensor& weight,
                                                const Shape& shape, std::int64_t terms) {
  const std::int64_t most = largest(input.range) * largest(weight.range) * terms;
  const DataType type = input.type.is_float() ? float32_type : tir::int32_type;
  return buffer(body, "conv2d_nhwc", type, shape, {-most, most});
}

ExprRef NetworkGenerator::product(const Tensor& a, const ExprRef& a_index, const Tensor& b,
                                  const ExprRef& b_index) const {
  const auto widened = [](const ExprRef& value) {
    return value->type.is_float() || value->type == tir::int32_type ? value : make_cast(tir::int32_type, value);
  };
  return make_binary(ExprKind::mul, widened(load_at(a, a_index).expr), widened(load_at(b, b_index).expr));
}

void NetworkGenerator::accumulate(Block& body, const Tensor& sum, const ExprRef& index, const ExprRef& term) {
  add_store(body, sum.var, index, make_binary(ExprKind::add, load_at(sum, index).expr, term));
}

// Kernel loops around the accumulation, all channels of the input; the sum in a whole buffer or in one of a position.
Tensor NetworkGenerator::convolution(Block& body, const Tensor& input) {
  const std::int64_t kernel = random_.between(1, std::min<std::int64_t>({3, input.shape[0], input.shape[1]}));
  const std::int64_t stride = random_.between(1, 2);
  const std::int64_t channels = input.shape[2];
  const Shape shape = {(input.shape[0] - kernel) / stride + 1, (input.shape[1] - kernel) / stride + 1,
                       is_wide_ ? many(3) : random_.between(1, 4)};
  const std::int64_t terms = kernel * kernel * channels;
  const DataType type = !input.type.is_float() && random_.chance(70) ? type_of(tir::TypeCode::int_, 16) : int8_type;
  const Tensor weight = product_weights(input, {kernel, kernel, channels, shape[2]}, terms, type);
  const VarId ry = new_var("ry", tir::int32_type);
  const VarId rx = new_var("rx", tir::int32_type);
  const VarId rc = new_var("rc", tir::int32_type);
  const auto at = [this](VarId var) { return tir::make_var(module_, var); };
  // Adds all terms of one element.
  const auto reduce = [&](Block& out, const std::vector<ExprRef>& axis, const Tensor& sum, const ExprRef& index) {
    loops(out, {{ry, kernel}, {rx, kernel}, {rc, channels}}, [&](Block& inner) {
      const std::vector<ExprRef> source = {plus(times(axis[0], stride), at(ry)), plus(times(axis[1], stride), at(rx)),
                                           at(rc)};
      accumulate(inner, sum, index,
                 product(input, index_of(input.shape, source), weight,
                         index_of(weight.shape, {at(ry), at(rx), at(rc), axis[2]})));
    });
  };
  if (random_.chance(45)) {
    const Tensor target = widened_product_target(body, input, weight, shape, terms);
    nest(body, shape, [&](Block& inner, const Axes& axes) {
      add_store(inner, target.var, axes.linear, zero(target.type));
      reduce(inner, axes.axis, target, axes.linear);
    });
    return target;
  }
  // The sums of a position in a small buffer inside of the loop, and the first steps after them.
  Block trial;
  const Tensor like = widened_product_target(trial, input, weight, {1, 1, shape[2]}, terms);
  const std::vector<ElementStep> steps =
      like.type.is_float() ? std::vector<ElementStep>{some_float_step(shape[2])} : requantisation(like.range, shape[2]);
  const Value last = applied({tir::make_load(like.type, like.var, make_int(0)), like.range}, steps, make_int(0));
  const Tensor target = buffer(body, "T_subtract", last.expr->type, shape, last.range);
  nest(body, {shape[0], shape[1]}, [&](Block& inner, const Axes& axes) {
    const Tensor sum = widened_product_target(inner, input, weight, {1, 1, shape[2]}, terms);
    const VarId ff = new_var("ff", tir::int32_type);
    loops(inner, {{ff, shape[2]}}, [&](Block& position) {
      add_store(position, sum.var, at(ff), zero(sum.type));
      reduce(position, {axes.axis[0], axes.axis[1], at(ff)}, sum, at(ff));
    });
    const VarId ax3 = new_var("ax3", tir::int32_type);
    loops(inner, {{ax3, shape[2]}}, [&](Block& position) {
      const ExprRef index = plus(times(axes.linear, shape[2]), at(ax3));
      add_store(position, target.var, index, applied(load_at(sum, at(ax3)), steps, at(ax3)).expr);
    });
  });
  return target;
}

Tensor NetworkGenerator::depthwise(Block& body, const Tensor& input) {
  const std::int64_t kernel = random_.between(1, std::min<std::int64_t>({3, input.shape[0], input.shape[1]}));
  const std::int64_t most = std::min<std::int64_t>(4, 2 * most_elements / elements_of(input.shape));
  const std::int64_t outputs =
      most > 1 && of_channels_.chance(is_products_ ? 50 : 25) ? of_channels_.between(2, most) : 1;  // of a channel
  const std::int64_t channels = input.shape[2] * outputs;
  const Shape shape = {input.shape[0] - kernel + 1, input.shape[1] - kernel + 1, channels};
  const Tensor weight =
      product_weights(input, {kernel, kernel, channels}, kernel * kernel, type_of(tir::TypeCode::int_, 16));
  const Tensor target = widened_product_target(body, input, weight, shape, kernel * kernel);
  nest(body, shape, [&](Block& inner, const Axes& axes) {
    add_store(inner, target.var, axes.linear, zero(target.type));
    const VarId di = new_var("di", tir::int32_type);
    const VarId dj = new_var("dj", tir::int32_type);
    const ExprRef i = tir::make_var(module_, di);
    const ExprRef j = tir::make_var(module_, dj);
    loops(inner, {{di, kernel}, {dj, kernel}}, [&](Block& window) {
      ExprRef index = axes.linear;
      if (random_.chance(60)) {
        const VarId var = new_var("cse_var_2", tir::int32_type);
        window.push_back({tir::Let{var, axes.linear}});
        index = tir::make_var(module_, var);
      }
      const ExprRef channel = outputs == 1 ? axes.axis[2] : floor_quotient(axes.axis[2], outputs);
      const ExprRef source = index_of(input.shape, {plus(axes.axis[0], i), plus(axes.axis[1], j), channel});
      accumulate(window, target, index, product(input, source, weight, index_of(weight.shape, {i, j, axes.axis[2]})));
    });
  });
  return target;
}

// All elements with all: the sums are set to zero by a nest of their own.
Tensor NetworkGenerator::dense(Block& body, const Tensor& input) {
  const std::int64_t terms = elements_of(input.shape);
  const std::int64_t units = is_wide_ ? many(4) : random_.between(1, 6);
  const Tensor weight = product_weights(input, {terms, units}, terms, type_of(tir::TypeCode::int_, 16));
  const Tensor target = widened_product_target(body, input, weight, {1, 1, units}, terms);
  const VarId init = new_var("x.c.init", tir::int32_type);
  loops(body, {{init, units}},
        [&](Block& inner) { add_store(inner, target.var, tir::make_var(module_, init), zero(target.type)); });
  const VarId outer = new_var("k.outer", tir::int32_type);
  const VarId column = new_var("x.c", tir::int32_type);
  const ExprRef k = tir::make_var(module_, outer);
  const ExprRef c = tir::make_var(module_, column);
  loops(body, {{outer, terms}, {column, units}}, [&](Block& inner) {
    accumulate(inner, target, c, product(input, k, weight, index_of(weight.shape, {k, c})));
  });
  return target;
}

// --- Pools, softmax --------------------------------------------------------------------------------------------------

Tensor NetworkGenerator::pool(Block& body, const Tensor& input) {
  const bool is_max = random_.chance(40);
  const std::int64_t kernel = random_.between(1, std::min<std::int64_t>({3, input.shape[0], input.shape[1]}));
  const std::int64_t stride = random_.between(1, kernel);
  const std::int64_t padding = is_max ? 0 : random_.below(2);
  const Shape shape = {(input.shape[0] + padding - kernel) / stride + 1,
                       (input.shape[1] + padding - kernel) / stride + 1, input.shape[2]};
  const std::int64_t count = kernel * kernel;
  const Range range = is_max ? input.range : Range{-largest(input.range) * count, largest(input.range) * count};
  const DataType type = is_max || input.type.is_float() ? input.type : tir::int32_type;
  const Tensor sum = buffer(body, is_max ? "pool_max" : "pool_sum", type, shape, range);
  const ExprRef start = is_max && !type.is_float() ? make_int(input.range.low, type) : zero(type);
  const auto take = [&](Block& inner, const Axes& axes) {
    const VarId rv0 = new_var("rv0", tir::int32_type);
    const VarId rv1 = new_var("rv1", tir::int32_type);
    loops(inner, {{rv0, kernel}, {rv1, kernel}}, [&](Block& window) {
      const ExprRef i = plus(times(axes.axis[0], stride), tir::make_var(module_, rv0));
      const ExprRef j = plus(times(axes.axis[1], stride), tir::make_var(module_, rv1));
      ExprRef term = load_at(input, index_of(input.shape, {i, j, axes.axis[2]})).expr;
      if (padding > 0) {
        term = tir::make_call(
            input.type, "tir.if_then_else",
            {all_of({is_below(i, input.shape[0]), is_below(j, input.shape[1])}), term, zero(input.type)});
      }
      if (type != input.type) term = make_cast(type, term);
      const ExprRef before = load_at(sum, axes.linear).expr;
      add_store(window, sum.var, axes.linear, make_binary(is_max ? ExprKind::max : ExprKind::add, before, term));
    });
  };
  if (random_.chance(50)) {  // a nest of its own sets the sums to zero
    nest(body, shape, [&](Block& inner, const Axes& axes) { store(inner, sum, axes, start); });
    nest(body, shape, take);
  } else {
    nest(body, shape, [&](Block& inner, const Axes& axes) {
      store(inner, sum, axes, start);
      take(inner, axes);
    });
  }
  if (is_max) return sum;
  const std::int64_t most = largest(input.range);
  const Tensor average = buffer(body, "pool_avg", type, shape, {-most, most});
  apply_into(body, sum, {[count](const Value& value, const ExprRef&) -> Value {
               const DataType of = value.expr->type;
               const ExprRef by = of.is_float() ? make_float(static_cast<double>(count), of) : make_int(count, of);
               return {make_binary(ExprKind::div, value.expr, by), {}};
             }},
             average);
  return average;
}

// Greatest element of a row, exponentials, their sum, quotients: four nests, two of which reduce.
Tensor NetworkGenerator::softmax(Block& body, const Tensor& input) {
  const std::int64_t columns = input.shape.back();
  const std::int64_t rows = elements_of(input.shape) / columns;
  const Shape flat = {rows, columns};
  const DataType type = float32_type;
  const Tensor greatest = buffer(body, "T_softmax_maxelem", type, {rows}, {});
  const Tensor exponentials = buffer(body, "T_softmax_exp", type, flat, {});
  const Tensor sum = buffer(body, "T_softmax_expsum", type, {rows}, {});
  const Tensor quotients = buffer(body, "T_softmax_norm", type, input.shape, {});
  const auto as_float = [&](const ExprRef& index) {
    const ExprRef value = load_at(input, index).expr;
    return input.type.is_float() ? value : make_binary(ExprKind::mul, make_cast(type, value), make_float(0.125, type));
  };
  const auto reduce = [&](const Tensor& into, double start, ExprKind kind, const auto& term) {
    const VarId row = new_var("i0", tir::int32_type);
    const VarId k = new_var("k", tir::int32_type);
    const ExprRef at = tir::make_var(module_, row);
    loops(body, {{row, rows}}, [&](Block& outer) {
      add_store(outer, into.var, at, make_float(start, type));
      loops(outer, {{k, columns}}, [&](Block& inner) {
        const ExprRef index = index_of(flat, {at, tir::make_var(module_, k)});
        add_store(inner, into.var, at, make_binary(kind, load_at(into, at).expr, term(index)));
      });
    });
  };
  reduce(greatest, -1e30, ExprKind::max, as_float);
  nest(body, flat, [&](Block& inner, const Axes& axes) {
    const ExprRef shifted = make_binary(ExprKind::sub, as_float(axes.linear), load_at(greatest, axes.axis[0]).expr);
    store(inner, exponentials, axes, tir::make_call(type, "tir.exp", {shifted}));
  });
  reduce(sum, 0, ExprKind::add, [&](const ExprRef& index) { return load_at(exponentials, index).expr; });
  nest(body, flat, [&](Block& inner, const Axes& axes) {
    store(inner, quotients, axes,
          make_binary(ExprKind::div, load(exponentials, axes).expr, load_at(sum, axes.axis[0]).expr));
  });
  return quotients;
}

}  // namespace usmp::random_modules
