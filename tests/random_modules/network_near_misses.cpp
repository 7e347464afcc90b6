// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// What looks like a chain and is none: each breaks a condition under which nests may be fused, buffers contracted,
// types narrowed or calls moved.
#include <algorithm>

#include "random_modules/network_generator.hpp"

namespace usmp::random_modules {

using tir::make_binary;
using tir::make_float;
using tir::make_int;

namespace {

ExprRef constant(DataType type, int value) { return type.is_float() ? make_float(value, type) : make_int(value, type); }

}  // namespace

// Every element, or a part of them, is written again from itself; the range does not grow.
void NetworkGenerator::update_in_place(Block& body, const Tensor& tensor) {
  Shape shape = tensor.shape;
  if (shape[0] > 1 && random_.chance(40)) --shape[0];
  nest(body, shape, [&](Block& inner, const Axes& axes) {
    const ExprRef index = index_of(tensor.shape, axes.axis);
    const ExprRef value = load_at(tensor, index).expr;
    const ExprRef bound = tensor.type.is_float()
                              ? make_float(0.25, tensor.type)
                              : make_int(random_.between(tensor.range.low, tensor.range.high), tensor.type);
    add_store(inner, tensor.var, index, make_binary(ExprKind::max, value, bound));
  });
}

// All elements are set, then all but the last rows are written: their readers see two writers.
Tensor NetworkGenerator::written_twice(Block& body, const Tensor& input) {
  const Tensor target =
      buffer(body, "compute", input.type, input.shape,
             {std::min<std::int64_t>(input.range.low, 1), std::max<std::int64_t>(input.range.high, 1)});
  nest(body, input.shape, [&](Block& inner, const Axes& axes) { store(inner, target, axes, constant(input.type, 1)); });
  Shape part = input.shape;
  const std::size_t axis = random_.index(part.size());
  if (part[axis] > 1) --part[axis];
  nest(body, part, [&](Block& inner, const Axes& axes) {
    const ExprRef index = index_of(input.shape, axes.axis);
    add_store(inner, target.var, index, load_at(input, index).expr);
  });
  return target;
}

// Two writers, each of a half.
Tensor NetworkGenerator::written_in_halves(Block& body, const Tensor& input) {
  const Tensor target = buffer(body, "T_concat", input.type, input.shape, input.range);
  const std::int64_t count = elements_of(input.shape);
  const std::int64_t half = count / 2;
  const auto write = [&](std::int64_t first, std::int64_t extent) {
    if (extent == 0) return;
    const VarId var = new_var("i", tir::int32_type);
    loops(body, {{var, extent}}, [&](Block& inner) {
      const ExprRef index = plus(tir::make_var(module_, var), make_int(first));
      add_store(inner, target.var, index, load_at(input, index).expr);
    });
  };
  write(0, half);
  write(half, count - half);
  return target;
}

// Several iterations write one element: the last one stays.
Tensor NetworkGenerator::folded(Block& body, const Tensor& input) {
  const std::int64_t count = elements_of(input.shape);
  const std::int64_t by = std::min<std::int64_t>(count, 2);
  const Shape shape = {1, 1, (count + by - 1) / by};
  const Tensor target = buffer(body, "T_take", input.type, shape, input.range);
  const bool wraps = random_.chance(50);
  nest(body, {count}, [&](Block& inner, const Axes& axes) {
    const ExprRef index = wraps ? floor_remainder(axes.linear, shape[2]) : floor_quotient(axes.linear, by);
    add_store(inner, target.var, index, load_at(input, axes.linear).expr);
  });
  return target;
}

// Each element takes the one before it: a value goes from iteration to iteration.
Tensor NetworkGenerator::running(Block& body, const Tensor& input) {
  const Tensor target = buffer(body, "T_cumulative", input.type, input.shape, input.range);
  add_store(body, target.var, make_int(0), load_at(input, make_int(0)).expr);
  const std::int64_t count = elements_of(input.shape);
  const VarId var = new_var("i", tir::int32_type);
  const ExprRef before = tir::make_var(module_, var);
  if (count > 1) {
    loops(body, {{var, count - 1}}, [&](Block& inner) {
      const ExprRef index = plus(before, make_int(1));
      add_store(inner, target.var, index,
                make_binary(ExprKind::max, load_at(target, before).expr, load_at(input, index).expr));
    });
  }
  return target;
}

// A state that a loop of time steps reads and writes through a buffer of its own, as an lstm does.
Tensor NetworkGenerator::carried(Block& body, const Tensor& input) {
  const Shape row = {1, input.shape[1], input.shape[2]};
  const Tensor state =
      buffer(body, "state", input.type, row,
             {std::min<std::int64_t>(input.range.low, 0), std::max<std::int64_t>(input.range.high, 0)});
  nest(body, row, [&](Block& inner, const Axes& axes) { store(inner, state, axes, constant(input.type, 0)); });
  const VarId time = new_var("t", tir::int32_type);
  loops(body, {{time, input.shape[0]}}, [&](Block& step) {
    const Tensor next = buffer(step, "next", input.type, row, state.range);
    nest(step, row, [&](Block& inner, const Axes& axes) {
      const ExprRef index = plus(times(tir::make_var(module_, time), elements_of(row)), axes.linear);
      store(inner, next, axes, make_binary(ExprKind::max, load_at(input, index).expr, load(state, axes).expr));
    });
    nest(step, row, [&](Block& inner, const Axes& axes) {
      const ExprRef last = make_binary(ExprKind::sub, make_int(elements_of(row) - 1), axes.linear);
      store(inner, state, axes, load_at(next, last).expr);
    });
  });
  return state;
}

Tensor NetworkGenerator::near_miss(Block& body, const Tensor& input) {
  switch (random_.below(7)) {
    case 0:
      return written_twice(body, input);
    case 1:
      return written_in_halves(body, input);
    case 2:
      return folded(body, input);
    case 3:
      return running(body, input);
    case 4:
      return carried(body, input);
    case 5:
      return reversed(body, input);
    default:
      // An earlier buffer is written between its writer and what reads it next.
      if (!written_.empty()) update_in_place(body, pick(written_));
      return input;
  }
}

}  // namespace usmp::random_modules
