// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// Random convolutions, dense layers and products of matrices.
#include <algorithm>
#include <cmath>

#include "tflite_random/maker.hpp"

namespace usmp::tflite_random {
namespace {

constexpr std::int64_t most_products = 40000;

struct Axis {
  int kernel;
  int stride;
  int dilation;
  int out;
};

int extent_of(int in, int kernel, int stride, int dilation, bool is_same) {
  if (is_same) return (in + stride - 1) / stride;
  const int reach = (kernel - 1) * dilation + 1;
  return reach > in ? 0 : (in - reach) / stride + 1;
}

Axis random_axis(random_modules::Random& r, int in, bool is_same, bool may_dilate) {
  const int kernel = static_cast<int>(r.chance(25) ? 1 : r.between(1, std::min(is_same ? 5 : in, 5)));
  const int dilation = static_cast<int>(may_dilate && r.chance(25) ? r.between(2, 3) : 1);
  const int stride = static_cast<int>(r.chance(55) ? 1 : r.between(1, 3));
  return {kernel, stride, dilation, extent_of(in, kernel, stride, dilation, is_same)};
}

// How far sums of so many products of random numbers go.
double reach_of(int taps, bool is_short) { return std::sqrt(static_cast<double>(taps)) * (is_short ? 1.2e6 : 5e3); }

// The scale of an output that holds sums of the reach: mostly well, sometimes too small or too large by far.
double output_scale(random_modules::Random& r, double product_scale, double reach, bool is_short, bool is_power) {
  const double full = product_scale * reach / (is_short ? 16000.0 : 60.0);
  const std::int64_t way = r.below(10);
  double factor = static_cast<double>(r.between(500, 2000)) / 1000.0;
  if (way == 0) factor /= 60;
  if (way == 1) factor *= 20;
  const double scale = full * factor;
  return is_power ? std::ldexp(1.0, static_cast<int>(std::round(std::log2(scale)))) : scale;
}

}  // namespace

bool Maker::convolution(int x) {
  if (!is_main(x) || at(x).type != kind_ || rank_of(x) != 4 || is_inexact(x)) return false;
  const Shape in = shape_of(x);
  const bool is_short = kind_ == Type::int16;
  const bool is_same = r_.chance(50);
  const Axis down = random_axis(r_, in[1], is_same, true);
  const Axis right = random_axis(r_, in[2], is_same, true);
  if (down.out < 1 || right.out < 1) return false;
  static const std::vector<int> channels = {1, 2, 3, 4, 5, 8, 16, 17, 32};
  int out = r_.pick(channels);
  int taken = in[3];
  if (in[3] > 1 && r_.chance(15)) {  // groups
    for (int groups = in[3]; groups > 1; --groups) {
      if (in[3] % groups != 0 || (groups == in[3] && r_.chance(50))) continue;
      taken = in[3] / groups;
      out = groups * static_cast<int>(r_.between(1, 3));
      break;
    }
  }
  const int taps = down.kernel * right.kernel * taken;
  if (std::int64_t{in[0]} * down.out * right.out * out * taps > most_products) return false;
  const double w_scale = powers_of_two_ ? 0.25 : static_cast<double>(scale());
  const int w = weights({out, down.kernel, right.kernel, taken}, out, 0, w_scale);
  const double reach = reach_of(taps, is_short);
  const bool has_short_bias = is_short && r_.chance(70);
  const int b = bias(x, w, out, reach / 2, has_short_bias);
  const double s = output_scale(r_, static_cast<double>(at(x).scale()) * w_scale, reach, is_short, powers_of_two_);
  const int y = activation(kind_, {in[0], down.out, right.out, out}, Scaling{static_cast<float>(s), zero_point(kind_)});
  std::vector<int> inputs = {x, w};
  if (b >= 0 || r_.chance(50)) inputs.push_back(b);
  const int act = fused();
  return emit_one(Code::conv_2d, inputs, y,
                  {{"padding", is_same ? 0 : 1},
                   {"stride_w", right.stride},
                   {"stride_h", down.stride},
                   {"dilation_w", right.dilation},
                   {"dilation_h", down.dilation},
                   {"activation", act}});
}

bool Maker::depthwise(int x) {
  if (!is_main(x) || at(x).type != kind_ || rank_of(x) != 4 || is_inexact(x)) return false;
  const Shape in = shape_of(x);
  const bool is_short = kind_ == Type::int16;
  const bool is_same = r_.chance(50);
  const Axis down = random_axis(r_, in[1], is_same, true);
  const Axis right = random_axis(r_, in[2], is_same, true);
  if (down.out < 1 || right.out < 1) return false;
  const int multiplier = static_cast<int>(r_.chance(60) ? 1 : r_.between(2, in[3] == 1 ? 8 : 3));
  const int out = in[3] * multiplier;
  const int taps = down.kernel * right.kernel;
  if (std::int64_t{in[0]} * down.out * right.out * out * taps > most_products) return false;
  const double w_scale = powers_of_two_ ? 0.25 : static_cast<double>(scale());
  const int w = weights({1, down.kernel, right.kernel, out}, out, 3, w_scale);
  const double reach = reach_of(taps, is_short);
  const int b = bias(x, w, out, reach / 2, is_short);
  const double s = output_scale(r_, static_cast<double>(at(x).scale()) * w_scale, reach, is_short, powers_of_two_);
  const int y = activation(kind_, {in[0], down.out, right.out, out}, Scaling{static_cast<float>(s), zero_point(kind_)});
  std::vector<int> inputs = {x, w};
  if (b >= 0 || r_.chance(50)) inputs.push_back(b);
  const int act = fused();
  return emit_one(Code::depthwise_conv_2d, inputs, y,
                  {{"padding", is_same ? 0 : 1},
                   {"stride_w", right.stride},
                   {"stride_h", down.stride},
                   {"depth_multiplier", multiplier},
                   {"dilation_w", right.dilation},
                   {"dilation_h", down.dilation},
                   {"activation", act}});
}

bool Maker::transposed_convolution(int x) {
  if (!is_main(x) || at(x).type != kind_ || rank_of(x) != 4 || is_inexact(x)) return false;
  const Shape in = shape_of(x);
  const bool is_short = kind_ == Type::int16;
  const bool is_same = r_.chance(50);
  const auto axis = [&](int extent) {
    const int stride = static_cast<int>(r_.between(1, 3));
    const int kernel = static_cast<int>(r_.between(1, 4));
    if (is_same) return Axis{kernel, stride, 1, extent * stride - static_cast<int>(r_.below(stride))};
    return Axis{kernel, stride, 1, (extent - 1) * stride + std::max(kernel, static_cast<int>(r_.between(1, stride)))};
  };
  const Axis down = axis(in[1]);
  const Axis right = axis(in[2]);
  // The output's size must be one whose windows are the input.
  if (extent_of(down.out, down.kernel, down.stride, 1, is_same) != in[1]) return false;
  if (extent_of(right.out, right.kernel, right.stride, 1, is_same) != in[2]) return false;
  const int out = static_cast<int>(r_.between(1, 6));
  const int taps = down.kernel * right.kernel * in[3];
  if (std::int64_t{in[0]} * in[1] * in[2] * out * taps > most_products) return false;
  const double w_scale = powers_of_two_ ? 0.25 : static_cast<double>(scale());
  const int w = weights({out, down.kernel, right.kernel, in[3]}, out, 0, w_scale);
  const double reach = reach_of(std::max(taps / down.stride / right.stride, 1), is_short);
  const int b = bias(x, w, out, reach / 2, is_short);
  const double s = output_scale(r_, static_cast<double>(at(x).scale()) * w_scale, reach, is_short, powers_of_two_);
  const Shape shape = {in[0], down.out, right.out, out};
  const int y = activation(kind_, shape, Scaling{static_cast<float>(s), zero_point(kind_)});
  std::vector<int> inputs = {numbers(shape), w, x};
  if (b >= 0) inputs.push_back(b);
  return emit_one(Code::transpose_conv, inputs, y,
                  {{"padding", is_same ? 0 : 1}, {"stride_w", right.stride}, {"stride_h", down.stride}});
}

bool Maker::dense(int x) {
  if (!is_main(x) || at(x).type != kind_ || rank_of(x) < 1 || is_inexact(x)) return false;
  const Shape in = shape_of(x);
  const bool is_short = kind_ == Type::int16;
  const auto elements = static_cast<int>(elements_of(in));
  // The last axis, or all of an image.
  const bool keeps = r_.chance(30);
  const int depth = keeps || in[0] != 1 ? in.back() : elements;
  const int batches = elements / depth;
  static const std::vector<int> sizes = {1, 2, 3, 5, 10, 17, 32, 70};
  const int out = r_.pick(sizes);
  if (std::int64_t{batches} * depth * out > most_products) return false;
  const double w_scale = powers_of_two_ ? 0.25 : static_cast<double>(scale());
  const int w = weights({out, depth}, is_short ? 1 : out, 0, w_scale);
  Tensor& weight = graph_.tensors[static_cast<std::size_t>(w)];
  if (kind_ == Type::int8 && weight.scales.size() == 1 && r_.chance(15)) weight.zero_points = {r_.between(-20, 20)};
  const double reach = reach_of(depth, is_short);
  const int b = bias(x, w, out, reach / 2, is_short);
  const double s = output_scale(r_, static_cast<double>(at(x).scale()) * w_scale, reach, is_short, powers_of_two_);
  Shape shape = {batches, out};
  if (keeps) {
    shape = in;
    shape.back() = out;
  }
  const int y = activation(kind_, shape, Scaling{static_cast<float>(s), zero_point(kind_)});
  std::vector<int> inputs = {x, w};
  if (b >= 0 || r_.chance(50)) inputs.push_back(b);
  const int act = fused();
  return emit_one(Code::fully_connected, inputs, y, {{"activation", act}, {"keep_num_dims", keeps ? 1 : 0}});
}

bool Maker::matrices(int x) {
  if (!is_main(x) || at(x).type != kind_ || rank_of(x) < 2 || is_inexact(x)) return false;
  const Shape in = shape_of(x);
  const bool is_short = kind_ == Type::int16;
  const bool left_turned = r_.chance(30);
  const bool right_turned = r_.chance(50);
  const int rows = left_turned ? in.back() : in.end()[-2];
  const int depth = left_turned ? in.end()[-2] : in.back();
  const int columns = static_cast<int>(r_.between(1, 9));
  Shape shape(in.begin(), in.end() - 2);
  Shape other = shape;
  if (r_.chance(30)) other.clear();
  for (int& extent : other) extent = r_.chance(30) ? 1 : extent;
  other.push_back(right_turned ? columns : depth);
  other.push_back(right_turned ? depth : columns);
  shape.push_back(rows);
  shape.push_back(columns);
  if (static_cast<std::int64_t>(elements_of(shape)) * depth > most_products) return false;
  const int w = random_constant(x, other, std::nullopt);
  const double reach = std::sqrt(static_cast<double>(depth)) * (is_short ? 3e8 : 8e3);
  const double product_scale = static_cast<double>(at(x).scale()) * static_cast<double>(at(w).scale());
  const double s = output_scale(r_, product_scale, reach, is_short, powers_of_two_);
  const int y = activation(kind_, shape, Scaling{static_cast<float>(s), zero_point(kind_)});
  return emit_one(Code::batch_matmul, {x, w}, y, {{"adj_x", left_turned ? 1 : 0}, {"adj_y", right_turned ? 1 : 0}});
}

// PAD in front of one or two convolutions, as Keras writes it.
bool Maker::padded_convolution(int x) {
  if (!is_main(x) || at(x).type != kind_ || rank_of(x) != 4 || is_inexact(x)) return false;
  const Shape in = shape_of(x);
  const std::vector<int> amounts = {0,
                                    0,
                                    static_cast<int>(r_.below(3)),
                                    static_cast<int>(r_.below(3)),
                                    static_cast<int>(r_.below(3)),
                                    static_cast<int>(r_.below(3)),
                                    0,
                                    0};
  const Shape shape = {in[0], in[1] + amounts[2] + amounts[3], in[2] + amounts[4] + amounts[5], in[3]};
  const int padded = like(x, shape);
  const int list = constant(Type::int32, {4, 2}, {amounts.begin(), amounts.end()});
  emit_one(Code::pad, {x, list}, padded);
  const bool first = r_.chance(50) ? convolution(padded) : depthwise(padded);
  if (r_.chance(30)) convolution(padded);
  if (r_.chance(30)) pool(padded);
  if (first && r_.chance(80)) live_.erase(std::find(live_.begin(), live_.end(), padded));
  return true;
}

}  // namespace usmp::tflite_random
