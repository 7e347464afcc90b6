// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// AVERAGE_POOL_2D, MAX_POOL_2D: windows are cut at the border of the image.
#include <algorithm>
#include <limits>

#include "tflite/arithmetic.hpp"
#include "tflite/products.hpp"
#include "tflite/windows.hpp"

namespace usmp::tflite {
namespace {

struct Pool {
  Windows windows;
  std::int64_t channels = 0;
  std::int64_t count = 0;  // of channels in a block
};

Pool pool_of(Emitter& e) {
  const Value& in = e.input(0);
  e.require_number(in);
  e.require_type(e.output(), {in.type});
  e.require(in.shape.size() == 4, "shape " + text_of(in.shape), "four dimensions");
  e.require(e.options().activation <= Activation::relu6, "another activation", "none, RELU, RELU_N1_TO_1 or RELU6");
  if (in.type != Type::float32) e.require_same_scale(in, e.output());
  Pool pool{.windows = windows_of(e, e.options().filter_height, e.options().filter_width),
            .channels = in.shape[3],
            .count = block_of(std::max<std::int64_t>(in.shape[3], 1))};
  e.require_shape(e.output(), {in.shape[0], pool.windows.vertical.out, pool.windows.horizontal.out, pool.channels});
  return pool;
}

// Elements of the window at output `at`: those inside of the image.
struct Cut {
  Num first;  // in the image
  Num count;
};
Cut cut(Nest& nest, const Window& window, const Num& at, const char* name) {
  const Num first = at * Num(window.stride) - Num(window.before);
  if (!window.leaves()) return {first, window.kernel};
  const Num begin = window.before > 0 ? nest.let(std::string(name) + "0", max(first, 0)) : first;
  const Num end = min(first + Num(window.kernel), window.in);
  return {begin, nest.let(std::string(name) + "n", end - begin)};
}

// For each output: sums or maxima of a block of channels from `start` on, by `step`, then `finish`.
void pool_windows(Emitter& e, const Pool& pool, tir::DataType type, const Num& start,
                  const std::function<Num(const Num& sum, const Num& x)>& step,
                  const std::function<Num(const Num& sum, const Num& elements)>& finish) {
  Nest& nest = e.nest();
  const Array in = e.in(0);
  const Array out = e.out();
  const Shape& shape = e.input(0).shape;
  const Shape& result = e.output().shape;
  nest.loop("n", shape[0], [&](const Num& n) {
    nest.loop("y", result[1], [&](const Num& y) {
      nest.loop("x", result[2], [&](const Num& x) {
        const Cut rows = cut(nest, pool.windows.vertical, y, "y");
        const Cut columns = cut(nest, pool.windows.horizontal, x, "x");
        const Num elements = rows.count * columns.count;
        nest.loop("b", pool.channels / pool.count, [&](const Num& b) {
          const Array sums = nest.variables("sums", type, pool.count);
          nest.loop("c", pool.count, [&](const Num& c) { nest.store(sums, c, start); });
          const auto over = [&](const char* name, const Num& count, const Nest::Body& body) {
            if (const auto known = count.literal()) return nest.loop(name, *known, body);
            nest.loop(name, count, body);
          };
          over("ky", rows.count, [&](const Num& ky) {
            over("kx", columns.count, [&](const Num& kx) {
              nest.loop("c", pool.count, [&](const Num& c) {
                const Num index = (n * Num(shape[1]) + rows.first + ky) * Num(shape[2] * shape[3]) +
                                  (columns.first + kx) * Num(shape[3]) + b * Num(pool.count) + c;
                nest.store(sums, c, step(nest.load(sums, c), cast(type, nest.load(in, index))));
              });
            });
          });
          nest.loop("c", pool.count, [&](const Num& c) {
            const Num index = ((n * Num(result[1]) + y) * Num(result[2]) + x) * Num(shape[3]) + b * Num(pool.count) + c;
            nest.store(out, index, finish(nest.load(sums, c), elements));
          });
        });
      });
    });
  });
}

}  // namespace

void average_pool_2d(Emitter& e) {
  const Pool pool = pool_of(e);
  if (e.output().type == Type::float32) {
    return pool_windows(
        e, pool, float32_type, float_literal(0), [](const Num& sum, const Num& x) { return sum + x; },
        [&](const Num& sum, const Num& elements) {
          return activated(sum / cast(float32_type, elements), e.options().activation);
        });
  }
  const Interval range = activation_range(e.options().activation, e.output()).value();
  pool_windows(
      e, pool, tir::int32_type, 0, [](const Num& sum, const Num& x) { return sum + x; },
      [&](const Num& sum, const Num& elements) {
        // To the nearest, halves away from zero.
        Num half = elements / 2;
        if (const auto count = elements.literal()) half = *count / 2;
        return clip((sum + select(less(0, sum), half, 0 - half)) / elements, range.low, range.high);
      });
}

void max_pool_2d(Emitter& e) {
  const Pool pool = pool_of(e);
  const auto larger = [](const Num& most, const Num& x) { return max(most, x); };
  if (e.output().type == Type::float32) {
    return pool_windows(e, pool, float32_type, float_literal(std::numeric_limits<float>::lowest()), larger,
                        [&](const Num& most, const Num&) { return activated(most, e.options().activation); });
  }
  const Interval range = activation_range(e.options().activation, e.output()).value();
  const tir::DataType type = data_type_of(e.output().type);
  pool_windows(e, pool, type, literal(range_of(e.output().type).low, type), larger,
               [&](const Num& most, const Num&) { return clip(most, range.low, range.high); });
}

}  // namespace usmp::tflite
