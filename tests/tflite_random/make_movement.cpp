// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// Random views and movements of elements.
#include <algorithm>
#include <numeric>

#include "tflite_random/maker.hpp"

namespace usmp::tflite_random {
namespace {

// Another shape of so many elements.
Shape random_shape(random_modules::Random& r, int elements) {
  const auto rank = static_cast<std::size_t>(r.chance(10) ? r.between(5, 6) : r.between(1, 4));
  Shape shape(rank, 1);
  for (std::size_t i = 0; i + 1 < rank; ++i) {
    std::vector<int> divisors;
    for (int d = 1; d <= elements; ++d) {
      if (elements % d == 0 && d <= 12) divisors.push_back(d);
    }
    shape[i] = r.pick(divisors);
    elements /= shape[i];
  }
  shape.back() = elements;
  if (r.chance(30)) std::swap(shape.front(), shape.back());
  return shape;
}

}  // namespace

bool Maker::reshape(int x) {
  if (at(x).type == Type::resource) return false;
  const Shape out = random_shape(r_, static_cast<int>(elements_of(shape_of(x))));
  std::vector<int> given = out;
  if (r_.chance(30)) given[r_.index(given.size())] = -1;
  std::vector<int> inputs = {x};
  if (r_.chance(70)) inputs.push_back(numbers(given));
  emit_one(Code::reshape, inputs, like(x, out));
  graph_.operators.back().list = given;
  return true;
}

// RESHAPE to what SHAPE, STRIDED_SLICE and PACK compute, as Keras writes Flatten.
bool Maker::flatten(int x) {
  if (!is_main(x) || rank_of(x) < 2) return false;
  const Shape in = shape_of(x);
  const int rest = static_cast<int>(elements_of(in)) / in[0];
  const int shape = activation(Type::int32, {rank_of(x)});
  emit(Code::shape, {x}, {shape}, {{"out_type", 2}});
  const int first = activation(Type::int32, {});
  emit(Code::strided_slice, {shape, numbers({0}), numbers({1}), numbers({1})}, {first}, {{"shrink_axis_mask", 1}});
  const int packed = activation(Type::int32, {2});
  const int length = constant(Type::int32, {}, {r_.chance(50) ? -1 : rest});
  emit(Code::pack, {first, length}, {packed}, {{"values_count", 2}});
  return emit_one(Code::reshape, {x, packed}, like(x, {in[0], rest}));
}

bool Maker::ones(int x) {
  if (!is_main(x)) return false;
  Shape out = shape_of(x);
  if (r_.chance(50) && rank_of(x) < 4) {
    const int axis = static_cast<int>(r_.between(-rank_of(x) - 1, rank_of(x)));
    out.insert(out.begin() + (axis < 0 ? axis + rank_of(x) + 1 : axis), 1);
    const int list = r_.chance(50) ? constant(Type::int32, {}, {axis}) : numbers({axis});
    return emit_one(Code::expand_dims, {x, list}, like(x, out));
  }
  std::vector<int> list;
  if (r_.chance(60)) {
    for (int i = 0; i < rank_of(x); ++i) {
      if (out[static_cast<std::size_t>(i)] == 1 && list.empty()) list.push_back(r_.chance(50) ? i : i - rank_of(x));
    }
  }
  if (list.empty()) {
    out.erase(std::remove(out.begin(), out.end(), 1), out.end());
  } else {
    out.erase(out.begin() + (list[0] + rank_of(x)) % rank_of(x));
  }
  if (out.size() == shape_of(x).size()) return false;
  emit_one(Code::squeeze, {x}, like(x, out));
  graph_.operators.back().list = list;
  return true;
}

bool Maker::transpose(int x) {
  if (!is_main(x) || rank_of(x) < 2) return false;
  std::vector<int> order(shape_of(x).size());
  std::iota(order.begin(), order.end(), 0);
  for (std::size_t i = order.size() - 1; i > 0; --i) std::swap(order[i], order[r_.index(i + 1)]);
  Shape out;
  for (const int axis : order) out.push_back(shape_of(x)[static_cast<std::size_t>(axis)]);
  const int list = numbers(order);
  return emit_one(Code::transpose, {x, list}, like(x, out));
}

bool Maker::concatenation(int x) {
  if (!is_main(x) || rank_of(x) < 1) return false;
  const int axis = static_cast<int>(r_.below(rank_of(x)));
  const auto a = static_cast<std::size_t>(axis);
  std::vector<int> inputs;
  Shape out = shape_of(x);
  out[a] = 0;
  const std::int64_t count = r_.between(2, 4);
  const std::int64_t place = r_.below(count);
  for (std::int64_t i = 0; i < count; ++i) {
    int part = x;
    if (i != place && r_.chance(85)) {
      Shape shape = shape_of(x);
      shape[a] = static_cast<int>(r_.between(1, 4));
      part = random_constant(x, shape, Scaling{at(x).scale(), at(x).zero_point()});
      for (const int other : live_) {
        Shape compared = shape_of(other);
        if (at(other).type != at(x).type || compared.size() != out.size()) continue;
        compared[a] = shape_of(x)[a];
        if (compared == shape_of(x) && at(other).scale() == at(x).scale() &&
            at(other).zero_point() == at(x).zero_point() && r_.chance(60)) {
          part = other;
        }
      }
    }
    out[a] += shape_of(part)[a];
    inputs.push_back(part);
  }
  if (elements_of(out) > 3000) return false;
  const int given = r_.chance(30) ? axis - rank_of(x) : axis;
  return emit_one(Code::concatenation, inputs, like(x, out), {{"axis", given}});
}

bool Maker::pack(int x) {
  if (!is_main(x) || rank_of(x) > 3 || elements_of(shape_of(x)) > 800) return false;
  const int axis = static_cast<int>(r_.between(0, rank_of(x)));
  std::vector<int> inputs = {x};
  for (std::int64_t i = r_.between(0, 2); i > 0; --i) {
    inputs.push_back(r_.chance(50) ? x : random_constant(x, shape_of(x), Scaling{at(x).scale(), at(x).zero_point()}));
  }
  Shape out = shape_of(x);
  out.insert(out.begin() + axis, static_cast<int>(inputs.size()));
  const int given = r_.chance(30) ? axis - rank_of(x) - 1 : axis;
  const auto count = static_cast<double>(inputs.size());
  return emit_one(Code::pack, inputs, like(x, out), {{"values_count", count}, {"axis", given}});
}

bool Maker::unpack(int x) {
  if (!is_main(x) || rank_of(x) < 1) return false;
  const int axis = static_cast<int>(r_.below(rank_of(x)));
  Shape out = shape_of(x);
  const int count = out[static_cast<std::size_t>(axis)];
  if (count > 5) return false;
  out.erase(out.begin() + axis);
  std::vector<int> outputs;
  for (int i = 0; i < count; ++i) outputs.push_back(like(x, out));
  const int given = r_.chance(30) ? axis - rank_of(x) : axis;
  emit(Code::unpack, {x}, outputs, {{"num", count}, {"axis", given}});
  for (const int tensor : outputs) output(tensor, is_inexact(x));
  return true;
}

bool Maker::split(int x) {
  if (!is_main(x) || rank_of(x) < 1) return false;
  const int axis = static_cast<int>(r_.below(rank_of(x)));
  const int given = r_.chance(30) ? axis - rank_of(x) : axis;
  const auto a = static_cast<std::size_t>(axis);
  const int extent = shape_of(x)[a];
  std::vector<int> sizes;
  const bool is_even = r_.chance(50);
  if (is_even) {
    int count = static_cast<int>(r_.between(1, 4));
    while (extent % count != 0) --count;
    sizes.assign(static_cast<std::size_t>(count), extent / count);
  } else {
    for (int rest = extent; rest > 0;) {
      sizes.push_back(sizes.size() == 3 ? rest : static_cast<int>(r_.between(1, rest)));
      rest -= sizes.back();
    }
  }
  std::vector<int> outputs;
  for (const int size : sizes) {
    Shape out = shape_of(x);
    out[a] = size;
    outputs.push_back(like(x, out));
  }
  const int axis_input = constant(Type::int32, {}, {given});
  const auto count = static_cast<double>(sizes.size());
  if (is_even) {
    emit(Code::split, {axis_input, x}, outputs, {{"num_splits", count}});
  } else {
    if (r_.chance(30)) sizes.back() = -1;
    const int list = numbers(sizes);
    emit(Code::split_v, {x, list, axis_input}, outputs, {{"num_splits", count}});
  }
  for (const int tensor : outputs) output(tensor, is_inexact(x));
  return true;
}

bool Maker::slice(int x) {
  if (!is_main(x) || rank_of(x) < 1) return false;
  std::vector<int> begin;
  std::vector<int> size;
  Shape out;
  for (const int extent : shape_of(x)) {
    begin.push_back(static_cast<int>(r_.chance(40) ? 0 : r_.below(extent)));
    out.push_back(static_cast<int>(r_.between(1, extent - begin.back())));
    const bool is_rest = out.back() == extent - begin.back();
    size.push_back(is_rest && r_.chance(50) ? -1 : out.back());
  }
  const int from = numbers(begin);
  const int sizes = numbers(size);
  return emit_one(Code::slice, {x, from, sizes}, like(x, out));
}

bool Maker::strided_slice(int x) {
  if (!is_main(x) || rank_of(x) < 1 || rank_of(x) > 4) return false;
  std::vector<int> begin;
  std::vector<int> end;
  std::vector<int> stride;
  int begin_mask = 0;
  int end_mask = 0;
  int shrink = 0;
  Shape out;
  for (int i = 0; i < rank_of(x); ++i) {
    const int extent = shape_of(x)[static_cast<std::size_t>(i)];
    const int from = static_cast<int>(r_.below(extent));
    if (r_.chance(20)) {  // one element
      begin.push_back(r_.chance(30) ? from - extent : from);
      end.push_back(begin.back() + 1);
      stride.push_back(1);
      shrink |= 1 << i;
      continue;
    }
    const bool is_back = r_.chance(20);
    int step = static_cast<int>(r_.chance(60) ? 1 : r_.between(1, 3));
    int first = from;
    int last = 0;  // behind the last
    const bool at_end = r_.chance(40);
    const bool at_begin = r_.chance(40);
    if (is_back) {
      if (at_begin) first = extent - 1;
      last = at_end ? -1 : static_cast<int>(r_.between(-1, first - 1));
      if (!at_end && last < 0) last = 0;
      if (!at_end && last >= first) last = -1;
      if (last < 0) end_mask |= 1 << i;
      out.push_back((first - last + step - 1) / step);
      end.push_back(last < 0 ? 0 : r_.chance(30) ? last - extent : last);
      step = -step;
    } else {
      if (at_begin) first = 0;
      last = at_end ? extent : static_cast<int>(r_.between(first + 1, extent));
      if (at_end && r_.chance(50)) end_mask |= 1 << i;
      out.push_back((last - first + step - 1) / step);
      end.push_back((end_mask >> i & 1) != 0 ? 0
                    : last == extent         ? extent + static_cast<int>(r_.below(3))
                    : r_.chance(30)          ? last - extent
                                             : last);
    }
    if (at_begin && r_.chance(60)) begin_mask |= 1 << i;
    begin.push_back((begin_mask >> i & 1) != 0 ? 0 : r_.chance(30) ? first - extent : first);
    stride.push_back(step);
  }
  const int b = numbers(begin);
  const int e = numbers(end);
  const int s = numbers(stride);
  return emit_one(Code::strided_slice, {x, b, e, s}, like(x, out),
                  {{"begin_mask", begin_mask}, {"end_mask", end_mask}, {"shrink_axis_mask", shrink}});
}

bool Maker::gather(int x) {
  if (!is(x, {Type::float32, Type::int8}) || rank_of(x) < 1 || rank_of(x) > 4) return false;
  const int axis = static_cast<int>(r_.below(rank_of(x)));
  const int extent = shape_of(x)[static_cast<std::size_t>(axis)];
  Shape positions = {static_cast<int>(r_.between(1, 4))};
  if (r_.chance(20) && rank_of(x) < 4) positions.push_back(static_cast<int>(r_.between(1, 3)));
  if (r_.chance(20)) positions.clear();
  std::vector<std::int64_t> values;
  for (std::size_t i = 0; i < elements_of(positions); ++i) values.push_back(r_.below(extent));
  Shape out = shape_of(x);
  out.erase(out.begin() + axis);
  out.insert(out.begin() + axis, positions.begin(), positions.end());
  const int list = constant(Type::int32, positions, values);
  const int given = r_.chance(30) ? axis - rank_of(x) : axis;
  return emit_one(Code::gather, {x, list}, like(x, out), {{"axis", given}});
}

bool Maker::pad(int x) {
  if (!is_main(x) || rank_of(x) < 1 || rank_of(x) > 4) return false;
  std::vector<std::int64_t> amounts;
  Shape out = shape_of(x);
  for (int& extent : out) {
    for (int side = 0; side < 2; ++side) {
      amounts.push_back(r_.chance(50) ? 0 : r_.between(0, 2));
      extent += static_cast<int>(amounts.back());
    }
  }
  if (elements_of(out) > 3000) return false;
  const int list = constant(Type::int32, {rank_of(x), 2}, amounts);
  if (r_.chance(60)) return emit_one(Code::pad, {x, list}, like(x, out));
  const int value = random_constant(x, {}, Scaling{at(x).scale(), at(x).zero_point()});
  return emit_one(Code::padv2, {x, list, value}, like(x, out));
}

bool Maker::mirror(int x) {
  if (!is(x, {Type::float32, Type::int8}) || rank_of(x) < 1 || rank_of(x) > 4) return false;
  const int mode = static_cast<int>(r_.below(2));
  std::vector<std::int64_t> amounts;
  Shape out = shape_of(x);
  for (int& extent : out) {
    const int most = mode == 0 ? extent - 1 : extent;
    for (int side = 0; side < 2; ++side) amounts.push_back(r_.between(0, std::min(most, 2)));
    extent += static_cast<int>(amounts[amounts.size() - 2] + amounts.back());
  }
  if (elements_of(out) > 3000) return false;
  const int list = constant(Type::int32, {rank_of(x), 2}, amounts);
  return emit_one(Code::mirror_pad, {x, list}, like(x, out), {{"mode", mode}});
}

bool Maker::depth(int x) {
  if (!is(x, {Type::float32, Type::int8}) || rank_of(x) != 4) return false;
  const Shape in = shape_of(x);
  const int block = static_cast<int>(r_.between(1, 3));
  if (r_.chance(50)) {
    if (in[3] % (block * block) != 0) return false;
    const Shape out = {in[0], in[1] * block, in[2] * block, in[3] / block / block};
    return emit_one(Code::depth_to_space, {x}, like(x, out), {{"block_size", block}});
  }
  if (in[1] % block != 0 || in[2] % block != 0) return false;
  const Shape out = {in[0], in[1] / block, in[2] / block, in[3] * block * block};
  return emit_one(Code::space_to_depth, {x}, like(x, out), {{"block_size", block}});
}

bool Maker::batch(int x) {
  if (!is(x, {Type::float32, Type::int8}) || rank_of(x) != 4) return false;
  const Shape in = shape_of(x);
  const std::vector<int> block = {static_cast<int>(r_.between(1, 2)), static_cast<int>(r_.between(1, 3))};
  const int parts = block[0] * block[1];
  Shape out = in;
  std::vector<std::int64_t> amounts;
  if (in[0] % parts == 0 && r_.chance(80)) {
    out[0] /= parts;
    for (std::size_t i = 0; i < 2; ++i) {
      out[i + 1] *= block[i];
      for (int side = 0; side < 2; ++side) {
        amounts.push_back(out[i + 1] > 1 ? r_.between(0, 1) : 0);
        out[i + 1] -= static_cast<int>(amounts.back());
      }
    }
    const int blocks = numbers(block);
    const int crops = constant(Type::int32, {2, 2}, amounts);
    return emit_one(Code::batch_to_space_nd, {x, blocks, crops}, like(x, out));
  }
  out[0] *= parts;
  for (std::size_t i = 0; i < 2; ++i) {
    const int before = static_cast<int>(r_.below(3));
    int after = 0;
    while ((in[i + 1] + before + after) % block[i] != 0) ++after;
    amounts.push_back(before);
    amounts.push_back(after);
    out[i + 1] = (in[i + 1] + before + after) / block[i];
  }
  if (elements_of(out) > 3000) return false;
  const int blocks = numbers(block);
  const int pads = constant(Type::int32, {2, 2}, amounts);
  return emit_one(Code::space_to_batch_nd, {x, blocks, pads}, like(x, out));
}

bool Maker::resize(int x) {
  if (!is_main(x) || rank_of(x) != 4) return false;
  const bool is_bilinear = r_.chance(50) && at(x).type != Type::int16 && !is_inexact(x);
  const Shape in = shape_of(x);
  const Shape out = {in[0], static_cast<int>(r_.between(1, 12)), static_cast<int>(r_.between(1, 12)), in[3]};
  const bool corners = r_.chance(35);
  const bool half = !corners && r_.chance(50);
  const int size = numbers({out[1], out[2]});
  return emit_one(is_bilinear ? Code::resize_bilinear : Code::resize_nearest_neighbor, {x, size}, like(x, out),
                  {{"align_corners", corners ? 1 : 0}, {"half_pixel_centers", half ? 1 : 0}});
}

}  // namespace usmp::tflite_random
