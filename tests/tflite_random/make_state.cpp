// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// Random operators with a state: SVDF, LSTM, variables.
#include <algorithm>
#include <cmath>

#include "tflite_random/maker.hpp"

namespace usmp::tflite_random {

bool Maker::svdf(int x) {
  if (!is(x, {Type::float32, Type::int8}) || at(x).type != kind_ || is_inexact(x)) return false;
  if (rank_of(x) > 2) {
    const Shape row = {shape_of(x)[0], static_cast<int>(elements_of(shape_of(x))) / shape_of(x)[0]};
    const int flat = like(x, row);
    const int list = numbers(row);
    emit_one(Code::reshape, {x, list}, flat);
    x = flat;
  }
  if (rank_of(x) != 2) return false;
  const Shape in = shape_of(x);
  const int rank = static_cast<int>(r_.between(1, 3));
  const int units = static_cast<int>(r_.between(1, 6));
  const int filters = rank * units;
  const int memory = static_cast<int>(r_.between(1, 6));
  const bool is_float = kind_ == Type::float32;
  const int features = weights({filters, in[1]}, 1, 0, static_cast<double>(scale()));
  const Type state_type = is_float ? Type::float32 : r_.chance(60) ? Type::int16 : Type::int8;
  const float span = state_type == Type::int16 ? 20000.0F : 70.0F;
  const float feature_scale =
      at(x).scale() * at(features).scale() * std::sqrt(static_cast<float>(in[1])) * 5000.0F / span;
  const int state = activation(state_type, {in[0], memory * filters}, Scaling{feature_scale, zero_point(state_type)});
  int times = 0;
  if (is_float) {
    times = weights({filters, memory}, 1, 0, 1);
  } else {
    // A tensor of the state's type.
    const Scaling own = scaling(state_type);
    times = activation(state_type, {filters, memory}, Scaling{own.scale, 0});
    Tensor& tensor = graph_.tensors[static_cast<std::size_t>(times)];
    if (state_type == Type::int16) {
      std::string bytes;
      for (int i = 0; i < filters * memory; ++i) {
        const std::int64_t value = r_.between(-3000, 3000);
        bytes += static_cast<char>(value & 0xFF);
        bytes += static_cast<char>(value >> 8 & 0xFF);
      }
      tensor.data = bytes;
    } else {
      tensor.data = contents(tensor);
    }
  }
  graph_.tensors[static_cast<std::size_t>(state)].is_variable = true;
  int b = -1;
  if (is_float) {
    std::vector<float> values;
    for (int i = 0; i < units; ++i) values.push_back(real());
    b = constant({units}, values);
  } else {
    std::vector<std::int64_t> values;
    for (int i = 0; i < units; ++i) values.push_back(r_.between(-100000, 100000));
    b = constant(Type::int32, {units}, values);
    Tensor& tensor = graph_.tensors[static_cast<std::size_t>(b)];
    tensor.scales = {at(state).scale() * at(times).scale()};
    tensor.zero_points = {0};
  }
  const float deep = std::sqrt(static_cast<float>(rank * memory));
  const float reach = state_type == Type::int16 ? 2.5e7F : 5e3F;
  const float s = at(state).scale() * at(times).scale() * deep * reach / 50.0F *
                  static_cast<float>(r_.between(400, 2000)) / 1000.0F;
  const int y = activation(kind_, {in[0], units}, Scaling{s, zero_point(kind_)});
  // The reference kernel of integers knows no activation but RELU, which it leaves out.
  const int act = is_float ? fused() : 0;
  return emit_one(Code::svdf, {x, features, times, b, state}, y, {{"rank", rank}, {"activation", act}});
}

bool Maker::lstm(int x) {
  if (!is(x, {Type::float32, Type::int8}) || at(x).type != kind_ || is_inexact(x)) return false;
  if (rank_of(x) == 4) {
    // Pixels are steps.
    const Shape image = shape_of(x);
    const Shape rows = {image[0], image[1] * image[2], image[3]};
    const int sequence = like(x, rows);
    const int list = numbers(rows);
    emit_one(Code::reshape, {x, list}, sequence);
    x = sequence;
  }
  if (rank_of(x) != 3) return false;
  const Shape in = shape_of(x);
  const bool by_time = r_.chance(30);
  const int batches = in[by_time ? 1 : 0];
  const int units = static_cast<int>(r_.between(1, 5));
  const bool is_float = kind_ == Type::float32;
  const Type type = kind_;
  const float hidden_scale = type == Type::int16 ? 1.0F / 32768 : 1.0F / 128;
  const Scaling hidden_scaling = {hidden_scale, type == Type::int8 ? r_.between(-5, 5) : 0};
  const int hidden = activation(type, {batches, units}, hidden_scaling);
  const auto power = static_cast<int>(r_.between(9, 13));
  const int cell =
      activation(is_float ? Type::float32 : Type::int16, {batches, units}, Scaling{std::ldexp(1.0F, -power), 0});
  std::vector<int> inputs(24, -1);
  inputs[0] = x;
  for (std::size_t gate = 0; gate < 4; ++gate) {
    // So that sums are within 8 mostly.
    const double span = type == Type::int16 ? 32768.0 : 128.0;
    const double w = 4.0 / (127.0 * span * static_cast<double>(std::max(at(x).scale(), 1e-9F)) *
                            std::sqrt(static_cast<double>(in[2])));
    const double back = 2.0 / (127.0 * std::sqrt(static_cast<double>(units)));
    inputs[1 + gate] = weights({units, in[2]}, 1, 0, w);
    inputs[5 + gate] = weights({units, units}, 1, 0, back);
    if (is_float) {
      std::vector<float> values;
      for (int i = 0; i < units; ++i) values.push_back(real() / 4);
      inputs[12 + gate] = constant({units}, values);
    } else {
      std::vector<std::int64_t> values;
      for (int i = 0; i < units; ++i) values.push_back(r_.between(-2000, 2000));
      inputs[12 + gate] = constant(type == Type::int16 ? Type::int64 : Type::int32, {units}, values);
      Tensor& tensor = graph_.tensors[static_cast<std::size_t>(inputs[12 + gate])];
      tensor.scales = {at(x).scale() * at(inputs[1 + gate]).scale()};
      tensor.zero_points = {0};
    }
  }
  inputs[18] = hidden;
  inputs[19] = cell;
  graph_.tensors[static_cast<std::size_t>(hidden)].is_variable = true;
  graph_.tensors[static_cast<std::size_t>(cell)].is_variable = true;
  const int y = activation(type, {in[0], in[1], units}, hidden_scaling);
  const double clip = r_.chance(40) ? 0.0 : static_cast<double>(r_.between(1, 16)) / 8.0;
  return emit_one(Code::unidirectional_sequence_lstm, inputs, y,
                  {{"activation", 4}, {"cell_clip", clip}, {"time_major", by_time ? 1 : 0}}, true);
}

int Maker::handle_of(const std::string& name) {
  Tensor tensor;
  tensor.type = Type::resource;
  const int handle = add(tensor);
  emit(Code::var_handle, {}, {handle});
  graph_.operators.back().text = name;
  return handle;
}

// CALL_ONCE in front of everything: a graph that assigns a constant.
void Maker::assign_once(const std::string& name, int x, const Shape& shape) {
  Graph once;
  Tensor handle;
  handle.name = "handle";
  handle.type = Type::resource;
  once.tensors.push_back(handle);
  Tensor first = at(x);
  first.name = "first";
  first.shape = shape;
  first.is_variable = false;
  first.signature.clear();
  first.data = contents(first);
  once.tensors.push_back(first);
  once.operators.push_back({Code::var_handle, {}, {0}, {}, {}, name});
  once.operators.push_back({Code::assign_variable, {0, 1}, {}});
  others_.push_back(std::move(once));
  const Operator call = {Code::call_once, {}, {}, {{"init_subgraph_index", static_cast<double>(others_.size())}}};
  graph_.operators.insert(graph_.operators.begin(), call);
}

bool Maker::variable(int x) {
  if (!is_main(x) || rank_of(x) < 2 || is_inexact(x) || elements_of(shape_of(x)) > 500) return false;
  const std::string name = "state" + std::to_string(graph_.tensors.size());
  const std::int64_t way = r_.below(3);
  Shape kept = shape_of(x);
  if (way == 0) kept[1] = static_cast<int>(r_.between(1, 3));
  if (r_.chance(60)) assign_once(name, x, kept);
  const int handle = handle_of(name);
  const int old = like(x, kept);
  emit(Code::read_variable, {handle}, {old});
  int next = x;
  if (way == 0) {
    // A window over the inputs of some runs: put together with the new one, the newest part kept.
    Shape window = shape_of(x);
    window[1] += kept[1];
    const int joined = like(x, window);
    const bool newest_first = r_.chance(30);
    emit_one(Code::concatenation, newest_first ? std::vector{x, old} : std::vector{old, x}, joined, {{"axis", 1}});
    Shape begin(kept.size(), 0);
    if (!newest_first) begin[1] = shape_of(x)[1];
    const int from = numbers(begin);
    const int sizes = numbers(kept);
    next = like(x, kept);
    emit(Code::slice, {joined, from, sizes}, {next});
    if (r_.chance(20)) output(next, false);
  } else if (way == 1) {
    // What has been summed up.
    next = like(x, kept);
    emit_one(r_.chance(50) ? Code::add : Code::maximum, {old, x}, next);
  }
  // Else the one of the run before.
  if (r_.chance(20)) {
    const int view = like(x, {static_cast<int>(elements_of(kept))});
    emit(Code::reshape, {next}, {view});
    graph_.operators.back().list = shape_of(view);
    next = like(x, kept);
    emit(Code::reshape, {view}, {next});
    graph_.operators.back().list = kept;
  }
  if (way == 2 || r_.chance(20)) output(old, false);
  if (r_.chance(20)) relu(old);  // before it is assigned
  emit(Code::assign_variable, {r_.chance(30) ? handle_of(name) : handle, next}, {});
  if (r_.chance(30)) {
    const int again = like(x, kept);
    emit(Code::read_variable, {handle}, {again});
    output(again, false);
  }
  return true;
}

}  // namespace usmp::tflite_random
