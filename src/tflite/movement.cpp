// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// Operators that move data: copies, slices, concatenations, padding, transpositions, blocks of pixels, GATHER.
#include <algorithm>
#include <optional>

#include "tflite/operators.hpp"
#include "tflite/slices.hpp"

namespace usmp::tflite {
namespace {

using Indices = std::vector<Num>;

// Elements of any type, without a look at their scale.
void check_same_type(Emitter& e) {
  for (std::size_t i = 0; i < e.outputs(); ++i) {
    e.require(e.output(i).type == e.input(0).type, std::string("an output of type ") + name_of(e.output(i).type),
              name_of(e.input(0).type));
  }
}

// Loops over an output of the shape: element i is the input's at `place` of its indices.
void move(Emitter& e, const Array& in, const Array& out, const Shape& shape,
          const std::function<Num(const Indices&)>& place) {
  Nest& nest = e.nest();
  nest.loops(shape, [&](const Indices& i) { nest.store(out, index_of(shape, i), nest.load(in, place(i))); });
}

std::vector<std::int64_t> strides_of(const Shape& shape) {
  std::vector<std::int64_t> strides(shape.size());
  std::int64_t stride = 1;
  for (std::size_t d = shape.size(); d-- > 0; stride *= shape[d]) strides[d] = stride;
  return strides;
}

std::int64_t axis_of(Emitter& e, std::int64_t axis, std::size_t rank) {
  if (axis < 0) axis += static_cast<std::int64_t>(rank);
  e.require(axis >= 0 && axis < static_cast<std::int64_t>(rank),
            "axis " + std::to_string(axis) + " of " + std::to_string(rank) + " dimensions", "within");
  return axis;
}

// A tensor around an axis.
struct Around {
  std::int64_t outer = 1;
  std::int64_t inner = 1;
};
Around around(const Shape& shape, std::int64_t axis) {
  Around result;
  for (std::size_t d = 0; d < shape.size(); ++d) {
    if (static_cast<std::int64_t>(d) < axis) result.outer *= shape[d];
    if (static_cast<std::int64_t>(d) > axis) result.inner *= shape[d];
  }
  return result;
}

// Copies `count` rows of `inner` elements for each of `outer`: between row `first` of `whole` and a tensor of `count`.
void copy_rows(Emitter& e, const Array& from, const Array& to, const Around& size, std::int64_t count,
               std::int64_t first, std::int64_t whole, bool is_part_of_source) {
  Nest& nest = e.nest();
  const std::int64_t run = count * size.inner;
  nest.loop("o", size.outer, [&](const Num& o) {
    nest.loop("i", run, [&](const Num& i) {
      const Num part = o * Num(run) + i;
      const Num all = o * Num(whole * size.inner) + i + Num(first * size.inner);
      if (is_part_of_source) {
        nest.store(to, part, nest.load(from, all));
      } else {
        nest.store(to, all, nest.load(from, part));
      }
    });
  });
}

// Parts of the input along an axis, one for each output.
void take_apart(Emitter& e, std::int64_t axis, const std::vector<std::int64_t>& sizes) {
  check_same_type(e);
  const Value& in = e.input(0);
  const std::size_t data = in.shape.empty() ? 0 : static_cast<std::size_t>(axis);
  const std::int64_t whole = in.shape[data];
  const Around size = around(in.shape, axis);
  std::int64_t first = 0;
  for (std::size_t i = 0; i < sizes.size(); ++i) {
    e.require(sizes[i] >= 0 && first + sizes[i] <= whole && e.output(i).count() == size.outer * sizes[i] * size.inner,
              "parts of " + std::to_string(sizes[i]) + " of " + std::to_string(whole), "parts that fit the outputs");
    first += sizes[i];
  }
  const Array source = e.in(0);
  first = 0;
  for (std::size_t i = 0; i < sizes.size(); ++i) {
    copy_rows(e, source, e.out(i), size, sizes[i], first, whole, true);
    first += sizes[i];
  }
}

// Zero of the tensor, as it is stored.
Num zero_of(Emitter& e, const Value& value) {
  if (value.type == Type::float32) return float_literal(0);
  if (is_quantized(value.type) && value.quantization.is_there()) {
    e.require_scale(value);
    return literal(value.zero_point(), data_type_of(value.type));
  }
  return literal(0, data_type_of(value.type));
}

// In front of and behind each dimension.
std::vector<std::int64_t> padding_sizes(const Emitter& e) {
  const Value& in = e.input(0);
  std::vector<std::int64_t> sizes = e.integers(1);
  e.require(sizes.size() == 2 * in.shape.size() && in.shape.size() == e.output().shape.size(),
            std::to_string(sizes.size()) + " sizes for " + text_of(in.shape), "two for each dimension");
  return sizes;
}

}  // namespace

void copy(Emitter& e) {
  const std::int64_t count = e.input(0).count();
  const Array in = e.in(0);
  const Array out = e.out();
  Nest& nest = e.nest();
  nest.loop("i", count, [&](const Num& i) { nest.store(out, i, nest.load(in, i)); });
}

void concatenation(Emitter& e) {
  check_same_type(e);
  const Value& out = e.output();
  e.require(e.options().activation == Activation::none, "an activation", "none");
  const std::int64_t axis = axis_of(e, e.options().axis, out.shape.size());
  const Around size = around(out.shape, axis);
  const std::int64_t whole = out.shape[static_cast<std::size_t>(axis)];
  std::vector<std::int64_t> counts;
  std::int64_t sum = 0;
  for (std::size_t i = 0; i < e.inputs(); ++i) {
    const Value& in = e.input(i);
    e.require(in.type == out.type && in.shape.size() == out.shape.size(), "an input of another type or rank",
              "inputs like the output");
    counts.push_back(in.shape[static_cast<std::size_t>(axis)]);
    sum += counts.back();
    e.require(in.count() == size.outer * counts.back() * size.inner, "an input of " + text_of(in.shape),
              "inputs that fit " + text_of(out.shape));
  }
  e.require(sum == whole, "inputs of " + std::to_string(sum) + " along the axis", std::to_string(whole));
  std::vector<Array> sources;
  for (std::size_t i = 0; i < e.inputs(); ++i) sources.push_back(e.in(i));
  std::int64_t first = 0;
  for (std::size_t i = 0; i < e.inputs(); ++i) {
    copy_rows(e, sources[i], e.out(), size, counts[i], first, whole, false);
    first += counts[i];
  }
}

void pack(Emitter& e) {
  check_same_type(e);
  const Value& out = e.output();
  const std::int64_t axis = axis_of(e, e.options().axis, out.shape.size());
  const Around size = around(out.shape, axis);
  const auto whole = static_cast<std::int64_t>(e.inputs());
  e.require(out.shape[static_cast<std::size_t>(axis)] == whole, "an output of " + text_of(out.shape),
            std::to_string(whole) + " along the axis");
  std::vector<Array> sources;
  for (std::size_t i = 0; i < e.inputs(); ++i) {
    e.require(e.input(i).type == out.type && e.input(i).count() == size.outer * size.inner,
              "an input of " + text_of(e.input(i).shape), "inputs that fit " + text_of(out.shape));
    sources.push_back(e.in(i));
  }
  for (std::size_t i = 0; i < e.inputs(); ++i) {
    copy_rows(e, sources[i], e.out(), size, 1, static_cast<std::int64_t>(i), whole, false);
  }
}

void unpack(Emitter& e) {
  const Value& in = e.input(0);
  const std::int64_t axis = axis_of(e, e.options().axis, in.shape.size());
  e.require(in.shape[static_cast<std::size_t>(axis)] == static_cast<std::int64_t>(e.outputs()),
            std::to_string(e.outputs()) + " outputs of " + text_of(in.shape), "one for each along the axis");
  take_apart(e, axis, std::vector<std::int64_t>(e.outputs(), 1));
}

void split(Emitter& e) {
  // The axis is the first input, the data the second.
  const std::vector<std::int64_t> axes = e.integers(0);
  const Value& in = e.input(1);
  e.require(axes.size() == 1 && !in.shape.empty(), "several axes", "one");
  const std::int64_t axis = axis_of(e, axes[0], in.shape.size());
  const std::int64_t whole = in.shape[static_cast<std::size_t>(axis)];
  const auto parts = static_cast<std::int64_t>(e.outputs());
  e.require(whole % parts == 0, std::to_string(parts) + " parts of " + std::to_string(whole), "equal parts");
  const Around size = around(in.shape, axis);
  const Array source = e.in(1);
  for (std::size_t i = 0; i < e.outputs(); ++i) {
    e.require(e.output(i).type == in.type && e.output(i).count() * parts == in.count(),
              "an output of " + text_of(e.output(i).shape), "equal parts of " + text_of(in.shape));
    copy_rows(e, source, e.out(i), size, whole / parts, static_cast<std::int64_t>(i) * (whole / parts), whole, true);
  }
}

void split_v(Emitter& e) {
  std::vector<std::int64_t> sizes = e.integers(1);
  const std::vector<std::int64_t> axes = e.integers(2);
  const Value& in = e.input(0);
  e.require(axes.size() == 1 && !in.shape.empty() && sizes.size() == e.outputs(), "sizes that are not those of outputs",
            "one for each output");
  const std::int64_t axis = axis_of(e, axes[0], in.shape.size());
  std::int64_t rest = in.shape[static_cast<std::size_t>(axis)];
  for (const std::int64_t size : sizes) rest -= std::max<std::int64_t>(size, 0);
  for (std::int64_t& size : sizes) {
    if (size == -1) size = rest;
  }
  take_apart(e, axis, sizes);
}

void pad(Emitter& e) {
  const Value& in = e.input(0);
  const Value& out = e.output();
  check_same_type(e);
  const std::vector<std::int64_t> sizes = padding_sizes(e);
  for (std::size_t d = 0; d < in.shape.size(); ++d) {
    const std::int64_t before = sizes[2 * d];
    const std::int64_t behind = sizes[2 * d + 1];
    e.require(before >= 0 && behind >= 0 && before <= out.shape[d] && behind <= out.shape[d] &&
                  before + behind + in.shape[d] == out.shape[d],
              text_of(in.shape) + " that gives " + text_of(out.shape), "sizes that fit");
  }
  const Array source = e.in(0);
  const Array target = e.out();
  Nest& nest = e.nest();
  Num value;
  if (e.inputs() == 3 && e.has_input(2)) {
    e.require(e.input(2).type == in.type && e.input(2).count() == 1, "another value to fill with", "one element");
    value = in.type == Type::float32 && e.input(2).is_constant ? float_literal(e.floats(2)[0])
            : e.input(2).is_constant                           ? literal(e.integers(2)[0], data_type_of(in.type))
                                                               : nest.load(e.in(2), 0);
  } else {
    value = zero_of(e, out);
  }
  nest.loops(out.shape, [&](const Indices& i) {
    std::optional<Num> is_inside;
    const auto add = [&](const Num& condition) { is_inside = is_inside ? both(*is_inside, condition) : condition; };
    Indices at;
    for (std::size_t d = 0; d < i.size(); ++d) {
      const std::int64_t before = sizes[2 * d];
      if (before > 0) add(less_equal(before, i[d]));
      if (sizes[2 * d + 1] > 0) add(less(i[d], before + in.shape[d]));
      at.push_back(i[d] - Num(before));
    }
    const Num moved = nest.load(source, index_of(in.shape, at));
    nest.store(target, index_of(out.shape, i), is_inside ? if_then_else(*is_inside, moved, value) : moved);
  });
}

void mirror_pad(Emitter& e) {
  const Value& in = e.input(0);
  const Value& out = e.output();
  check_same_type(e);
  const std::vector<std::int64_t> sizes = padding_sizes(e);
  const std::int64_t edge = e.options().is_symmetric ? 1 : 0;
  for (std::size_t d = 0; d < in.shape.size(); ++d) {
    const std::int64_t most = in.shape[d] - 1 + edge;
    e.require(sizes[2 * d] >= 0 && sizes[2 * d] <= most && sizes[2 * d + 1] >= 0 && sizes[2 * d + 1] <= most &&
                  sizes[2 * d] + sizes[2 * d + 1] + in.shape[d] == out.shape[d],
              text_of(in.shape) + " that gives " + text_of(out.shape), "no more than there is");
  }
  move(e, e.in(0), e.out(), out.shape, [&](const Indices& i) {
    Indices at;
    for (std::size_t d = 0; d < i.size(); ++d) {
      const std::int64_t before = sizes[2 * d];
      Num index = i[d] - Num(before);
      if (before > 0) index = select(less(i[d], before), Num(before - edge) - i[d], index);
      if (sizes[2 * d + 1] > 0) {
        index = select(less(i[d], before + in.shape[d]), index, Num(before + 2 * in.shape[d] - 2 + edge) - i[d]);
      }
      at.push_back(index);
    }
    return index_of(in.shape, at);
  });
}

void transpose(Emitter& e) {
  const Value& in = e.input(0);
  const Value& out = e.output();
  check_same_type(e);
  std::vector<std::int64_t> order = e.integers(1);
  const std::size_t rank = in.shape.size();
  e.require(order.size() == rank && out.shape.size() == rank, std::to_string(order.size()) + " dimensions",
            std::to_string(rank));
  std::vector<bool> is_used(rank);
  for (std::size_t d = 0; d < rank; ++d) {
    order[d] = axis_of(e, order[d], rank);
    const auto from = static_cast<std::size_t>(order[d]);
    e.require(!is_used[from] && out.shape[d] == in.shape[from], "an order that is none", "each dimension once");
    is_used[from] = true;
  }
  const std::vector<std::int64_t> strides = strides_of(in.shape);
  move(e, e.in(0), e.out(), out.shape, [&](const Indices& i) {
    Num index = 0;
    for (std::size_t d = 0; d < rank; ++d) index = index + i[d] * Num(strides[static_cast<std::size_t>(order[d])]);
    return index;
  });
}

namespace {

void emit_slice(Emitter& e, const Slice& slice) {
  const Value& in = e.input(0);
  check_same_type(e);
  e.require(count_of(slice.count) == e.output().count(), text_of(slice.count) + " elements", text_of(e.output().shape));
  const std::vector<std::int64_t> strides = strides_of(in.shape);
  move(e, e.in(0), e.out(), slice.count, [&](const Indices& i) {
    Num index = 0;
    std::int64_t first = 0;
    for (std::size_t d = 0; d < i.size(); ++d) {
      index = index + i[d] * Num(slice.stride[d] * strides[d]);
      first += slice.begin[d] * strides[d];
    }
    return index + Num(first);
  });
}

}  // namespace

void slice(Emitter& e) {
  const Shape& shape = e.input(0).shape;
  const std::vector<std::int64_t> begin = e.integers(1);
  const std::vector<std::int64_t> size = e.integers(2);
  e.require(begin.size() == shape.size() && size.size() == shape.size(), std::to_string(begin.size()) + " begins",
            std::to_string(shape.size()));
  Slice result{.begin = begin, .stride = Shape(shape.size(), 1), .count = size};
  for (std::size_t d = 0; d < shape.size(); ++d) {
    if (size[d] == -1) result.count[d] = shape[d] - begin[d];
    e.require(begin[d] >= 0 && result.count[d] >= 0 && begin[d] <= shape[d] && result.count[d] <= shape[d] - begin[d],
              "a slice from " + std::to_string(begin[d]) + " on of " + std::to_string(shape[d]), "within");
  }
  emit_slice(e, result);
}

void strided_slice(Emitter& e) {
  std::string fault;
  const auto result = slice_of(e.options(), e.input(0).shape, e.integers(1), e.integers(2), e.integers(3), fault);
  e.require(result.has_value(), fault, "others");
  emit_slice(e, *result);
}

void gather(Emitter& e) {
  const Value& in = e.input(0);
  const Value& places = e.input(1);
  check_same_type(e);
  e.require_type(places, {Type::int32, Type::int64});
  e.require(e.options().batch_dims == 0 && !in.shape.empty(), "batch dimensions", "none");
  const std::int64_t axis = axis_of(e, e.options().axis, in.shape.size());
  const Around size = around(in.shape, axis);
  const std::int64_t whole = in.shape[static_cast<std::size_t>(axis)];
  const std::int64_t count = places.count();
  e.require(e.output().count() == size.outer * count * size.inner && whole > 0,
            "an output of " + text_of(e.output().shape), "one for each index");
  if (places.is_constant) {
    for (const std::int64_t place : e.integers(1)) {
      e.require(place >= 0 && place < whole, "index " + std::to_string(place) + " of " + std::to_string(whole),
                "within");
    }
  }
  const Array source = e.in(0);
  const Array indices = e.in(1);
  const Array out = e.out();
  Nest& nest = e.nest();
  nest.loop("o", size.outer, [&](const Num& o) {
    nest.loop("k", count, [&](const Num& k) {
      Num place = nest.load_int(indices, k);
      if (!places.is_constant) place = clip(place, 0, whole - 1);
      place = nest.let("place", place);
      nest.loop("i", size.inner, [&](const Num& i) {
        const Num index = o * Num(whole * size.inner) + place * Num(size.inner) + i;
        nest.store(out, (o * Num(count) + k) * Num(size.inner) + i, nest.load(source, index));
      });
    });
  });
}

namespace {

struct Blocks {
  Shape wide;  // the image with more pixels: n, y, x, c
  Shape deep;  // with more channels
  std::int64_t size = 0;
};

Blocks blocks_of(Emitter& e, bool is_to_depth) {
  check_same_type(e);
  Blocks result{.wide = e.input(0).shape, .deep = e.output().shape, .size = e.options().block_size};
  if (!is_to_depth) std::swap(result.wide, result.deep);
  const std::int64_t b = result.size;
  const bool fits = result.wide.size() == 4 && result.deep.size() == 4 && b >= 1 && b < 1 << 15 &&
                    result.wide[0] == result.deep[0] && result.wide[1] == result.deep[1] * b &&
                    result.wide[2] == result.deep[2] * b && result.deep[3] == result.wide[3] * b * b;
  e.require(
      fits,
      text_of(e.input(0).shape) + " that gives " + text_of(e.output().shape) + " in blocks of " + std::to_string(b),
      "blocks that fit");
  return result;
}

void move_blocks(Emitter& e, bool is_to_depth) {
  const Blocks blocks = blocks_of(e, is_to_depth);
  const Array in = e.in(0);
  const Array out = e.out();
  Nest& nest = e.nest();
  const std::int64_t b = blocks.size;
  const Shape& deep = blocks.deep;
  const Shape& wide = blocks.wide;
  const Shape loops =
      is_to_depth ? Shape{deep[0], deep[1], deep[2], b, b, wide[3]} : Shape{deep[0], deep[1], b, deep[2], b, wide[3]};
  nest.loops(loops, [&](const Indices& i) {
    const Num& n = i[0];
    const Num& y = i[1];
    const Num& x = is_to_depth ? i[2] : i[3];
    const Num& by = is_to_depth ? i[3] : i[2];
    const Num& bx = i[4];
    const Num& c = i[5];
    const Num of_deep = index_of(deep, std::vector<Num>{n, y, x, by * Num(b * wide[3]) + bx * Num(wide[3]) + c});
    const Num of_wide = index_of(wide, std::vector<Num>{n, y * Num(b) + by, x * Num(b) + bx, c});
    if (is_to_depth) {
      nest.store(out, of_deep, nest.load(in, of_wide));
    } else {
      nest.store(out, of_wide, nest.load(in, of_deep));
    }
  });
}

// A shape of batches, lines, columns and the rest; of three dimensions there is one column.
Shape as_image(const Shape& shape) { return shape.size() == 3 ? Shape{shape[0], shape[1], 1, shape[2]} : shape; }

struct Batches {
  Shape many;               // with more batches
  Shape large;              // with more pixels
  std::int64_t height = 1;  // of a block
  std::int64_t width = 1;
  std::int64_t above = 0;  // padding or cropping
  std::int64_t left = 0;
};

Batches batches_of(Emitter& e, bool is_to_batch) {
  check_same_type(e);
  const Shape& in = e.input(0).shape;
  const Shape& out = e.output().shape;
  const std::vector<std::int64_t> block = e.integers(1);
  const std::vector<std::int64_t> border = e.integers(2);
  e.require((in.size() == 3 || in.size() == 4) && out.size() == in.size() && block.size() == in.size() - 2 &&
                border.size() == 2 * block.size(),
            text_of(in) + " in blocks of " + std::to_string(block.size()) + " dimensions", "three or four dimensions");
  Batches result;
  result.many = as_image(is_to_batch ? out : in);
  result.large = as_image(is_to_batch ? in : out);
  result.height = block[0];
  result.above = border[0];
  std::int64_t below = border[1];
  std::int64_t right = 0;
  if (block.size() == 2) {
    result.width = block[1];
    result.left = border[2];
    right = border[3];
  }
  const auto is_size = [](std::int64_t value) { return value >= 0 && value < 1 << 20; };
  const bool fits = result.height >= 1 && result.width >= 1 && is_size(result.height) && is_size(result.width) &&
                    is_size(result.above) && is_size(below) && is_size(result.left) && is_size(right) &&
                    result.many[0] == result.large[0] * result.height * result.width &&
                    result.many[1] * result.height == result.large[1] + result.above + below &&
                    result.many[2] * result.width == result.large[2] + result.left + right &&
                    result.many[3] == result.large[3];
  e.require(fits, text_of(in) + " that gives " + text_of(out), "blocks that fit");
  return result;
}

}  // namespace

void space_to_depth(Emitter& e) { move_blocks(e, true); }
void depth_to_space(Emitter& e) { move_blocks(e, false); }

void space_to_batch(Emitter& e) {
  const Batches b = batches_of(e, true);
  const Num zero = zero_of(e, e.output());
  const Array in = e.in(0);
  const Array out = e.out();
  Nest& nest = e.nest();
  const Shape loops = {b.height, b.width, b.large[0], b.many[1], b.many[2], b.many[3]};
  nest.loops(loops, [&](const Indices& i) {
    const Num y = i[3] * Num(b.height) + i[0];
    const Num x = i[4] * Num(b.width) + i[1];
    const Num is_inside = both(both(less_equal(b.above, y), less(y, b.above + b.large[1])),
                               both(less_equal(b.left, x), less(x, b.left + b.large[2])));
    const Num from = index_of(b.large, std::vector<Num>{i[2], y - Num(b.above), x - Num(b.left), i[5]});
    nest.store(out, index_of(loops, i), if_then_else(is_inside, nest.load(in, from), zero));
  });
}

void batch_to_space(Emitter& e) {
  const Batches b = batches_of(e, false);
  move(e, e.in(0), e.out(), b.large, [&](const Indices& i) {
    const Num y = i[1] + Num(b.above);
    const Num x = i[2] + Num(b.left);
    const Num block = floor_mod(y, b.height) * Num(b.width) + floor_mod(x, b.width);
    return index_of(
        b.many, std::vector<Num>{block * Num(b.large[0]) + i[0], floor_div(y, b.height), floor_div(x, b.width), i[3]});
  });
}

}  // namespace usmp::tflite
