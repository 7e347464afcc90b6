// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// Model → tir::Module with one function for each operator.
#pragma once

#include <string>
#include <vector>

#include "tflite/graph.hpp"
#include "tflite/model.hpp"
#include "usmp/tflite/reader.hpp"

namespace usmp::tflite {

// The module of a checked model (file.hpp). Operators that are not supported become faults, by index; with faults there
// is no module.
[[nodiscard]] ReadModel build(const Model& file, const std::string& name, std::vector<Fault>& faults);

}  // namespace usmp::tflite
