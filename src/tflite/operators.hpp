// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// The operators: one table, one row each. How to add one:
//  1. Write `void name(Emitter& e)` in the file of its family and declare it below. It gets the operands (e.input(i),
//     e.output(i): types, shapes, scales), refuses what it does not compute exactly (e.require…, e.refuse), and writes
//     loops with e.nest(). Storage: e.in(i), e.out(i), to be asked for outside of loops; a constant input is one, too.
//  2. Add a row to the table in operators.cpp: the number of the file's BuiltinOperator, its name, the name of the
//     function that it becomes (of which reports tell its kind: src/operators/kind_by_name.cpp), numbers of operands.
//  3. Options that are new: tflite.fbs, Options (model.hpp), read_options (file.cpp).
//  4. What only moves or renames data: prepare.cpp, if it is a view or can be computed of constants.
//  5. A model of it with golden files: testdata/tflite, tests/e2e/tflite.py; docs/tflite.md.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "tflite/graph.hpp"
#include "tflite/nest.hpp"
#include "usmp/support/interval.hpp"

namespace usmp::tflite {

// What an operator's function works with.
class Emitter {
 public:
  Emitter(const Graph& graph, const Node& node, Nest& nest, std::map<std::size_t, Array> arrays)
      : graph_(graph), node_(node), nest_(nest), arrays_(std::move(arrays)) {}

  [[nodiscard]] Nest& nest() { return nest_; }
  [[nodiscard]] const Node& node() const { return node_; }
  [[nodiscard]] const Options& options() const { return node_.options; }

  // --- Operands

  [[nodiscard]] std::size_t inputs() const { return node_.inputs.size(); }
  [[nodiscard]] std::size_t outputs() const { return node_.outputs.size(); }
  [[nodiscard]] bool has_input(std::size_t i) const { return i < node_.inputs.size() && node_.inputs[i].has_value(); }
  [[nodiscard]] const Value& input(std::size_t i) const;  // refuses if it is left out
  [[nodiscard]] const Value& output(std::size_t i = 0) const { return graph_.values[node_.outputs[i]]; }
  [[nodiscard]] const Value& intermediate(std::size_t i) const;
  // Storage. A constant is declared at the first call.
  [[nodiscard]] Array in(std::size_t i);
  [[nodiscard]] Array out(std::size_t i = 0) { return arrays_.at(*output(i).storage); }
  // Elements of a constant of any integer type; refuses if it is none.
  [[nodiscard]] std::vector<std::int64_t> integers(std::size_t i) const;
  [[nodiscard]] std::vector<float> floats(std::size_t i) const;  // of a constant float32

  // --- What is not computed. Each throws Error of kind archive.

  // "found int16 weights, supported: int8".
  [[noreturn]] void refuse(const std::string& found, const std::string& supported) const;
  void require(bool condition, const std::string& found, const std::string& supported) const {
    if (!condition) refuse(found, supported);
  }
  void require_type(const Value& value, std::initializer_list<Type> types) const;
  void require_shape(const Value& value, const Shape& shape) const;
  void require_scale(const Value& value) const;  // quantised, with one scale
  // Quantised with one scale or float.
  void require_number(const Value& value) const;
  void require_same_scale(const Value& a, const Value& b) const;
  void require_elements() const;  // of each operand; constant lists, of axes and extents, may be empty

 private:
  const Graph& graph_;
  const Node& node_;
  Nest& nest_;
  std::map<std::size_t, Array> arrays_;     // by storage
  std::map<std::size_t, Array> constants_;  // by value
};

struct OperatorKind {
  std::int32_t code = 0;             // BuiltinOperator
  const char* name = "";             // "CONV_2D"
  const char* function = "";         // "conv2d": part of the function's name
  void (*emit)(Emitter&) = nullptr;  // null: `prepare` removes it
  std::size_t least_inputs = 1;
  std::size_t most_inputs = 1;
  std::size_t outputs = 1;  // 0: any number
};

// Null: not supported. O(log operators).
[[nodiscard]] const OperatorKind* kind_of(std::int32_t code);
// Data that are only copied: of this program.
[[nodiscard]] const OperatorKind& copy_kind();
// "CUMSUM"; "operator 250" if it has no name here.
[[nodiscard]] std::string name_of_code(std::int32_t code);
// The elements of a constant of an integer type.
[[nodiscard]] std::vector<std::int64_t> integers_of(const Value& value);

// --- Families --------------------------------------------------------------------------------------------------------

void conv_2d(Emitter& e);
void depthwise_conv_2d(Emitter& e);
void transpose_conv(Emitter& e);
void fully_connected(Emitter& e);
void batch_matmul(Emitter& e);
void average_pool_2d(Emitter& e);
void max_pool_2d(Emitter& e);
void mean(Emitter& e);
void sum(Emitter& e);
void reduce_max(Emitter& e);
void reduce_min(Emitter& e);
void arg_max(Emitter& e);
void arg_min(Emitter& e);
void add(Emitter& e);
void sub(Emitter& e);
void mul(Emitter& e);
void div(Emitter& e);
void maximum(Emitter& e);
void minimum(Emitter& e);
void squared_difference(Emitter& e);
void compare(Emitter& e);
void prelu(Emitter& e);
void relu(Emitter& e);
void logistic(Emitter& e);
void tanh(Emitter& e);
void hard_swish(Emitter& e);
void leaky_relu(Emitter& e);
void elu(Emitter& e);
void exp(Emitter& e);
void rsqrt(Emitter& e);
void abs(Emitter& e);
void neg(Emitter& e);
void quantize(Emitter& e);
void dequantize(Emitter& e);
void cast(Emitter& e);
void softmax(Emitter& e);
void log_softmax(Emitter& e);
void copy(Emitter& e);
void concatenation(Emitter& e);
void pad(Emitter& e);
void mirror_pad(Emitter& e);
void transpose(Emitter& e);
void slice(Emitter& e);
void strided_slice(Emitter& e);
void split(Emitter& e);
void split_v(Emitter& e);
void pack(Emitter& e);
void unpack(Emitter& e);
void gather(Emitter& e);
void space_to_depth(Emitter& e);
void depth_to_space(Emitter& e);
void space_to_batch(Emitter& e);
void batch_to_space(Emitter& e);
void resize_nearest(Emitter& e);
void resize_bilinear(Emitter& e);
void svdf(Emitter& e);
void unidirectional_sequence_lstm(Emitter& e);

}  // namespace usmp::tflite
