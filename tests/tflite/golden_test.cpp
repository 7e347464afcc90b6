// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// What models are read to, run by the reference interpreter, which refuses overflow, reads of what was never written
// and accesses out of bounds, equals what TensorFlow Lite Micro computed.
#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "random_modules/interpreter.hpp"
#include "usmp/tflite/reader.hpp"

namespace usmp::tflite::golden_test {
namespace {

namespace fs = std::filesystem;

std::string bytes_of(const fs::path& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

std::size_t differences(const std::string& type, const std::string& expected, const std::string& found) {
  if (expected.size() != found.size()) return expected.size();
  std::size_t count = 0;
  if (type != "float32") {
    for (std::size_t i = 0; i < expected.size(); ++i) count += expected[i] != found[i] ? 1U : 0U;
    return count;
  }
  for (std::size_t i = 0; i + sizeof(float) <= expected.size(); i += sizeof(float)) {
    float a = 0;
    float b = 0;
    std::memcpy(&a, expected.data() + i, sizeof a);
    std::memcpy(&b, found.data() + i, sizeof b);
    const float scale = std::max({std::abs(a), std::abs(b), 1e-3F});
    const bool is_near = std::abs(a - b) <= 1e-5F * scale || (std::isnan(a) && std::isnan(b));
    count += is_near ? 0U : 1U;
  }
  return count;
}

// All runs of a model, states kept between them.
void check_model(const fs::path& path) {
  CAPTURE(path.filename().string());
  const std::string bytes = bytes_of(path);
  const ReadModel model = read_model(bytes, "m");
  const fs::path golden = fs::path(path).replace_extension(".golden");
  const nlohmann::json io = nlohmann::json::parse(bytes_of(golden / "io.json"));
  const std::size_t inputs = model.description.inputs.size();
  const std::size_t outputs = model.description.outputs.size();
  REQUIRE(inputs == io.at("inputs").size());
  REQUIRE(outputs == io.at("outputs").size());
  std::vector<std::string> states;
  for (const model::State& state : model.description.states) states.push_back(state.initial);
  for (int run = 0; run < io.at("runs").get<int>(); ++run) {
    const auto file = [&](const char* kind, std::size_t i) {
      return golden / (kind + std::to_string(i) + "." + std::to_string(run) + ".bin");
    };
    std::vector<random_modules::Argument> arguments;
    for (std::size_t i = 0; i < inputs; ++i) {
      const std::string contents = bytes_of(file("in", i));
      REQUIRE(model.description.inputs[i].size == static_cast<Bytes>(contents.size()));
      arguments.push_back({contents.size(), contents});
    }
    for (const model::Tensor& output : model.description.outputs) {
      arguments.push_back({static_cast<std::size_t>(output.size.value()), std::nullopt});
    }
    for (const std::string& state : states) arguments.push_back({state.size(), state});
    constexpr std::size_t patience = 100;
    const random_modules::Outcome outcome = random_modules::Interpreter(model.module, patience).run(arguments);
    for (std::size_t i = 0; i < outputs; ++i) {
      const std::string& found = outcome.memory.instances()[outcome.params[inputs + i]].bytes;
      CHECK(differences(io.at("outputs")[i].at("type"), bytes_of(file("out", i)), found) == 0);
    }
    for (std::size_t i = 0; i < states.size(); ++i) {
      states[i] = outcome.memory.instances()[outcome.params[inputs + outputs + i]].bytes;
    }
  }
}

// Those whose names begin with one of the words.
void check_models(std::initializer_list<std::string_view> words) {
  std::vector<fs::path> paths;
  for (const fs::directory_entry& entry : fs::directory_iterator(fs::path(USMP_TESTDATA) / "tflite")) {
    const std::string name = entry.path().filename().string();
    if (!name.ends_with(".tflite")) continue;
    if (std::ranges::any_of(words, [&](std::string_view word) { return name.starts_with(word); })) {
      paths.push_back(entry.path());
    }
  }
  std::ranges::sort(paths);
  CHECK(paths.size() >= words.size());
  for (const fs::path& path : paths) check_model(path);
}

TEST_CASE("golden: convolutions") { check_models({"conv_", "depthwise_", "transpose_conv_"}); }

TEST_CASE("golden: dense layers") { check_models({"fc_", "batch_matmul_"}); }

TEST_CASE("golden: pools and reductions") {
  check_models({"avgpool_", "maxpool_", "mean_", "sum_", "reduce_max_", "arg_max_"});
}

TEST_CASE("golden: pairs of elements") {
  check_models({"add_", "sub_", "mul_", "maximum_", "minimum_", "squared_difference_", "prelu_"});
}

TEST_CASE("golden: functions of one number") {
  check_models({"logistic_", "tanh_", "hard_swish_", "leaky_relu_", "elu_", "relu_", "relu6_", "abs_", "neg_", "rsqrt_",
                "exp_"});
}

TEST_CASE("golden: conversions") { check_models({"quantize_", "dequantize_"}); }

TEST_CASE("golden: softmax") { check_models({"softmax_"}); }

TEST_CASE("golden: movement") {
  check_models({"concat_", "pad_", "padv2_", "mirror_pad_", "transpose_", "slice_", "strided_slice_", "split_", "pack_",
                "unpack_", "gather_", "space_to_depth_", "depth_to_space_", "reshape_", "squeeze_"});
}

TEST_CASE("golden: resizing") { check_models({"nearest_", "bilinear_"}); }

TEST_CASE("golden: states") { check_models({"svdf_"}); }

TEST_CASE("golden: graphs") { check_models({"graph_"}); }

}  // namespace
}  // namespace usmp::tflite::golden_test
