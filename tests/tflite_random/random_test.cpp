// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// Random models, and models like those that once showed a fault.
#include <doctest/doctest.h>

#include <cstdint>
#include <set>
#include <string>
#include <vector>

#include "tflite_random/campaign.hpp"
#include "tflite_random/generate.hpp"
#include "tflite_random/interpreter.hpp"
#include "tflite_random/small.hpp"

namespace usmp::tflite_random {
namespace {

TEST_CASE("random models compute what their definition says") {
  const Totals totals = run_campaign({.seed = 1, .count = 600, .transform_every = 4});
  for (const Failure& failure : totals.failures) {
    CAPTURE(failure.seed);
    CHECK_MESSAGE(false, failure.what);
  }
  CHECK(totals.models == 600);
  CHECK(totals.transformed >= 140);
  CHECK(totals.undefined < 20);
}

TEST_CASE("random models have all operators that are read, in all types") {
  const std::vector<Code> codes = {Code::add,
                                   Code::average_pool_2d,
                                   Code::concatenation,
                                   Code::conv_2d,
                                   Code::depthwise_conv_2d,
                                   Code::depth_to_space,
                                   Code::dequantize,
                                   Code::fully_connected,
                                   Code::logistic,
                                   Code::max_pool_2d,
                                   Code::mul,
                                   Code::relu,
                                   Code::relu_n1_to_1,
                                   Code::relu6,
                                   Code::reshape,
                                   Code::resize_bilinear,
                                   Code::softmax,
                                   Code::space_to_depth,
                                   Code::svdf,
                                   Code::tanh,
                                   Code::pad,
                                   Code::gather,
                                   Code::batch_to_space_nd,
                                   Code::space_to_batch_nd,
                                   Code::transpose,
                                   Code::mean,
                                   Code::sub,
                                   Code::div,
                                   Code::squeeze,
                                   Code::unidirectional_sequence_lstm,
                                   Code::strided_slice,
                                   Code::exp,
                                   Code::split,
                                   Code::log_softmax,
                                   Code::cast,
                                   Code::prelu,
                                   Code::maximum,
                                   Code::arg_max,
                                   Code::minimum,
                                   Code::less,
                                   Code::neg,
                                   Code::padv2,
                                   Code::greater,
                                   Code::greater_equal,
                                   Code::less_equal,
                                   Code::slice,
                                   Code::transpose_conv,
                                   Code::expand_dims,
                                   Code::equal,
                                   Code::not_equal,
                                   Code::sum,
                                   Code::rsqrt,
                                   Code::shape,
                                   Code::arg_min,
                                   Code::reduce_max,
                                   Code::pack,
                                   Code::unpack,
                                   Code::reduce_min,
                                   Code::resize_nearest_neighbor,
                                   Code::leaky_relu,
                                   Code::squared_difference,
                                   Code::mirror_pad,
                                   Code::abs,
                                   Code::split_v,
                                   Code::elu,
                                   Code::quantize,
                                   Code::hard_swish,
                                   Code::batch_matmul,
                                   Code::call_once,
                                   Code::var_handle,
                                   Code::read_variable,
                                   Code::assign_variable};
  const std::set<Code> floats = {Code::relu_n1_to_1, Code::dequantize,  Code::div,
                                 Code::exp,          Code::log_softmax, Code::neg};
  const std::set<Code> others = {Code::less,    Code::greater,   Code::greater_equal, Code::less_equal,
                                 Code::equal,   Code::not_equal, Code::shape,         Code::arg_max,
                                 Code::arg_min, Code::call_once, Code::var_handle,    Code::assign_variable};
  std::set<std::pair<Code, Type>> seen;
  for (std::uint64_t seed = 1; seed <= 1500; ++seed) {
    const Model model = random_model(seed).model;
    const Graph& graph = model.graphs.front();
    for (const Operator& op : graph.operators) {
      const Type type =
          op.outputs.empty() ? Type::resource : graph.tensors[static_cast<std::size_t>(op.outputs[0])].type;
      seen.insert({op.code, type});
    }
  }
  const auto has = [&](Code code, Type type) { return seen.contains({code, type}); };
  for (const Code code : codes) {
    CAPTURE(static_cast<int>(code));
    if (others.contains(code)) {
      CHECK((has(code, Type::boolean) || has(code, Type::int32) || has(code, Type::resource)));
      continue;
    }
    CHECK((has(code, Type::float32) || code == Code::quantize));
    CHECK((has(code, Type::int8) || floats.contains(code)));
  }
  for (const Code code : {Code::add, Code::average_pool_2d, Code::batch_matmul, Code::concatenation, Code::conv_2d,
                          Code::depthwise_conv_2d, Code::fully_connected, Code::leaky_relu, Code::logistic,
                          Code::max_pool_2d, Code::mean, Code::mul, Code::quantize, Code::softmax,
                          Code::squared_difference, Code::sub, Code::sum, Code::tanh, Code::transpose_conv}) {
    CAPTURE(static_cast<int>(code));
    CHECK(has(code, Type::int16));
  }
}

// --- Models like those that once showed a fault

std::string counted(std::size_t count) {
  std::string bytes;
  for (std::size_t i = 0; i < count; ++i) bytes += static_cast<char>(i * 37 % 251);
  return bytes;
}

TEST_CASE("found: several images under padded convolutions") {
  for (const Code code : {Code::conv_2d, Code::depthwise_conv_2d}) {
    Small small;
    const int in = small.tensor(Type::int8, {3, 4, 5, 2}, 0.5F, -3);
    const bool is_depthwise = code == Code::depthwise_conv_2d;
    std::vector<std::int64_t> values;
    for (int i = 0; i < (is_depthwise ? 18 : 36); ++i) values.push_back(i * 13 % 120 - 60);
    const int w = small.constant(Type::int8, is_depthwise ? Shape{1, 3, 3, 2} : Shape{2, 3, 3, 2}, values, 0.01F);
    const int out = small.tensor(Type::int8, {3, 4, 5, 2}, 2.0F, 7);
    small.graph().inputs = {in};
    small.graph().outputs = {out};
    small.graph().operators.push_back(
        {code, {in, w, -1}, {out}, {{"stride_w", 1}, {"stride_h", 1}, {"depth_multiplier", 1}}});
    CHECK(small.fault({counted(120)}) == "");
  }
}

TEST_CASE("found: SUB divides scales as floats") {
  // Scales of which the quotients of doubles give another result for one of 2^16 inputs or more.
  std::size_t others = 0;
  for (const float scale : {0.0003385084F, 0.0001468983F, 0.0019F, 0.00003F}) {
    Small small;
    const int in = small.tensor(Type::int16, {1, 65536}, scale);
    const int b = small.constant(Type::int16, {1}, {12345}, 0.0001468983F);
    const int out = small.tensor(Type::int16, {1, 65536}, 0.00020885906F);
    small.graph().inputs = {in};
    small.graph().outputs = {out};
    small.graph().operators.push_back({Code::sub, {in, b}, {out}});
    Values values;
    for (int x = -32768; x < 32768; ++x) values.whole.push_back(x);
    const std::string input = bytes_of(values, Type::int16);
    CHECK(small.fault({input}) == "");
    // ADD of the negated constant, whose quotients are of doubles, is another function.
    Interpreter sub(small.model);
    const std::string difference = sub.run({input})[0];
    small.graph().operators[0].code = Code::add;
    small.graph().tensors[1].data = bytes_of({{-12345}, {}}, Type::int16);
    Interpreter add(small.model);
    others += differences(Type::int16, difference, add.run({input})[0]);
  }
  CHECK(others > 0);
}

TEST_CASE("found: a channel that is shifted by 31 bits beside one that is shifted by none") {
  Small small;
  const int in = small.tensor(Type::int8, {1, 6}, 0.5F, -3);
  const int w = small.weights({2, 6}, 1);
  small.graph().tensors.back().scales = {1.0F, 3e-10F};
  small.graph().tensors.back().zero_points = {0, 0};
  const int out = small.tensor(Type::int8, {1, 2}, 0.5F, 31);
  small.graph().inputs = {in};
  small.graph().outputs = {out};
  const int bias = small.constant(Type::int32, {2}, {1667, 1667});
  small.add(Code::depthwise_conv_2d, {in, w, bias}, {out}, {{"stride_w", 1}, {"stride_h", 1}, {"depth_multiplier", 2}});
  small.graph().tensors[0].shape = {1, 1, 6, 1};
  small.graph().tensors[1].shape = {1, 1, 6, 2};
  small.graph().tensors[1].quantized_dimension = 3;
  small.graph().tensors[2].shape = {1, 1, 1, 2};
  small.graph().operators[0].options["padding"] = 1;
  CHECK(small.fault({counted(6)}) == "");
}

TEST_CASE("found: activations of what is no number are none") {
  for (const int activation : {1, 2, 3}) {
    Small small;
    const int a = small.tensor(Type::float32, {1, 4});
    const int b = small.tensor(Type::float32, {1, 4});
    const int out = small.tensor(Type::float32, {1, 4});
    small.graph().inputs = {a, b};
    small.graph().outputs = {out};
    small.add(Code::div, {a, b}, {out}, {{"activation", activation}});
    const std::string dividends = bytes_of({{}, {0, 1, -1, 0}}, Type::float32);
    const std::string divisors = bytes_of({{}, {0, 0, 0, 1}}, Type::float32);
    CHECK(small.fault({dividends, divisors}) == "");
  }
}

TEST_CASE("found: a tensor that loops and a single store write, in a chain of rows") {
  // CONCATENATION of rows and of one element, between operators that run by rows.
  Small small;
  const int in = small.tensor(Type::int8, {1, 40, 1, 1}, 0.5F, 0);
  const int doubled = small.tensor(Type::int8, {1, 40, 1, 1}, 0.7F, 3);
  const int one = small.constant(Type::int8, {1, 1, 1, 1}, {17}, 0.7F);
  small.graph().tensors.back().zero_points = {3};
  const int joined = small.tensor(Type::int8, {1, 41, 1, 1}, 0.7F, 3);
  const int out = small.tensor(Type::int8, {1, 41, 1, 1}, 0.9F, -5);
  small.graph().inputs = {in};
  small.graph().outputs = {out};
  small.graph().operators.push_back({Code::add, {in, in}, {doubled}});
  small.graph().operators.push_back({Code::concatenation, {one, doubled}, {joined}, {{"axis", 1}}});
  small.graph().operators.push_back({Code::add, {joined, joined}, {out}});
  CHECK(small.fault({counted(40)}, true) == "");
}

}  // namespace
}  // namespace usmp::tflite_random
