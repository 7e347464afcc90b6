// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// A model as operators on storage: what reads and writes what, without views, constants that were computed, or what
// nobody reads.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "tflite/model.hpp"

namespace usmp::tflite {

struct OperatorKind;

// A tensor.
struct Value {
  std::string name;
  Type type = Type::unknown;
  Shape shape;
  Quantization quantization;
  bool is_constant = false;
  std::string_view data;               // of a constant
  std::optional<std::size_t> storage;  // of what is computed: views share it
  std::size_t number = 0;              // in the file

  [[nodiscard]] std::int64_t count() const { return count_of(shape); }
  [[nodiscard]] double scale() const { return static_cast<double>(quantization.scales.front()); }
  [[nodiscard]] std::int64_t zero_point() const { return quantization.zero_points.front(); }
};

// Memory of one or more tensors.
struct Storage {
  enum class Kind : std::uint8_t { inner, input, output, state };
  Kind kind = Kind::inner;
  std::string name;
  Type type = Type::unknown;
  std::int64_t count = 0;
  std::string initial;  // of a state
};

struct Node {
  const OperatorKind* kind = nullptr;
  Options options;
  std::vector<std::optional<std::size_t>> inputs;  // values
  std::vector<std::size_t> outputs;
  std::vector<std::size_t> intermediates;
  std::size_t index = 0;  // in the file
  // What a PAD in front of a convolution adds: rows above and below, columns left and right.
  std::array<std::int64_t, 4> padding = {};
};

struct Graph {
  std::vector<Value> values;
  std::vector<Storage> storages;
  std::vector<Node> nodes;          // in order of execution
  std::vector<std::size_t> inputs;  // storages, in the order of the interface
  std::vector<std::size_t> outputs;
  std::vector<std::size_t> states;
  std::vector<std::size_t> input_values;
  std::vector<std::size_t> output_values;
  std::deque<std::string> owned;  // data of constants that are not in the file
};

// A fault of one operator.
struct Fault {
  std::size_t index = 0;  // in the file
  std::string message;
};

}  // namespace usmp::tflite
