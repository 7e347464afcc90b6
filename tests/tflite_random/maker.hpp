// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// Builds a random graph operator by operator.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "random_modules/random.hpp"
#include "tflite_random/model.hpp"

namespace usmp::tflite_random {

class Maker {
 public:
  explicit Maker(std::uint64_t seed);

  // A model of `count` operators, or a few more.
  Model make(int count);
  std::string contents(const Tensor& tensor);  // of an input

  random_modules::Random& random() { return r_; }

 private:
  friend struct Recipe;
  using Options = std::map<std::string, double>;
  // How the integers of a tensor stand for numbers.
  struct Scaling {
    float scale;
    std::int64_t zero_point;
  };

  // Each adds operators that read tensor x, if they can; false: nothing was added.
  bool convolution(int x);
  bool depthwise(int x);
  bool transposed_convolution(int x);
  bool dense(int x);
  bool matrices(int x);
  bool padded_convolution(int x);

  bool pool(int x);
  bool sum(int x);
  bool product(int x);
  bool extreme(int x);
  bool squared_difference(int x);
  bool quotient(int x);
  bool comparison(int x);
  bool prelu(int x);
  bool relu(int x);
  bool relu6(int x);
  bool sigmoid(int x);
  bool softmax(int x);
  bool smooth(int x);
  bool leaky_relu(int x);
  bool sign(int x);
  bool root(int x);
  bool conversion(int x);
  bool cast(int x);
  bool reduction(int x);
  bool arg(int x);

  bool reshape(int x);
  bool flatten(int x);
  bool ones(int x);
  bool transpose(int x);
  bool concatenation(int x);
  bool pack(int x);
  bool unpack(int x);
  bool split(int x);
  bool slice(int x);
  bool strided_slice(int x);
  bool gather(int x);
  bool pad(int x);
  bool mirror(int x);
  bool depth(int x);
  bool batch(int x);
  bool resize(int x);

  bool svdf(int x);
  bool lstm(int x);
  bool variable(int x);
  int handle_of(const std::string& name);
  void assign_once(const std::string& name, int x, const Shape& shape);

  // --- Tensors
  int add(Tensor tensor);
  int activation(Type type, const Shape& shape, std::optional<Scaling> scaling = {});
  // As another one, but for its shape.
  int like(int x, const Shape& shape);
  int constant(Type type, const Shape& shape, const std::vector<std::int64_t>& values);
  int constant(const Shape& shape, const std::vector<float>& values);
  int numbers(const std::vector<int>& values);  // int32, of rank 1
  int random_constant(int x, const Shape& shape, std::optional<Scaling> scaling);
  // A tensor that can stand beside x: of the graph or constant; brings its shape to x's or is brought to it.
  int operand(int x, bool same_scaling);
  int weights(const Shape& shape, int channels, int dimension, double scale);
  // None (-1) sometimes.
  int bias(int x, int weights, int channels, double reach, bool is_short);

  void emit(Code code, std::vector<int> inputs, std::vector<int> outputs, Options options = {});
  void output(int tensor, bool is_inexact);
  // An operator of one output, inexact where an input is.
  bool emit_one(Code code, const std::vector<int>& inputs, int result, Options options = {}, bool is_inexact = false);

  // --- Draws
  Scaling scaling(Type type);
  float scale();
  std::int64_t zero_point(Type type);
  int fused(bool allowed = true);
  std::int64_t whole(Type type);
  float real();

  [[nodiscard]] const Tensor& at(int x) const { return graph_.tensors[static_cast<std::size_t>(x)]; }
  [[nodiscard]] const Shape& shape_of(int x) const { return at(x).shape; }
  [[nodiscard]] int rank_of(int x) const { return static_cast<int>(shape_of(x).size()); }
  [[nodiscard]] bool is(int x, std::initializer_list<Type> types) const;
  // Float, int8 or int16, and so an element of a network. (int16 with a zero point, which a SOFTMAX makes, is not.)
  [[nodiscard]] bool is_main(int x) const {
    return is(x, {Type::float32, Type::int8}) || (at(x).type == Type::int16 && at(x).zero_point() == 0);
  }
  [[nodiscard]] bool is_inexact(int x) const { return inexact_.contains(x); }

  random_modules::Random r_;
  Type kind_ = Type::int8;
  Graph graph_;
  std::vector<Graph> others_;
  std::vector<int> live_;  // tensors that may be read
  std::set<int> read_;
  std::set<int> inexact_;  // floats behind functions of math.h: nothing is added to them, nor are they rounded
  bool has_state_ = false;
  bool powers_of_two_ = false;  // as scales: ties are frequent
};

}  // namespace usmp::tflite_random
