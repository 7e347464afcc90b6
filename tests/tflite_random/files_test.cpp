// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// What files may say, and what they may not, in files that are written here.
#include <doctest/doctest.h>

#include <string>

#include "tflite_random/small.hpp"
#include "usmp/support/error.hpp"
#include "usmp/tflite/reader.hpp"

namespace usmp::tflite_random {
namespace {

// RELU of int8.
Small relu() {
  Small small;
  const int in = small.tensor(Type::int8, {1, 4}, 0.5F, -3);
  const int out = small.tensor(Type::int8, {1, 4}, 0.5F, -3);
  small.graph().inputs = {in};
  small.graph().outputs = {out};
  small.add(Code::relu, {in}, {out});
  return small;
}

// What the product says; empty: it reads the model.
std::string message_of(const Small& small, const Style& style = {}) {
  try {
    (void)tflite::read_model(file_of(small.model, style), "m");
    return "";
  } catch (const Error& error) {
    CHECK(error.kind() == ErrorKind::archive);
    return error.where().place + ": " + error.message();
  }
}

TEST_CASE("files: any batch is one, other extents have to be known") {
  Small batch = relu();
  for (Tensor& tensor : batch.graph().tensors) tensor.shape = {-1, 4};
  CHECK(message_of(batch).empty());
  const tflite::ReadModel model = tflite::read_model(file_of(batch.model), "m");
  CHECK(model.description.inputs[0].shape == std::vector<std::int64_t>{1, 4});
  Small width = relu();
  for (Tensor& tensor : width.graph().tensors) tensor.shape = {1, -1};
  CHECK(message_of(width).find("has a dynamic shape") != std::string::npos);
  // A signature says what could be, not what is.
  Small signature = relu();
  for (Tensor& tensor : signature.graph().tensors) tensor.signature = {-1, -1};
  CHECK(message_of(signature).empty());
}

TEST_CASE("files: sparse tensors are refused") {
  Small small = relu();
  small.graph().tensors[0].is_sparse = true;
  CHECK(message_of(small).find("is sparse") != std::string::npos);
}

TEST_CASE("files: names are the signature's, else the tensors'") {
  const tflite::ReadModel named = tflite::read_model(file_of(relu().model, {.signatures = true}), "m");
  CHECK(named.description.inputs[0].name == "argument_0");
  CHECK(named.description.outputs[0].name == "result_0");
  Small small = relu();
  small.graph().tensors[0].name = "serving_default_image:0";
  const tflite::ReadModel plain = tflite::read_model(file_of(small.model), "m");
  CHECK(plain.description.inputs[0].name == "image");
  CHECK(plain.description.outputs[0].name == "t1");
}

TEST_CASE("files: outputs are written by somebody") {
  Small small = relu();
  small.graph().outputs.push_back(small.tensor(Type::int8, {1, 4}, 0.5F));
  CHECK(message_of(small).find("which is never written") != std::string::npos);
}

TEST_CASE("files: CALL_ONCE of a graph that there is") {
  Small small = relu();
  small.graph().operators.insert(small.graph().operators.begin(),
                                 Operator{Code::call_once, {}, {}, {{"init_subgraph_index", 1}}});
  CHECK(message_of(small).find("found subgraph 1 of 1") != std::string::npos);
  // And of no other operators than those of variables.
  Graph other = relu().graph();
  other.inputs.clear();
  other.tensors[0].data = std::string(4, '\0');
  small.model.graphs.push_back(other);
  CHECK(message_of(small).find("found RELU in subgraph 1") != std::string::npos);
}

TEST_CASE("files: versions of operators and where one scale lies do not matter") {
  for (const int version : {0, 1, 7, 99}) CHECK(message_of(relu(), {.version = version}).empty());
  CHECK(message_of(relu(), {.odd_dimension = true}).empty());
}

TEST_CASE("files: offsets out of the file are refused, those of options, too") {
  Small small;
  const int in = small.tensor(Type::int8, {1, 4}, 0.5F, -3);
  const int out = small.tensor(Type::int8, {4}, 0.5F, -3);
  small.graph().inputs = {in};
  small.graph().outputs = {out};
  small.add(Code::squeeze, {in}, {out});
  small.graph().operators[0].list = {0};
  const std::string file = file_of(small.model);
  std::size_t damaged = 0;
  for (std::size_t at = 0; at + 4 <= file.size(); at += 4) {
    std::string changed = file;
    changed.replace(at, 4, std::string("\x00\xff\xff\x7f", 4));
    try {
      (void)tflite::read_model(changed, "m");
    } catch (const Error& error) {
      damaged += error.message().find("has damaged options") != std::string::npos ? 1U : 0U;
    }
  }
  CHECK(damaged > 0);
}

TEST_CASE("files: options that there cannot be are refused") {
  Small small;
  const int in = small.tensor(Type::int8, {1, 6, 6, 1}, 0.5F, -3);
  const int w = small.weights({2, 3, 3, 1}, 0.01F);
  const int out = small.tensor(Type::int8, {1, 4, 4, 2}, 0.5F, -3);
  small.graph().inputs = {in};
  small.graph().outputs = {out};
  small.add(Code::conv_2d, {in, w, -1}, {out}, {{"padding", 1}, {"stride_w", 1}, {"stride_h", 1}});
  CHECK(message_of(small).empty());
  for (const auto& changed_option :
       std::map<std::string, double>{{"padding", 2}, {"activation", 6}, {"stride_w", 0}, {"dilation_h", -1}}) {
    Small changed = small;
    changed.graph().operators[0].options[changed_option.first] = changed_option.second;
    CAPTURE(changed_option.first);
    CHECK(!message_of(changed).empty());
  }
}

}  // namespace
}  // namespace usmp::tflite_random
