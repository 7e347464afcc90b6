// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// MEAN, SUM, REDUCE_MAX, REDUCE_MIN over any dimensions; ARG_MAX, ARG_MIN along one.
#include <algorithm>
#include <bit>
#include <functional>
#include <limits>

#include "tflite/arithmetic.hpp"
#include "tflite/operators.hpp"
#include "tflite/products.hpp"

namespace usmp::tflite {
namespace {

struct Reduction {
  std::vector<bool> is_reduced;  // by dimension of the input
  std::int64_t elements = 1;     // that give one
};

Reduction reduction_of(Emitter& e) {
  const Value& in = e.input(0);
  e.require_type(in, {Type::float32, Type::int8, Type::int16});
  e.require_type(e.output(), {in.type});
  Reduction result;
  result.is_reduced.resize(in.shape.size());
  const auto rank = static_cast<std::int64_t>(in.shape.size());
  for (std::int64_t axis : e.integers(1)) {
    if (axis < 0) axis += rank;
    e.require(axis >= 0 && axis < rank, "axis " + std::to_string(axis) + " of " + text_of(in.shape), "within");
    result.is_reduced[static_cast<std::size_t>(axis)] = true;
  }
  for (std::size_t d = 0; d < in.shape.size(); ++d) {
    if (result.is_reduced[d]) result.elements *= in.shape[d];
  }
  e.require(in.count() > 0 && e.output().count() * result.elements == in.count(),
            text_of(in.shape) + " that gives " + text_of(e.output().shape), "one element for each that is left");
  return result;
}

using Step = std::function<Num(const Num& sum, const Num& x)>;
using Finish = std::function<Num(const Num& sum)>;

// Sums side by side where the last dimensions are left: rows of them are added as they come.
void reduce(Emitter& e, const Reduction& reduction, tir::DataType type, const Num& start, const Step& step,
            const Finish& finish) {
  const Shape& shape = e.input(0).shape;
  const std::size_t rank = shape.size();
  std::size_t behind = rank;  // dimensions from here on are left
  while (behind > 0 && !reduction.is_reduced[behind - 1]) --behind;
  std::int64_t row = 1;
  for (std::size_t d = behind; d < rank; ++d) row *= shape[d];
  const std::int64_t count = block_of(row);
  Shape outer;
  Shape inner;
  for (std::size_t d = 0; d < behind; ++d) (reduction.is_reduced[d] ? inner : outer).push_back(shape[d]);
  const Array in = e.in(0);
  const Array out = e.out();
  Nest& nest = e.nest();
  nest.loops(outer, [&](const std::vector<Num>& o) {
    nest.loop("b", row / count, [&](const Num& b) {
      const Array sums = nest.variables("sums", type, count);
      nest.loop("c", count, [&](const Num& c) { nest.store(sums, c, start); });
      nest.loops(inner, [&](const std::vector<Num>& i) {
        nest.loop("c", count, [&](const Num& c) {
          Num index = b * Num(count) + c;
          std::int64_t stride = row;
          std::size_t next_outer = o.size();
          std::size_t next_inner = i.size();
          for (std::size_t d = behind; d-- > 0; stride *= shape[d]) {
            index = (reduction.is_reduced[d] ? i[--next_inner] : o[--next_outer]) * Num(stride) + index;
          }
          nest.store(sums, c, step(nest.load(sums, c), cast(type, nest.load(in, index))));
        });
      });
      nest.loop("c", count, [&](const Num& c) {
        const Num place = index_of(outer, o) * Num(row) + b * Num(count) + c;
        nest.store(out, place, finish(nest.load(sums, c)));
      });
    });
  });
}

Num sum_of(const Num& sum, const Num& x) { return sum + x; }

void mean_or_sum(Emitter& e, bool is_mean) {
  const Reduction reduction = reduction_of(e);
  const Value& in = e.input(0);
  const Value& out = e.output();
  const std::int64_t n = reduction.elements;
  if (in.type == Type::float32) {
    return reduce(e, reduction, float32_type, float_literal(0), sum_of,
                  [&](const Num& sum) { return is_mean ? sum / float_literal(static_cast<float>(n)) : sum; });
  }
  e.require_scale(in);
  e.require_scale(out);
  Multiplier factor = multiplier_of(in.scale() / out.scale());
  if (is_mean) {
    const int bits = 63 - std::countl_zero(static_cast<std::uint64_t>(n));
    const int shift = std::min({bits, 32, 31 + factor.shift});
    factor.multiplier = static_cast<std::int32_t>((std::int64_t{factor.multiplier} << shift) / n);
    factor.shift -= shift;
  }
  const Interval range = range_of(in.type);
  const std::int64_t most = n * std::max(range.high - in.zero_point(), in.zero_point() - range.low);
  e.require(most < std::int64_t{1} << 31 && n < 1 << 24, std::to_string(n) + " elements to be summed",
            "sums of 32 bits");
  Nest& nest = e.nest();
  reduce(e, reduction, tir::int32_type, 0, sum_of, [&](const Num& sum) {
    const Num value = multiplied(nest, sum - Num(in.zero_point() * n), factor, most);
    return clip(value + Num(out.zero_point()), range.low, range.high);
  });
}

void extreme(Emitter& e, bool is_max) {
  const Reduction reduction = reduction_of(e);
  const Value& in = e.input(0);
  if (in.type != Type::float32) e.require_same_scale(in, e.output());
  const tir::DataType type = data_type_of(in.type);
  Num start;
  if (in.type == Type::float32) {
    start = float_literal(is_max ? std::numeric_limits<float>::lowest() : std::numeric_limits<float>::max());
  } else {
    start = literal(is_max ? range_of(in.type).low : range_of(in.type).high, type);
  }
  reduce(
      e, reduction, type, start, [&](const Num& most, const Num& x) { return is_max ? max(most, x) : min(most, x); },
      [](const Num& most) { return most; });
}

void arg_extreme(Emitter& e, bool is_max) {
  const Value& in = e.input(0);
  e.require_type(in, {Type::float32, Type::int8});
  e.require_type(e.output(), {Type::int32, Type::int64});
  const std::vector<std::int64_t> axes = e.integers(1);
  const auto rank = static_cast<std::int64_t>(in.shape.size());
  std::int64_t axis = axes.size() == 1 ? axes[0] : rank;
  if (axis < 0) axis += rank;
  e.require(axis >= 0 && axis < rank, "another axis", "one of the dimensions");
  std::int64_t outer = 1;
  std::int64_t inner = 1;
  for (std::int64_t d = 0; d < rank; ++d) (d < axis ? outer : inner) *= in.shape[static_cast<std::size_t>(d)];
  const std::int64_t size = in.shape[static_cast<std::size_t>(axis)];
  e.require(size > 0, "no elements", "one or more");
  inner /= size;
  e.require(e.output().count() == outer * inner, "an output of " + text_of(e.output().shape), "one for each row");
  const Array source = e.in(0);
  const Array out = e.out();
  Nest& nest = e.nest();
  const tir::DataType type = data_type_of(in.type);
  nest.loop("o", outer, [&](const Num& o) {
    nest.loop("i", inner, [&](const Num& i) {
      const auto index = [&](const Num& k) { return o * Num(size * inner) + k * Num(inner) + i; };
      const Array best = nest.variables("best", type, 1);
      const Array place = nest.variables("place", tir::int32_type, 1);
      nest.store(best, 0, nest.load(source, index(0)));
      nest.store(place, 0, 0);
      nest.loop("k", size, [&](const Num& k) {
        const Num x = nest.let("x", nest.load(source, index(k)));
        const Num is_better = is_max ? less(nest.load(best, 0), x) : less(x, nest.load(best, 0));
        nest.branch(is_better, [&] {
          nest.store(best, 0, x);
          nest.store(place, 0, k);
        });
      });
      nest.store(out, o * Num(inner) + i, nest.load(place, 0));
    });
  });
}

}  // namespace

void mean(Emitter& e) { mean_or_sum(e, true); }
void sum(Emitter& e) { mean_or_sum(e, false); }
void reduce_max(Emitter& e) { extreme(e, true); }
void reduce_min(Emitter& e) { extreme(e, false); }
void arg_max(Emitter& e) { arg_extreme(e, true); }
void arg_min(Emitter& e) { arg_extreme(e, false); }

}  // namespace usmp::tflite
