// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// Random models, the same for a seed on every machine.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "tflite_random/model.hpp"

namespace usmp::tflite_random {

struct RandomModel {
  Model model;
  Style style;
  std::vector<std::vector<std::string>> inputs;  // bytes, of runs in a row
};
[[nodiscard]] RandomModel random_model(std::uint64_t seed);

}  // namespace usmp::tflite_random
