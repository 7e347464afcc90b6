// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// Small models made here: what golden files have no example of. Expected values are computed straight from the
// definitions.
#include <doctest/doctest.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <deque>
#include <string>
#include <vector>

#include "random_modules/interpreter.hpp"
#include "tflite/arithmetic.hpp"
#include "tflite/build.hpp"
#include "tflite/operators.hpp"
#include "tflite/products.hpp"
#include "usmp/support/random.hpp"
#include "usmp/tir/visit.hpp"

namespace usmp::tflite::graphs_test {
namespace {

using Values = std::vector<std::int64_t>;

// Little endian.
std::string packed(const Values& values, Type type) {
  std::string bytes;
  for (const std::int64_t value : values) {
    for (Bytes b = 0; b < bytes_of(type); ++b) bytes += static_cast<char>(static_cast<std::uint64_t>(value) >> (8 * b));
  }
  return bytes;
}

Values unpacked(const std::string& bytes, Type type) {
  const auto width = static_cast<std::size_t>(bytes_of(type));
  Values values;
  for (std::size_t i = 0; i < bytes.size(); i += width) {
    std::uint64_t bits = 0;
    for (std::size_t b = 0; b < width; ++b) bits |= std::uint64_t{static_cast<std::uint8_t>(bytes[i + b])} << (8 * b);
    values.push_back(static_cast<std::int64_t>(bits << (64 - 8 * width)) >> (64 - 8 * width));
  }
  return values;
}

class Maker {
 public:
  Maker() { model_.subgraphs.emplace_back(); }

  std::size_t tensor(Type type, Shape shape, std::vector<float> scales = {}, std::int64_t zero_point = 0,
                     std::size_t dimension = 0) {
    Tensor tensor;
    tensor.name = "t" + std::to_string(graph().tensors.size());
    tensor.type = type;
    tensor.shape = std::move(shape);
    tensor.quantization = {scales, Values(scales.size(), zero_point), dimension};
    graph().tensors.push_back(tensor);
    return graph().tensors.size() - 1;
  }

  std::size_t constant(Type type, Shape shape, const Values& values, std::vector<float> scales = {},
                       std::size_t dimension = 0) {
    const std::size_t index = tensor(type, std::move(shape), std::move(scales), 0, dimension);
    data_.push_back(packed(values, type));
    graph().tensors[index].data = data_.back();
    graph().tensors[index].is_constant = true;
    return index;
  }

  Operator& add(std::int32_t code, const std::vector<std::size_t>& inputs, std::vector<std::size_t> outputs) {
    Operator one;
    one.code = code;
    one.inputs.assign(inputs.begin(), inputs.end());
    one.outputs = std::move(outputs);
    graph().operators.push_back(one);
    return graph().operators.back();
  }

  void interface(std::vector<std::size_t> inputs, std::vector<std::size_t> outputs) {
    graph().inputs = std::move(inputs);
    graph().outputs = std::move(outputs);
    for (const std::size_t i : graph().inputs) model_.input_names.push_back("in" + std::to_string(i));
    for (const std::size_t i : graph().outputs) model_.output_names.push_back("out" + std::to_string(i));
  }

  // The first output of each run; the states are kept.
  std::vector<Values> run(const std::vector<Values>& inputs) {
    std::vector<Fault> faults;
    const ReadModel read = build(model_, "m", faults);
    for (const Fault& fault : faults) MESSAGE(fault.message);
    REQUIRE(faults.empty());
    std::vector<std::string> states;
    for (const model::State& state : read.description.states) states.push_back(state.initial);
    std::vector<Values> outputs;
    const Type in_type = graph().tensors[graph().inputs[0]].type;
    const Type out_type = graph().tensors[graph().outputs[0]].type;
    for (const Values& input : inputs) {
      const std::string bytes = packed(input, in_type);
      std::vector<random_modules::Argument> arguments = {{bytes.size(), bytes}};
      for (const model::Tensor& output : read.description.outputs) {
        arguments.push_back({static_cast<std::size_t>(output.size.value()), std::nullopt});
      }
      for (const std::string& state : states) arguments.push_back({state.size(), state});
      const random_modules::Outcome outcome = random_modules::Interpreter(read.module, 100).run(arguments);
      outputs.push_back(unpacked(outcome.memory.instances()[outcome.params[1]].bytes, out_type));
      const std::size_t first = 1 + read.description.outputs.size();
      for (std::size_t i = 0; i < states.size(); ++i) {
        states[i] = outcome.memory.instances()[outcome.params[first + i]].bytes;
      }
    }
    return outputs;
  }

