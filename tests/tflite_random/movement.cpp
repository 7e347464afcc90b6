// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// Operators that move elements, and resizing.
#include <algorithm>
#include <cmath>
#include <numeric>

#include "tflite_random/interpreter.hpp"

namespace usmp::tflite_random {
namespace {

// Takes the elements at `from` of an input; where that is < 0, the number given.
void take(const Call& call, std::size_t input, std::size_t output, const std::vector<std::int64_t>& from,
          std::int64_t otherwise = 0, float otherwise_real = 0) {
  const bool is_float = call.outputs[output]->type == Type::float32;
  for (const std::int64_t i : from) {
    const auto index = static_cast<std::size_t>(i);
    if (is_float) {
      call.out[output]->real.push_back(i < 0 ? otherwise_real : call.in[input]->real.at(index));
    } else {
      call.out[output]->whole.push_back(i < 0 ? otherwise : call.in[input]->whole.at(index));
    }
  }
}

std::vector<int> numbers(const Call& call, std::size_t input) {
  return {call.in.at(input)->whole.begin(), call.in[input]->whole.end()};
}

void concatenate(const Call& call) {
  const Shape& out = call.outputs[0]->shape;
  const auto axis = static_cast<std::size_t>(Call::axis(call.integer("axis"), out.size()));
  const auto rows = std::accumulate(out.begin(), out.begin() + static_cast<std::ptrdiff_t>(axis), std::size_t{1},
                                    [](std::size_t a, int b) { return a * static_cast<std::size_t>(b); });
  for (std::size_t row = 0; row < rows; ++row) {
    for (std::size_t k = 0; k < call.in.size(); ++k) {
      const std::size_t length = elements_of(call.inputs[k]->shape) / rows;
      std::vector<std::int64_t> from(length);
      std::iota(from.begin(), from.end(), static_cast<std::int64_t>(row * length));
      take(call, k, 0, from);
    }
  }
}

// Each operand of rank n - 1 is a slice of the result along an axis.
void pack(const Call& call) {
  const Shape& out = call.outputs[0]->shape;
  const auto axis = static_cast<std::size_t>(Call::axis(call.integer("axis"), out.size()));
  std::size_t inner = 1;
  for (std::size_t i = axis + 1; i < out.size(); ++i) inner *= static_cast<std::size_t>(out[i]);
  const std::size_t rows = elements_of(call.inputs[0]->shape) / inner;
  for (std::size_t row = 0; row < rows; ++row) {
    for (std::size_t k = 0; k < call.in.size(); ++k) {
      std::vector<std::int64_t> from(inner);
      std::iota(from.begin(), from.end(), static_cast<std::int64_t>(row * inner));
      take(call, k, 0, from);
    }
  }
}

void unpack(const Call& call) {
  const Shape& in = call.inputs[0]->shape;
  const auto axis = static_cast<std::size_t>(Call::axis(call.integer("axis"), in.size()));
  for (std::size_t k = 0; k < call.out.size(); ++k) {
    take(call, 0, k, moved(call.outputs[k]->shape, in, [&](Shape place) {
           place.insert(place.begin() + static_cast<std::ptrdiff_t>(axis), static_cast<int>(k));
           return place;
         }));
  }
}

void split(const Call& call, std::size_t input, std::size_t axis_input) {
  const Shape& in = call.inputs[input]->shape;
  const auto axis = static_cast<std::size_t>(Call::axis(numbers(call, axis_input).at(0), in.size()));
  int before = 0;
  for (std::size_t k = 0; k < call.out.size(); ++k) {
    take(call, input, k, moved(call.outputs[k]->shape, in, [&](Shape place) {
           place[axis] += before;
           return place;
         }));
    before += call.outputs[k]->shape[axis];
  }
}

void pad(const Call& call) {
  const Shape& in = call.inputs[0]->shape;
  const std::vector<int> amounts = numbers(call, 1);
  std::int64_t otherwise = call.outputs[0]->zero_point();
  float otherwise_real = 0;
  if (call.op->code == Code::padv2 && call.is_float()) otherwise_real = call.in[2]->real.at(0);
  if (call.op->code == Code::padv2 && !call.is_float()) otherwise = call.in[2]->whole.at(0);
  const auto from = moved(call.outputs[0]->shape, in, [&](Shape place) {
    for (std::size_t i = 0; i < place.size(); ++i) {
      place[i] -= amounts[2 * i];
      if (place[i] < 0 || place[i] >= in[i]) return Shape();
    }
    return place;
  });
  take(call, 0, 0, from, otherwise, otherwise_real);
}

void mirror(const Call& call) {
  const Shape& in = call.inputs[0]->shape;
  const std::vector<int> amounts = numbers(call, 1);
  const int edge = call.integer("mode") == 0 ? 0 : 1;  // REFLECT leaves the edge out, SYMMETRIC repeats it
  take(call, 0, 0, moved(call.outputs[0]->shape, in, [&](Shape place) {
         for (std::size_t i = 0; i < place.size(); ++i) {
           place[i] -= amounts[2 * i];
           if (place[i] < 0) place[i] = -place[i] - edge;
           if (place[i] >= in[i]) place[i] = 2 * (in[i] - 1) - place[i] + edge;
         }
         return place;
       }));
}

void transpose(const Call& call) {
  const std::vector<int> order = numbers(call, 1);
  take(call, 0, 0, moved(call.outputs[0]->shape, call.inputs[0]->shape, [&](const Shape& place) {
         Shape source(place.size());
         for (std::size_t i = 0; i < place.size(); ++i) source[static_cast<std::size_t>(order[i])] = place[i];
         return source;
       }));
}

void slice(const Call& call) {
  const std::vector<int> begin = numbers(call, 1);
  take(call, 0, 0, moved(call.outputs[0]->shape, call.inputs[0]->shape, [&](Shape place) {
         for (std::size_t i = 0; i < place.size(); ++i) place[i] += begin[i];
         return place;
       }));
}

void strided_slice(const Call& call) {
  const Shape& in = call.inputs[0]->shape;
  std::vector<int> begin = numbers(call, 1);
  const std::vector<int> strides = numbers(call, 3);
  const int begin_mask = call.integer("begin_mask");
  const int shrink = call.integer("shrink_axis_mask");
  for (std::size_t i = 0; i < begin.size(); ++i) {
    const int last = in[i] - 1;
    if ((begin_mask >> i & 1) != 0) begin[i] = strides[i] > 0 ? 0 : last;
    if (begin[i] < 0) begin[i] += in[i];
    begin[i] = strides[i] > 0 ? std::clamp(begin[i], 0, in[i]) : std::clamp(begin[i], -1, last);
  }
  take(call, 0, 0, moved(call.outputs[0]->shape, in, [&](const Shape& place) {
         Shape source;
         std::size_t next = 0;
         for (std::size_t i = 0; i < in.size(); ++i) {
           const bool is_given = i < begin.size();
           const int from = is_given ? begin[i] : 0;
           const bool is_gone = (shrink >> i & 1) != 0;
           source.push_back(from + (is_gone ? 0 : place[next] * (is_given ? strides[i] : 1)));
           if (!is_gone) ++next;
         }
         return source;
       }));
}

void gather(const Call& call) {
  const Shape& in = call.inputs[0]->shape;
  const Shape& positions = call.inputs[1]->shape;
  const auto axis = static_cast<std::size_t>(Call::axis(call.integer("axis"), in.size()));
  const auto batch = static_cast<std::size_t>(Call::axis(call.integer("batch_dims"), positions.size()));
  take(call, 0, 0, moved(call.outputs[0]->shape, in, [&](const Shape& place) {
         std::size_t at = 0;
         for (std::size_t i = 0; i < batch; ++i) {
           at = at * static_cast<std::size_t>(positions[i]) + static_cast<std::size_t>(place[i]);
         }
         for (std::size_t i = batch; i < positions.size(); ++i) {
           at = at * static_cast<std::size_t>(positions[i]) + static_cast<std::size_t>(place[axis + i - batch]);
         }
         Shape source(place.begin(), place.begin() + static_cast<std::ptrdiff_t>(axis));
         source.push_back(static_cast<int>(call.in[1]->whole.at(at)));
         source.insert(source.end(), place.begin() + static_cast<std::ptrdiff_t>(axis + positions.size() - batch),
                       place.end());
         return source;
       }));
}

void space_to_depth(const Call& call, bool back) {
  const Shape& in = call.inputs[0]->shape;
  const int block = call.integer("block_size");
  const int channels = back ? call.outputs[0]->shape[3] : in[3];
  take(call, 0, 0, moved(call.outputs[0]->shape, in, [&](const Shape& p) {
         if (back) {
           const int part = p[1] % block * block + p[2] % block;
           return Shape{p[0], p[1] / block, p[2] / block, part * channels + p[3]};
         }
         const int part = p[3] / channels;
         return Shape{p[0], p[1] * block + part / block, p[2] * block + part % block, p[3] % channels};
       }));
}

// Takes images of two dimensions, or of one.
void space_to_batch(const Call& call) {
  const Shape& in = call.inputs[0]->shape;
  const std::vector<int> block = numbers(call, 1);
  const std::vector<int> amounts = numbers(call, 2);
  const auto from = moved(call.outputs[0]->shape, in, [&](Shape p) {
    int part = p[0] / in[0];
    p[0] %= in[0];
    for (std::size_t i = block.size(); i-- > 0;) {
      p[i + 1] = p[i + 1] * block[i] + part % block[i] - amounts[2 * i];
      part /= block[i];
      if (p[i + 1] < 0 || p[i + 1] >= in[i + 1]) return Shape();
    }
    return p;
  });
  take(call, 0, 0, from, call.outputs[0]->zero_point());
}

void batch_to_space(const Call& call) {
  const Shape& in = call.inputs[0]->shape;
  const std::vector<int> block = numbers(call, 1);
  const std::vector<int> crops = numbers(call, 2);
  const int batches = call.outputs[0]->shape[0];
  take(call, 0, 0, moved(call.outputs[0]->shape, in, [&](Shape p) {
         int part = 0;
         for (std::size_t i = 0; i < block.size(); ++i) {
           const int at = p[i + 1] + crops[2 * i];
           part = part * block[i] + at % block[i];
           p[i + 1] = at / block[i];
         }
         p[0] += part * batches;
         return p;
       }));
}

void nearest(const Call& call) {
  const Shape& in = call.inputs[0]->shape;
  const Shape& out = call.outputs[0]->shape;
  const bool corners = call.integer("align_corners") != 0;
  const bool half = call.integer("half_pixel_centers") != 0;
  const auto source = [&](int at, int size, int new_size) {
    const float scale = corners && new_size > 1 ? static_cast<float>(size - 1) / static_cast<float>(new_size - 1)
                                                : static_cast<float>(size) / static_cast<float>(new_size);
    const float place = (static_cast<float>(at) + (half ? 0.5F : 0.0F)) * scale;
    return std::max(0, std::min(static_cast<int>(corners ? std::round(place) : std::floor(place)), size - 1));
  };
  take(call, 0, 0, moved(out, in, [&](const Shape& p) {
         return Shape{p[0], source(p[1], in[1], out[1]), source(p[2], in[2], out[2]), p[3]};
       }));
}

struct Between {
  float at;
  int low;
  int high;
};
Between between(int value, int size, int new_size, bool corners, bool half) {
  const float scale = corners && new_size > 1 ? static_cast<float>(size - 1) / static_cast<float>(new_size - 1)
                                              : static_cast<float>(size) / static_cast<float>(new_size);
  const float at = half ? (static_cast<float>(value) + 0.5F) * scale - 0.5F : static_cast<float>(value) * scale;
  return {at, std::max(static_cast<int>(std::floor(at)), 0), std::min(static_cast<int>(std::ceil(at)), size - 1)};
}

struct BetweenWhole {
  std::int64_t at;  // in 1/1024
  int low;
  int high;
};
BetweenWhole between_whole(int value, int size, int new_size, bool corners, bool half) {
  const bool ends = corners && new_size > 1;
  const int from = ends ? size - 1 : size;
  const int to = ends ? new_size - 1 : new_size;
  const int scale = (1024 * from + to / 2) / to;
  const int at = half ? value * scale + scale / 2 - 512 : value * scale;
  return {at, std::max(at / 1024, 0), std::min((at + 1023) / 1024, size - 1)};
}

void bilinear(const Call& call) {
  const Shape& in = call.inputs[0]->shape;
  const Shape& out = call.outputs[0]->shape;
  const bool corners = call.integer("align_corners") != 0;
  const bool half = call.integer("half_pixel_centers") != 0;
  const auto place = [&](int b, int y, int x, int c) { return index(((b * in[1] + y) * in[2] + x) * in[3] + c); };
  for (int b = 0; b < out[0]; ++b) {
    for (int y = 0; y < out[1]; ++y) {
      for (int x = 0; x < out[2]; ++x) {
        for (int c = 0; c < out[3]; ++c) {
          if (call.is_float()) {
            const std::vector<float>& v = call.in[0]->real;
            const Between h = between(y, in[1], out[1], corners, half);
            const Between w = between(x, in[2], out[2], corners, half);
            const float down = h.at - static_cast<float>(h.low);
            const float right = w.at - static_cast<float>(w.low);
            call.out[0]->real.push_back(v[place(b, h.low, w.low, c)] * (1 - down) * (1 - right) +
                                        v[place(b, h.high, w.low, c)] * down * (1 - right) +
                                        v[place(b, h.low, w.high, c)] * (1 - down) * right +
                                        v[place(b, h.high, w.high, c)] * down * right);
            continue;
          }
          const std::vector<std::int64_t>& v = call.in[0]->whole;
          const BetweenWhole h = between_whole(y, in[1], out[1], corners, half);
          const BetweenWhole w = between_whole(x, in[2], out[2], corners, half);
          const std::int64_t down = h.at - std::int64_t{1024} * h.low;
          const std::int64_t right = w.at - std::int64_t{1024} * w.low;
          const std::int64_t sum = v[place(b, h.low, w.low, c)] * (1024 - down) * (1024 - right) +
                                   v[place(b, h.high, w.low, c)] * down * (1024 - right) +
                                   v[place(b, h.low, w.high, c)] * (1024 - down) * right +
                                   v[place(b, h.high, w.high, c)] * down * right;
          call.out[0]->whole.push_back((sum + (sum > 0 ? 1 << 19 : -(1 << 19))) / (1 << 20));
        }
      }
    }
  }
}

}  // namespace

bool interpret_movement(const Call& call) {
  switch (call.op->code) {
    case Code::reshape:
    case Code::squeeze:
    case Code::expand_dims:
      *call.out[0] = *call.in[0];
      return true;
    case Code::shape:
      call.out[0]->whole.assign(call.inputs[0]->shape.begin(), call.inputs[0]->shape.end());
      return true;
    case Code::concatenation:
      concatenate(call);
      return true;
    case Code::pack:
      pack(call);
      return true;
    case Code::unpack:
      unpack(call);
      return true;
    case Code::split:
      split(call, 1, 0);
      return true;
    case Code::split_v:
      split(call, 0, 2);
      return true;
    case Code::pad:
    case Code::padv2:
      pad(call);
      return true;
    case Code::mirror_pad:
      mirror(call);
      return true;
    case Code::transpose:
      transpose(call);
      return true;
    case Code::slice:
      slice(call);
      return true;
    case Code::strided_slice:
      strided_slice(call);
      return true;
    case Code::gather:
      gather(call);
      return true;
    case Code::space_to_depth:
      space_to_depth(call, false);
      return true;
    case Code::depth_to_space:
      space_to_depth(call, true);
      return true;
    case Code::space_to_batch_nd:
      space_to_batch(call);
      return true;
    case Code::batch_to_space_nd:
      batch_to_space(call);
      return true;
    case Code::resize_nearest_neighbor:
      nearest(call);
      return true;
    case Code::resize_bilinear:
      bilinear(call);
      return true;
    default:
      return false;
  }
}

}  // namespace usmp::tflite_random
