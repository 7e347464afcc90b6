// SPDX-License-Identifier: Apache-2.0
// FULLY_CONNECTED: rows of the input times constant weights. BATCH_MATMUL: both are computed.
#include "tflite/products.hpp"

namespace usmp::tflite {

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
  const Products products(e, 0, 1, 2, std::move(ordered));
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

}  // namespace usmp::tflite
