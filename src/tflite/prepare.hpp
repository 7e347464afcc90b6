// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// Model → Graph: views, constants that can be computed now, padding of convolutions, variables.
#pragma once

#include <vector>

#include "tflite/graph.hpp"
#include "tflite/model.hpp"

namespace usmp::tflite {

// What cannot be supported is a fault of its operator, which is then left out of the graph: with faults the graph is
// of no use. The graph's data point into the model's. O(operators + tensors + bytes of the constants computed).
[[nodiscard]] Graph prepare(const Model& model, std::vector<Fault>& faults);

}  // namespace usmp::tflite
