// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// Pools, reductions, softmax.
#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>

#include "tflite_random/fixed_point.hpp"
#include "tflite_random/interpreter.hpp"

namespace usmp::tflite_random {
namespace {

void pool(const Call& call, bool is_average) {
  const Shape& in = call.inputs[0]->shape;
  const Shape& out = call.outputs[0]->shape;
  const int height = call.integer("filter_height");
  const int width = call.integer("filter_width");
  const int activation = call.integer("activation");
  const Windows down = windows_of(call.integer("padding"), in[1], out[1], height, call.integer("stride_h"), 1);
  const Windows right = windows_of(call.integer("padding"), in[2], out[2], width, call.integer("stride_w"), 1);
  const Limits limits = call.is_float() ? Limits() : limits_of(activation, *call.outputs[0]);
  for (int b = 0; b < out[0]; ++b) {
    for (int y = 0; y < out[1]; ++y) {
      for (int x = 0; x < out[2]; ++x) {
        for (int c = 0; c < out[3]; ++c) {
          std::int64_t sum = 0;
          std::int64_t most = std::numeric_limits<std::int64_t>::min();
          float total = 0;
          float highest = std::numeric_limits<float>::lowest();
          std::int64_t count = 0;
          for (int ky = 0; ky < height; ++ky) {
            for (int kx = 0; kx < width; ++kx) {
              const int iy = y * down.stride - down.before + ky;
              const int ix = x * right.stride - right.before + kx;
              if (iy < 0 || iy >= in[1] || ix < 0 || ix >= in[2]) continue;
              const std::size_t from = index(((b * in[1] + iy) * in[2] + ix) * in[3] + c);
              ++count;
              if (call.is_float()) {
                total += call.in[0]->real[from];
                highest = std::max(highest, call.in[0]->real[from]);
              } else {
                sum += call.in[0]->whole[from];
                most = std::max(most, call.in[0]->whole[from]);
              }
            }
          }
          if (count == 0) throw Undefined("a window outside of the image");
          if (call.is_float()) {
            const float value = is_average ? total / static_cast<float>(count) : highest;
            call.out[0]->real.push_back(activated(activation, value));
          } else {
            const std::int64_t mean = sum > 0 ? (sum + count / 2) / count : (sum - count / 2) / count;
            call.out[0]->whole.push_back(std::clamp(is_average ? mean : most, limits.low, limits.high));
          }
        }
      }
    }
  }
}

enum class Reduction : std::uint8_t { mean, sum, maximum, minimum };

// The output that each input is counted in, and how many inputs an output has.
std::vector<std::size_t> groups_of(const Call& call, std::int64_t* size) {
  const Shape& in = call.inputs[0]->shape;
  std::vector<bool> is_reduced(in.size(), false);
  for (const std::int64_t axis : call.in[1]->whole) {
    is_reduced.at(static_cast<std::size_t>(Call::axis(static_cast<int>(axis), in.size()))) = true;
  }
  *size = 1;
  for (std::size_t i = 0; i < in.size(); ++i) *size *= is_reduced[i] ? in[i] : 1;
  std::vector<std::size_t> result(elements_of(in));
  for (std::size_t i = 0; i < result.size(); ++i) {
    std::size_t rest = i;
    std::size_t stride = 1;
    for (std::size_t axis = in.size(); axis-- > 0;) {
      const auto extent = static_cast<std::size_t>(in[axis]);
      if (!is_reduced[axis]) {
        result[i] += rest % extent * stride;
        stride *= extent;
      }
      rest /= extent;
    }
  }
  return result;
}

void reduce_floats(const Call& call, Reduction kind, const std::vector<std::size_t>& groups, std::int64_t size) {
  std::vector<float>& out = call.out[0]->real;
  const float lowest = std::numeric_limits<float>::lowest();
  out.assign(elements_of(call.outputs[0]->shape), kind == Reduction::maximum   ? lowest
                                                  : kind == Reduction::minimum ? -lowest
                                                                               : 0.0F);
  for (std::size_t i = 0; i < groups.size(); ++i) {
    float& result = out.at(groups[i]);
    const float x = call.in[0]->real[i];
    switch (kind) {
      case Reduction::mean:
      case Reduction::sum:
        result += x;
        break;
      case Reduction::maximum:
        result = std::max(result, x);
        break;
      case Reduction::minimum:
        result = std::min(result, x);
        break;
    }
  }
  if (kind == Reduction::mean) {
    for (float& result : out) result /= static_cast<float>(size);
  }
}

void reduce(const Call& call, Reduction kind) {
  std::int64_t size = 0;
  const std::vector<std::size_t> groups = groups_of(call, &size);
  if (call.is_float()) {
    reduce_floats(call, kind, groups, size);
    return;
  }
  const Tensor& input = *call.inputs[0];
  const Tensor& output = *call.outputs[0];
  const Limits limits = limits_of(output.type);
  std::vector<std::int64_t>& out = call.out[0]->whole;
  const bool is_sum = kind == Reduction::mean || kind == Reduction::sum;
  out.assign(elements_of(output.shape), is_sum ? 0 : kind == Reduction::maximum ? limits.low : limits.high);
  for (std::size_t i = 0; i < groups.size(); ++i) {
    std::int64_t& result = out.at(groups[i]);
    const std::int64_t x = call.in[0]->whole[i];
    result = is_sum ? result + x : kind == Reduction::maximum ? std::max(result, x) : std::min(result, x);
  }
  if (!is_sum) return;
  Factor factor = factor_of(static_cast<double>(input.scale()) / static_cast<double>(output.scale()));
  if (kind == Reduction::mean) {
    int shift = 63 - std::countl_zero(static_cast<std::uint64_t>(size));
    shift = std::min({shift, 32, 31 + factor.shift});
    factor = {static_cast<std::int32_t>((std::int64_t{factor.multiplier} << shift) / size), factor.shift - shift};
  }
  for (std::int64_t& result : out) {
    const std::int64_t scaled_sum = scaled(std::int64_t{narrow(result)} - input.zero_point() * size, factor);
    result = std::clamp(scaled_sum + output.zero_point(), limits.low, limits.high);
  }
}

void arg(const Call& call, bool is_max) {
  const Shape& in = call.inputs[0]->shape;
  const auto axis = static_cast<std::size_t>(Call::axis(static_cast<int>(call.in[1]->whole.at(0)), in.size()));
  const auto extent = static_cast<std::size_t>(in[axis]);
  std::size_t inner = 1;
  for (std::size_t i = axis + 1; i < in.size(); ++i) inner *= static_cast<std::size_t>(in[i]);
  const std::size_t outer = elements_of(in) / inner / extent;
  for (std::size_t o = 0; o < outer; ++o) {
    for (std::size_t i = 0; i < inner; ++i) {
      const auto value = [&](std::size_t k) {
        const std::size_t from = (o * extent + k) * inner + i;
        return call.is_float() ? static_cast<double>(call.in[0]->real[from])
                               : static_cast<double>(call.in[0]->whole[from]);
      };
      std::size_t best = 0;
      for (std::size_t k = 1; k < extent; ++k) {
        if (is_max ? value(k) > value(best) : value(k) < value(best)) best = k;
      }
      call.out[0]->whole.push_back(static_cast<std::int64_t>(best));
    }
  }
}

void softmax_of_floats(const Call& call, std::size_t depth, bool is_log) {
  const std::vector<float>& x = call.in[0]->real;
  const auto beta = is_log ? 1.0F : static_cast<float>(call.real("beta"));
  for (std::size_t row = 0; row < x.size(); row += depth) {
    const float most = *std::max_element(x.data() + row, x.data() + row + depth);
    float sum = 0;
    for (std::size_t i = 0; i < depth; ++i) sum += std::exp((x[row + i] - most) * beta);
    for (std::size_t i = 0; i < depth; ++i) {
      call.out[0]->real.push_back(is_log ? x[row + i] - most - std::log(sum)
                                         : std::exp((x[row + i] - most) * beta) / sum);
    }
  }
}

// int8 to int8 or int16.
void softmax_of_bytes(const Call& call, std::size_t depth) {
  const Limits limits = limits_of(call.outputs[0]->type);
  const int bits = call.outputs[0]->type == Type::int8 ? 8 : 16;
  const double scale = static_cast<double>(call.inputs[0]->scale());
  const Factor factor = factor_of(std::min(call.real("beta") * scale * (1 << 26), 2147483647.0));
  const std::int64_t least = -input_radius(5, factor.shift);
  const std::vector<std::int64_t>& x = call.in[0]->whole;
  for (std::size_t row = 0; row < x.size(); row += depth) {
    const std::int64_t most = *std::max_element(x.data() + row, x.data() + row + depth);
    const auto power = [&](std::int64_t difference) { return exp_of_negative(scaled(difference, factor), 5); };
    std::int64_t sum = 0;
    for (std::size_t i = 0; i < depth; ++i) {
      if (x[row + i] - most >= least) sum += rounded_half(power(x[row + i] - most), 12);
    }
    const int headroom = std::countl_zero(static_cast<std::uint32_t>(narrow(sum)));
    const auto above_one = static_cast<std::int32_t>((static_cast<std::uint32_t>(sum) << headroom) - (1U << 31));
    const std::int32_t reciprocal = reciprocal_of_one_plus(above_one);
    const int exponent = 12 - headroom + 31 - bits;
    for (std::size_t i = 0; i < depth; ++i) {
      const std::int64_t difference = x[row + i] - most;
      std::int64_t result = limits.low;
      if (difference >= least) result += rounded_half(high_product(reciprocal, power(difference)), exponent);
      call.out[0]->whole.push_back(std::min(result, limits.high));
    }
  }
}

void softmax_of_shorts(const Call& call, std::size_t depth) {
  static const std::vector<std::int32_t> powers = pieces_of([](float x) { return std::exp(x); }, -10.0F, 0.0F);
  static const std::vector<std::int32_t> reciprocals = pieces_of([](float x) { return 1.0F / (1.0F + x); }, 0.0F, 1.0F);
  const double scale = static_cast<double>(call.inputs[0]->scale());
  const Factor factor = factor_of(scale * call.real("beta") / (10.0 / 65535.0));
  const std::vector<std::int64_t>& x = call.in[0]->whole;
  const auto cut = [](std::int64_t y) { return static_cast<std::int32_t>(std::clamp<std::int64_t>(y, -32768, 32767)); };
  for (std::size_t row = 0; row < x.size(); row += depth) {
    const std::int64_t most = *std::max_element(x.data() + row, x.data() + row + depth);
    std::int64_t sum = 0;
    std::vector<std::int64_t> own;
    for (std::size_t i = 0; i < depth; ++i) {
      own.push_back(looked_up(powers, cut(std::int64_t{scaled(x[row + i] - most, factor)} + 32767)));
      sum += own.back();
    }
    const int headroom = std::countl_zero(static_cast<std::uint32_t>(narrow(sum)));
    const std::int64_t shifted = ((sum << (headroom - 1)) + (1 << 13)) >> 14;
    const std::int64_t reciprocal = looked_up(reciprocals, cut(shifted - (1 << 15) - (1 << 16)));
    const int right = 31 - headroom;
    for (const std::int64_t power : own) {
      const std::int64_t result = (power * reciprocal + (std::int64_t{1} << (right - 1))) >> right;
      call.out[0]->whole.push_back(std::clamp<std::int64_t>(result, 0, 32767));
    }
  }
}

void softmax(const Call& call, bool is_log) {
  const auto depth = static_cast<std::size_t>(call.inputs[0]->shape.back());
  if (call.is_float()) {
    softmax_of_floats(call, depth, is_log);
  } else if (is_log) {
    throw Unknown("LOG_SOFTMAX of integers");
  } else if (call.inputs[0]->type == Type::int8) {
    softmax_of_bytes(call, depth);
  } else {
    softmax_of_shorts(call, depth);
  }
}

}  // namespace

bool interpret_reductions(const Call& call) {
  switch (call.op->code) {
    case Code::average_pool_2d:
      pool(call, true);
      return true;
    case Code::max_pool_2d:
      pool(call, false);
      return true;
    case Code::mean:
      reduce(call, Reduction::mean);
      return true;
    case Code::sum:
      reduce(call, Reduction::sum);
      return true;
    case Code::reduce_max:
      reduce(call, Reduction::maximum);
      return true;
    case Code::reduce_min:
      reduce(call, Reduction::minimum);
      return true;
    case Code::arg_max:
      arg(call, true);
      return true;
    case Code::arg_min:
      arg(call, false);
      return true;
    case Code::softmax:
      softmax(call, false);
      return true;
    case Code::log_softmax:
      softmax(call, true);
      return true;
    default:
      return false;
  }
}

}  // namespace usmp::tflite_random
