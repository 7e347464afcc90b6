// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// The forms of loops that passes and kernels count on. What they compute does not show them: memory and time do.
#include <doctest/doctest.h>

#include <regex>
#include <set>
#include <string>
#include <vector>

#include "tflite_random/small.hpp"
#include "usmp/tflite/reader.hpp"
#include "usmp/tir/printer.hpp"
#include "usmp/transform/transform.hpp"

namespace usmp::tflite_random {
namespace {

std::string text_of(const Small& small) { return tir::print(tflite::read_model(file_of(small.model), "m").module); }

std::size_t count_of(const std::string& text, const std::string& word) {
  std::size_t count = 0;
  for (std::size_t at = text.find(word); at != std::string::npos; at = text.find(word, at + 1)) ++count;
  return count;
}

// What stands in parentheses, of each match.
std::vector<int> numbers_of(const std::string& text, const std::string& pattern) {
  const std::regex regex(pattern);
  std::vector<int> result;
  for (std::sregex_iterator match(text.begin(), text.end(), regex), end; match != end; ++match) {
    result.push_back(std::stoi((*match)[1].str()));
  }
  return result;
}

struct Shapes {
  Shape in;
  Shape weights;  // of CONV_2D: outputs, height, width, depth
  Shape out;
};

Small convolution(const Shapes& shapes, bool is_same, Code code = Code::conv_2d) {
  Small small;
  const int in = small.tensor(Type::int8, shapes.in, 0.5F, -3);
  const int w = small.weights(shapes.weights, 0.01F);
  const int out = small.tensor(Type::int8, shapes.out, 0.7F, 4);
  small.graph().inputs = {in};
  small.graph().outputs = {out};
  const int multiplier = shapes.out[3] / shapes.in[3];
  small.add(code, {in, w, -1}, {out},
            {{"padding", is_same ? 0 : 1},
             {"stride_w", 1},
             {"stride_h", 1},
             {"depth_multiplier", static_cast<double>(multiplier)}});
  return small;
}

TEST_CASE("forms: a copy of the input with a border of zeros only where windows leave it") {
  const Shapes valid = {{1, 7, 8, 3}, {5, 3, 3, 3}, {1, 5, 6, 5}};
  CHECK(count_of(text_of(convolution(valid, false)), "padded") == 0);
  const Shapes single = {{1, 7, 8, 3}, {5, 1, 1, 3}, {1, 7, 8, 5}};
  CHECK(count_of(text_of(convolution(single, true)), "padded") == 0);
  const std::string same = text_of(convolution({{1, 7, 8, 3}, {5, 3, 3, 3}, {1, 7, 8, 5}}, true));
  CHECK(numbers_of(same, R"(allocate padded: int16\[(\d+)\])") == std::vector{9 * 10 * 3});
  CHECK(same.find(", 0i16)") != std::string::npos);
  // Along one dimension.
  const std::string wide = text_of(convolution({{1, 7, 8, 3}, {5, 1, 3, 3}, {1, 7, 8, 5}}, true));
  CHECK(numbers_of(wide, R"(allocate padded: int16\[(\d+)\])") == std::vector{7 * 10 * 3});
  const std::string floats = [] {
    Small small = convolution({{1, 7, 8, 3}, {5, 3, 3, 3}, {1, 7, 8, 5}}, true);
    for (Tensor& tensor : small.graph().tensors) {
      tensor.type = Type::float32;
      tensor.scales.clear();
      if (tensor.data) tensor.data = std::string(4 * elements_of(tensor.shape), '\0');
    }
    return text_of(small);
  }();
  CHECK(numbers_of(floats, R"(allocate padded: float32\[(\d+)\])") == std::vector{9 * 10 * 3});
}

TEST_CASE("forms: weights lie taps first, outputs last") {
  const std::string text = text_of(convolution({{1, 7, 8, 3}, {5, 2, 4, 3}, {1, 6, 5, 5}}, false));
  CHECK(text.find("constant weights: int8[2, 4, 3, 5]") != std::string::npos);
  Small dense;
  const int in = dense.tensor(Type::int8, {1, 12}, 0.5F, -3);
  const int w = dense.weights({7, 12}, 0.01F);
  const int out = dense.tensor(Type::int8, {1, 7}, 0.7F);
  dense.graph().inputs = {in};
  dense.graph().outputs = {out};
  dense.add(Code::fully_connected, {in, w, -1}, {out});
  CHECK(text_of(dense).find("constant weights: int8[12, 7]") != std::string::npos);
}

TEST_CASE("forms: no loop of one iteration") {
  for (const Shapes& shapes :
       {Shapes{{1, 1, 8, 1}, {1, 1, 3, 1}, {1, 1, 8, 1}}, Shapes{{1, 5, 1, 3}, {4, 1, 1, 3}, {1, 5, 1, 4}},
        Shapes{{1, 1, 1, 9}, {2, 1, 1, 9}, {1, 1, 1, 2}}}) {
    CHECK(count_of(text_of(convolution(shapes, true)), "in [0, 1)") == 0);
  }
}

TEST_CASE("forms: at most 64 sums at once, in blocks of equal size") {
  for (const int outputs : {1, 5, 63, 64, 65, 96, 128, 200}) {
    CAPTURE(outputs);
    const std::string text = text_of(convolution({{1, 2, 2, 3}, {outputs, 1, 1, 3}, {1, 2, 2, outputs}}, false));
    const std::vector<int> sums = numbers_of(text, R"(allocate sums: int32\[(\d+)\])");
    REQUIRE(sums.size() == 1);
    const int wanted = outputs <= 64 ? outputs : outputs == 65 ? 65 : outputs == 96 ? 48 : outputs == 128 ? 64 : 50;
    CHECK(sums[0] == wanted);
  }
}

TEST_CASE("forms: a depthwise convolution of one channel is a convolution") {
  const std::string plain = text_of(convolution({{1, 6, 7, 1}, {4, 3, 3, 1}, {1, 6, 7, 4}}, true));
  Small depthwise = convolution({{1, 6, 7, 1}, {1, 3, 3, 4}, {1, 6, 7, 4}}, true, Code::depthwise_conv_2d);
  std::string same = text_of(depthwise);
  same = std::regex_replace(same, std::regex("depthwise_conv2d"), "conv2d");
  const auto loops = [](const std::string& text) { return numbers_of(text, R"(for \w+ in \[0, (\d+)\))"); };
  CHECK(loops(plain) == loops(same));
  CHECK(numbers_of(same, R"(allocate sums: int32\[(\d+)\])") == std::vector{4});
  CHECK(count_of(same, "constant weights: int8[1, 3, 3, 4]") + count_of(same, "constant weights: int8[3, 3, 1, 4]") ==
        1);
}

Small function(Code code, float out_scale, std::int64_t out_zero, const std::map<std::string, double>& options = {}) {
  Small small;
  const int in = small.tensor(Type::int8, {1, 300}, 0.05F, -3);
  const int out = small.tensor(Type::int8, {1, 300}, out_scale, out_zero);
  small.graph().inputs = {in};
  small.graph().outputs = {out};
  small.add(code, {in}, {out}, options);
  return small;
}

TEST_CASE("forms: functions of one byte are tables of 256 bytes, equal ones once") {
  const std::string table = "constant table: int8[256] of 256 bytes";
  CHECK(count_of(text_of(function(Code::tanh, 1.0F / 128, 0)), table) == 1);
  CHECK(count_of(text_of(function(Code::leaky_relu, 0.07F, 5, {{"alpha", 0.25}})), table) == 1);
  CHECK(count_of(text_of(function(Code::elu, 0.05F, 5)), table) == 1);
  // One that adds and cuts needs none.
  CHECK(count_of(text_of(function(Code::relu, 0.05F, -3)), "table") == 0);
  Small twice;
  const int in = twice.tensor(Type::int8, {1, 30}, 0.05F, -3);
  const int other = twice.tensor(Type::int8, {1, 20}, 0.05F, -3);
  const int first = twice.tensor(Type::int8, {1, 30}, 1.0F / 128);
  const int second = twice.tensor(Type::int8, {1, 20}, 1.0F / 128);
  twice.graph().inputs = {in, other};
  twice.graph().outputs = {first, second};
  twice.add(Code::tanh, {in}, {first});
  twice.add(Code::tanh, {other}, {second});
  tir::Module module = tflite::read_model(file_of(twice.model), "m").module;
  module = transform::transform(module, {.steps = {transform::Step::constants}}).module();
  std::set<const tir::Constant*> tables;
  for (const tir::Function& one : module.functions) {
    for (const tir::Stmt& stmt : one.body) {
      if (const auto* constant = std::get_if<tir::AllocateConst>(&stmt.node)) tables.insert(constant->data.get());
    }
  }
  CHECK(tables.size() == 1);
}

TEST_CASE("forms: constants of additions and multiplications are read as they are, not stretched") {
  for (const Code code : {Code::add, Code::mul}) {
    Small small;
    const int in = small.tensor(Type::int8, {1, 6, 5, 3}, 0.05F, -3);
    const int b = small.weights({3}, 0.1F);
    const int out = small.tensor(Type::int8, {1, 6, 5, 3}, 0.2F, 7);
    small.graph().inputs = {in};
    small.graph().outputs = {out};
    small.add(code, {in, b}, {out});
    const std::string text = text_of(small);
    CHECK(text.find("int8[3] of 3 bytes") != std::string::npos);
    // All pixels are one loop.
    CHECK(numbers_of(text, R"(for \w+ in \[0, (\d+)\))") == std::vector{30, 3});
  }
}

TEST_CASE("forms: PAD in front of convolutions alone is their border") {
  const auto padded = [](bool is_output, bool is_read = false) {
    Small small;
    const int in = small.tensor(Type::int8, {1, 6, 5, 2}, 0.5F, -3);
    const int amounts = small.constant(Type::int32, {4, 2}, {0, 0, 1, 0, 2, 1, 0, 0});
    const int between = small.tensor(Type::int8, {1, 7, 8, 2}, 0.5F, -3);
    const int w = small.weights({4, 3, 3, 2}, 0.01F);
    const int out = small.tensor(Type::int8, {1, 5, 6, 4}, 0.7F, 4);
    small.graph().inputs = {in};
    small.graph().outputs = {out};
    if (is_output) small.graph().outputs.push_back(between);
    small.add(Code::pad, {in, amounts}, {between});
    small.add(Code::conv_2d, {between, w, -1}, {out}, {{"padding", 1}, {"stride_w", 1}, {"stride_h", 1}});
    if (is_read) {
      const int other = small.tensor(Type::int8, {1, 7, 8, 2}, 0.5F, -3);
      small.graph().outputs.push_back(other);
      small.add(Code::relu, {between}, {other});
    }
    return small;
  };
  CHECK(count_of(text_of(padded(false)), "primfn") == 2);
  CHECK(count_of(text_of(padded(true)), "primfn") == 3);
  CHECK(count_of(text_of(padded(false, true)), "primfn") == 4);
  std::string input;
  for (int i = 0; i < 60; ++i) input += static_cast<char>(i * 31 % 256);
  CHECK(padded(false).fault({input}).empty());
  CHECK(padded(true).fault({input}).empty());
  CHECK(padded(false, true).fault({input}).empty());
}

}  // namespace
}  // namespace usmp::tflite_random
