// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// Convolutions, dense layers, products of matrices.
#include <algorithm>

#include "tflite_random/fixed_point.hpp"
#include "tflite_random/interpreter.hpp"

namespace usmp::tflite_random {
namespace {

// Sums of products to an output: by channel, wide or not.
class Rescale {
 public:
  Rescale(const Call& call, const Tensor& input, const Tensor& weights, int activation, bool is_wide)
      : output_(*call.outputs.front()), is_wide_(is_wide) {
    if (output_.type == Type::float32) return;
    limits_ = limits_of(activation, output_);
    for (const float scale : weights.scales) {
      const double product = static_cast<double>(input.scale()) * static_cast<double>(scale);
      factors_.push_back(factor_of(product / static_cast<double>(output_.scale())));
    }
  }
  // One factor for all outputs, of a product of scales that is a float.
  void use_float_product(const Tensor& input, const Tensor& weights) {
    const float product = input.scale() * weights.scale();
    factors_ = {factor_of(static_cast<double>(product) / static_cast<double>(output_.scale()))};
  }
  [[nodiscard]] std::int64_t operator()(std::int64_t sum, std::size_t channel) const {
    const Factor& factor = factors_.size() == 1 ? factors_.front() : factors_.at(channel);
    const std::int64_t result = is_wide_ ? scaled_wide(sum, factor) : scaled(sum, factor);
    return std::clamp(result + output_.zero_point(), limits_.low, limits_.high);
  }

