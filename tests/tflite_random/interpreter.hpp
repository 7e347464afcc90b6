// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// The reference: what a model computes, operator by operator, as TensorFlow Lite Micro's reference kernels do. Slow and
// simple.
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "tflite_random/model.hpp"

namespace usmp::tflite_random {

// Elements of a tensor: integers, or floats.
struct Values {
  std::vector<std::int64_t> whole;
  std::vector<float> real;
};
[[nodiscard]] Values values_of(const std::string& bytes, Type type);
[[nodiscard]] std::string bytes_of(const Values& values, Type type);
// What a state or variable holds that nothing was assigned to.
[[nodiscard]] Values initial_of(const Tensor& tensor);

// An operator with what it reads and writes.
struct Call {
  const Operator* op = nullptr;
  std::vector<const Tensor*> inputs;  // nullptr: left out
  std::vector<Values*> in;
  std::vector<const Tensor*> outputs;
  std::vector<Values*> out;

  [[nodiscard]] bool has(std::size_t input) const { return input < inputs.size() && inputs[input] != nullptr; }
  [[nodiscard]] bool is_float() const { return inputs.front()->type == Type::float32; }
  [[nodiscard]] double real(const char* option) const;
  [[nodiscard]] int integer(const char* option) const { return static_cast<int>(real(option)); }
  // An axis or such of the operator's, counted from the end if it is negative.
  [[nodiscard]] static int axis(int given, std::size_t rank) {
    return given < 0 ? given + static_cast<int>(rank) : given;
  }
};

// Each computes the operators of a file of its own; false: the operator is none of them.
bool interpret_products(const Call& call);
bool interpret_elementwise(const Call& call);
bool interpret_reductions(const Call& call);
bool interpret_movement(const Call& call);
bool interpret_recurrent(const Call& call);

class Interpreter {
 public:
  explicit Interpreter(const Model& model);

  // One run, after those before: the outputs' bytes. Throws Undefined and Unknown.
  std::vector<std::string> run(const std::vector<std::string>& inputs);

 private:
  void execute(const Graph& graph, std::vector<Values>& values);
  void run_once(const Graph& graph);
  bool execute_variables(const Graph& graph, const Operator& op, std::vector<Values>& values);

  const Model& model_;
  std::vector<Values> states_;               // of the tensors that are variables, by their numbers
  std::map<std::string, Values> variables_;  // by shared_name
  std::set<int> has_run_;                    // CALL_ONCE, by its graph
  std::map<int, std::string> handles_;       // of the graph that runs: tensor → shared_name
};

// --- For the files of operators

struct Limits {
  std::int64_t low = 0;
  std::int64_t high = 0;
};
[[nodiscard]] Limits limits_of(Type type);
// For a quantised output, with an activation's number.
[[nodiscard]] Limits limits_of(int activation, const Tensor& output);
[[nodiscard]] float activated(int activation, float x);

// Where windows lie along one axis.
struct Windows {
  int before = 0;  // padding
  int stride = 1;
  int dilation = 1;
};
[[nodiscard]] Windows windows_of(int padding, int in, int out, int kernel, int stride, int dilation);

[[nodiscard]] inline std::size_t index(std::int64_t i) { return static_cast<std::size_t>(i); }

// For each element of a shape, that of an operand that numpy's rules bring to it.
[[nodiscard]] std::vector<std::size_t> broadcast(const Shape& to, const Shape& from);
// For each element of `to`, that at a place of `from` which the function makes of its place; < 0: none.
template <class F>
std::vector<std::int64_t> moved(const Shape& to, const Shape& from, F place_of) {
  std::vector<std::int64_t> result(elements_of(to));
  Shape place(to.size(), 0);
  for (std::int64_t& index : result) {
    const Shape source = place_of(place);
    index = source.empty() && !from.empty() ? -1 : 0;
    for (std::size_t i = 0; i < source.size(); ++i) index = index * from[i] + source[i];
    for (std::size_t i = to.size(); i-- > 0;) {
      if (++place[i] < to[i]) break;
      place[i] = 0;
    }
  }
  return result;
}

}  // namespace usmp::tflite_random