  [[nodiscard]] std::vector<Fault> faults() const {
    std::vector<Fault> faults;
    (void)build(model_, "m", faults);
    return faults;
  }

  Subgraph& graph() { return model_.subgraphs.front(); }
  Model& model() { return model_; }

 private:
  Model model_;
  std::deque<std::string> data_;
};

Values random_values(Random& random, std::size_t count, std::int64_t low, std::int64_t high) {
  Values values;
  for (std::size_t i = 0; i < count; ++i) {
    values.push_back(low + static_cast<std::int64_t>(random.next() % static_cast<std::uint64_t>(high - low + 1)));
  }
  return values;
}

std::size_t size(std::int64_t value) { return static_cast<std::size_t>(value); }

struct Convolution {
  std::int64_t height = 5;
  std::int64_t width = 6;
  std::int64_t channels = 4;
  std::int64_t groups = 1;
  std::int64_t outputs = 6;
  std::int64_t kernel = 3;
  std::int64_t stride = 1;
  std::int64_t dilation = 1;
  Padding padding = Padding::same;
  std::vector<float> scales = {0.01F};
  std::int64_t largest = 127;           // weight
  std::vector<std::int64_t> bias = {};  // of the first channels
  bool is_depthwise = false;            // with as many groups as channels
};

// CONV_2D and DEPTHWISE_CONV_2D by their definition. Whether sums are doubled.
bool check_convolution(const Convolution& c) {
  constexpr float in_scale = 0.5F;
  constexpr float out_scale = 0.7F;
  constexpr std::int64_t in_zero = -7;
  constexpr std::int64_t out_zero = 5;
  Random random(3);
  const std::int64_t depth = c.channels / c.groups;
  const Values x = random_values(random, size(c.height * c.width * c.channels), -128, 127);
  const Values w = random_values(random, size(c.outputs * c.kernel * c.kernel * depth), -c.largest, c.largest);
  Values bias = random_values(random, size(c.outputs), -3000, 3000);
  std::ranges::copy(c.bias, bias.begin());
  const std::int64_t reach = (c.kernel - 1) * c.dilation + 1;
  const auto out_size = [&](std::int64_t in) {
    return c.padding == Padding::same ? (in + c.stride - 1) / c.stride : (in - reach) / c.stride + 1;
  };
  const std::int64_t out_height = out_size(c.height);
  const std::int64_t out_width = out_size(c.width);
  const auto before = [&](std::int64_t in, std::int64_t out) {
    return std::max<std::int64_t>(0, (out - 1) * c.stride + reach - in) / 2;
  };
  Values expected;
  for (std::int64_t y = 0; y < out_height; ++y) {
    for (std::int64_t column = 0; column < out_width; ++column) {
      for (std::int64_t o = 0; o < c.outputs; ++o) {
        std::int64_t sum = bias[size(o)];
        for (std::int64_t ky = 0; ky < c.kernel; ++ky) {
          for (std::int64_t kx = 0; kx < c.kernel; ++kx) {
            const std::int64_t iy = y * c.stride + ky * c.dilation - before(c.height, out_height);
            const std::int64_t ix = column * c.stride + kx * c.dilation - before(c.width, out_width);
            if (iy < 0 || iy >= c.height || ix < 0 || ix >= c.width) continue;
            for (std::int64_t k = 0; k < depth; ++k) {
              const std::int64_t channel = o / (c.outputs / c.groups) * depth + k;
              const std::int64_t weight = c.is_depthwise ? (ky * c.kernel + kx) * c.outputs + o
                                                         : ((o * c.kernel + ky) * c.kernel + kx) * depth + k;
              sum += (x[size((iy * c.width + ix) * c.channels + channel)] - in_zero) * w[size(weight)];
            }
          }
        }
        const double scale = static_cast<double>(c.scales[c.scales.size() == 1 ? 0 : size(o)]);
        const Multiplier factor = multiplier_of(static_cast<double>(in_scale) * scale / static_cast<double>(out_scale));
        expected.push_back(std::clamp<std::int64_t>(multiplied(sum, factor) + out_zero, -128, 127));
      }
    }
  }
  Maker maker;
  const std::size_t in = maker.tensor(Type::int8, {1, c.height, c.width, c.channels}, {in_scale}, in_zero);
  const Shape shape =
      c.is_depthwise ? Shape{1, c.kernel, c.kernel, c.outputs} : Shape{c.outputs, c.kernel, c.kernel, depth};
  const std::size_t weights = maker.constant(Type::int8, shape, w, c.scales);
  const std::size_t offsets = maker.constant(Type::int32, {c.outputs}, bias);
  const std::size_t out = maker.tensor(Type::int8, {1, out_height, out_width, c.outputs}, {out_scale}, out_zero);
  Operator& one = maker.add(c.is_depthwise ? 4 : 3, {in, weights, offsets}, {out});
  one.options.padding = c.padding;
  one.options.stride_width = one.options.stride_height = c.stride;
  one.options.dilation_width = one.options.dilation_height = c.dilation;
  maker.interface({in}, {out});
  CHECK(maker.run({x})[0] == expected);
  std::vector<Fault> faults;
  bool are_doubled = false;
  for (const tir::Function& function : build(maker.model(), "m", faults).module.functions) {
    tir::for_each_expr_in(function.body, [&](const tir::Expr& expr) {
      const bool is_half = expr.op == tir::Op::q_multiply_shift && tir::as_int(*expr.operands[3]) == -1;
      are_doubled = are_doubled || is_half;
    });
  }
  return are_doubled;
}

TEST_CASE("two inputs are stretched to the output, or refused") {
  const auto refused = [](const Shape& a, const Shape& b, const Shape& out) {
    Maker maker;
    const std::size_t first = maker.tensor(Type::float32, a);
    const std::size_t second = maker.tensor(Type::float32, b);
    const std::size_t sum = maker.tensor(Type::float32, out);
    maker.add(0, {first, second}, {sum});  // ADD
    maker.interface({first, second}, {sum});
    const std::vector<Fault> faults = maker.faults();
    const std::string supported = b == Shape{2, 0} ? "tensors with elements" : "shapes that are stretched";
    CHECK_MESSAGE((faults.empty() || faults[0].message.find(supported) != std::string::npos), faults[0].message);
    return !faults.empty();
  };
  CHECK_FALSE(refused({2, 3}, {2, 3}, {2, 3}));
  CHECK_FALSE(refused({3}, {2, 1}, {2, 3}));
  CHECK_FALSE(refused({}, {2}, {2}));
  CHECK_FALSE(refused({}, {}, {}));
  CHECK(refused({2}, {3}, {3}));
  CHECK(refused({2}, {2}, {1}));
  CHECK(refused({1, 2}, {2}, {2}));
  CHECK(refused({2}, {}, {}));
  CHECK(refused({}, {2, 0}, {}));
}

TEST_CASE("tensors without elements are refused, but for lists") {
  const auto refused = [](const Shape& in, const Shape& filter, bool is_constant, const Shape& out) {
    Maker maker;
    const std::size_t image = maker.tensor(Type::int8, {1, 4, 4, 2}, {0.5F});
    const std::size_t first =
        is_constant ? maker.constant(Type::int8, in, {}, {0.5F}) : maker.tensor(Type::int8, in, {0.5F});
    const std::size_t weights = maker.constant(Type::int8, filter, Values(16, 1), {0.5F});
    const std::size_t result = maker.tensor(Type::int8, out, {0.5F});
    maker.add(3, {first, weights}, {result});  // CONV_2D
    maker.interface({is_constant ? image : first}, {result});
    const std::vector<Fault> faults = maker.faults();
    return faults.size() == 1 && faults[0].message.find(", supported: tensors with elements") != std::string::npos;
  };
  CHECK(refused({1, 4, 4, 0}, {4, 1, 2, 2}, false, {1, 4, 4, 4}));
  CHECK(refused({1, 4, 4, 0}, {4, 1, 2, 2}, true, {1, 4, 4, 4}));
  CHECK(refused({1, 4, 4, 2}, {4, 1, 2, 2}, false, {1, 4, 4, 0}));
  CHECK_FALSE(refused({1, 4, 4, 2}, {4, 1, 2, 2}, false, {1, 4, 4, 4}));

  Maker maker;  // to a scalar
  const std::size_t one = maker.tensor(Type::float32, {1});
  const std::size_t extents = maker.constant(Type::int32, {0}, {});
  const std::size_t scalar = maker.tensor(Type::float32, {});
  const std::size_t negated = maker.tensor(Type::float32, {});
  maker.add(22, {one, extents}, {scalar});  // RESHAPE
  maker.add(59, {scalar}, {negated});       // NEG
  maker.interface({one}, {negated});
  CHECK(maker.faults().empty());
}

TEST_CASE("groups and dilation of convolutions") {
  check_convolution({});
  check_convolution({.groups = 2});
  check_convolution({.channels = 6, .groups = 3});
  check_convolution({.height = 9, .width = 9, .dilation = 2});
  check_convolution({.height = 9, .width = 8, .stride = 2, .dilation = 2, .padding = Padding::valid});
  check_convolution({.height = 6, .width = 5, .kernel = 2});
  check_convolution({.groups = 4, .outputs = 4, .is_depthwise = true});
  check_convolution({.height = 9, .width = 8, .groups = 4, .outputs = 4, .dilation = 2, .is_depthwise = true});
  check_convolution({.height = 9, .width = 8, .groups = 4, .outputs = 8, .dilation = 3, .is_depthwise = true});
}

TEST_CASE("blocks of channels divide them") {
  CHECK(block_of(64) == 64);
  CHECK(block_of(96) == 48);
  CHECK(block_of(67) == 67);  // a prime number
  CHECK(block_of(128) == 64);
  CHECK(block_of(100) == 50);
  CHECK(block_of(100, 4) == 20);  // blocks of whole channels of four outputs
  check_convolution({.height = 2, .width = 2, .channels = 2, .outputs = 96});
  check_convolution({.height = 2, .width = 2, .channels = 2, .outputs = 67});
}

TEST_CASE("rescale by factors above and below 1, of one half and less") {
  check_convolution({.outputs = 5, .scales = {0.01F, 1.5F, 0.9F, 0.0001F, 3.0F}});
  check_convolution({.outputs = 3, .scales = {1.4F, 1.39F, 1.0F}});
  check_convolution({.outputs = 3, .scales = {3.0F, 6.0F, 11.0F}});
  check_convolution({.channels = 1, .outputs = 4, .scales = {0.9F, 0.1F, 0.8F, 0.02F}, .largest = 2, .bias = {-99, 9}});
  check_convolution({.channels = 1, .outputs = 4, .scales = {0.9F, 0.8F, 1.1F, 1.0F}, .largest = 2, .bias = {-99, 9}});
  check_convolution({.channels = 1, .outputs = 3, .scales = {0.01F, 0.0F, 0.3F}, .largest = 2});
  check_convolution({.outputs = 4, .scales = {1.0e-5F}, .bias = {1 << 30, -(1 << 30)}});
}

TEST_CASE("rescale: channels that no input changes") {
  const std::int64_t far = 1 << 30;
  const auto shift = [](double value, int by) { return static_cast<float>(std::ldexp(value, by)); };
  // 2^30 times the factor is about 20, 90, −64, and below the least.
  CHECK(check_convolution({.outputs = 4,
                           .scales = {shift(30, -30), shift(125, -30), shift(90, -30), shift(250, -30)},
                           .largest = 3,
                           .bias = {far, far - 128, -far, -far - 64}}));
  // On the edge of two values, no.
  CHECK_FALSE(check_convolution(
      {.outputs = 3, .scales = {shift(0.7, -30), 0.01F, shift(2.1 * 20.5, -30)}, .bias = {far, 0, far}}));
}

TEST_CASE("mean of numbers of elements that are no powers of two") {
  Random random(5);
  for (const std::int64_t n : {3, 5, 7, 12, 49}) {
    const Values x = random_values(random, size(n * 2), -128, 127);
    Multiplier factor = multiplier_of(static_cast<double>(0.5F) / static_cast<double>(0.3F));
    int bits = 0;
    while ((std::int64_t{2} << bits) <= n) ++bits;
    factor.multiplier = static_cast<std::int32_t>((std::int64_t{factor.multiplier} << bits) / n);
    factor.shift -= bits;
    Values expected;
    for (std::size_t c = 0; c < 2; ++c) {
      std::int64_t sum = 0;
      for (std::size_t i = 0; i < size(n); ++i) sum += x[2 * i + c] + 9;
      expected.push_back(std::clamp<std::int64_t>(multiplied(sum, factor) + 4, -128, 127));
    }
    Maker maker;
    const std::size_t in = maker.tensor(Type::int8, {1, n, 2}, {0.5F}, -9);
    const std::size_t axis = maker.constant(Type::int32, {1}, {1});
    const std::size_t out = maker.tensor(Type::int8, {1, 2}, {0.3F}, 4);
    maker.add(40, {in, axis}, {out});
    maker.interface({in}, {out});
    CHECK(maker.run({x})[0] == expected);
  }
}

TEST_CASE("dense layers take the product of scales as a float32") {
  // 0.1 · 0.1 as a float32 is larger than as a double: the multiplier differs in its last bits.
  const std::vector<float> scales = {0.1F};
  Maker maker;
  const std::size_t in = maker.tensor(Type::int8, {1, 4}, scales);
  const std::size_t weights = maker.constant(Type::int8, {1, 4}, {127, 127, 127, 127}, scales);
  const std::size_t bias = maker.constant(Type::int32, {1}, {1000000000});
  const std::size_t out = maker.tensor(Type::int8, {1, 1}, {180000.0F});
  maker.add(9, {in, weights, bias}, {out});
  maker.interface({in}, {out});
  const double product = static_cast<double>(0.1F * 0.1F);
  const std::int64_t sum = 1000000000 + 4 * 100 * 127;
  const Multiplier factor = multiplier_of(product / static_cast<double>(180000.0F));
  CHECK(maker.run({{100, 100, 100, 100}})[0] == Values{multiplied(sum, factor)});
  std::vector<Fault> faults;
  const ReadModel read = build(maker.model(), "m", faults);
  bool is_there = false;
  for (const tir::Function& function : read.module.functions) {
    tir::for_each_expr_in(function.body, [&](const tir::Expr& expr) {
      is_there = is_there || (expr.kind == tir::ExprKind::int_imm && expr.int_value == factor.multiplier);
    });
  }
  CHECK(is_there);
  CHECK(
      factor.multiplier !=
      multiplier_of(static_cast<double>(0.1F) * static_cast<double>(0.1F) / static_cast<double>(180000.0F)).multiplier);
}

// What TensorFlow Lite Micro gives for 16x8: sums of 64 bits, and the upper half of the multiplier.
std::int64_t scaled_once(std::int64_t sum, Multiplier by) {
  const std::int64_t upper = by.multiplier < 0x7FFF0000 ? (by.multiplier + (1 << 15)) >> 16 : 0x7FFF;
  return (sum * upper + (std::int64_t{1} << (14 - by.shift))) >> (15 - by.shift);
}

struct Wide {
  std::int64_t terms = 8;
  std::vector<float> scales = {0.001F};  // of the outputs
  Values bias = {};                      // the first ones; else 0
  std::int64_t weight = 127;             // of all of the first output's terms; others are random
};

// Compares with the definition. Whether everything fits 32 bits.
bool check_wide(const Wide& c) {
  const auto outputs = static_cast<std::int64_t>(c.scales.size());
  Random random(7);
  Values w = random_values(random, size(c.terms * outputs), -128, 127);
  std::fill(w.begin(), w.begin() + c.terms, c.weight);
  Values bias = c.bias;
  bias.resize(size(outputs), 0);
  Maker maker;
  const std::size_t in = maker.tensor(Type::int16, {1, c.terms}, {1.0F});
  const std::size_t weights = maker.constant(Type::int8, {outputs, c.terms}, w, c.scales);
  const std::size_t offsets = maker.constant(Type::int64, {outputs}, bias);
  const std::size_t out = maker.tensor(Type::int16, {1, outputs}, {1.0F});
  maker.add(9, {in, weights, offsets}, {out});
  maker.interface({in}, {out});
  for (const Values& x : {random_values(random, size(c.terms), -32768, 32767), Values(size(c.terms), -32768),
                          Values(size(c.terms), 32767), Values(size(c.terms), 0)}) {
    Values expected;
    for (std::size_t o = 0; o < size(outputs); ++o) {
      std::int64_t sum = bias[o];
      for (std::size_t k = 0; k < x.size(); ++k) sum += x[k] * w[o * x.size() + k];
      const Multiplier factor = multiplier_of(static_cast<double>(c.scales[o]));
      expected.push_back(std::clamp<std::int64_t>(scaled_once(sum, factor), -32768, 32767));
    }
    CHECK(maker.run({x})[0] == expected);
  }
  bool fits = true;
  std::vector<Fault> faults;
  for (const tir::Function& function : build(maker.model(), "m", faults).module.functions) {
    tir::for_each_expr_in(function.body, [&](const tir::Expr& expr) {
      fits = fits && (expr.type != tir::int64_type || expr.kind == tir::ExprKind::load);  // of the bias
    });
  }
  return fits;
}

TEST_CASE("16x8: sums and products of 32 bits where all inputs allow it") {
  CHECK(check_wide({}));
  CHECK(check_wide({.scales = {0.001F, 0.4F, 1.0e-8F, 0.0F}, .bias = {70000, -5, 1 << 20}}));
  CHECK(check_wide({.scales = {0.25F, 0.25F}}));  // half of the shifted factor
  CHECK_FALSE(check_wide({.scales = {0.7F}}));
  CHECK_FALSE(check_wide({.scales = {0.001F, 1.5F}}));
  CHECK(check_wide({.terms = 511, .scales = {1.0e-5F, 1.0e-6F}, .weight = -128}));
  CHECK_FALSE(check_wide({.terms = 512, .scales = {1.0e-5F, 1.0e-6F}, .weight = -128}));
  CHECK(check_wide({.terms = 511, .scales = {1.0e-5F}, .bias = {(std::int64_t{1} << 22) - 1}, .weight = -128}));
  CHECK_FALSE(check_wide({.terms = 511, .scales = {1.0e-5F}, .bias = {std::int64_t{1} << 22}, .weight = -128}));
  CHECK_FALSE(check_wide({.scales = {1.0e-9F, 1.0e-5F}, .bias = {std::int64_t{1} << 40, -(std::int64_t{1} << 33)}}));
}

TEST_CASE("16x8: scales whose ratio is too large are refused") {
  const auto refused = [](float scale, bool is_dense, const std::vector<float>& weight_scales) {
    Maker maker;
    const std::size_t in = maker.tensor(Type::int16, {1, 4}, {scale});
    const std::size_t out = maker.tensor(Type::int16, {1, 2}, {1.0F});
    if (is_dense) {
      const std::size_t weights = maker.constant(Type::int8, {2, 4}, Values(8, 1), weight_scales);
      const std::size_t bias = maker.constant(Type::int64, {2}, {0, 0}, std::vector<float>(weight_scales.size(), 1.0F));
      maker.add(9, {in, weights, bias}, {out});  // FULLY_CONNECTED
    } else {
      const std::size_t weights = maker.constant(Type::int16, {4, 2}, Values(8, 1), weight_scales);
      maker.add(126, {in, weights}, {out});  // BATCH_MATMUL
    }
    maker.interface({in}, {out});
    const std::vector<Fault> faults = maker.faults();
    const bool is_it = !faults.empty() && faults[0].message.find("ratio is 2^14 or more") != std::string::npos;
    CHECK_MESSAGE((faults.empty() || is_it), faults[0].message);
    return is_it;
  };
  CHECK_FALSE(refused(16383, true, {1.0F}));
  CHECK(refused(16384, true, {1.0F}));
  CHECK(refused(16384, true, {0.25F, 1.0F}));
  CHECK_FALSE(refused(16383, false, {1.0F}));
  CHECK(refused(16384, false, {1.0F}));
}

TEST_CASE("transposed convolutions add floats in the order of the inputs") {
  // One dimension, kernel 3, stride 1: output 1 gets x0 w1 and x1 w0, in this order.
  Maker maker;
  const auto bits = [](float value) { return std::int64_t{std::bit_cast<std::int32_t>(value)}; };
  const std::size_t in = maker.tensor(Type::float32, {1, 1, 3, 1});
  const std::size_t shape = maker.constant(Type::int32, {4}, {1, 1, 5, 1});
  const std::size_t weights = maker.constant(Type::float32, {1, 1, 3, 1}, {bits(1), bits(1), bits(1)});
  const std::size_t out = maker.tensor(Type::float32, {1, 1, 5, 1});
  Operator& one = maker.add(67, {shape, weights, in}, {out});
  one.options.padding = Padding::valid;
  one.options.stride_width = one.options.stride_height = 1;
  maker.interface({in}, {out});
  const float large = 1e8F;
  const Values result = maker.run({{bits(large), bits(-large), bits(1)}})[0];
  // Output 2: (large − large) + 1, not large + (−large + 1).
  CHECK(result[2] == bits(1));
}

// Handles, and what is done with one variable of int8: 4 elements.
constexpr std::int32_t var_handle = 142;
constexpr std::int32_t read_variable = 143;
constexpr std::int32_t assign_variable = 144;

struct Variables {
  Maker maker;
  std::size_t handle;
  std::size_t in;

