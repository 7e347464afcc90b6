// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// The table of operators, and what their functions ask of operands.
#include "tflite/operators.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>

#include "usmp/support/error.hpp"
#include "usmp/support/text.hpp"

namespace usmp::tflite {
namespace {

constexpr std::size_t many = 100000;

// Sorted by code.
constexpr std::array kinds = {
    OperatorKind{0, "ADD", "add", add, 2, 2, 1},
    OperatorKind{1, "AVERAGE_POOL_2D", "avg_pool2d", average_pool_2d, 1, 1, 1},
    OperatorKind{2, "CONCATENATION", "concatenate", concatenation, 1, many, 1},
    OperatorKind{3, "CONV_2D", "conv2d", conv_2d, 2, 3, 1},
    OperatorKind{4, "DEPTHWISE_CONV_2D", "depthwise_conv2d", depthwise_conv_2d, 2, 3, 1},
    OperatorKind{5, "DEPTH_TO_SPACE", "depth_to_space", depth_to_space, 1, 1, 1},
    OperatorKind{6, "DEQUANTIZE", "dequantize", dequantize, 1, 1, 1},
    OperatorKind{9, "FULLY_CONNECTED", "dense", fully_connected, 2, 3, 1},
    OperatorKind{14, "LOGISTIC", "sigmoid", logistic, 1, 1, 1},
    OperatorKind{17, "MAX_POOL_2D", "max_pool2d", max_pool_2d, 1, 1, 1},
    OperatorKind{18, "MUL", "multiply", mul, 2, 2, 1},
    OperatorKind{19, "RELU", "relu", relu, 1, 1, 1},
    OperatorKind{20, "RELU_N1_TO_1", "relu", relu, 1, 1, 1},
    OperatorKind{21, "RELU6", "relu", relu, 1, 1, 1},
    OperatorKind{22, "RESHAPE", "reshape", nullptr, 1, 2, 1},
    OperatorKind{23, "RESIZE_BILINEAR", "resize2d", resize_bilinear, 2, 2, 1},
    OperatorKind{25, "SOFTMAX", "softmax", softmax, 1, 1, 1},
    OperatorKind{26, "SPACE_TO_DEPTH", "space_to_depth", space_to_depth, 1, 1, 1},
    OperatorKind{27, "SVDF", "svdf", svdf, 5, 5, 1},
    OperatorKind{28, "TANH", "tanh", tanh, 1, 1, 1},
    OperatorKind{34, "PAD", "pad", pad, 2, 2, 1},
    OperatorKind{36, "GATHER", "gather", gather, 2, 2, 1},
    OperatorKind{37, "BATCH_TO_SPACE_ND", "batch_to_space", batch_to_space, 3, 3, 1},
    OperatorKind{38, "SPACE_TO_BATCH_ND", "space_to_batch", space_to_batch, 3, 3, 1},
    OperatorKind{39, "TRANSPOSE", "transpose", transpose, 2, 2, 1},
    OperatorKind{40, "MEAN", "mean", mean, 2, 2, 1},
    OperatorKind{41, "SUB", "subtract", sub, 2, 2, 1},
    OperatorKind{42, "DIV", "divide", div, 2, 2, 1},
    OperatorKind{43, "SQUEEZE", "squeeze", nullptr, 1, 1, 1},
    OperatorKind{44, "UNIDIRECTIONAL_SEQUENCE_LSTM", "lstm", unidirectional_sequence_lstm, 20, 24, 1},
    OperatorKind{45, "STRIDED_SLICE", "strided_slice", strided_slice, 4, 4, 1},
    OperatorKind{47, "EXP", "exp", exp, 1, 1, 1},
    OperatorKind{49, "SPLIT", "split", split, 2, 2, 0},
    OperatorKind{50, "LOG_SOFTMAX", "log_softmax", log_softmax, 1, 1, 1},
    OperatorKind{53, "CAST", "cast", cast, 1, 1, 1},
    OperatorKind{54, "PRELU", "prelu", prelu, 2, 2, 1},
    OperatorKind{55, "MAXIMUM", "maximum", maximum, 2, 2, 1},
    OperatorKind{56, "ARG_MAX", "argmax", arg_max, 2, 2, 1},
    OperatorKind{57, "MINIMUM", "minimum", minimum, 2, 2, 1},
    OperatorKind{58, "LESS", "less", compare, 2, 2, 1},
    OperatorKind{59, "NEG", "negative", neg, 1, 1, 1},
    OperatorKind{60, "PADV2", "pad", pad, 3, 3, 1},
    OperatorKind{61, "GREATER", "greater", compare, 2, 2, 1},
    OperatorKind{62, "GREATER_EQUAL", "greater_equal", compare, 2, 2, 1},
    OperatorKind{63, "LESS_EQUAL", "less_equal", compare, 2, 2, 1},
    OperatorKind{65, "SLICE", "strided_slice", slice, 3, 3, 1},
    OperatorKind{67, "TRANSPOSE_CONV", "conv2d_transpose", transpose_conv, 3, 4, 1},
    OperatorKind{70, "EXPAND_DIMS", "expand_dims", nullptr, 2, 2, 1},
    OperatorKind{71, "EQUAL", "equal", compare, 2, 2, 1},
    OperatorKind{72, "NOT_EQUAL", "not_equal", compare, 2, 2, 1},
    OperatorKind{74, "SUM", "sum", sum, 2, 2, 1},
    OperatorKind{76, "RSQRT", "rsqrt", rsqrt, 1, 1, 1},
    OperatorKind{77, "SHAPE", "shape", nullptr, 1, 1, 1},
    OperatorKind{79, "ARG_MIN", "argmin", arg_min, 2, 2, 1},
    OperatorKind{82, "REDUCE_MAX", "max", reduce_max, 2, 2, 1},
    OperatorKind{83, "PACK", "concatenate", pack, 1, many, 1},
    OperatorKind{88, "UNPACK", "split", unpack, 1, 1, 0},
    OperatorKind{89, "REDUCE_MIN", "min", reduce_min, 2, 2, 1},
    OperatorKind{97, "RESIZE_NEAREST_NEIGHBOR", "resize2d", resize_nearest, 2, 2, 1},
    OperatorKind{98, "LEAKY_RELU", "leaky_relu", leaky_relu, 1, 1, 1},
    OperatorKind{99, "SQUARED_DIFFERENCE", "squared_difference", squared_difference, 2, 2, 1},
    OperatorKind{100, "MIRROR_PAD", "pad", mirror_pad, 2, 2, 1},
    OperatorKind{101, "ABS", "abs", abs, 1, 1, 1},
    OperatorKind{102, "SPLIT_V", "split", split_v, 3, 3, 0},
    OperatorKind{111, "ELU", "elu", elu, 1, 1, 1},
    OperatorKind{114, "QUANTIZE", "quantize", quantize, 1, 1, 1},
    OperatorKind{117, "HARD_SWISH", "hard_swish", hard_swish, 1, 1, 1},
    OperatorKind{126, "BATCH_MATMUL", "batch_matmul", batch_matmul, 2, 2, 1},
    OperatorKind{129, "CALL_ONCE", "call_once", nullptr, 0, 0, 0},
    OperatorKind{142, "VAR_HANDLE", "var_handle", nullptr, 0, 0, 1},
    OperatorKind{143, "READ_VARIABLE", "read_variable", nullptr, 1, 1, 1},
    OperatorKind{144, "ASSIGN_VARIABLE", "assign_variable", nullptr, 2, 2, 0},
};
static_assert(std::ranges::is_sorted(kinds, {}, &OperatorKind::code));

constexpr OperatorKind copied_kind{-1, "COPY", "copy", copy, 1, 1, 1};

// Those that are not supported, for messages.
struct OtherName {
  std::int32_t code;
  const char* name;
};
constexpr std::array other_names = {
    OtherName{7, "EMBEDDING_LOOKUP"},
    OtherName{8, "FLOOR"},
    OtherName{11, "L2_NORMALIZATION"},
    OtherName{12, "L2_POOL_2D"},
    OtherName{13, "LOCAL_RESPONSE_NORMALIZATION"},
    OtherName{16, "LSTM"},
    OtherName{24, "RNN"},
    OtherName{32, "CUSTOM"},
    OtherName{35, "UNIDIRECTIONAL_SEQUENCE_RNN"},
    OtherName{48, "TOPK_V2"},
    OtherName{52, "BIDIRECTIONAL_SEQUENCE_LSTM"},
    OtherName{64, "SELECT"},
    OtherName{66, "SIN"},
    OtherName{69, "TILE"},
    OtherName{73, "LOG"},
    OtherName{75, "SQRT"},
    OtherName{78, "POW"},
    OtherName{81, "REDUCE_PROD"},
    OtherName{84, "LOGICAL_OR"},
    OtherName{85, "ONE_HOT"},
    OtherName{86, "LOGICAL_AND"},
    OtherName{87, "LOGICAL_NOT"},
    OtherName{90, "FLOOR_DIV"},
    OtherName{92, "SQUARE"},
    OtherName{93, "ZEROS_LIKE"},
    OtherName{94, "FILL"},
    OtherName{95, "FLOOR_MOD"},
    OtherName{96, "RANGE"},
    OtherName{104, "CEIL"},
    OtherName{105, "REVERSE_V2"},
    OtherName{106, "ADD_N"},
    OtherName{107, "GATHER_ND"},
    OtherName{108, "COS"},
    OtherName{109, "WHERE"},
    OtherName{116, "ROUND"},
    OtherName{118, "IF"},
    OtherName{119, "WHILE"},
    OtherName{123, "SELECT_V2"},
    OtherName{128, "CUMSUM"},
    OtherName{130, "BROADCAST_TO"},
    OtherName{132, "CONV_3D"},
    OtherName{145, "BROADCAST_ARGS"},
    OtherName{150, "GELU"},
};

std::string types_text(std::initializer_list<Type> types) {
  std::vector<std::string> names;
  for (const Type type : types) names.emplace_back(name_of(type));
  return joined(names, " or ");
}

}  // namespace

const OperatorKind* kind_of(std::int32_t code) {
  const auto* found = std::ranges::lower_bound(kinds, code, {}, &OperatorKind::code);
  return found == kinds.end() || found->code != code ? nullptr : found;
}

const OperatorKind& copy_kind() { return copied_kind; }

std::string name_of_code(std::int32_t code) {
  if (const OperatorKind* kind = kind_of(code)) return kind->name;
  const auto* found = std::ranges::find(other_names, code, &OtherName::code);
  return found == other_names.end() ? "operator code " + std::to_string(code) : found->name;
}

const Value& Emitter::input(std::size_t i) const {
  if (!has_input(i)) refuse("input " + std::to_string(i) + " left out", "an operator that has it");
  return graph_.values[*node_.inputs[i]];
}

const Value& Emitter::intermediate(std::size_t i) const {
  require(i < node_.intermediates.size(), std::to_string(node_.intermediates.size()) + " intermediate tensors",
          "at least " + std::to_string(i + 1));
  return graph_.values[node_.intermediates[i]];
}

Array Emitter::in(std::size_t i) {
  const Value& value = input(i);
  if (value.storage) return arrays_.at(*value.storage);
  const auto known = constants_.find(*node_.inputs[i]);
  if (known != constants_.end()) return known->second;
  require(value.is_constant, "tensor " + std::to_string(value.number) + " without data", "constants and tensors");
  const Array array = nest_.constant("constant", data_type_of(value.type), value.shape, std::string(value.data));
  constants_.emplace(*node_.inputs[i], array);
  return array;
}

std::vector<std::int64_t> integers_of(const Value& value) {
  const auto width = static_cast<std::size_t>(bytes_of(value.type));
  const std::size_t unused = 64 - 8 * width;
  std::vector<std::int64_t> result(value.data.size() / width);
  for (std::size_t k = 0; k < result.size(); ++k) {
    const std::uint64_t bits = little_endian(value.data, k * width, width);
    result[k] = value.type == Type::uint8 ? static_cast<std::int64_t>(bits)
                                          : static_cast<std::int64_t>(bits << unused) >> unused;
  }
  return result;
}

std::vector<std::int64_t> Emitter::integers(std::size_t i) const {
  const Value& value = input(i);
  require(value.is_constant, "input " + std::to_string(i) + " that is computed", "a constant");
  const bool is_integer = value.type == Type::int8 || value.type == Type::uint8 || value.type == Type::int16 ||
                          value.type == Type::int32 || value.type == Type::int64;
  require(is_integer, "input " + std::to_string(i) + " of type " + name_of(value.type), "integers");
  return integers_of(value);
}

std::vector<float> Emitter::floats(std::size_t i) const {
  const Value& value = input(i);
  require(value.is_constant && value.type == Type::float32, "input " + std::to_string(i) + " of " + name_of(value.type),
          "constants of float32");
  std::vector<float> result(value.data.size() / sizeof(float));
  for (std::size_t k = 0; k < result.size(); ++k) {
    std::uint32_t bits = 0;
    for (std::size_t b = 0; b < sizeof(float); ++b) {
      bits |= std::uint32_t{static_cast<std::uint8_t>(value.data[k * sizeof(float) + b])} << (8 * b);
    }
    result[k] = std::bit_cast<float>(bits);
  }
  return result;
}

void Emitter::refuse(const std::string& found, const std::string& supported) const {
  throw Error(ErrorKind::archive, {}, "found " + found + ", supported: " + supported);
}

void Emitter::require_type(const Value& value, std::initializer_list<Type> allowed) const {
  if (std::ranges::find(allowed, value.type) != allowed.end()) return;
  refuse("tensor " + std::to_string(value.number) + " of type " + name_of(value.type), types_text(allowed));
}

void Emitter::require_shape(const Value& value, const Shape& shape) const {
  if (value.shape == shape) return;
  refuse("tensor " + std::to_string(value.number) + " of shape " + text_of(value.shape), text_of(shape));
}

void Emitter::require_elements() const {
  const auto require = [this](std::size_t index) {
    const Value& value = graph_.values[index];
    if (value.count() == 0 && (!value.is_constant || value.shape.size() > 1)) {
      refuse("tensor " + std::to_string(value.number) + " of shape " + text_of(value.shape), "tensors with elements");
    }
  };
  for (const auto& input : node_.inputs) {
    if (input) require(*input);
  }
  for (const std::size_t output : node_.outputs) require(output);
}

void Emitter::require_scale(const Value& value) const {
  if (value.quantization.scales.size() == 1) return;
  refuse("tensor " + std::to_string(value.number) + " with " + std::to_string(value.quantization.scales.size()) +
             " scales",
         "one scale");
}

void Emitter::require_number(const Value& value) const {
  require_type(value, {Type::float32, Type::int8, Type::int16});
  if (value.type != Type::float32) require_scale(value);
}

void Emitter::require_same_scale(const Value& a, const Value& b) const {
  if (a.type == Type::float32) return;
  require_scale(a);
  require_scale(b);
  require(a.scale() == b.scale() && a.zero_point() == b.zero_point(), "input and output with different scales",
          "the same scale and zero point");
}

}  // namespace usmp::tflite
