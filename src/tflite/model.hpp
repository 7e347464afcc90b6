// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// A TensorFlow Lite model as values: what its tables say, checked, without FlatBuffers.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "usmp/support/checked.hpp"
#include "usmp/support/interval.hpp"

namespace usmp::tflite {

// With the numbers of the file.
enum class Type : std::uint8_t {
  float32 = 0,
  float16 = 1,
  int32 = 2,
  uint8 = 3,
  int64 = 4,
  string = 5,
  boolean = 6,
  int16 = 7,
  int8 = 9,
  float64 = 10,
  resource = 13,
  int4 = 17,
  unknown = 255,
};
[[nodiscard]] const char* name_of(Type type);
// All values that the integer type has; for others those of int32.
[[nodiscard]] Interval range_of(Type type);
[[nodiscard]] Bytes bytes_of(Type type);  // of an element in memory; 0: there are none in C
[[nodiscard]] bool is_quantized(
    Type type);  // int8, uint8, int16, int4: integers that stand for reals if there is a scale

inline constexpr std::size_t max_rank = 6;
using Shape = std::vector<std::int64_t>;  // at most max_rank extents, each in [0, 2^31)

// The number of elements; no overflow: `file` has checked it.
[[nodiscard]] std::int64_t count_of(const Shape& shape);
[[nodiscard]] std::string text_of(const Shape& shape);  // "1x49x10x1"; "scalar"

struct Quantization {
  std::vector<float> scales;              // finite, > 0; empty: none
  std::vector<std::int64_t> zero_points;  // as many; within the type
  std::size_t dimension = 0;              // that the scales belong to; counts only where there are several

  [[nodiscard]] bool is_there() const { return !scales.empty(); }
};

struct Tensor {
  std::string name;
  Type type = Type::unknown;
  Shape shape;
  Quantization quantization;
  std::string_view data;  // of a constant: exactly its bytes; points into the file
  bool is_constant = false;
  bool is_variable = false;
  std::string fault;  // why it cannot be used: a type, a dynamic shape, sparse; empty: it can
};

enum class Padding : std::uint8_t { same, valid };
enum class Activation : std::uint8_t { none, relu, relu_n1_to_1, relu6, tanh, sign_bit };

// What the operators' options say, with the defaults of the file where they say nothing.
struct Options {
  Padding padding = Padding::same;
  Activation activation = Activation::none;
  std::int64_t stride_width = 0;
  std::int64_t stride_height = 0;
  std::int64_t dilation_width = 1;
  std::int64_t dilation_height = 1;
  std::int64_t filter_width = 0;
  std::int64_t filter_height = 0;
  std::int64_t rank = 0;  // SVDF
  std::int64_t axis = 0;
  std::int64_t batch_dims = 0;
  std::int64_t block_size = 0;
  std::int64_t count = 0;       // of splits, packed or unpacked values
  std::int64_t subgraph = 0;    // CALL_ONCE
  std::int64_t begin_mask = 0;  // STRIDED_SLICE
  std::int64_t end_mask = 0;
  std::int64_t ellipsis_mask = 0;
  std::int64_t new_axis_mask = 0;
  std::int64_t shrink_axis_mask = 0;
  bool is_offset = false;
  bool keep_dims = false;
  bool shuffled_weights = false;
  bool pot_scale_int16 = true;
  bool align_corners = false;
  bool half_pixel_centers = false;
  bool is_symmetric = false;  // MIRROR_PAD
  bool is_time_major = false;
  bool is_diagonal = false;  // LSTM
  bool transpose_x = false;  // BATCH_MATMUL
  bool transpose_y = false;
  bool is_exclusive = false;  // CUMSUM
  bool is_reverse = false;
  float beta = 0;
  float alpha = 0;
  float cell_clip = 0;
  float projection_clip = 0;
  std::vector<std::int64_t> dimensions;  // SQUEEZE
  std::string shared_name;               // VAR_HANDLE
};

struct Operator {
  std::int32_t code = 0;                           // BuiltinOperator
  std::string custom;                              // of code 32
  std::vector<std::optional<std::size_t>> inputs;  // tensors of the subgraph; nothing: left out
  std::vector<std::size_t> outputs;
  std::vector<std::size_t> intermediates;
  Options options;
};

struct Subgraph {
  std::vector<Tensor> tensors;
  std::vector<std::size_t> inputs;
  std::vector<std::size_t> outputs;
  std::vector<Operator> operators;  // in order of execution
};

struct Model {
  std::vector<Subgraph> subgraphs;       // the first is the model
  std::vector<std::string> input_names;  // as many as the first subgraph's inputs; of the signature, else tensors'
  std::vector<std::string> output_names;
};

}  // namespace usmp::tflite
