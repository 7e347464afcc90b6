// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// Dimensions that both inputs run through alike are joined, so that equal shapes are one loop.
#include "tflite/broadcast.hpp"

#include <algorithm>

namespace usmp::tflite {
namespace {

struct Joined {
  std::int64_t extent = 1;
  std::int64_t a = 0;  // stride in each input; 0: repeated
  std::int64_t b = 0;
};

// From the last to the first.
std::vector<Joined> joined_dimensions(Emitter& e, const Shape& a, const Shape& b, const Shape& out) {
  const auto require = [&](bool fits) {
    e.require(fits, text_of(a) + " and " + text_of(b) + " that give " + text_of(out), "shapes that are stretched");
  };
  require(a.size() <= out.size() && b.size() <= out.size());  // also of a scalar, which has no dimension to look at
  std::vector<Joined> result;
  std::int64_t stride_a = 1;
  std::int64_t stride_b = 1;
  for (std::size_t i = 0; i < out.size(); ++i) {
    const auto extent_of = [&](const Shape& shape) { return i < shape.size() ? shape[shape.size() - 1 - i] : 1; };
    const std::int64_t extent = out[out.size() - 1 - i];
    const std::int64_t of_a = extent_of(a);
    const std::int64_t of_b = extent_of(b);
    require((of_a == extent || of_a == 1) && (of_b == extent || of_b == 1));
    const Joined next{.extent = extent, .a = of_a == 1 ? 0 : stride_a, .b = of_b == 1 ? 0 : stride_b};
    stride_a *= of_a;
    stride_b *= of_b;
    if (extent == 1) continue;
    if (!result.empty()) {
      Joined& last = result.back();
      const bool continues_a = (last.a == 0 && next.a == 0) || (last.a != 0 && next.a == last.a * last.extent);
      const bool continues_b = (last.b == 0 && next.b == 0) || (last.b != 0 && next.b == last.b * last.extent);
      if (continues_a && continues_b) {
        last.extent *= extent;
        continue;
      }
    }
    result.push_back(next);
  }
  return result;
}

}  // namespace

void for_each_pair(Emitter& e, const std::function<Num(const Num& a, const Num& b)>& value) {
  const Shape& out_shape = e.output().shape;
  std::vector<Joined> dimensions = joined_dimensions(e, e.input(0).shape, e.input(1).shape, out_shape);
  std::ranges::reverse(dimensions);
  Shape extents;
  for (const Joined& one : dimensions) extents.push_back(one.extent);
  if (count_of(out_shape) == 0) return;
  const Array a = e.in(0);
  const Array b = e.in(1);
  const Array out = e.out();
  Nest& nest = e.nest();
  nest.loops(extents, [&](const std::vector<Num>& i) {
    Num index_a = 0;
    Num index_b = 0;
    for (std::size_t d = 0; d < i.size(); ++d) {
      index_a = index_a + i[d] * Num(dimensions[d].a);
      index_b = index_b + i[d] * Num(dimensions[d].b);
    }
    const Num index = index_of(extents, i);
    nest.store(out, index, value(nest.load(a, index_a), nest.load(b, index_b)));
  });
}

void for_each_element(Emitter& e, const std::function<Num(const Num& x)>& value) {
  const std::int64_t count = e.input(0).count();
  e.require(count == e.output().count(), text_of(e.input(0).shape) + " that gives " + text_of(e.output().shape),
            "as many elements");
  const Array in = e.in(0);
  const Array out = e.out();
  Nest& nest = e.nest();
  nest.loop("i", count, [&](const Num& i) { nest.store(out, i, value(nest.load(in, i))); });
}

}  // namespace usmp::tflite
