// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// Tensors, scales and what else all random operators need; the choice among them.
#include "tflite_random/maker.hpp"

#include <algorithm>
#include <cmath>

#include "tflite_random/generate.hpp"
#include "tflite_random/interpreter.hpp"

namespace usmp::tflite_random {
namespace {}  // namespace

struct Recipe {
  int weight;
  bool (Maker::*make)(int);
};

Maker::Maker(std::uint64_t seed) : r_(seed) {
  const std::int64_t drawn = r_.below(100);
  kind_ = drawn < 60 ? Type::int8 : drawn < 80 ? Type::float32 : Type::int16;
  powers_of_two_ = r_.chance(25);
}

Model Maker::make(int count) {
  static const std::vector<Recipe> recipes = {{12, &Maker::convolution},
                                              {9, &Maker::depthwise},
                                              {4, &Maker::transposed_convolution},
                                              {9, &Maker::dense},
                                              {3, &Maker::matrices},
                                              {4, &Maker::padded_convolution},
                                              {6, &Maker::pool},
                                              {9, &Maker::sum},
                                              {5, &Maker::product},
                                              {4, &Maker::extreme},
                                              {3, &Maker::squared_difference},
                                              {2, &Maker::quotient},
                                              {5, &Maker::comparison},
                                              {3, &Maker::prelu},
                                              {3, &Maker::relu},
                                              {2, &Maker::relu6},
                                              {4, &Maker::sigmoid},
                                              {4, &Maker::softmax},
                                              {3, &Maker::smooth},
                                              {3, &Maker::leaky_relu},
                                              {3, &Maker::sign},
                                              {2, &Maker::root},
                                              {4, &Maker::conversion},
                                              {2, &Maker::cast},
                                              {5, &Maker::reduction},
                                              {2, &Maker::arg},
                                              {4, &Maker::reshape},
                                              {2, &Maker::flatten},
                                              {2, &Maker::ones},
                                              {4, &Maker::transpose},
                                              {5, &Maker::concatenation},
                                              {2, &Maker::pack},
                                              {2, &Maker::unpack},
                                              {4, &Maker::split},
                                              {3, &Maker::slice},
                                              {4, &Maker::strided_slice},
                                              {3, &Maker::gather},
                                              {3, &Maker::pad},
                                              {2, &Maker::mirror},
                                              {3, &Maker::depth},
                                              {3, &Maker::batch},
                                              {4, &Maker::resize},
                                              {6, &Maker::svdf},
                                              {6, &Maker::lstm},
                                              {4, &Maker::variable}};
  std::int64_t total = 0;
  for (const Recipe& recipe : recipes) total += recipe.weight;

  static const std::vector<int> extents = {1, 1, 2, 3, 4, 5, 6, 7, 8, 11};
  static const std::vector<int> channels = {1, 1, 2, 3, 3, 4, 5, 8, 16, 17};
  const int inputs = r_.chance(80) ? 1 : 2;
  for (int i = 0; i < inputs; ++i) {
    const int batch = r_.chance(85) ? 1 : 2;
    const int height = r_.pick(extents);
    const int width = r_.pick(extents);
    Shape shape = {batch, height, width, r_.pick(channels)};
    if (r_.chance(15)) shape = {batch, static_cast<int>(r_.between(1, 40))};
    if (r_.chance(10)) shape = {batch, static_cast<int>(r_.between(1, 6)), static_cast<int>(r_.between(1, 8))};
    const int tensor = activation(kind_, shape);
    if (batch == 1 && r_.chance(30)) {
      Tensor& input = graph_.tensors[static_cast<std::size_t>(tensor)];
      input.signature = input.shape;
      input.signature[0] = -1;
    }
    graph_.inputs.push_back(tensor);
    live_.push_back(tensor);
    // uint8 outside, as in converted networks.
    Tensor& input = graph_.tensors[static_cast<std::size_t>(tensor)];
    if (kind_ == Type::int8 && r_.chance(8)) {
      input.type = Type::uint8;
      input.zero_points[0] += 128;
      const Scaling inside = {input.scale(), input.zero_point() - 128};
      emit_one(Code::quantize, {tensor}, activation(Type::int8, input.shape, inside));
    }
  }
  int tries = 0;
  while (static_cast<int>(graph_.operators.size()) < count && tries++ < 200) {
    // Mostly the newest, so that there are chains.
    const std::size_t newest = live_.size() - 1;
    const int x = r_.chance(60) ? live_[newest - std::min(newest, r_.index(2))] : r_.pick(live_);
    std::int64_t drawn = r_.below(total);
    for (const Recipe& recipe : recipes) {
      drawn -= recipe.weight;
      if (drawn >= 0) continue;
      (this->*recipe.make)(x);
      break;
    }
  }
  if (graph_.operators.empty()) relu(graph_.inputs.front());
  if (graph_.operators.empty()) reshape(graph_.inputs.front());
  const auto is_input = [&](int tensor) {
    return std::find(graph_.inputs.begin(), graph_.inputs.end(), tensor) != graph_.inputs.end();
  };
  for (const int tensor : live_) {
    if (!is_input(tensor) && (!read_.contains(tensor) || r_.chance(5))) graph_.outputs.push_back(tensor);
  }
  if (graph_.outputs.empty()) graph_.outputs.push_back(live_.back());
  // The model may show what it gets, or something twice.
  if (r_.chance(2)) graph_.outputs.push_back(graph_.inputs.front());
  Model model;
  model.graphs.push_back(std::move(graph_));
  for (Graph& other : others_) model.graphs.push_back(std::move(other));
  return model;
}

std::string Maker::contents(const Tensor& tensor) {
  Values values;
  const bool is_extreme = r_.chance(15);
  for (std::size_t i = 0; i < elements_of(tensor.shape); ++i) {
    if (tensor.type == Type::float32) {
      values.real.push_back(real());
    } else if (is_extreme) {
      const Limits limits = limits_of(tensor.type);
      values.whole.push_back(r_.chance(50) ? limits.low : limits.high);
    } else {
      values.whole.push_back(whole(tensor.type));
    }
  }
  return bytes_of(values, tensor.type);
}

bool Maker::is(int x, std::initializer_list<Type> types) const {
  return std::find(types.begin(), types.end(), at(x).type) != types.end();
}

// --- Draws

float Maker::scale() {
  if (powers_of_two_ || r_.chance(10)) return std::ldexp(1.0F, -static_cast<int>(r_.below(9)));
  const float mantissa = 1.0F + static_cast<float>(r_.below(1 << 20)) / static_cast<float>(1 << 20);
  return std::ldexp(mantissa, -static_cast<int>(r_.between(1, 9)));
}

std::int64_t Maker::zero_point(Type type) {
  if (type != Type::int8) return 0;
  static const std::vector<int> ends = {-128, 127, 0, -1};
  if (r_.chance(45)) return r_.pick(ends);
  return r_.between(-128, 127);
}

Maker::Scaling Maker::scaling(Type type) {
  if (type == Type::float32) return {0, 0};
  const float drawn = scale();
  return {type == Type::int16 ? drawn / 256 : drawn, zero_point(type)};
}

int Maker::fused(bool allowed) {
  if (!allowed || r_.chance(50)) return 0;
  return static_cast<int>(r_.between(1, 3));
}

std::int64_t Maker::whole(Type type) {
  switch (type) {
    case Type::int8:
      return r_.between(-128, 127);
    case Type::uint8:
      return r_.between(0, 255);
    case Type::int16:
      return r_.chance(30) ? r_.between(-300, 300) : r_.between(-32768, 32767);
    case Type::boolean:
      return r_.below(2);
    default:
      return r_.between(-1000, 1000);
  }
}

float Maker::real() {
  if (r_.chance(20)) return static_cast<float>(r_.between(-16, 16)) / 4.0F;
  return static_cast<float>(r_.between(-40000, 40000)) / 10000.0F;
}

// --- Tensors

int Maker::add(Tensor tensor) {
  const std::size_t number = graph_.tensors.size();
  if (tensor.name.empty()) {
    tensor.name = r_.chance(10) ? "serving_default_x" + std::to_string(number) + ":0" : "t/" + std::to_string(number);
  }
  graph_.tensors.push_back(std::move(tensor));
  return static_cast<int>(number);
}

int Maker::activation(Type type, const Shape& shape, std::optional<Scaling> given) {
  Tensor tensor;
  tensor.type = type;
  tensor.shape = shape;
  if (type == Type::int8 || type == Type::int16 || type == Type::uint8) {
    const Scaling own = given ? *given : scaling(type);
    tensor.scales = {own.scale};
    tensor.zero_points = {own.zero_point};
  }
  return add(std::move(tensor));
}

int Maker::like(int x, const Shape& shape) {
  return activation(at(x).type, shape, Scaling{at(x).scale(), at(x).zero_point()});
}

int Maker::constant(Type type, const Shape& shape, const std::vector<std::int64_t>& values) {
  Tensor tensor;
  tensor.type = type;
  tensor.shape = shape;
  tensor.data = bytes_of({values, {}}, type);
  return add(std::move(tensor));
}

int Maker::constant(const Shape& shape, const std::vector<float>& values) {
  Tensor tensor;
  tensor.shape = shape;
  tensor.data = bytes_of({{}, values}, Type::float32);
  return add(std::move(tensor));
}

int Maker::numbers(const std::vector<int>& values) {
  return constant(Type::int32, {static_cast<int>(values.size())}, {values.begin(), values.end()});
}

int Maker::random_constant(int x, const Shape& shape, std::optional<Scaling> given) {
  const int result = activation(at(x).type, shape, given);
  const std::string data = contents(at(result));
  graph_.tensors[static_cast<std::size_t>(result)].data = data;
  return result;
}

int Maker::operand(int x, bool same_scaling) {
  const Scaling own = {at(x).scale(), at(x).zero_point()};
  if (r_.chance(50)) {
    for (std::size_t tries = 0; tries < 4; ++tries) {
      const int other = r_.pick(live_);
      const bool fits = at(other).type == at(x).type && shape_of(other) == shape_of(x) &&
                        (!same_scaling || (at(other).scale() == own.scale && at(other).zero_point() == own.zero_point));
      if (fits && is_main(other) && !is_inexact(other)) return other;
    }
  }
  Shape shape = shape_of(x);
  const std::int64_t way = r_.below(5);
  if (way == 0) shape = {};
  if (way == 1) shape = {shape.empty() ? 1 : shape.back()};
  if (way == 2) {
    for (int& extent : shape) extent = r_.chance(50) ? 1 : extent;
  }
  return random_constant(x, shape, same_scaling ? std::optional(own) : std::nullopt);
}

int Maker::weights(const Shape& shape, int channels, int dimension, double scale) {
  Tensor tensor;
  tensor.shape = shape;
  const std::size_t count = elements_of(shape);
  if (kind_ == Type::float32) {
    std::vector<float> values;
    for (std::size_t i = 0; i < count; ++i) values.push_back(real() / 4);
    return constant(shape, values);
  }
  tensor.type = Type::int8;
  const std::int64_t way = r_.below(10);
  std::vector<std::int64_t> values;
  for (std::size_t i = 0; i < count; ++i) {
    std::int64_t value = way == 0 ? (r_.chance(50) ? -127 : 127) : r_.between(-127, 127);
    if (way == 1) value = -128;
    if (way == 2 && r_.chance(70)) value = 0;
    if (way == 3) value = r_.between(-3, 3);
    values.push_back(value);
  }
  tensor.data = bytes_of({values, {}}, Type::int8);
  tensor.quantized_dimension = dimension;
  const bool by_channel = channels > 1 && r_.chance(60);
  const bool is_wild = r_.chance(25);  // factors above and below 1
  for (int c = 0; c < (by_channel ? channels : 1); ++c) {
    const double spread = powers_of_two_ ? std::ldexp(1.0, static_cast<int>(r_.between(-3, 2)))
                                         : static_cast<double>(r_.between(100, 3000)) / 1000.0;
    const double tiny = r_.chance(2) ? 1e-11 : 1;  // a factor of nothing
    const double wild = is_wild ? std::ldexp(1.0, static_cast<int>(r_.between(-4, 10))) : 1;
    tensor.scales.push_back(static_cast<float>(scale * (by_channel ? spread * tiny * wild : 1)));
    tensor.zero_points.push_back(0);
  }
  return add(std::move(tensor));
}

int Maker::bias(int x, int weights, int channels, double reach, bool is_short) {
  if (r_.chance(20)) return -1;
  if (kind_ == Type::float32) {
    std::vector<float> values;
    for (int c = 0; c < channels; ++c) values.push_back(real());
    return constant({channels}, values);
  }
  std::vector<std::int64_t> values;
  const auto most = static_cast<std::int64_t>(reach);
  for (int c = 0; c < channels; ++c) values.push_back(r_.between(-most, most));
  const int result = constant(is_short ? Type::int64 : Type::int32, {channels}, values);
  Tensor& tensor = graph_.tensors[static_cast<std::size_t>(result)];
  for (const float scale : at(weights).scales) {
    tensor.scales.push_back(at(x).scale() * scale);
    tensor.zero_points.push_back(0);
  }
  return result;
}

void Maker::emit(Code code, std::vector<int> inputs, std::vector<int> outputs, Options options) {
  for (const int input : inputs) read_.insert(input);
  Operator op;
  op.code = code;
  op.inputs = std::move(inputs);
  op.outputs = std::move(outputs);
  op.options = std::move(options);
  graph_.operators.push_back(std::move(op));
}

void Maker::output(int tensor, bool is_inexact) {
  if (is_inexact && at(tensor).type == Type::float32) inexact_.insert(tensor);
  live_.push_back(tensor);
}

bool Maker::emit_one(Code code, const std::vector<int>& inputs, int result, Options options, bool is_inexact) {
  for (const int input : inputs) is_inexact = is_inexact || inexact_.contains(input);
  emit(code, inputs, {result}, std::move(options));
  output(result, is_inexact);
  return true;
}

RandomModel random_model(std::uint64_t seed) {
  Maker maker(seed);
  random_modules::Random& r = maker.random();
  RandomModel result;
  const bool is_small = r.chance(30);
  const int count = static_cast<int>(is_small ? r.between(1, 3) : r.between(2, 12));
  result.model = maker.make(count);
  result.style.old_codes = r.chance(20);
  result.style.shared_buffers = r.chance(40);
  result.style.no_default_options = r.chance(30);
  result.style.signatures = r.chance(40);
  result.style.odd_dimension = r.chance(20);
  result.style.version = static_cast<int>(r.between(1, 5));
  const std::vector<Tensor>& tensors = result.model.graphs.front().tensors;
  const bool has_state = result.model.graphs.size() > 1 ||
                         std::any_of(tensors.begin(), tensors.end(),
                                     [](const Tensor& t) { return t.is_variable || t.type == Type::resource; });
  const std::int64_t runs = has_state ? r.between(3, 6) : r.between(1, 2);
  for (std::int64_t run = 0; run < runs; ++run) {
    std::vector<std::string> inputs;
    for (const int input : result.model.graphs.front().inputs) {
      inputs.push_back(maker.contents(tensors[static_cast<std::size_t>(input)]));
    }
    result.inputs.push_back(std::move(inputs));
  }
  return result;
}

}  // namespace usmp::tflite_random