 private:
  const Tensor& output_;
  Limits limits_;
  bool is_wide_;
  std::vector<Factor> factors_;
};

struct Operands {
  const Tensor* input;
  const Tensor* weights;
  const Values* x;
  const Values* w;
  const Values* bias;  // nullptr: none
  bool has_wide_bias;
};

Operands operands_of(const Call& call, std::size_t input, std::size_t weights, std::size_t bias) {
  const bool has_bias = call.has(bias);
  return {call.inputs.at(input),
          call.inputs.at(weights),
          call.in[input],
          call.in[weights],
          has_bias ? call.in[bias] : nullptr,
          has_bias && call.inputs[bias]->type == Type::int64};
}

// Both kinds: groups of a convolution; a depthwise one, whose weights lie [1, height, width, outputs].
void convolve(const Call& call, bool is_depthwise) {
  const Operands o = operands_of(call, 0, 1, 2);
  const Shape& in = o.input->shape;
  const Shape& kernel = o.weights->shape;
  const Shape& out = call.outputs[0]->shape;
  const int activation = call.integer("activation");
  const Windows down = windows_of(call.integer("padding"), in[1], out[1], kernel[1], call.integer("stride_h"),
                                  call.integer("dilation_h"));
  const Windows right = windows_of(call.integer("padding"), in[2], out[2], kernel[2], call.integer("stride_w"),
                                   call.integer("dilation_w"));
  const int taken = is_depthwise ? 1 : kernel[3];  // channels that an output reads
  const int outputs_of_group = is_depthwise ? out[3] / in[3] : out[3] / (in[3] / kernel[3]);
  const bool is_short = o.input->type == Type::int16;
  // Without a bias of 64 bits, only depthwise convolutions of int16 add in 64.
  const bool is_wide = is_short && (o.has_wide_bias || is_depthwise);
  const Rescale rescale(call, *o.input, *o.weights, activation, is_wide);
  const std::int64_t zero = o.input->zero_point();
  Values& result = *call.out[0];
  for (int b = 0; b < out[0]; ++b) {
    for (int y = 0; y < out[1]; ++y) {
      for (int x = 0; x < out[2]; ++x) {
        for (int c = 0; c < out[3]; ++c) {
          const int first = c / outputs_of_group * taken;
          std::int64_t sum = 0;
          float total = 0;
          for (int ky = 0; ky < kernel[1]; ++ky) {
            const int iy = y * down.stride - down.before + ky * down.dilation;
            if (iy < 0 || iy >= in[1]) continue;
            for (int kx = 0; kx < kernel[2]; ++kx) {
              const int ix = x * right.stride - right.before + kx * right.dilation;
              if (ix < 0 || ix >= in[2]) continue;
              for (int k = 0; k < taken; ++k) {
                const std::size_t from = index(((b * in[1] + iy) * in[2] + ix) * in[3] + first + k);
                const auto weight = index(is_depthwise ? (ky * kernel[2] + kx) * kernel[3] + c
                                                       : ((c * kernel[1] + ky) * kernel[2] + kx) * kernel[3] + k);
                if (call.is_float()) {
                  total += o.x->real[from] * o.w->real[weight];
                } else {
                  sum += (o.x->whole[from] - zero) * o.w->whole[weight];
                }
              }
            }
          }
          const auto channel = static_cast<std::size_t>(c);
          if (call.is_float()) {
            result.real.push_back(activated(activation, total + (o.bias != nullptr ? o.bias->real[channel] : 0.0F)));
          } else {
            result.whole.push_back(rescale(sum + (o.bias != nullptr ? o.bias->whole[channel] : 0), channel));
          }
        }
      }
    }
  }
}

// Each input is spread over the outputs.
void convolve_transposed(const Call& call) {
  const Operands o = operands_of(call, 2, 1, 3);
  const bool is_float = o.input->type == Type::float32;
  const Shape& in = o.input->shape;
  const Shape& kernel = o.weights->shape;
  const Shape& out = call.outputs[0]->shape;
  const int activation = call.integer("activation");
  // Padded as the convolution from the output to the input.
  const Windows down = windows_of(call.integer("padding"), out[1], in[1], kernel[1], call.integer("stride_h"), 1);
  const Windows right = windows_of(call.integer("padding"), out[2], in[2], kernel[2], call.integer("stride_w"), 1);
  const Rescale rescale(call, *o.input, *o.weights, activation, o.input->type == Type::int16);
  std::vector<std::int64_t> sums(elements_of(out), 0);
  std::vector<float> totals(elements_of(out), 0.0F);
  std::size_t from = 0;
  for (int b = 0; b < in[0]; ++b) {
    for (int y = 0; y < in[1]; ++y) {
      for (int x = 0; x < in[2]; ++x) {
        for (int k = 0; k < in[3]; ++k, ++from) {
          for (int ky = 0; ky < kernel[1]; ++ky) {
            for (int kx = 0; kx < kernel[2]; ++kx) {
              const int oy = y * down.stride - down.before + ky;
              const int ox = x * right.stride - right.before + kx;
              if (oy < 0 || oy >= out[1] || ox < 0 || ox >= out[2]) continue;
              for (int c = 0; c < out[3]; ++c) {
                const std::size_t to = index(((b * out[1] + oy) * out[2] + ox) * out[3] + c);
                const std::size_t w = index(((c * kernel[1] + ky) * kernel[2] + kx) * kernel[3] + k);
                if (is_float) {
                  totals[to] += o.x->real[from] * o.w->real[w];
                } else {
                  sums[to] += (o.x->whole[from] - o.input->zero_point()) * o.w->whole[w];
                }
              }
            }
          }
        }
      }
    }
  }
  for (std::size_t i = 0; i < sums.size(); ++i) {
    const std::size_t c = i % static_cast<std::size_t>(out[3]);
    if (is_float) {
      call.out[0]->real.push_back(activated(activation, totals[i] + (o.bias != nullptr ? o.bias->real[c] : 0.0F)));
    } else {
      call.out[0]->whole.push_back(rescale(sums[i] + (o.bias != nullptr ? o.bias->whole[c] : 0), c));
    }
  }
}

void multiply_by_weights(const Call& call) {
  const Operands o = operands_of(call, 0, 1, 2);
  const int activation = call.integer("activation");
  Rescale rescale(call, *o.input, *o.weights, activation, o.input->type == Type::int16);
  if (o.weights->scales.size() == 1) rescale.use_float_product(*o.input, *o.weights);
  const auto outputs = static_cast<std::size_t>(o.weights->shape.end()[-2]);
  const auto depth = static_cast<std::size_t>(o.weights->shape.back());
  const std::size_t batches = elements_of(call.outputs[0]->shape) / outputs;
  for (std::size_t b = 0; b < batches; ++b) {
    for (std::size_t c = 0; c < outputs; ++c) {
      std::int64_t sum = 0;
      float total = 0;
      for (std::size_t k = 0; k < depth; ++k) {
        if (call.is_float()) {
          total += o.x->real[b * depth + k] * o.w->real[c * depth + k];
        } else {
          sum += (o.x->whole[b * depth + k] - o.input->zero_point()) *
                 (o.w->whole[c * depth + k] - o.weights->zero_point());
        }
      }
      if (call.is_float()) {
        call.out[0]->real.push_back(activated(activation, total + (o.bias != nullptr ? o.bias->real[c] : 0.0F)));
      } else {
        call.out[0]->whole.push_back(rescale(sum + (o.bias != nullptr ? o.bias->whole[c] : 0), c));
      }
    }
  }
}

void multiply_matrices(const Call& call) {
  const Operands o = operands_of(call, 0, 1, 2);
  const bool left_turned = call.integer("adj_x") != 0;
  const bool right_turned = call.integer("adj_y") != 0;
  const Shape& left = o.input->shape;
  const Shape& right = o.weights->shape;
  const Shape& out = call.outputs[0]->shape;
  const auto rows = static_cast<std::size_t>(out.end()[-2]);
  const auto columns = static_cast<std::size_t>(out.back());
  const auto depth = static_cast<std::size_t>(left_turned ? left.end()[-2] : left.back());
  const std::vector<std::size_t> of_left =
      broadcast(Shape(out.begin(), out.end() - 2), Shape(left.begin(), left.end() - 2));
  const std::vector<std::size_t> of_right =
      broadcast(Shape(out.begin(), out.end() - 2), Shape(right.begin(), right.end() - 2));
  Rescale rescale(call, *o.input, *o.weights, 0, o.input->type == Type::int16);
  if (!call.is_float()) rescale.use_float_product(*o.input, *o.weights);
  for (std::size_t b = 0; b < of_left.size(); ++b) {
    for (std::size_t i = 0; i < rows; ++i) {
      for (std::size_t j = 0; j < columns; ++j) {
        std::int64_t sum = 0;
        float total = 0;
        for (std::size_t k = 0; k < depth; ++k) {
          const std::size_t x = of_left[b] * rows * depth + (left_turned ? k * rows + i : i * depth + k);
          const std::size_t y = of_right[b] * depth * columns + (right_turned ? j * depth + k : k * columns + j);
          if (call.is_float()) {
            total += o.x->real[x] * o.w->real[y];
          } else {
            sum += (o.x->whole[x] - o.input->zero_point()) * (o.w->whole[y] - o.weights->zero_point());
          }
        }
        if (call.is_float()) {
          call.out[0]->real.push_back(total);
        } else {
          call.out[0]->whole.push_back(rescale(sum, 0));
        }
      }
    }
  }
}

}  // namespace

bool interpret_products(const Call& call) {
  switch (call.op->code) {
    case Code::conv_2d:
      convolve(call, false);
      return true;
    case Code::depthwise_conv_2d:
      convolve(call, true);
      return true;
    case Code::transpose_conv:
      convolve_transposed(call);
      return true;
    case Code::fully_connected:
      multiply_by_weights(call);
      return true;
    case Code::batch_matmul:
      multiply_matrices(call);
      return true;
    default:
      return false;
  }
}

}  // namespace usmp::tflite_random
