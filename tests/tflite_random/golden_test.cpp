// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// The interpreter, which is the oracle of random models, computes what TensorFlow Lite Micro computed.
#include <doctest/doctest.h>

#include <algorithm>
#include <filesystem>

#include "tflite_random/golden.hpp"
#include "tflite_random/interpreter.hpp"

namespace usmp::tflite_random {
namespace {

namespace fs = std::filesystem;

// What is wrong; empty: nothing is.
std::string fault_of(const fs::path& path) {
  const Model model = model_of(read_bytes(path));
  const std::vector<Run> runs = read_golden(fs::path(path).replace_extension(".golden"));
  if (runs.empty()) return "no golden files";
  try {
    Interpreter interpreter(model);
    for (const Run& run : runs) {
      const std::vector<std::string> found = interpreter.run(run.inputs);
      if (found.size() != run.outputs.size()) return "another number of outputs";
      for (std::size_t i = 0; i < found.size(); ++i) {
        const auto tensor = static_cast<std::size_t>(model.graphs.front().outputs[i]);
        const std::size_t count = differences(model.graphs.front().tensors[tensor].type, run.outputs[i], found[i]);
        if (count > 0) return std::to_string(count) + " elements of output " + std::to_string(i) + " differ";
      }
    }
  } catch (const std::exception& error) {
    return error.what();
  }
  return "";
}

std::size_t check_folder(const fs::path& folder) {
  std::vector<fs::path> paths;
  for (const fs::directory_entry& entry : fs::directory_iterator(folder)) {
    if (entry.path().extension() == ".tflite") paths.push_back(entry.path());
  }
  std::sort(paths.begin(), paths.end());
  for (const fs::path& path : paths) {
    CAPTURE(path.string());
    const std::string fault = fault_of(path);
    CHECK(fault == "");  // NOLINT(readability-container-size-empty): the message has the text
  }
  return paths.size();
}

TEST_CASE("oracle: testdata") { CHECK(check_folder(fs::path(USMP_TESTDATA) / "tflite") > 100); }

TEST_CASE("oracle: shared, random" * doctest::skip(!fs::exists(fs::path(USMP_SHARED) / "tflite"))) {
  CHECK(check_folder(fs::path(USMP_SHARED) / "tflite" / "random") > 300);
}

TEST_CASE("oracle: shared, real" * doctest::skip(!fs::exists(fs::path(USMP_SHARED) / "tflite"))) {
  CHECK(check_folder(fs::path(USMP_SHARED) / "tflite" / "real") > 30);
}

TEST_CASE("files: what is written is read") {
  for (const fs::directory_entry& entry : fs::directory_iterator(fs::path(USMP_TESTDATA) / "tflite")) {
    if (entry.path().extension() != ".tflite") continue;
    const Model model = model_of(read_bytes(entry.path()));
    const Model again = model_of(file_of(model, {.old_codes = true, .shared_buffers = true, .version = 3}));
    REQUIRE(again.graphs.size() == model.graphs.size());
    const Graph& a = model.graphs.front();
    const Graph& b = again.graphs.front();
    REQUIRE(a.tensors.size() == b.tensors.size());
    for (std::size_t i = 0; i < a.tensors.size(); ++i) {
      CHECK(a.tensors[i].shape == b.tensors[i].shape);
      CHECK(a.tensors[i].type == b.tensors[i].type);
      CHECK(a.tensors[i].data == b.tensors[i].data);
      CHECK(a.tensors[i].scales == b.tensors[i].scales);
      CHECK(a.tensors[i].zero_points == b.tensors[i].zero_points);
    }
    REQUIRE(a.operators.size() == b.operators.size());
    for (std::size_t i = 0; i < a.operators.size(); ++i) {
      CHECK(a.operators[i].code == b.operators[i].code);
      CHECK(a.operators[i].options == b.operators[i].options);
      CHECK(a.operators[i].inputs == b.operators[i].inputs);
    }
  }
}

}  // namespace
}  // namespace usmp::tflite_random
