// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// From the graph to a module: which nodes are functions, their parameters, and what the module's attributes say.
#include "usmp/tir_json/reader.hpp"

#include <algorithm>
#include <utility>

#include "tir_json/body_reader.hpp"
#include "tir_json/children.hpp"
#include "usmp/tir/verify.hpp"

namespace usmp::tir_json {
namespace {

struct FunctionNode {
  std::string name;
  NodeId global_var;
  NodeId prim_func;
};

bool is_true(const Graph& graph, NodeId node) {
  const auto value = node == 0 ? std::nullopt : graph.find_attribute(node, "value");
  return value && *value != "0";
}

std::size_t most_expanded(const Graph& graph, const Limits& limits) {
  return std::min(limits.expanded_nodes, limits.small_expanded_nodes + graph.extent() * limits.unfolding);
}

Graph parsed(std::string_view json, const Limits& limits) {
  if (json.size() > limits.json_bytes) {
    fail("", "has " + std::to_string(json.size()) + " bytes, expected at most " + std::to_string(limits.json_bytes));
  }
  return Graph::parse(json, limits.graph_bytes);
}

class ModuleReader {
 public:
  ModuleReader(std::string_view json, const Limits& limits)
      : graph_(parsed(json, limits)),
        context_(graph_, module_, limits),
        body_check_(graph_, most_expanded(graph_, limits)) {
    graph_.limit_texts(std::min(limits.texts, limits.small_texts + json.size() * limits.text_unfolding));
  }

  tir::Module read() {
    graph_.expect(graph_.root(), NodeType::ir_module);
    attributes_ = graph_.optional_node_attribute(graph_.root(), "attrs");
    module_.tvm_version = graph_.tvm_version();
    read_module_attributes();
    for (const FunctionNode& node : sorted_functions()) read_function(node);
    find_entry();
    verify();
    return std::move(module_);
  }

 private:
  std::vector<FunctionNode> sorted_functions();
  void read_module_attributes();
  void read_executor(NodeId attributes);
  void read_function(const FunctionNode& node);
  void read_params(const FunctionNode& node, ExprReader& exprs, tir::Function& function);
  void find_entry();
  void verify() const;
  [[nodiscard]] NodeId function_attribute(NodeId prim_func, std::string_view name) const;
  [[nodiscard]] NodeId lookup(NodeId prim_func, std::string_view map_attribute, NodeId key) const;
  [[nodiscard]] std::optional<std::vector<std::int64_t>> constant_shape(NodeId buffer) const;

