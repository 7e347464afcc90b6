// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// From bytes to a module, and what is said of operators that are not supported.
#include "usmp/tflite/reader.hpp"

#include <algorithm>
#include <iterator>
#include <utility>

#include "tflite/build.hpp"
#include "tflite/file.hpp"
#include "tflite/operators.hpp"
#include "usmp/support/error.hpp"
#include "usmp/support/text.hpp"

namespace usmp::tflite {
namespace {

std::string operator_text(std::size_t index, const Subgraph& graph) {
  if (index >= graph.operators.size()) return "outputs";
  return "operator " + std::to_string(index) + " (" + name_of_code(graph.operators[index].code) + ")";
}

std::string tensor_text(const Tensor& tensor) {
  return (tensor.is_constant ? "constant " : "") + std::string(name_of(tensor.type)) + " " + text_of(tensor.shape);
}

std::string operands_text(const Subgraph& graph, const Operator& one) {
  std::vector<std::string> inputs;
  for (const auto& input : one.inputs) inputs.push_back(input ? tensor_text(graph.tensors[*input]) : "left out");
  std::vector<std::string> outputs;
  for (const std::size_t output : one.outputs) outputs.push_back(tensor_text(graph.tensors[output]));
  return joined(inputs) + " -> " + joined(outputs);
}

struct Attempt {
  Model file;
  ReadModel result;
  std::vector<Fault> faults;  // by operator
};

Attempt attempt(std::string_view bytes, const std::string& name) {
  Attempt made;
  made.file = read_file(bytes);
  made.result = build(made.file, name, made.faults);
  return made;
}

}  // namespace

bool is_model(std::string_view bytes) { return bytes.size() >= 8 && bytes.substr(4, 4) == "TFL3"; }

ReadModel read_model(std::string_view bytes, const std::string& name) {
  Attempt made = attempt(bytes, name);
  if (made.faults.empty()) return std::move(made.result);
  const Subgraph& graph = made.file.subgraphs.front();
  const Fault& first = made.faults.front();
  std::vector<std::string> details;
  if (first.index < graph.operators.size()) details.push_back(operands_text(graph, graph.operators[first.index]));
  std::vector<std::string> others;
  for (std::size_t i = 1; i < made.faults.size(); ++i) {
    others.push_back(operator_text(made.faults[i].index, graph) + ": " + made.faults[i].message);
  }
  constexpr std::size_t most = 10;
  std::vector<std::string> lines = first_lines(std::move(others), most);
  details.insert(details.end(), std::make_move_iterator(lines.begin()), std::make_move_iterator(lines.end()));
  throw Error(ErrorKind::archive, {.file = {}, .member = {}, .place = operator_text(first.index, graph)}, first.message,
              std::move(details));
}

std::vector<OperatorLine> operators_of(std::string_view bytes) {
  const Attempt made = attempt(bytes, "model");
  const Subgraph& graph = made.file.subgraphs.front();
  std::vector<OperatorLine> lines;
  for (std::size_t i = 0; i < graph.operators.size(); ++i) {
    const Operator& one = graph.operators[i];
    OperatorLine line{.index = i, .name = name_of_code(one.code), .inputs = {}, .outputs = {}, .fault = {}};
    for (const auto& input : one.inputs) {
      line.inputs.push_back(input ? tensor_text(graph.tensors[*input]) : "left out");
    }
    for (const std::size_t output : one.outputs) line.outputs.push_back(tensor_text(graph.tensors[output]));
    const auto fault = std::ranges::find(made.faults, i, &Fault::index);
    if (fault != made.faults.end()) line.fault = fault->message;
    lines.push_back(std::move(line));
  }
  return lines;
}

}  // namespace usmp::tflite
