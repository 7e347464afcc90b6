// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// A TensorFlow Lite model as these tests hold it, and its file. Nothing of src/tflite is used here: what both sides
// know must not come from one of them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

namespace usmp::tflite_random {

// What the reference kernels leave undefined (overflow of 32 bits, a function outside of its domain): it is no test.
struct Undefined : std::runtime_error {
  using std::runtime_error::runtime_error;
};
// What the interpreter does not know of the files.
struct Unknown : std::runtime_error {
  using std::runtime_error::runtime_error;
};

// With the numbers that they have in files.
enum class Type : std::uint8_t {
  float32 = 0,
  int32 = 2,
  uint8 = 3,
  int64 = 4,
  boolean = 6,
  int16 = 7,
  int8 = 9,
  resource = 13,
};

enum class Code : std::uint8_t {
  add = 0,
  average_pool_2d = 1,
  concatenation = 2,
  conv_2d = 3,
  depthwise_conv_2d = 4,
  depth_to_space = 5,
  dequantize = 6,
  fully_connected = 9,
  logistic = 14,
  max_pool_2d = 17,
  mul = 18,
  relu = 19,
  relu_n1_to_1 = 20,
  relu6 = 21,
  reshape = 22,
  resize_bilinear = 23,
  softmax = 25,
  space_to_depth = 26,
  svdf = 27,
  tanh = 28,
  pad = 34,
  gather = 36,
  batch_to_space_nd = 37,
  space_to_batch_nd = 38,
  transpose = 39,
  mean = 40,
  sub = 41,
  div = 42,
  squeeze = 43,
  unidirectional_sequence_lstm = 44,
  strided_slice = 45,
  exp = 47,
  split = 49,
  log_softmax = 50,
  cast = 53,
  prelu = 54,
  maximum = 55,
  arg_max = 56,
  minimum = 57,
  less = 58,
  neg = 59,
  padv2 = 60,
  greater = 61,
  greater_equal = 62,
  less_equal = 63,
  slice = 65,
  transpose_conv = 67,
  expand_dims = 70,
  equal = 71,
  not_equal = 72,
  sum = 74,
  rsqrt = 76,
  shape = 77,
  arg_min = 79,
  reduce_max = 82,
  pack = 83,
  unpack = 88,
  reduce_min = 89,
  resize_nearest_neighbor = 97,
  leaky_relu = 98,
  squared_difference = 99,
  mirror_pad = 100,
  abs = 101,
  split_v = 102,
  elu = 111,
  quantize = 114,
  hard_swish = 117,
  batch_matmul = 126,
  call_once = 129,
  var_handle = 142,
  read_variable = 143,
  assign_variable = 144,
};

using Shape = std::vector<int>;

struct Tensor {
  std::string name;
  Type type = Type::float32;
  Shape shape;
  std::vector<float> scales = {};  // none: not quantised
  std::vector<std::int64_t> zero_points = {};
  int quantized_dimension = 0;
  bool is_variable = false;
  bool is_sparse = false;                // written, not read
  std::optional<std::string> data = {};  // of a constant, little endian
  Shape signature = {};                  // shape_signature; empty: none

  [[nodiscard]] float scale() const { return scales.empty() ? 0.0F : scales.front(); }
  [[nodiscard]] std::int64_t zero_point() const { return zero_points.empty() ? 0 : zero_points.front(); }
};

struct Operator {
  Code code = Code::add;
  std::vector<int> inputs;  // of the graph's tensors; -1: left out
  std::vector<int> outputs;
  std::map<std::string, double> options = {};  // by names of options_of; those that are missing have their defaults
  Shape list = {};                             // the option that is a list
  std::string text = {};                       // shared_name of VAR_HANDLE
};

struct Graph {
  std::vector<Tensor> tensors;
  std::vector<int> inputs;
  std::vector<int> outputs;
  std::vector<Operator> operators;
};

struct Model {
  std::vector<Graph> graphs;  // the first is run; others are those of CALL_ONCE
};

// An option of an operator: a field of its table.
struct Option {
  enum class Kind : std::uint8_t { byte, boolean, integer, real, list, text };
  const char* name;
  int field;
  Kind kind;
  double otherwise = 0;  // its default
};
struct OptionTable {
  int number = 0;  // in the union; 0: the operator has none
  std::vector<Option> options;
};
[[nodiscard]] const OptionTable& options_of(Code code);

[[nodiscard]] std::size_t size_of(Type type);
[[nodiscard]] const char* name_of(Type type);
[[nodiscard]] std::size_t elements_of(const Shape& shape);

// How converters differ in what they write of the same model.
struct Style {
  bool old_codes = false;           // only deprecated_builtin_code, as long as the code fits
  bool shared_buffers = false;      // equal constants have one buffer
  bool no_default_options = false;  // a table of options with defaults only is left out
  bool signatures = false;          // a SignatureDef names inputs and outputs
  bool odd_dimension = false;       // quantized_dimension is out of range where there is one scale
  int version = 1;                  // of all operators
};
[[nodiscard]] std::string file_of(const Model& model, const Style& style = {});

// Throws Unknown.
[[nodiscard]] Model model_of(std::string_view bytes);

}  // namespace usmp::tflite_random
