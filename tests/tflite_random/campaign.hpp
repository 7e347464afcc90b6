// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// Many random models: what the product reads from their files, run by the interpreter of TIR, must compute what the
// interpreter of models computes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "tflite_random/golden.hpp"
#include "tflite_random/model.hpp"

namespace usmp::tflite_random {

struct Settings {
  std::uint64_t seed = 1;
  std::uint64_t count = 200;  // seeds seed, seed + 1, …
  std::size_t jobs = 1;
  std::uint64_t transform_every = 10;  // such models are also transformed by all steps and run; 0: none
  std::filesystem::path folder = {};   // models and golden files are written there, for tests/e2e/tflite.py
  std::uint64_t write_every = 20;      // models
};

struct Failure {
  std::uint64_t seed = 0;
  std::string what;
};

struct Totals {
  std::uint64_t models = 0;
  std::uint64_t undefined = 0;  // left out: the reference kernels leave open what they compute
  std::uint64_t transformed = 0;
  std::uint64_t written = 0;
  std::map<std::string, std::uint64_t> operators;  // "3 int8": those of models that ran, by code and type of output
  std::vector<Failure> failures;                   // by seed
};

// `progress` is called now and then; it may be empty.
[[nodiscard]] Totals run_campaign(const Settings& settings, const std::function<void(const Totals&)>& progress = {});

// What is wrong with what the product computes for a file; empty: nothing. Throws Error: it refuses the file.
[[nodiscard]] std::string product_fault(const std::string& file, const Model& model, const std::vector<Run>& runs,
                                        bool is_transformed);

// For people.
[[nodiscard]] std::string print(const Model& model);

}  // namespace usmp::tflite_random
