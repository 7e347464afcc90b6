// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// Runs a graph: constants, states, variables, and what operators have in common.
#include "tflite_random/interpreter.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>

namespace usmp::tflite_random {
namespace {

// Little endian.
std::vector<std::int64_t> integers(const std::string& bytes, std::size_t width, bool is_signed) {
  std::vector<std::int64_t> result(bytes.size() / width);
  const std::size_t above = 64 - 8 * width;
  for (std::size_t i = 0; i < result.size(); ++i) {
    std::uint64_t bits = 0;
    for (std::size_t b = 0; b < width; ++b) {
      bits |= std::uint64_t{static_cast<std::uint8_t>(bytes[i * width + b])} << (8 * b);
    }
    result[i] = is_signed ? static_cast<std::int64_t>(bits << above) >> above : static_cast<std::int64_t>(bits);
  }
  return result;
}

std::size_t padded_rank(const Shape& shape, std::size_t rank, std::size_t i) {
  return i + shape.size() < rank ? 1 : static_cast<std::size_t>(shape[i + shape.size() - rank]);
}

}  // namespace

Values values_of(const std::string& bytes, Type type) {
  Values result;
  if (type == Type::float32) {
    result.real.resize(bytes.size() / sizeof(float));
    std::memcpy(result.real.data(), bytes.data(), result.real.size() * sizeof(float));
    return result;
  }
  if (type == Type::resource) throw Unknown("elements of this type");
  result.whole = integers(bytes, size_of(type), type != Type::uint8 && type != Type::boolean);
  return result;
}

std::string bytes_of(const Values& values, Type type) {
  std::string result;
  if (type == Type::float32) {
    result.resize(values.real.size() * sizeof(float));
    std::memcpy(result.data(), values.real.data(), result.size());
    return result;
  }
  for (const std::int64_t value : values.whole) {
    for (std::size_t i = 0; i < size_of(type); ++i) {
      result += static_cast<char>(static_cast<std::uint64_t>(value) >> (8 * i));
    }
  }
  return result;
}

Values initial_of(const Tensor& tensor) {
  Values result;
  const std::size_t count = elements_of(tensor.shape);
  if (tensor.type == Type::float32) {
    result.real.assign(count, 0.0F);
  } else {
    result.whole.assign(count, tensor.type == Type::int8 ? tensor.zero_point() : 0);
  }
  return result;
}

double Call::real(const char* option) const {
  const auto given = op->options.find(option);
  if (given != op->options.end()) return given->second;
  for (const Option& known : options_of(op->code).options) {
    if (known.name == std::string_view(option)) return known.otherwise;
  }
  throw Unknown("the option " + std::string(option));
}

Limits limits_of(Type type) {
  switch (type) {
    case Type::int8:
      return {-128, 127};
    case Type::uint8:
      return {0, 255};
    case Type::int16:
      return {-32768, 32767};
    case Type::int32:
      return {std::numeric_limits<std::int32_t>::min(), std::numeric_limits<std::int32_t>::max()};
    default:
      throw Unknown("limits of this type");
  }
}

Limits limits_of(int activation, const Tensor& output) {
  Limits limits = limits_of(output.type);
  const auto at = [&](float x) {
    return output.zero_point() + static_cast<std::int64_t>(std::round(x / output.scale()));
  };
  switch (activation) {
    case 0:
      break;
    case 1:
      limits.low = std::max(limits.low, at(0));
      break;
    case 2:
      limits = {std::max(limits.low, at(-1)), std::min(limits.high, at(1))};
      break;
    case 3:
      limits = {std::max(limits.low, at(0)), std::min(limits.high, at(6))};
      break;
    default:
      throw Unknown("an activation");
  }
  return limits;
}

float activated(int activation, float x) {
  switch (activation) {
    case 0:
      return x;
    case 1:
      return std::max(x, 0.0F);
    case 2:
      return std::min(std::max(x, -1.0F), 1.0F);
    case 3:
      return std::min(std::max(x, 0.0F), 6.0F);
    default:
      throw Unknown("an activation");
  }
}

Windows windows_of(int padding, int in, int out, int kernel, int stride, int dilation) {
  const int reach = (out - 1) * stride + (kernel - 1) * dilation + 1;
  return {padding == 0 ? std::max(0, reach - in) / 2 : 0, stride, dilation};
}

std::vector<std::size_t> broadcast(const Shape& to, const Shape& from) {
  std::vector<std::size_t> result(elements_of(to));
  const std::size_t rank = std::max(to.size(), from.size());
  for (std::size_t i = 0; i < result.size(); ++i) {
    std::size_t rest = i;
    std::size_t stride = 1;
    std::size_t index = 0;
    for (std::size_t axis = rank; axis-- > 0;) {
      const std::size_t extent = padded_rank(to, rank, axis);
      const std::size_t own = padded_rank(from, rank, axis);
      if (own != 1) index += rest % extent * stride;
      stride *= own;
      rest /= extent;
    }
    result[i] = index;
  }
  return result;
}

Interpreter::Interpreter(const Model& model) : model_(model) {
  for (const Tensor& tensor : model.graphs.front().tensors) {
    states_.push_back(tensor.is_variable ? initial_of(tensor) : Values());
  }
}

// Constants that are assigned to variables.
void Interpreter::run_once(const Graph& graph) {
  std::map<int, std::string> handles;
  for (const Operator& op : graph.operators) {
    if (op.code == Code::var_handle) {
      handles[op.outputs.front()] = op.text;
      continue;
    }
    if (op.code != Code::assign_variable) throw Unknown("another operator in a graph of CALL_ONCE");
    const Tensor& value = graph.tensors[static_cast<std::size_t>(op.inputs.at(1))];
    variables_[handles.at(op.inputs.front())] = values_of(value.data.value(), value.type);
  }
}

bool Interpreter::execute_variables(const Graph& graph, const Operator& op, std::vector<Values>& values) {
  switch (op.code) {
    case Code::call_once: {
      const auto found = op.options.find("init_subgraph_index");
      const int number = found == op.options.end() ? 0 : static_cast<int>(found->second);
      if (has_run_.insert(number).second) run_once(model_.graphs.at(static_cast<std::size_t>(number)));
      return true;
    }
    case Code::var_handle:
      handles_[op.outputs.front()] = op.text;
      return true;
    case Code::read_variable: {
      const std::string& name = handles_.at(op.inputs.front());
      const auto output = static_cast<std::size_t>(op.outputs.front());
      const auto [variable, is_new] = variables_.try_emplace(name);
      if (is_new) variable->second = initial_of(graph.tensors[output]);
      values[output] = variable->second;
      return true;
    }
    case Code::assign_variable:
      variables_[handles_.at(op.inputs.front())] = values[static_cast<std::size_t>(op.inputs.at(1))];
      return true;
    default:
      return false;
  }
}

void Interpreter::execute(const Graph& graph, std::vector<Values>& values) {
  for (std::size_t i = 0; i < graph.tensors.size(); ++i) {
    const Tensor& tensor = graph.tensors[i];
    if (tensor.data) values[i] = values_of(*tensor.data, tensor.type);
  }
  for (const Operator& op : graph.operators) {
    if (execute_variables(graph, op, values)) continue;
    Call call;
    call.op = &op;
    for (const int input : op.inputs) {
      if (input < 0) {
        call.inputs.push_back(nullptr);
        call.in.push_back(nullptr);
        continue;
      }
      const auto i = static_cast<std::size_t>(input);
      call.inputs.push_back(&graph.tensors[i]);
      call.in.push_back(graph.tensors[i].is_variable ? &states_[i] : &values[i]);
    }
    for (const int output : op.outputs) {
      const auto i = static_cast<std::size_t>(output);
      call.outputs.push_back(&graph.tensors[i]);
      call.out.push_back(&values[i]);
      values[i] = {};
    }
    if (!interpret_products(call) && !interpret_elementwise(call) && !interpret_reductions(call) &&
        !interpret_movement(call) && !interpret_recurrent(call)) {
      throw Unknown("operator " + std::to_string(static_cast<int>(op.code)));
    }
    for (std::size_t i = 0; i < call.out.size(); ++i) {
      const std::size_t count = std::max(call.out[i]->whole.size(), call.out[i]->real.size());
      if (count != elements_of(call.outputs[i]->shape)) {
        throw Unknown("an output of operator " + std::to_string(static_cast<int>(op.code)) + " has another shape");
      }
    }
  }
}

std::vector<std::string> Interpreter::run(const std::vector<std::string>& inputs) {
  const Graph& graph = model_.graphs.front();
  std::vector<Values> values(graph.tensors.size());
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    const auto tensor = static_cast<std::size_t>(graph.inputs.at(i));
    values[tensor] = values_of(inputs[i], graph.tensors[tensor].type);
  }
  handles_ = {};
  execute(graph, values);
  std::vector<std::string> outputs;
  for (const int output : graph.outputs) {
    const auto tensor = static_cast<std::size_t>(output);
    outputs.push_back(bytes_of(values[tensor], graph.tensors[tensor].type));
  }
  return outputs;
}

}  // namespace usmp::tflite_random
