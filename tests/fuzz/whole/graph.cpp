// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// Reads and writes the JSON of graphs, and finds nodes and references by class.
#include "graph.hpp"

#include <algorithm>
#include <charconv>
#include <nlohmann/json.hpp>

namespace usmp::fuzz {
namespace {

using Json = nlohmann::json;

constexpr std::string_view expressions[] = {
    "IntImm",   "FloatImm", "tir.StringImm", "tir.Add",      "tir.Sub",     "tir.Mul",
    "tir.Div",  "tir.Mod",  "tir.FloorDiv",  "tir.FloorMod", "tir.Min",     "tir.Max",
    "tir.EQ",   "tir.NE",   "tir.LT",        "tir.LE",       "tir.GT",      "tir.GE",
    "tir.And",  "tir.Or",   "tir.Not",       "tir.Let",      "tir.Select",  "tir.Cast",
    "tir.Load", "tir.Ramp", "tir.Broadcast", "tir.Call",     "tir.Shuffle", "tir.BufferLoad"};
constexpr std::string_view statement_types[] = {
    "tir.Allocate",    "tir.AllocateConst", "tir.DeclBuffer", "tir.LetStmt",  "tir.AttrStmt",
    "tir.SeqStmt",     "tir.For",           "tir.IfThenElse", "tir.Evaluate", "tir.While",
    "tir.BufferStore", "tir.Store",         "tir.AssertStmt"};

// Attributes that never hold a node's index.
constexpr std::string_view scalar_attributes[] = {"dtype", "data_alignment", "offset_factor", "buffer_type",
                                                  "span",  "is_internal",    "lanes",         "default_device_type"};

template <class List>
bool holds(const List& list, std::string_view text) {
  return std::find(std::begin(list), std::end(list), text) != std::end(list);
}

NodeIndex number(std::string_view text) {
  NodeIndex value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  return error == std::errc() && end == text.data() + text.size() ? value : 0;
}

Node node_of(const Json& json) {
  Node node;
  node.type = json.at("type_key").get<std::string>();
  const auto attributes = json.find("attrs");
  if (attributes != json.end()) {
    for (const auto& [name, value] : attributes->items()) node.attributes.emplace_back(name, value.get<std::string>());
  }
  node.text = json.value("repr_str", std::string());
  if (json.contains("keys")) node.keys = json.at("keys").get<std::vector<std::string>>();
  if (json.contains("data")) node.data = json.at("data").get<std::vector<NodeIndex>>();
  return node;
}

// Mutated texts need not be UTF-8.
std::string quoted(const std::string& text) {
  const bool plain =
      std::all_of(text.begin(), text.end(), [](char c) { return c >= ' ' && c <= '~' && c != '"' && c != '\\'; });
  return plain ? '"' + text + '"' : Json(text).dump(-1, ' ', false, Json::error_handler_t::replace);
}

void append_node(std::string& out, const Node& node) {
  out += "{\"type_key\":" + quoted(node.type);
  if (!node.attributes.empty()) {
    char separator = '{';
    out += ",\"attrs\":";
    for (const auto& [name, value] : node.attributes) {
      out += separator + quoted(name) + ":" + quoted(value);
      separator = ',';
    }
    out += '}';
  }
  if (!node.text.empty()) out += ",\"repr_str\":" + quoted(node.text);
  if (!node.keys.empty()) out += ",\"keys\":" + Json(node.keys).dump(-1, ' ', false, Json::error_handler_t::replace);
  if (!node.data.empty()) out += ",\"data\":" + Json(node.data).dump();
  out += '}';
}

}  // namespace

std::string* Node::find(std::string_view name) {
  const auto found = std::find_if(attributes.begin(), attributes.end(), [&](const auto& a) { return a.first == name; });
  return found == attributes.end() ? nullptr : &found->second;
}

const std::string* Node::find(std::string_view name) const {
  const auto found = std::find_if(attributes.begin(), attributes.end(), [&](const auto& a) { return a.first == name; });
  return found == attributes.end() ? nullptr : &found->second;
}

NodeIndex Node::reference(std::string_view name) const {
  const std::string* value = find(name);
  return value == nullptr ? 0 : number(*value);
}

void Node::set(std::string_view name, std::string value) {
  if (std::string* present = find(name)) {
    *present = std::move(value);
  } else {
    attributes.emplace_back(name, std::move(value));
  }
}

NodeIndex Graph::add(Node node) {
  nodes.push_back(std::move(node));
  return static_cast<NodeIndex>(nodes.size() - 1);
}

NodeIndex Graph::add_integer(std::int64_t value, std::string dtype) {
  return add({.type = "IntImm", .attributes = {{"dtype", std::move(dtype)}, {"value", std::to_string(value)}}});
}

NodeIndex Graph::add_string(std::string text) { return add({.type = "runtime.String", .text = std::move(text)}); }

NodeIndex Graph::add_array(std::vector<NodeIndex> elements) {
  return add({.type = "Array", .data = std::move(elements)});
}

NodeIndex Graph::add_variable(std::string name, const std::string& dtype) {
  const NodeIndex type = add({.type = "PrimType", .attributes = {{"dtype", dtype}}});
  const std::string text = std::to_string(add_string(std::move(name)));
  return add(
      {.type = "tir.Var", .attributes = {{"dtype", dtype}, {"name", text}, {"type_annotation", std::to_string(type)}}});
}

NodeIndex Graph::add_pointer(std::string name, const std::string& element) {
  const NodeIndex pointed = add({.type = "PrimType", .attributes = {{"dtype", element}}});
  const NodeIndex scope = add_string("global");
  const NodeIndex type =
      add({.type = "PointerType",
           .attributes = {{"element_type", std::to_string(pointed)}, {"storage_scope", std::to_string(scope)}}});
  const NodeIndex variable = add_variable(std::move(name), "handle");
  nodes[variable].set("type_annotation", type);
  return variable;
}

NodeIndex Graph::target(const Slot& slot) const {
  const Node& node = nodes[slot.node];
  const NodeIndex index = slot.in_data ? node.data[slot.index] : number(node.attributes[slot.index].second);
  return index < nodes.size() ? index : 0;
}

void Graph::set_target(const Slot& slot, NodeIndex node) {
  if (slot.in_data) {
    nodes[slot.node].data[slot.index] = node;
  } else {
    nodes[slot.node].attributes[slot.index].second = std::to_string(node);
  }
}

std::vector<Slot> Graph::slots_to(NodeClass wanted) const {
  std::vector<Slot> slots;
  const auto consider = [&](const Slot& slot) {
    const NodeIndex index = target(slot);
    if (index != 0 && class_of(nodes[index]) == wanted) slots.push_back(slot);
  };
  for (NodeIndex i = 0; i < nodes.size(); ++i) {
    for (std::size_t k = 0; k < nodes[i].attributes.size(); ++k) {
      if (is_reference(nodes[i].type, nodes[i].attributes[k].first)) consider({i, k, false});
    }
    for (std::size_t k = 0; k < nodes[i].data.size(); ++k) consider({i, k, true});
  }
  return slots;
}

std::vector<NodeIndex> Graph::nodes_of(NodeClass wanted) const {
  std::vector<NodeIndex> found;
  for (NodeIndex i = 0; i < nodes.size(); ++i) {
    if (class_of(nodes[i]) == wanted) found.push_back(i);
  }
  return found;
}

std::vector<NodeIndex> Graph::nodes_of(std::string_view type) const {
  std::vector<NodeIndex> found;
  for (NodeIndex i = 0; i < nodes.size(); ++i) {
    if (nodes[i].type == type) found.push_back(i);
  }
  return found;
}

NodeIndex Graph::in_map(NodeIndex map, std::string_view key) const {
  if (nodes[map].type == "DictAttrs") map = nodes[map].reference("__dict__");
  const Node& node = nodes[map];
  for (std::size_t i = 0; i < std::min(node.keys.size(), node.data.size()); ++i) {
    if (node.keys[i] == key) return node.data[i];
  }
  return 0;
}

NodeClass class_of(const Node& node) {
  if (node.type == "tir.Var" || node.type == "tir.SizeVar") return NodeClass::variable;
  if (node.type == "tir.Buffer") return NodeClass::buffer;
  if (node.type == "Array") return NodeClass::array;
  if (node.type == "Map") return NodeClass::map;
  if (node.type == "runtime.String") return NodeClass::string;
  if (holds(expressions, node.type)) return NodeClass::expression;
  return holds(statement_types, node.type) ? NodeClass::statement : NodeClass::other;
}

bool is_reference(std::string_view type, std::string_view attribute) {
  if (attribute == "value") return type != "IntImm" && type != "FloatImm";
  if (attribute == "kind") return type == "Target";
  return !holds(scalar_attributes, attribute);
}

Graph parse_graph(std::string_view json) {
  const Json parsed = Json::parse(json);
  Graph graph;
  for (const Json& node : parsed.at("nodes")) graph.nodes.push_back(node_of(node));
  graph.root = parsed.at("root").get<NodeIndex>();
  graph.tvm_version = parsed.at("attrs").at("tvm_version").get<std::string>();
  return graph;
}

std::string graph_json(const Graph& graph) {
  std::string out = "{\"root\":" + std::to_string(graph.root) + ",\"nodes\":[";
  for (std::size_t i = 0; i < graph.nodes.size(); ++i) {
    if (i > 0) out += ",\n";
    append_node(out, graph.nodes[i]);
  }
  return out + "],\"b64ndarrays\":[],\"attrs\":{\"tvm_version\":" + quoted(graph.tvm_version) + "}}";
}

Graph compacted(const Graph& graph) {
  std::vector<bool> reached(graph.nodes.size(), false);
  std::vector<NodeIndex> open = {0, graph.root};
  const auto visit = [&](const Slot& slot) { open.push_back(graph.target(slot)); };
  while (!open.empty()) {
    const NodeIndex index = open.back();
    open.pop_back();
    if (reached[index]) continue;
    reached[index] = true;
    const Node& node = graph.nodes[index];
    for (std::size_t k = 0; k < node.attributes.size(); ++k) {
      if (is_reference(node.type, node.attributes[k].first)) visit({index, k, false});
    }
    for (std::size_t k = 0; k < node.data.size(); ++k) visit({index, k, true});
  }
  std::vector<NodeIndex> renamed(graph.nodes.size(), 0);
  Graph result;
  result.tvm_version = graph.tvm_version;
  for (NodeIndex i = 0; i < graph.nodes.size(); ++i) {
    if (!reached[i]) continue;
    renamed[i] = static_cast<NodeIndex>(result.nodes.size());
    result.nodes.push_back(graph.nodes[i]);
  }
  for (Node& node : result.nodes) {
    for (auto& [name, value] : node.attributes) {
      const NodeIndex old = is_reference(node.type, name) ? number(value) : 0;
      if (old != 0 && old < renamed.size()) value = std::to_string(renamed[old]);
    }
    for (NodeIndex& element : node.data) element = element < renamed.size() ? renamed[element] : element;
  }
  result.root = renamed[graph.root];
  return result;
}

}  // namespace usmp::fuzz
