// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// Bytes of a file → Model: everything that the file claims is checked here, once.
#pragma once

#include <string>
#include <string_view>

#include "tflite/model.hpp"

namespace usmp::tflite {

// Throws Error of kind archive, whose place is the tensor or operator: not a FlatBuffer of a TensorFlow Lite model, an
// index out of its list, a shape, scale or zero point that its type does not have, data shorter than the tensor, a
// limit exceeded. What is well formed and cannot be used is no error here (Tensor::fault). The model's data point into
// the bytes. O(bytes).
[[nodiscard]] Model read_file(std::string_view bytes);

// "tensor 12 'conv/Relu'", for places and messages.
[[nodiscard]] std::string place_of_tensor(const Subgraph& graph, std::size_t tensor);

}  // namespace usmp::tflite
