// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// Copies, crops, layouts, upsampling, concatenation: what moves elements.
#include <algorithm>

#include "random_modules/network_generator.hpp"

namespace usmp::random_modules {

using tir::make_binary;
using tir::make_int;

Tensor NetworkGenerator::moved(Block& body, const Tensor& input, const std::string& name, const Shape& shape,
                               const std::function<ExprRef(const Axes&)>& index) {
  const Tensor target = buffer(body, name, input.type, shape, input.range);
  nest(body, shape,
       [&](Block& inner, const Axes& axes) { store(inner, target, axes, load_at(input, index(axes)).expr); });
  return target;
}

Tensor NetworkGenerator::copy(Block& body, const Tensor& input) {
  return moved(body, input, "T_reshape", input.shape, [](const Axes& axes) { return axes.linear; });
}

// Rows and columns left out at the edges, or every second one taken.
Tensor NetworkGenerator::crop(Block& body, const Tensor& input) {
  const std::int64_t step = random_.between(1, 2);
  const std::int64_t first = random_.below(input.shape[0]);
  const std::int64_t left = random_.below(input.shape[1]);
  const Shape shape = {(input.shape[0] - first + step - 1) / step, (input.shape[1] - left + step - 1) / step,
                       input.shape[2]};
  return moved(body, input, "T_strided_slice", shape, [&](const Axes& axes) {
    return index_of(input.shape, {plus(times(axes.axis[0], step), make_int(first)),
                                  plus(times(axes.axis[1], step), make_int(left)), axes.axis[2]});
  });
}

// Channels to the front, or blocks of channels split off, the index taken apart by divisions.
Tensor NetworkGenerator::layout(Block& body, const Tensor& input) {
  const std::int64_t height = input.shape[0];
  const std::int64_t width = input.shape[1];
  const std::int64_t channels = input.shape[2];
  if (random_.chance(50)) {
    return moved(body, input, "T_transpose", {channels, height, width}, [&](const Axes& axes) {
      return index_of(input.shape, {axes.axis[1], axes.axis[2], axes.axis[0]});
    });
  }
  const std::int64_t block = channels % 2 == 0 ? 2 : 1;
  return moved(body, input, "T_layout_trans", {channels / block * height, width, block}, [&](const Axes& axes) {
    const ExprRef row = floor_remainder(axes.axis[0], height);
    const ExprRef channel = plus(times(floor_quotient(axes.axis[0], height), block), axes.axis[2]);
    return index_of(input.shape, {row, axes.axis[1], channel});
  });
}

Tensor NetworkGenerator::upsampling(Block& body, const Tensor& input) {
  const Shape shape = {input.shape[0] * 2, input.shape[1] * 2, input.shape[2]};
  return moved(body, input, "resize", shape, [&](const Axes& axes) {
    return index_of(input.shape, {floor_quotient(axes.axis[0], 2), floor_quotient(axes.axis[1], 2), axes.axis[2]});
  });
}

Tensor NetworkGenerator::reversed(Block& body, const Tensor& input) {
  return moved(body, input, "T_reverse", input.shape, [&](const Axes& axes) {
    return make_binary(ExprKind::sub, make_int(elements_of(input.shape) - 1), axes.linear);
  });
}

// One behind the other; which it is, is decided an element at a time.
Tensor NetworkGenerator::concatenation(Block& body, const Tensor& a, const Tensor& b) {
  const std::size_t axis = random_.chance(50) ? 2 : 0;
  Shape shape = a.shape;
  shape[axis] += b.shape[axis];
  const Tensor target = buffer(body, "T_concat", a.type, shape,
                               {std::min(a.range.low, b.range.low), std::max(a.range.high, b.range.high)});
  nest(body, shape, [&](Block& inner, const Axes& axes) {
    std::vector<ExprRef> behind = axes.axis;
    behind[axis] = minus(axes.axis[axis], a.shape[axis]);
    const ExprRef is_behind = make_binary(ExprKind::le, make_int(a.shape[axis]), axes.axis[axis]);
    store(inner, target, axes,
          tir::make_call(
              a.type, "tir.if_then_else",
              {is_behind, load_at(b, index_of(b.shape, behind)).expr, load_at(a, index_of(a.shape, axes.axis)).expr}));
  });
  return target;
}

// Both have the same type and shape. Narrow sums are cut when they are stored.
Tensor NetworkGenerator::sum_of(Block& body, const Tensor& a, const Tensor& b) {
  const bool is_integer = !a.type.is_float();
  const bool is_large = is_integer && (std::max(std::abs(a.range.low), std::abs(a.range.high)) > (1 << 29) ||
                                       std::max(std::abs(b.range.low), std::abs(b.range.high)) > (1 << 29));
  const ExprKind kind = is_large ? ExprKind::max : ExprKind::add;
  Range range = {a.range.low + b.range.low, a.range.high + b.range.high};
  if (is_large) range = {std::min(a.range.low, b.range.low), std::max(a.range.high, b.range.high)};
  const bool fits_type = !is_integer || (range.low >= lowest(a.type) && range.high <= highest(a.type));
  if (!fits_type) range = {static_cast<std::int64_t>(lowest(a.type)), static_cast<std::int64_t>(highest(a.type))};
  const Tensor target = buffer(body, "T_add", a.type, a.shape, range);
  nest(body, a.shape, [&](Block& inner, const Axes& axes) {
    store(inner, target, axes, make_binary(kind, load(a, axes).expr, load(b, axes).expr));
  });
  return target;
}

}  // namespace usmp::random_modules
