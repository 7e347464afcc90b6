// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// Golden files of models.
#include "tflite_random/golden.hpp"

#include <algorithm>
#include <cmath>
#include <fstream>
#include <nlohmann/json.hpp>

#include "tflite_random/interpreter.hpp"

namespace usmp::tflite_random {
namespace {

namespace fs = std::filesystem;

void write_bytes(const fs::path& path, const std::string& bytes) {
  std::ofstream file(path, std::ios::binary);
  file << bytes;
  if (!file.flush()) throw std::runtime_error("cannot write " + path.string());
}

std::string name_of(const char* kind, std::size_t i, std::size_t run) {
  return kind + std::to_string(i) + "." + std::to_string(run) + ".bin";
}

}  // namespace

std::string read_bytes(const fs::path& path) {
  std::ifstream file(path, std::ios::binary);
  if (!file) throw std::runtime_error("cannot read " + path.string());
  return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

std::vector<Run> read_golden(const fs::path& folder) {
  std::vector<Run> runs;
  while (fs::exists(folder / name_of("out", 0, runs.size()))) {
    Run run;
    for (std::size_t i = 0; fs::exists(folder / name_of("in", i, runs.size())); ++i) {
      run.inputs.push_back(read_bytes(folder / name_of("in", i, runs.size())));
    }
    for (std::size_t i = 0; fs::exists(folder / name_of("out", i, runs.size())); ++i) {
      run.outputs.push_back(read_bytes(folder / name_of("out", i, runs.size())));
    }
    runs.push_back(std::move(run));
  }
  return runs;
}

void write_golden(const fs::path& folder, const std::string& name, const std::string& file, const Model& model,
                  const std::vector<Run>& runs) {
  const Graph& graph = model.graphs.front();
  const fs::path golden = folder / (name + ".golden");
  fs::create_directories(golden);
  write_bytes(folder / (name + ".tflite"), file);
  nlohmann::json io = {
      {"runs", runs.size()}, {"inputs", nlohmann::json::array()}, {"outputs", nlohmann::json::array()}};
  const auto describe = [&](const std::vector<int>& list, const char* kind) {
    for (const int number : list) {
      const Tensor& tensor = graph.tensors[static_cast<std::size_t>(number)];
      io[kind].push_back({{"type", tflite_random::name_of(tensor.type)},
                          {"shape", tensor.shape},
                          {"size", elements_of(tensor.shape) * size_of(tensor.type)}});
    }
  };
  describe(graph.inputs, "inputs");
  describe(graph.outputs, "outputs");
  write_bytes(golden / "io.json", io.dump());
  for (std::size_t run = 0; run < runs.size(); ++run) {
    for (std::size_t i = 0; i < runs[run].inputs.size(); ++i) {
      write_bytes(golden / name_of("in", i, run), runs[run].inputs[i]);
    }
    for (std::size_t i = 0; i < runs[run].outputs.size(); ++i) {
      write_bytes(golden / name_of("out", i, run), runs[run].outputs[i]);
    }
  }
}

std::size_t differences(Type type, const std::string& expected, const std::string& found) {
  if (expected.size() != found.size()) return std::max(expected.size(), found.size());
  const Values a = values_of(expected, type);
  const Values b = values_of(found, type);
  std::size_t count = 0;
  for (std::size_t i = 0; i < a.whole.size(); ++i) count += a.whole[i] != b.whole[i] ? 1U : 0U;
  for (std::size_t i = 0; i < a.real.size(); ++i) {
    const float x = a.real[i];
    const float y = b.real[i];
    const float scale = std::max({std::abs(x), std::abs(y), 1e-3F});
    const bool is_near = x == y || std::abs(x - y) <= 1e-5F * scale || (std::isnan(x) && std::isnan(y));
    count += is_near ? 0U : 1U;
  }
  return count;
}

}  // namespace usmp::tflite_random
