// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// Files that are damaged, contradict themselves, or hold what is not supported: one message with the place.
#include "tflite/file.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <functional>
#include <limits>
#include <string>
#include <vector>

#include "tflite/tflite_generated.h"
#include "usmp/support/error.hpp"
#include "usmp/support/random.hpp"
#include "usmp/tflite/reader.hpp"

namespace usmp::tflite::file_test {
namespace {

namespace fs = std::filesystem;
using flatbuffers::FlatBufferBuilder;

// A model of one operator, int8 -> int8, of which a test changes a part.
struct Parts {
  std::vector<std::int32_t> shape = {1, 4};
  std::int8_t type = 9;
  std::vector<float> scales = {0.5F};
  std::vector<std::int64_t> zero_points = {3};
  std::int32_t dimension = 0;
  std::uint32_t buffer = 0;
  std::int32_t code = 19;  // RELU
  std::string custom = {};
  std::uint32_t opcode_index = 0;
  std::vector<std::int32_t> inputs = {0};
  std::vector<std::int32_t> outputs = {1};
  std::vector<std::int32_t> model_inputs = {0};
  std::vector<std::int32_t> model_outputs = {1};
  std::uint32_t version = 3;
  std::string constant = {};  // of tensor 0
};

std::string file_of(const Parts& parts) {
  FlatBufferBuilder builder;
  const auto tensor = [&](const char* name, std::uint32_t buffer) {
    const auto quantization = schema::CreateQuantizationParameters(
        builder, builder.CreateVector(parts.scales), builder.CreateVector(parts.zero_points), 0, parts.dimension);
    return schema::CreateTensor(builder, builder.CreateVector(parts.shape), parts.type, buffer,
                                builder.CreateString(name), quantization);
  };
  std::vector<flatbuffers::Offset<schema::Tensor>> tensors = {
      tensor("serving_default_x:0", parts.constant.empty() ? parts.buffer : 1), tensor("y", 0)};
  const auto one = schema::CreateOperator(builder, parts.opcode_index, builder.CreateVector(parts.inputs),
                                          builder.CreateVector(parts.outputs));
  const auto graph =
      schema::CreateSubGraph(builder, builder.CreateVector(tensors), builder.CreateVector(parts.model_inputs),
                             builder.CreateVector(parts.model_outputs), builder.CreateVector(std::vector{one}));
  const auto code =
      schema::CreateOperatorCode(builder, static_cast<std::int8_t>(parts.code < 127 ? parts.code : 127),
                                 parts.custom.empty() ? 0 : builder.CreateString(parts.custom), parts.code);
  const std::vector<std::uint8_t> data(parts.constant.begin(), parts.constant.end());
  std::vector<flatbuffers::Offset<schema::Buffer>> buffers = {schema::CreateBuffer(builder)};
  if (!data.empty()) buffers.push_back(schema::CreateBuffer(builder, builder.CreateVector(data)));
  const auto codes = builder.CreateVector(std::vector{code});
  const auto graphs = builder.CreateVector(std::vector{graph});
  const auto list = builder.CreateVector(buffers);
  builder.Finish(schema::CreateModel(builder, parts.version, codes, graphs, list), "TFL3");
  return {reinterpret_cast<const char*>(builder.GetBufferPointer()), builder.GetSize()};
}

// "place: message" of what is wrong; empty: nothing is.
std::string fault_of(const Parts& parts) {
  try {
    (void)read_model(file_of(parts), "m");
    return {};
  } catch (const Error& error) {
    CHECK(error.kind() == ErrorKind::archive);
    return error.where().place + ": " + error.message();
  }
}

std::string changed(const std::function<void(Parts&)>& change) {
  Parts parts;
  change(parts);
  return fault_of(parts);
}

TEST_CASE("file: a model of one operator") {
  CHECK(fault_of({}).empty());
  const ReadModel model = read_model(file_of({}), "m");
  REQUIRE(model.description.inputs.size() == 1);
  CHECK(model.description.inputs[0].name == "x");
  CHECK(model.description.inputs[0].dtype == "int8");
  CHECK(model.description.inputs[0].shape == std::vector<std::int64_t>{1, 4});
  CHECK(model.description.inputs[0].quantization->scale == 0.5F);
  CHECK(model.description.inputs[0].quantization->zero_point == 3);
  CHECK(model.description.outputs[0].name == "y");
}

TEST_CASE("file: indices out of their lists") {
  CHECK(changed([](Parts& p) { p.opcode_index = 1; }) == "operator 0: has code 1, but there are 1");
  CHECK(changed([](Parts& p) { p.inputs = {2}; }) == "operator 0: names tensor 2, but there are 2");
  CHECK(changed([](Parts& p) { p.inputs = {-2}; }) == "operator 0: names tensor -2, but there are 2");
  CHECK(changed([](Parts& p) { p.outputs = {-1}; }) == "operator 0: names tensor -1, but there are 2");
  CHECK(changed([](Parts& p) { p.model_inputs = {7}; }) == "inputs: names tensor 7, but there are 2");
  CHECK(changed([](Parts& p) { p.model_outputs = {7}; }) == "outputs: names tensor 7, but there are 2");
  CHECK(changed([](Parts& p) { p.buffer = 5; }).starts_with("tensor 0 'serving_default_x:0': has buffer 5"));
}

TEST_CASE("file: shapes, scales and zero points that there cannot be") {
  CHECK(changed([](Parts& p) { p.shape = {1, -4}; }).ends_with("has an extent of -4"));
  CHECK(changed([](Parts& p) { p.shape = {1, 1, 1, 1, 1, 1, 1}; }).ends_with("7 dimensions, expected at most 6"));
  CHECK(changed([](Parts& p) { p.shape = {65536, 65536}; }).ends_with("has a shape of 2 GiB or more"));
  CHECK(changed([](Parts& p) { p.scales = {0}; }).find("has the scale 0") != std::string::npos);
  // Its inverse is not finite.
  CHECK(changed([](Parts& p) {
          p.scales = {std::ldexp(1.0F, -127)};
        }).ends_with("has the scale 5.877472e-39, expected a positive number, from 2^-126 on"));
  CHECK(changed([](Parts& p) { p.scales = {std::numeric_limits<float>::min()}; }).find("has the scale") ==
        std::string::npos);
  CHECK(changed([](Parts& p) { p.scales = {std::numeric_limits<float>::infinity()}; }).find("has the scale inf") !=
        std::string::npos);
  CHECK(changed([](Parts& p) { p.zero_points = {128}; }).ends_with("has the zero point 128, which is no int8"));
  CHECK(changed([](Parts& p) { p.zero_points = {1, 2}; }).ends_with("has 1 scales and 2 zero points"));
  // One scale belongs to no dimension.
  CHECK(changed([](Parts& p) { p.dimension = 9; }).empty());
  CHECK(changed([](Parts& p) {
          p.scales = {1, 2};
          p.zero_points = {0, 0};
          p.dimension = 9;
        }).ends_with("has scales along dimension 9, but 2 dimensions"));
  CHECK(changed([](Parts& p) {
          p.scales = {1, 2};
          p.zero_points = {0, 0};
          p.dimension = 1;
        }).ends_with("has 2 scales along dimension 1, which has 4 elements"));
}

TEST_CASE("file: what is read is an input, a constant or written before, and each is written once") {
  CHECK(changed([](Parts& p) { p.model_inputs = {}; }) ==
        "operator 0: reads tensor 0 'serving_default_x:0', which is written later or never");
  CHECK(changed([](Parts& p) { p.outputs = {0}; }).starts_with("operator 0: writes tensor 0"));
  CHECK(changed([](Parts& p) { p.model_inputs = {0, 0}; }).starts_with("inputs: name tensor 0"));
  CHECK(changed([](Parts& p) {
          p.inputs = {0};
          p.model_inputs = {0};
          p.constant = "abc";
        }).find("has 3 bytes of data, expected 4") != std::string::npos);
  CHECK(changed([](Parts& p) { p.constant = "abcd"; }).ends_with("is an input and a constant"));
  CHECK(changed([](Parts& p) {
          p.constant = "abcd";
          p.model_inputs = {};
        }).empty());
}

TEST_CASE("file: what is not supported is named with operator, operands and what is") {
  CHECK(changed([](Parts& p) { p.version = 2; }) == ": version 2 of the format, expected 3");
  CHECK(changed([](Parts& p) { p.code = 118; }) == "operator 0 (IF): the operator is not supported");
  CHECK(changed([](Parts& p) { p.code = 250; }) == "operator 0 (operator code 250): the operator is not supported");
  CHECK(changed([](Parts& p) {
          p.code = 32;
          p.custom = "Mine";
        }) == "operator 0 (CUSTOM): custom operator 'Mine' is not supported");
  CHECK(changed([](Parts& p) { p.type = 10; }).ends_with("supported: float32 or int8 or int16"));
  CHECK(changed([](Parts& p) { p.type = 8; }).ends_with("has elements of type 8"));
  CHECK(changed([](Parts& p) { p.inputs = {0, 0}; }) == "operator 0 (RELU): found 2 inputs, supported: 1");
  Parts parts;
  parts.code = 118;
  const std::vector<OperatorLine> lines = operators_of(file_of(parts));
  REQUIRE(lines.size() == 1);
  CHECK(lines[0].name == "IF");
  CHECK(lines[0].inputs == std::vector<std::string>{"int8 1x4"});
  CHECK(lines[0].fault == "the operator is not supported");
}

TEST_CASE("file: an identifier, and all of the file") {
  CHECK(!is_model("TFL3"));
  CHECK(is_model(std::string_view("\x1c\0\0\0TFL3", 8)));
  const std::string file = file_of({});
  for (std::size_t length = 0; length < file.size(); length += 3) {
    CHECK_THROWS_AS((void)read_file(file.substr(0, length)), Error);
  }
}

TEST_CASE("file: bytes that are changed at random give a model or one error, soon") {
  Random random(11);
  std::vector<fs::path> paths;
  for (const fs::directory_entry& entry : fs::directory_iterator(fs::path(USMP_TESTDATA) / "tflite")) {
    if (entry.path().extension() == ".tflite") paths.push_back(entry.path());
  }
  std::ranges::sort(paths);
  REQUIRE(!paths.empty());
  std::size_t refused = 0;
  const auto begin = std::chrono::steady_clock::now();
  for (std::size_t i = 0; i < 600; ++i) {
    std::ifstream file(paths[i % paths.size()], std::ios::binary);
    std::string bytes((std::istreambuf_iterator<char>(file)), std::istreambuf_iterator<char>());
    const std::size_t changes = 1 + random.next() % 4;
    for (std::size_t k = 0; k < changes; ++k) {
      bytes[random.next() % bytes.size()] = static_cast<char>(random.next());
    }
    try {
      (void)read_model(bytes, "m");
    } catch (const Error& error) {
      CHECK(error.kind() == ErrorKind::archive);
      ++refused;
    }
  }
  CHECK(refused > 20);
  CHECK(std::chrono::steady_clock::now() - begin < std::chrono::minutes(2));
}

}  // namespace
}  // namespace usmp::tflite::file_test