  Graph graph_;
  tir::Module module_;
  ModuleContext context_;
  BodyCheck body_check_;
  NodeId attributes_ = 0;
  std::vector<std::string> hints_;  // GlobalVar names, parallel to Module::functions
  std::vector<NodeId> prim_funcs_;  // the same
};

NodeId ModuleReader::function_attribute(NodeId prim_func, std::string_view name) const {
  return graph_.find_in_dict(graph_.optional_node_attribute(prim_func, "attrs"), name);
}

// TVM keeps functions in a hash table: sorted here, before anything is numbered.
std::vector<FunctionNode> ModuleReader::sorted_functions() {
  const NodeId map = graph_.node_attribute(graph_.root(), "functions");
  graph_.expect(map, NodeType::map);
  const auto entries = graph_.data(map);
  if (entries.size() % 2 != 0) fail_at(map, "a Map of " + std::to_string(entries.size()) + " keys and values");
  std::vector<FunctionNode> functions;
  for (std::size_t i = 0; i < entries.size(); i += 2) {
    const NodeId global_var = entries[i];
    const NodeId function = entries[i + 1];
    if (graph_.type(function) != NodeType::prim_func) continue;
    graph_.expect(global_var, NodeType::global_var);
    std::string name = graph_.string_attribute(global_var, "name_hint");
    if (const NodeId symbol = function_attribute(function, "global_symbol"); symbol != 0) {
      graph_.expect(symbol, NodeType::string);
      name = graph_.text(symbol);
    }
    context_.set_symbol(global_var, name);
    functions.push_back({std::move(name), global_var, function});
  }
  std::sort(functions.begin(), functions.end(),
            [](const FunctionNode& a, const FunctionNode& b) { return a.name < b.name; });
  const auto twice = std::adjacent_find(functions.begin(), functions.end(),
                                        [](const FunctionNode& a, const FunctionNode& b) { return a.name == b.name; });
  if (twice != functions.end()) fail_at(twice->prim_func, "two functions are called " + shown(twice->name));
  return functions;
}

void ModuleReader::read_module_attributes() {
  for (const char* const name : {"constants", "Constants"}) {
    if (const NodeId constants = graph_.find_in_dict(attributes_, name); constants != 0) {
      context_.set_constants(graph_.array(constants));
    }
  }
  for (const char* const name : {"workspace_memory_pools", "constant_memory_pools"}) {
    const NodeId pools = graph_.find_in_dict(attributes_, name);
    if (pools == 0) continue;
    graph_.expect(pools, NodeType::pools);
    context_.pool_names(graph_.array_attribute(pools, "pools"));
  }
  if (const NodeId executor = graph_.find_in_dict(attributes_, "executor"); executor != 0) {
    graph_.expect(executor, NodeType::executor);
    const NodeId attributes = graph_.optional_node_attribute(executor, "attrs");
    if (attributes != 0) read_executor(graph_.optional_node_attribute(attributes, "__dict__"));
  }
}

// `attributes`: the Map of the executor or, in TVM 0.8, of the target.
void ModuleReader::read_executor(NodeId attributes) {
  if (attributes == 0) return;
  const std::pair<const char*, std::optional<Bytes>*> alignments[] = {
      {"workspace-byte-alignment", &module_.workspace_alignment},
      {"constant-byte-alignment", &module_.constant_alignment}};
  for (const auto& [name, alignment] : alignments) {
    const NodeId value = graph_.find_in_map(attributes, name);
    if (value == 0 || *alignment) continue;
    graph_.expect(value, NodeType::int_imm);
    const std::int64_t bytes = graph_.int_attribute(value, "value");
    if (bytes < 1) {
      fail_at(value, "value", std::string(name) + " is " + std::to_string(bytes) + ", expected at least 1");
    }
    *alignment = bytes;
  }
}

NodeId ModuleReader::lookup(NodeId prim_func, std::string_view map_attribute, NodeId key) const {
  const NodeId map = graph_.optional_node_attribute(prim_func, map_attribute);
  if (map == 0) return 0;
  graph_.expect(map, NodeType::map);
  const auto entries = graph_.data(map);
  for (std::size_t i = 0; i + 1 < entries.size(); i += 2) {
    if (entries[i] != key) continue;
    graph_.expect(entries[i + 1], NodeType::buffer);
    return entries[i + 1];
  }
  return 0;
}

std::optional<std::vector<std::int64_t>> ModuleReader::constant_shape(NodeId buffer) const {
  std::vector<std::int64_t> shape;
  const auto extents = graph_.array_attribute(buffer, "shape");
  context_.check_dimensions(buffer, extents.size());
  for (const NodeId extent : extents) {
    if (graph_.type(extent) != NodeType::int_imm) return std::nullopt;
    shape.push_back(graph_.int_attribute(extent, "value"));
  }
  return shape;
}

void ModuleReader::read_params(const FunctionNode& node, ExprReader& exprs, tir::Function& function) {
  for (const NodeId handle : graph_.array_attribute(node.prim_func, "params")) {
    graph_.expect(handle, NodeType::var);
    if (exprs.knows(handle)) fail_at(handle, "the variable is a parameter twice");
    tir::Param param{
        .var = {}, .name = graph_.string_attribute(handle, "name"), .is_tensor = false, .element = {}, .shape = {}};
    if (const NodeId buffer = lookup(node.prim_func, "buffer_map", handle); buffer != 0) {
      const NodeId data = graph_.node_attribute(buffer, "data");
      if (data != handle && exprs.knows(data)) fail_at(buffer, "data", "the storage belongs to two parameters");
      param.var = exprs.var(data);
      exprs.alias(handle, param.var);
      param.is_tensor = true;
      param.element = type_attribute(graph_, buffer);
      // TVM 0.9 and 0.10 flatten the buffers of buffer_map and keep the shapes that the caller sees here.
      const NodeId original = lookup(node.prim_func, "preflattened_buffer_map", handle);
      param.shape = constant_shape(original != 0 ? original : buffer);
      if (original != 0) {
        const NodeId original_data = graph_.node_attribute(original, "data");
        if (!exprs.knows(original_data)) exprs.alias(original_data, param.var);
      }
    } else {
      param.var = exprs.var(handle);
    }
    function.params.push_back(std::move(param));
  }
}

void ModuleReader::read_function(const FunctionNode& node) {
  try {
    tir::Function function;
    function.name = node.name;
    function.is_entry = is_true(graph_, function_attribute(node.prim_func, "runner_function"));
    if (const NodeId target = function_attribute(node.prim_func, "target"); target != 0) {
      function.target = target_kind(graph_, target);
      if (graph_.type(target) == NodeType::target) read_executor(graph_.optional_node_attribute(target, "attrs"));
    }
    const NodeId body = graph_.node_attribute(node.prim_func, "body");
    body_check_.check(body);
    ExprReader exprs(context_);
    read_params(node, exprs, function);
    BodyReader(context_, body_check_, exprs, function).read(body);
    module_.functions.push_back(std::move(function));
    prim_funcs_.push_back(node.prim_func);
    hints_.push_back(graph_.string_attribute(node.global_var, "name_hint"));
  } catch (const Error& error) {
    throw Error(error.kind(), error.where(), error.message() + " (in function " + shown(node.name) + ")");
  }
}

void ModuleReader::find_entry() {
  const auto looks_like_main = [](const std::string& name) {
    return name.ends_with("__tvm_main__") || name == "run_model" || name.ends_with("_run_model");
  };
  std::vector<std::size_t> entries;
  for (std::size_t i = 0; i < module_.functions.size(); ++i) {
    if (module_.functions[i].is_entry) entries.push_back(i);
  }
  const bool by_name = entries.empty();
  for (std::size_t i = 0; by_name && i < module_.functions.size(); ++i) {
    if (looks_like_main(module_.functions[i].name) || looks_like_main(hints_[i])) entries.push_back(i);
  }
  if (entries.empty()) {
    fail_at(graph_.root(), "no entry function: none of " + std::to_string(module_.functions.size()) +
                               " functions has the attribute runner_function or is called __tvm_main__");
  }
  if (entries.size() > 1) {
    fail_at(graph_.root(), "two entry functions, " + shown(module_.functions[entries[0]].name) + " and " +
                               shown(module_.functions[entries[1]].name) + ", expected one");
  }
  module_.entry = entries.front();
  module_.functions[module_.entry].is_entry = true;
}

// What nodes alone do not show: where variables are declared, types that go together, calls.
void ModuleReader::verify() const {
  const std::optional<tir::Fault> fault = tir::find_fault(module_);
  if (!fault) return;
  if (!fault->function) fail_at(graph_.root(), fault->message);
  const std::string place = "nodes[" + std::to_string(prim_funcs_[*fault->function]) + "]";
  fail(fault->place.empty() ? place : place + ", " + fault->place,
       fault->message + " (in function " + shown(module_.functions[*fault->function].name) + ")");
}

}  // namespace

tir::Module read_module(std::string_view json, const Limits& limits) { return ModuleReader(json, limits).read(); }

}  // namespace usmp::tir_json
