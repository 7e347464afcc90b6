// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// RESIZE_NEAREST_NEIGHBOR, RESIZE_BILINEAR: which lines and columns, with which weight, is computed while planning.
#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>

#include "tflite/arithmetic.hpp"
#include "tflite/operators.hpp"

namespace usmp::tflite {
namespace {

void check_images(Emitter& e) {
  const Shape& in = e.input(0).shape;
  const Shape& out = e.output().shape;
  e.require(in.size() == 4 && out.size() == 4 && in[0] == out[0] && in[3] == out[3] && in[1] > 0 && in[2] > 0 &&
                out[1] > 0 && out[2] > 0,
            text_of(in) + " that gives " + text_of(out), "images with the same channels");
  const std::vector<std::int64_t> size = e.integers(1);
  e.require(size == std::vector<std::int64_t>{out[1], out[2]}, "another size", text_of(out));
  e.require(!(e.options().align_corners && e.options().half_pixel_centers), "aligned corners and half pixels",
            "one of them");
}

std::vector<std::int64_t> nearest(const Options& options, std::int64_t in, std::int64_t out) {
  const bool aligns = options.align_corners && out > 1;
  const float scale = aligns ? static_cast<float>(in - 1) / static_cast<float>(out - 1)
                             : static_cast<float>(in) / static_cast<float>(out);
  const float offset = options.half_pixel_centers ? 0.5F : 0.0F;
  std::vector<std::int64_t> places;
  for (std::int64_t i = 0; i < out; ++i) {
    const float at = (static_cast<float>(i) + offset) * scale;
    const auto place = static_cast<std::int64_t>(options.align_corners ? std::round(at) : std::floor(at));
    places.push_back(std::clamp<std::int64_t>(place, 0, in - 1));
  }
  return places;
}

// i ↦ places[i]: i / factor if it is that, else a table.
std::function<Num(Nest&, const Num&)> lookup(Nest& nest, const char* name, const std::vector<std::int64_t>& places,
                                             std::int64_t in) {
  const auto out = static_cast<std::int64_t>(places.size());
  if (out % in == 0) {
    const std::int64_t factor = out / in;
    bool is_quotient = true;
    for (std::int64_t i = 0; i < out; ++i)
      is_quotient = is_quotient && places[static_cast<std::size_t>(i)] == i / factor;
    if (is_quotient) return [factor](Nest&, const Num& i) { return floor_div(i, factor); };
  }
  const Array table = nest.constant(name, tir::int32_type, places);
  return [table](Nest& where, const Num& i) { return where.let("at", where.load(table, i)); };
}

struct Line {
  std::vector<std::int64_t> first;
  std::vector<std::int64_t> second;
  std::vector<std::int64_t> weight;  // of the second, 10 bits
  std::vector<float> real_weight;
};

Line line_of(const Options& options, std::int64_t in, std::int64_t out) {
  Line line;
  std::int64_t scale = (1024 * in + out / 2) / out;
  float real_scale = static_cast<float>(in) / static_cast<float>(out);
  const bool aligns = options.align_corners && out > 1;
  if (aligns) {
    scale = (1024 * (in - 1) + (out - 1) / 2) / (out - 1);
    real_scale = static_cast<float>(in - 1) / static_cast<float>(out - 1);
  }
  for (std::int64_t i = 0; i < out; ++i) {
    const std::int64_t at = options.half_pixel_centers ? i * scale + scale / 2 - 512 : i * scale;
    const std::int64_t first = std::max<std::int64_t>(at / 1024, 0);
    line.first.push_back(std::min(first, in - 1));
    line.second.push_back(std::min((at + 1023) / 1024, in - 1));
    line.weight.push_back(at - 1024 * first);
    const float real = options.half_pixel_centers ? (static_cast<float>(i) + 0.5F) * real_scale - 0.5F
                                                  : static_cast<float>(i) * real_scale;
    const auto real_first = std::max<std::int64_t>(static_cast<std::int64_t>(std::floor(real)), 0);
    line.real_weight.push_back(real - static_cast<float>(real_first));
  }
  return line;
}

// The lines between which floats are weighted, which may be others than those of integers.
void use_real_lines(Line& line, const Options& options, std::int64_t in, std::int64_t out) {
  const bool aligns = options.align_corners && out > 1;
  const float scale = aligns ? static_cast<float>(in - 1) / static_cast<float>(out - 1)
                             : static_cast<float>(in) / static_cast<float>(out);
  for (std::int64_t i = 0; i < out; ++i) {
    const float at =
        options.half_pixel_centers ? (static_cast<float>(i) + 0.5F) * scale - 0.5F : static_cast<float>(i) * scale;
    const auto k = static_cast<std::size_t>(i);
    line.first[k] = std::clamp<std::int64_t>(static_cast<std::int64_t>(std::floor(at)), 0, in - 1);
    line.second[k] = std::min(static_cast<std::int64_t>(std::ceil(at)), in - 1);
  }
}

Array float_table(Nest& nest, const char* name, const std::vector<float>& values) {
  std::string bytes;
  for (const float value : values) {
    const auto bits = std::bit_cast<std::uint32_t>(value);
    for (int b = 0; b < 32; b += 8) bytes += static_cast<char>(bits >> b);
  }
  return nest.constant(name, float32_type, {static_cast<std::int64_t>(values.size())}, std::move(bytes));
}

}  // namespace

void resize_nearest(Emitter& e) {
  check_images(e);
  e.require(e.output().type == e.input(0).type, "another type", "the input's");
  const Shape& in = e.input(0).shape;
  const Shape& out = e.output().shape;
  Nest& nest = e.nest();
  const auto line = lookup(nest, "lines", nearest(e.options(), in[1], out[1]), in[1]);
  const auto column = lookup(nest, "columns", nearest(e.options(), in[2], out[2]), in[2]);
  const Array source = e.in(0);
  const Array target = e.out();
  nest.loop("n", out[0], [&](const Num& n) {
    nest.loop("y", out[1], [&](const Num& y) {
      const Num from_y = line(nest, y);
      nest.loop("x", out[2], [&](const Num& x) {
        const Num from_x = column(nest, x);
        nest.loop("c", out[3], [&](const Num& c) {
          const Num from = index_of(in, std::vector<Num>{n, from_y, from_x, c});
          nest.store(target, index_of(out, std::vector<Num>{n, y, x, c}), nest.load(source, from));
        });
      });
    });
  });
}

void resize_bilinear(Emitter& e) {
  check_images(e);
  e.require_type(e.input(0), {Type::float32, Type::int8});
  e.require_type(e.output(), {e.input(0).type});
  const bool is_float = e.input(0).type == Type::float32;
  const Shape& in = e.input(0).shape;
  const Shape& out = e.output().shape;
  Nest& nest = e.nest();
  Line vertical = line_of(e.options(), in[1], out[1]);
  Line horizontal = line_of(e.options(), in[2], out[2]);
  if (is_float) {
    use_real_lines(vertical, e.options(), in[1], out[1]);
    use_real_lines(horizontal, e.options(), in[2], out[2]);
  }
  const auto table = [&](const char* name, const std::vector<std::int64_t>& values) {
    return nest.constant(name, tir::int32_type, values);
  };
  const Array y0 = table("y0", vertical.first);
  const Array y1 = table("y1", vertical.second);
  const Array x0 = table("x0", horizontal.first);
  const Array x1 = table("x1", horizontal.second);
  const Array wy = is_float ? float_table(nest, "wy", vertical.real_weight) : table("wy", vertical.weight);
  const Array wx = is_float ? float_table(nest, "wx", horizontal.real_weight) : table("wx", horizontal.weight);
  const Array source = e.in(0);
  const Array target = e.out();
  const Num one = is_float ? float_literal(1) : Num(1024);
  nest.loop("n", out[0], [&](const Num& n) {
    nest.loop("y", out[1], [&](const Num& y) {
      nest.loop("x", out[2], [&](const Num& x) {
        const Num dy = nest.let("dy", nest.load(wy, y));
        const Num dx = nest.let("dx", nest.load(wx, x));
        nest.loop("c", out[3], [&](const Num& c) {
          const auto at = [&](const Array& line, const Array& column) {
            const Num index = index_of(in, std::vector<Num>{n, nest.load(line, y), nest.load(column, x), c});
            return is_float ? nest.load(source, index) : nest.load_int(source, index);
          };
          const Num sum = at(y0, x0) * (one - dy) * (one - dx) + at(y1, x0) * dy * (one - dx) +
                          at(y0, x1) * (one - dy) * dx + at(y1, x1) * dy * dx;
          const Num place = index_of(out, std::vector<Num>{n, y, x, c});
          if (is_float) return nest.store(target, place, sum);
          const Num value = nest.let("sum", sum);
          constexpr std::int64_t half = 1 << 19;
          nest.store(target, place, (value + select(less(0, value), half, Num(-half))) / Num(1 << 20));
        });
      });
    });
  });
}

}  // namespace usmp::tflite
