// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// CONV_2D, DEPTHWISE_CONV_2D, TRANSPOSE_CONV. Where windows reach over the border, an int16 copy of the input less its
// zero point has a border of zeros; elsewhere the input is read as it is.
#include <algorithm>
#include <array>
#include <utility>

#include "tflite/products.hpp"
#include "tflite/windows.hpp"

namespace usmp::tflite {
namespace {

// The input as windows see it.
struct Image {
  Array array;
  std::int64_t height = 0;
  std::int64_t width = 0;
  std::int64_t channels = 0;
  std::int64_t above = 0;  // of the input's first line and column in the array
  std::int64_t left = 0;
  bool is_copy = false;

  // Element (y, x, c) of image n, where the window's first line and column are 0. A copy holds one image.
  [[nodiscard]] Num index(const Num& n, const Num& y, const Num& x, const Num& c) const {
    const Num first = is_copy ? Num(0) : n * Num(height * width * channels);
    return first + y * Num(width * channels) + x * Num(channels) + c;
  }
};

// The copy of image n, if there is a border.
Image image_of(Emitter& e, const Products& products, const Array& in, const Shape& shape, const Windows& windows,
               const Num& n) {
  Image image{.array = in, .height = shape[1], .width = shape[2], .channels = shape[3]};
  if (!windows.vertical.leaves() && !windows.horizontal.leaves()) return image;
  Nest& nest = e.nest();
  const Image source = image;
  image.is_copy = true;
  if (windows.vertical.leaves()) {
    image.height = windows.vertical.extent();
    image.above = windows.vertical.before;
  }
  if (windows.horizontal.leaves()) {
    image.width = windows.horizontal.extent();
    image.left = windows.horizontal.before;
  }
  image.array = nest.allocate("padded", products.data_type(), image.height * image.width * image.channels);
  const Num zero = products.data_type() == float32_type ? float_literal(0) : literal(0, products.data_type());
  nest.loops({image.height, image.width, image.channels}, [&](const std::vector<Num>& i) {
    std::optional<Num> is_inside;
    const auto require_inside = [&](const Num& at, std::int64_t before, std::int64_t extent, std::int64_t whole) {
      const auto add = [&](const Num& condition) { is_inside = is_inside ? both(*is_inside, condition) : condition; };
      if (before > 0) add(less_equal(before, at));
      if (whole > before + extent) add(less(at, before + extent));
    };
    require_inside(i[0], image.above, source.height, image.height);
    require_inside(i[1], image.left, source.width, image.width);
    const Num index = source.index(n, i[0] - Num(image.above), i[1] - Num(image.left), i[2]);
    const Num value = cast(products.data_type(), products.centred(nest, in, index));
    nest.store(image.array, image.index(n, i[0], i[1], i[2]),
               is_inside ? if_then_else(*is_inside, value, zero) : value);
  });
  return image;
}

void check_images(const Emitter& e, const Windows& windows, std::int64_t channels) {
  const Shape& in = e.input(0).shape;
  const Shape wanted = {in[0], windows.vertical.out, windows.horizontal.out, channels};
  e.require_shape(e.output(), wanted);
}

// Loops over the pixels of all outputs, with the input that their windows see.
void for_each_pixel(Emitter& e, const Products& products, const Windows& windows,
                    const std::function<void(const Image&, const Num& n, const Num& y, const Num& x)>& body) {
  Nest& nest = e.nest();
  const Shape& shape = e.input(0).shape;
  const Array in = e.in(0);
  nest.loop("n", shape[0], [&](const Num& n) {
    const Image image = image_of(e, products, in, shape, windows, n);
    nest.loop("y", windows.vertical.out, [&](const Num& y) {
      nest.loop("x", windows.horizontal.out, [&](const Num& x) { body(image, n, y, x); });
    });
  });
}

// Groups of channels: each output sees `depth` of the input's.
void convolve(Emitter& e, const Products& products, const Windows& windows, std::int64_t depth, std::int64_t channels) {
  Nest& nest = e.nest();
  const std::int64_t groups = e.input(0).shape[3] / depth;
  const std::int64_t group = channels / groups;
  const std::int64_t count = block_of(group);
  const Array out = e.out();
  const std::int64_t out_width = windows.horizontal.out;
  const std::int64_t out_height = windows.vertical.out;
  const std::int64_t kernel_width = windows.horizontal.kernel;
  for_each_pixel(e, products, windows, [&](const Image& image, const Num& n, const Num& y, const Num& x) {
    const Num pixel = (n * Num(out_height) + y) * Num(out_width) + x;
    nest.loop("g", groups, [&](const Num& g) {
      nest.loop("b", group / count, [&](const Num& b) {
        const Num first = g * Num(group) + b * Num(count);
        products.block(out, count, first, pixel * Num(channels) + first, [&](const Num& o, const Products::Add& add) {
          nest.loop("ky", windows.vertical.kernel, [&](const Num& ky) {
            nest.loop("kx", kernel_width, [&](const Num& kx) {
              nest.loop("k", depth, [&](const Num& k) {
                const Num row = y * Num(windows.vertical.stride) + ky * Num(windows.vertical.dilation);
                const Num column = x * Num(windows.horizontal.stride) + kx * Num(windows.horizontal.dilation);
                const Num index = image.index(n, row, column, g * Num(depth) + k);
                const Num weight = ky * Num(kernel_width * depth * channels) + kx * Num(depth * channels) +
                                   k * Num(channels) + first + o;
                add(products.centred(nest, image.array, index), weight);
              });
            });
          });
        });
      });
    });
  });
}

}  // namespace

void conv_2d(Emitter& e) {
  const Shape& in = e.input(0).shape;
  const Shape& filter = e.input(1).shape;  // outputs, height, width, depth
  e.require(in.size() == 4 && filter.size() == 4, "shapes " + text_of(in) + " and " + text_of(filter),
            "four dimensions");
  e.require(filter[3] > 0 && in[3] % filter[3] == 0 && filter[0] % (in[3] / filter[3]) == 0,
            "filters of " + std::to_string(filter[3]) + " of " + std::to_string(in[3]) + " channels", "groups");
  const Windows windows = windows_of(e, filter[1], filter[2]);
  check_images(e, windows, filter[0]);
  const Products products(e, 0, 1, 2, ordered_weights(e, 1, {1, 2, 3, 0}), Products::Wide::with_bias);
  convolve(e, products, windows, filter[3], filter[0]);
}

void depthwise_conv_2d(Emitter& e) {
  const Shape& in = e.input(0).shape;
  const Shape& filter = e.input(1).shape;  // 1, height, width, outputs
  e.require(in.size() == 4 && filter.size() == 4 && filter[0] == 1, "shapes " + text_of(in) + " and " + text_of(filter),
            "four dimensions, the filter's first one 1");
  const std::int64_t inputs = in[3];
  const std::int64_t channels = filter[3];
  e.require(inputs > 0 && channels % inputs == 0,
            std::to_string(channels) + " outputs of " + std::to_string(inputs) + " channels", "a multiple");
  const Windows windows = windows_of(e, filter[1], filter[2]);
  check_images(e, windows, channels);
  const Products products(e, 0, 1, 2, ordered_weights(e, 1, {0, 1, 2, 3}), Products::Wide::always);
  if (inputs == 1) return convolve(e, products, windows, 1, channels);
  const std::int64_t multiplier = channels / inputs;  // outputs of a channel, side by side
  const std::int64_t count = block_of(channels, multiplier);
  const Array out = e.out();
  Nest& nest = e.nest();
  for_each_pixel(e, products, windows, [&](const Image& image, const Num& n, const Num& y, const Num& x) {
    const Num pixel = (n * Num(windows.vertical.out) + y) * Num(windows.horizontal.out) + x;
    nest.loop("b", channels / count, [&](const Num& b) {
      const Num first = b * Num(count);
      products.block(out, count, first, pixel * Num(channels) + first, [&](const Num& o, const Products::Add& add) {
        nest.loop("ky", windows.vertical.kernel, [&](const Num& ky) {
          nest.loop("kx", windows.horizontal.kernel, [&](const Num& kx) {
            const Num row = y * Num(windows.vertical.stride) + ky * Num(windows.vertical.dilation);
            const Num column = x * Num(windows.horizontal.stride) + kx * Num(windows.horizontal.dilation);
            const Num channel = b * Num(count / multiplier) + floor_div(o, multiplier);
            const Num weight = ky * Num(windows.horizontal.kernel * channels) + kx * Num(channels) + first + o;
            add(products.centred(nest, image.array, image.index(n, row, column, channel)), weight);
          });
        });
      });
    });
  });
}

// Each output gathers the inputs that are spread to it, in their order.
void transpose_conv(Emitter& e) {
  const Shape& filter = e.input(1).shape;  // outputs, height, width, depth
  const Shape& in = e.input(2).shape;
  const Shape& out = e.output().shape;
  const Options& options = e.options();
  e.require(in.size() == 4 && filter.size() == 4 && out.size() == 4 && in[3] == filter[3] && out[3] == filter[0] &&
                in[0] == out[0],
            text_of(in) + " and " + text_of(filter) + " that give " + text_of(out), "images and filters that fit");
  e.require(options.activation == Activation::none, "an activation", "none");
  struct Spread {
    std::int64_t in;
    std::int64_t kernel;
    std::int64_t stride;
    std::int64_t before;
  };
  const auto spread = [&](std::int64_t from, std::int64_t to, std::int64_t kernel, std::int64_t stride) {
    constexpr std::int64_t most = 1 << 16;
    e.require(from > 0 && to > 0 && kernel > 0 && kernel < most && stride > 0 && stride < most,
              "kernel " + std::to_string(kernel) + " and stride " + std::to_string(stride), "positive ones");
    const std::int64_t windows =
        options.padding == Padding::same ? (to + stride - 1) / stride : (to - kernel + stride) / stride;
    return Spread{from, kernel, stride, std::max<std::int64_t>(0, (windows - 1) * stride + kernel - to) / 2};
  };
  const Spread vertical = spread(in[1], out[1], filter[1], options.stride_height);
  const Spread horizontal = spread(in[2], out[2], filter[2], options.stride_width);
  const Products products(e, 2, 1, 3, ordered_weights(e, 1, {1, 2, 3, 0}), Products::Wide::always);
  const Array source = e.in(2);
  const Array target = e.out();
  Nest& nest = e.nest();
  const std::int64_t depth = filter[3];
  const std::int64_t channels = filter[0];
  const std::int64_t count = block_of(channels);
  // Taps from the last to the first: inputs come in order.
  const auto taps = [&](const Spread& s, const char* name, const Num& at,
                        const std::function<void(const Num& tap, const Num& from)>& body) {
    nest.loop(name, s.kernel, [&](const Num& k) {
      const Num tap = Num(s.kernel - 1) - k;
      // at + before = from · stride + tap; moved by multiples of the stride, it is never negative.
      const std::int64_t moved = (s.kernel + s.stride - 1) / s.stride;
      const Num sum = nest.let("sum", at - tap + Num(s.before + moved * s.stride));
      const Num from = nest.let("from", floor_div(sum, s.stride) - Num(moved));
      Num is_there = both(less_equal(0, from), less(from, s.in));
      if (s.stride > 1) is_there = both(is_there, equal(floor_mod(sum, s.stride), 0));
      nest.branch(is_there, [&] { body(tap, from); });
    });
  };
  nest.loop("n", out[0], [&](const Num& n) {
    nest.loop("y", out[1], [&](const Num& y) {
      nest.loop("x", out[2], [&](const Num& x) {
        nest.loop("b", channels / count, [&](const Num& b) {
          const Num first = b * Num(count);
          const Num place = ((n * Num(out[1]) + y) * Num(out[2]) + x) * Num(channels) + first;
          products.block(target, count, first, place, [&](const Num& o, const Products::Add& add) {
            taps(vertical, "ky", y, [&](const Num& ky, const Num& from_y) {
              taps(horizontal, "kx", x, [&](const Num& kx, const Num& from_x) {
                nest.loop("k", depth, [&](const Num& k) {
                  const Num index = ((n * Num(in[1]) + from_y) * Num(in[2]) + from_x) * Num(depth) + k;
                  const Num weight = (ky * Num(filter[2]) + kx) * Num(depth * channels) + k * Num(channels) + first + o;
                  add(products.centred(nest, source, index), weight);
                });
              });
            });
          });
        });
      });
    });
  });
}

}  // namespace usmp::tflite