  Variables() : handle(maker.tensor(Type::resource, {})), in(maker.tensor(Type::int8, {1, 4}, {1.0F}, 2)) {
    maker.add(var_handle, {}, {handle}).options.shared_name = "v";
  }
  std::size_t read() {
    const std::size_t value = maker.tensor(Type::int8, {1, 4}, {1.0F}, 2);
    maker.add(read_variable, {handle}, {value});
    return value;
  }
  void assign(std::size_t value) { maker.add(assign_variable, {handle, value}, {}); }
  std::size_t sum(std::size_t a, std::size_t b) {
    const std::size_t value = maker.tensor(Type::int8, {1, 4}, {1.0F}, 2);
    maker.add(0, {a, b}, {value});
    return value;
  }
};

TEST_CASE("variables begin with the zero point and are kept") {
  Variables v;
  const std::size_t sum = v.sum(v.read(), v.in);
  v.assign(sum);
  v.maker.interface({v.in}, {sum});
  const std::vector<Values> runs = v.maker.run({{3, 4, 5, 6}, {3, 4, 5, 6}, {2, 2, 2, 2}});
  CHECK(runs[0] == Values{3, 4, 5, 6});
  CHECK(runs[1] == Values{4, 6, 8, 10});
  CHECK(runs[2] == Values{4, 6, 8, 10});
}

TEST_CASE("variables: what was read stays as it was when they are assigned") {
  Variables v;
  const std::size_t old = v.read();
  v.assign(v.in);
  const std::size_t sum = v.sum(old, v.in);
  v.maker.interface({v.in}, {sum});
  const std::vector<Values> runs = v.maker.run({{10, 10, 10, 10}, {20, 20, 20, 20}, {2, 2, 2, 2}});
  CHECK(runs[0] == Values{10, 10, 10, 10});
  CHECK(runs[1] == Values{28, 28, 28, 28});
  CHECK(runs[2] == Values{20, 20, 20, 20});
}

TEST_CASE("variables: what is computed of what was read is not written over it") {
  // Twice the old value and the input: the first sum is assigned, then the old value is read again.
  Variables v;
  const std::size_t old = v.read();
  const std::size_t next = v.sum(old, v.in);
  const std::size_t both = v.sum(old, next);
  v.assign(next);
  v.maker.interface({v.in}, {both});
  const std::vector<Values> runs = v.maker.run({{12, 12, 12, 12}, {12, 12, 12, 12}});
  CHECK(runs[0] == Values{12, 12, 12, 12});
  CHECK(runs[1] == Values{32, 32, 32, 32});  // 10 + 20, and the zero point
}

TEST_CASE("variables: a handle that nobody makes, another shape") {
  Maker maker;
  const std::size_t handle = maker.tensor(Type::resource, {});
  const std::size_t out = maker.tensor(Type::int8, {1, 4}, {1.0F});
  maker.add(read_variable, {handle}, {out});
  maker.interface({}, {out});
  REQUIRE(maker.faults().size() == 1);
  CHECK(maker.faults()[0].message == "found a handle that no VAR_HANDLE makes");
  Variables v;
  (void)v.read();
  const std::size_t other = v.maker.tensor(Type::int8, {1, 5}, {1.0F});
  v.maker.add(read_variable, {v.handle}, {other});
  v.maker.interface({v.in}, {other});
  REQUIRE(v.maker.faults().size() == 1);
  CHECK(v.maker.faults()[0].message == "found a variable that is int8 1x4 and int8 1x5");
}

TEST_CASE("padding in front of convolutions becomes theirs, other padding stays") {
  for (const bool is_read_twice : {false, true}) {
    Maker maker;
    const std::size_t in = maker.tensor(Type::int8, {1, 2, 2, 1}, {1.0F}, 3);
    const std::size_t sizes = maker.constant(Type::int32, {4, 2}, {0, 0, 1, 0, 0, 1, 0, 0});
    const std::size_t padded = maker.tensor(Type::int8, {1, 3, 3, 1}, {1.0F}, 3);
    const std::size_t weights = maker.constant(Type::int8, {1, 2, 2, 1}, {1, 2, 3, 4}, {1.0F});
    const std::size_t out = maker.tensor(Type::int8, {1, 2, 2, 1}, {1.0F}, 0);
    maker.add(34, {in, sizes}, {padded});
    Operator& one = maker.add(3, {padded, weights}, {out});
    one.options.padding = Padding::valid;
    one.options.stride_width = one.options.stride_height = 1;
    maker.interface({in}, is_read_twice ? std::vector<std::size_t>{out, padded} : std::vector<std::size_t>{out});
    CHECK(maker.run({{4, 5, 6, 7}})[0] == Values{3 * 1 + 4 * 2, 3 * 2, 1 + 2 * 2 + 3 * 3 + 4 * 4, 2 + 3 * 4});
    std::vector<Fault> faults;
    const ReadModel read = build(maker.model(), "m", faults);
    CHECK(read.module.functions.size() == (is_read_twice ? 3U : 2U));
  }
}

}  // namespace
}  // namespace usmp::tflite::graphs_test
