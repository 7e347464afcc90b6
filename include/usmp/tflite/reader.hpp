// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// TensorFlow Lite models → tir::Module: what TensorFlow Lite Micro's reference kernels compute, bit by bit.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "usmp/model/description.hpp"
#include "usmp/tir/ir.hpp"

namespace usmp::tflite {

// Whether the bytes are those of such a file, by its identifier. O(1).
[[nodiscard]] bool is_model(std::string_view bytes);

struct ReadModel {
  model::Description description;
  tir::Module module;
};

// `name`: the module's. Throws Error of kind archive, whose place is an operator or a tensor: the file is damaged or
// contradicts itself; an operator is not supported, with a line for each other one that is not. O(bytes + operators ·
// log) but for constants that kernels read in another order, which are written once each.
[[nodiscard]] ReadModel read_model(std::string_view bytes, const std::string& name);

// An operator of the file, for people.
struct OperatorLine {
  std::size_t index = 0;
  std::string name;                 // "CONV_2D"
  std::vector<std::string> inputs;  // "int8 1x49x10x1", "constant int8 64x10x4x1", "left out"
  std::vector<std::string> outputs;
  std::string fault;  // why it is not supported; empty: it is
};

// Those of the model, in order. Throws Error of kind archive: the file is damaged. O(as read_model).
[[nodiscard]] std::vector<OperatorLine> operators_of(std::string_view bytes);

}  // namespace usmp::tflite
