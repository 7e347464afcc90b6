// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// A save_json graph as a value that mutations change: nodes, and what they refer to.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace usmp::fuzz {

// Index into Graph::nodes; 0 is null.
using NodeIndex = std::uint32_t;

// What may stand for what: a mutation puts a node in place of another of its class.
enum class NodeClass { other, expression, statement, variable, buffer, array, string, map };

struct Node {
  std::string type;
  std::vector<std::pair<std::string, std::string>> attributes =
      {};                 // as the JSON has them; references as decimal numbers
  std::string text = {};  // repr_str; of strings, operators and NDArrays
  std::vector<std::string> keys = {};
  std::vector<NodeIndex> data = {};

  [[nodiscard]] std::string* find(std::string_view name);
  [[nodiscard]] const std::string* find(std::string_view name) const;
  [[nodiscard]] NodeIndex reference(std::string_view name) const;  // 0 if there is none
  void set(std::string_view name, std::string value);
  void set(std::string_view name, NodeIndex node) { set(name, std::to_string(node)); }
};

// Where a reference stands: in an attribute, or in `data`.
struct Slot {
  NodeIndex node = 0;
  std::size_t index = 0;
  bool in_data = false;
};

struct Graph {
  std::vector<Node> nodes;
  NodeIndex root = 0;
  std::string tvm_version;

  NodeIndex add(Node node);
  NodeIndex add_integer(std::int64_t value, std::string dtype = "int32");
  NodeIndex add_string(std::string text);
  NodeIndex add_array(std::vector<NodeIndex> elements);
  NodeIndex add_variable(std::string name, const std::string& dtype);
  NodeIndex add_pointer(std::string name, const std::string& element);  // a handle with its element type

  [[nodiscard]] NodeIndex target(const Slot& slot) const;
  void set_target(const Slot& slot, NodeIndex node);
  [[nodiscard]] std::vector<Slot> slots_to(NodeClass wanted) const;  // all references to nodes of the class
  [[nodiscard]] std::vector<NodeIndex> nodes_of(NodeClass wanted) const;
  [[nodiscard]] std::vector<NodeIndex> nodes_of(std::string_view type) const;
  // The value at a key of a DictAttrs or of a Map of strings; 0 if there is none.
  [[nodiscard]] NodeIndex in_map(NodeIndex map, std::string_view key) const;
};

[[nodiscard]] NodeClass class_of(const Node& node);

// Whether the attribute of a node of the type holds a node's index, by what TVM writes.
[[nodiscard]] bool is_reference(std::string_view type, std::string_view attribute);

[[nodiscard]] Graph parse_graph(std::string_view json);
[[nodiscard]] std::string graph_json(const Graph& graph);

// The graph without the nodes that the root does not lead to, the others in order.
[[nodiscard]] Graph compacted(const Graph& graph);

}  // namespace usmp::fuzz
