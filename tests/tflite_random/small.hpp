// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// Models of a few operators, written by hand.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "tflite_random/campaign.hpp"
#include "tflite_random/interpreter.hpp"
#include "tflite_random/model.hpp"

namespace usmp::tflite_random {

// Tensors stand in the order in which they are made.
struct Small {
  Model model;

  Small() { model.graphs.emplace_back(); }
  Graph& graph() { return model.graphs.front(); }
  int tensor(Type type, const Shape& shape, float scale = 0, std::int64_t zero_point = 0) {
    Tensor tensor;
    tensor.name = "t" + std::to_string(graph().tensors.size());
    tensor.type = type;
    tensor.shape = shape;
    if (scale > 0) {
      tensor.scales = {scale};
      tensor.zero_points = {zero_point};
    }
    graph().tensors.push_back(std::move(tensor));
    return static_cast<int>(graph().tensors.size()) - 1;
  }
  int constant(Type type, const Shape& shape, const std::vector<std::int64_t>& values, float scale = 0) {
    const int result = tensor(type, shape, scale);
    graph().tensors.back().data = bytes_of({values, {}}, type);
    return result;
  }
  // Weights of int8, with numbers that differ.
  int weights(const Shape& shape, float scale) {
    std::vector<std::int64_t> values;
    for (std::size_t i = 0; i < elements_of(shape); ++i)
      values.push_back(static_cast<std::int64_t>(i * 37 % 211) - 105);
    return constant(Type::int8, shape, values, scale);
  }
  void add(Code code, const std::vector<int>& inputs, const std::vector<int>& outputs,
           const std::map<std::string, double>& options = {}) {
    graph().operators.push_back({code, inputs, outputs, options});
  }
  // What the product makes of it otherwise than the reference; empty: nothing.
  std::string fault(const std::vector<std::string>& inputs, bool is_transformed = false) {
    Interpreter interpreter(model);
    const std::vector<Run> runs = {{inputs, interpreter.run(inputs)}};
    return product_fault(file_of(model), model, runs, is_transformed);
  }
};

}  // namespace usmp::tflite_random
