// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// FULLY_CONNECTED: rows of the input times constant weights. BATCH_MATMUL: both are computed.
#include <algorithm>

#include "tflite/products.hpp"

namespace usmp::tflite {
namespace {

// Batches of a matrix, along the output's, where an extent of 1 is repeated.
Num batch_index(const Shape& shape, const Shape& out, const std::vector<Num>& batch) {
  const std::size_t batches = shape.size() - 2;
  const std::size_t missing = out.size() - shape.size();
  Num index = 0;
  std::int64_t stride = shape[shape.size() - 1] * shape[shape.size() - 2];
  for (std::size_t d = batches; d-- > 0; stride *= shape[d]) {
    if (shape[d] != 1) index = index + batch[d + missing] * Num(stride);
  }
  return index;
}

}  // namespace

void fully_connected(Emitter& e) {
  const Value& data = e.input(0);
  const Shape& filter = e.input(1).shape;  // outputs, depth
  e.require(!e.options().shuffled_weights, "shuffled weights", "weights in row-major order");
  e.require(filter.size() == 2 && filter[1] > 0 && data.count() % filter[1] == 0,
            "weights " + text_of(filter) + " for " + text_of(data.shape), "rows that fit");
  const std::int64_t depth = filter[1];
  const std::int64_t channels = filter[0];
  const std::int64_t rows = data.count() / depth;
  e.require(e.output().count() == rows * channels, "an output of " + text_of(e.output().shape),
            std::to_string(rows * channels) + " elements");
  Weights ordered = ordered_weights(e, 1, {1, 0});
  const Quantization& quantization = e.input(1).quantization;
  if (data.type != Type::float32 && quantization.is_there()) {
    ordered.zero_point = quantization.zero_points.front();
    for (const std::int64_t one : quantization.zero_points) {
      e.require(one == ordered.zero_point, "several zero points of weights", "one");
    }
  }
  const Products products(e, 0, 1, 2, std::move(ordered), Products::Wide::always, true);
  const Array in = e.in(0);
  const Array out = e.out();
  Nest& nest = e.nest();
  const std::int64_t count = block_of(channels);
  nest.loop("r", rows, [&](const Num& row) {
    nest.loop("b", channels / count, [&](const Num& b) {
      const Num first = b * Num(count);
      products.block(out, count, first, row * Num(channels) + first, [&](const Num& o, const Products::Add& add) {
        nest.loop("k", depth, [&](const Num& k) {
          add(products.centred(nest, in, row * Num(depth) + k), k * Num(channels) + first + o);
        });
      });
    });
  });
}

void batch_matmul(Emitter& e) {
  const Value& a = e.input(0);
  const Value& b = e.input(1);
  const Value& out = e.output();
  e.require_number(a);
  e.require_type(b, {a.type});
  e.require_type(out, {a.type});
  const std::size_t rank = out.shape.size();
  const bool have_ranks =
      a.shape.size() >= 2 && b.shape.size() >= 2 && rank == std::max(a.shape.size(), b.shape.size());
  e.require(have_ranks, text_of(a.shape) + " times " + text_of(b.shape), "matrices");
  const auto last = [](const Shape& shape, std::size_t i) { return shape[shape.size() - 1 - i]; };
  const std::int64_t rows = last(a.shape, e.options().transpose_x ? 0 : 1);
  const std::int64_t depth = last(a.shape, e.options().transpose_x ? 1 : 0);
  const std::int64_t columns = last(b.shape, e.options().transpose_y ? 1 : 0);
  bool fits = last(b.shape, e.options().transpose_y ? 0 : 1) == depth && last(out.shape, 0) == columns &&
              last(out.shape, 1) == rows;
  for (std::size_t i = 2; i < rank; ++i) {
    const std::int64_t of_a = i < a.shape.size() ? last(a.shape, i) : 1;
    const std::int64_t of_b = i < b.shape.size() ? last(b.shape, i) : 1;
    const std::int64_t of_out = last(out.shape, i);
    fits = fits && (of_a == of_out || of_a == 1) && (of_b == of_out || of_b == 1);
  }
  e.require(fits, text_of(a.shape) + " times " + text_of(b.shape) + " that gives " + text_of(out.shape),
            "matrices that fit");
  const bool is_float = a.type == Type::float32;
  const bool is_wide = a.type == Type::int16;
  Multiplier factor;
  if (!is_float) {
    e.require_scale(b);
    e.require_scale(out);
    e.require(!is_wide || (a.zero_point() == 0 && b.zero_point() == 0 && out.zero_point() == 0),
              "int16 with a zero point", "zero point 0");
    // The scales' product is a float32.
    const float scale = a.quantization.scales.front() * b.quantization.scales.front();
    factor = multiplier_of(static_cast<double>(scale) / out.scale());
    if (is_wide) require_wide_factors(e, {factor});
    e.require(depth < 1 << 15, "rows of " + std::to_string(depth), "fewer than 32768 elements");
  }
  const tir::DataType type = is_float ? float32_type : is_wide ? tir::int64_type : tir::int32_type;
  const Array left = e.in(0);
  const Array right = e.in(1);
  const Array target = e.out();
  Nest& nest = e.nest();
  const auto element = [&](const Array& array, const Value& value, const Num& index) {
    const Num x = cast(type, nest.load(array, index));
    return is_float ? x : x - Num(value.zero_point());
  };
  const Shape batches(out.shape.begin(), out.shape.end() - 2);
  nest.loops(batches, [&](const std::vector<Num>& batch) {
    const Num first_a = batch_index(a.shape, out.shape, batch);
    const Num first_b = batch_index(b.shape, out.shape, batch);
    nest.loop("i", rows, [&](const Num& i) {
      nest.loop("j", columns, [&](const Num& j) {
        const Array sum = nest.variables("sum", type, 1);
        nest.store(sum, 0, is_float ? float_literal(0) : literal(0, type));
        nest.loop("k", depth, [&](const Num& k) {
          const Num x = first_a + (e.options().transpose_x ? k * Num(rows) + i : i * Num(depth) + k);
          const Num y = first_b + (e.options().transpose_y ? j * Num(depth) + k : k * Num(columns) + j);
          nest.store(sum, 0, nest.load(sum, 0) + element(left, a, x) * element(right, b, y));
        });
        const Num place = index_of(batches, batch) * Num(rows * columns) + i * Num(columns) + j;
        const Num total = nest.load(sum, 0);
        if (is_float) return nest.store(target, place, total);
        const Interval range = range_of(out.type);
        const Num value = is_wide ? multiplied_wide(total, factor) : multiplied(nest, total, factor, depth * 255 * 255);
        nest.store(target, place, clip(value + Num(out.zero_point()), range.low, range.high));
      });
    });
  });
}

}  // namespace usmp::tflite
