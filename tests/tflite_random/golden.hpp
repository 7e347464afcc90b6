// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// Runs of a model in a row: a folder of inI.RUN.bin and outI.RUN.bin beside it, as tests/e2e/tflite.py reads them.
#pragma once

#include <cstddef>
#include <filesystem>
#include <string>
#include <vector>

#include "tflite_random/model.hpp"

namespace usmp::tflite_random {

struct Run {
  std::vector<std::string> inputs;  // bytes
  std::vector<std::string> outputs;
};

[[nodiscard]] std::string read_bytes(const std::filesystem::path& path);
[[nodiscard]] std::vector<Run> read_golden(const std::filesystem::path& folder);
// NAME.tflite and NAME.golden with its io.json.
void write_golden(const std::filesystem::path& folder, const std::string& name, const std::string& file,
                  const Model& model, const std::vector<Run>& runs);

// Elements that differ: floats by more than 1e-5, relatively.
[[nodiscard]] std::size_t differences(Type type, const std::string& expected, const std::string& found);

}  // namespace usmp::tflite_random
