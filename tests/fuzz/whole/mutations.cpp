// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// Changes numbers, types, texts, references and lists of the nodes that a mutation's numbers choose.
#include "mutations.hpp"

#include <algorithm>
#include <iterator>

namespace usmp::fuzz {
namespace {

constexpr NodeClass classes[] = {NodeClass::expression, NodeClass::statement, NodeClass::variable, NodeClass::buffer,
                                 NodeClass::array,      NodeClass::string,    NodeClass::map,      NodeClass::other};

constexpr const char* binary_types[] = {"tir.Add",      "tir.Sub", "tir.Mul", "tir.Div", "tir.Mod", "tir.FloorDiv",
                                        "tir.FloorMod", "tir.Min", "tir.Max", "tir.EQ",  "tir.NE",  "tir.LT",
                                        "tir.LE",       "tir.GT",  "tir.GE",  "tir.And", "tir.Or"};

template <class List>
auto* chosen(List& list, unsigned choice) {
  return std::size(list) == 0 ? nullptr : &list[choice % std::size(list)];
}

// The node that `choice` means among those of a type or class; null if there is none.
template <class Wanted>
Node* chosen_node(Graph& graph, Wanted wanted, unsigned choice) {
  const auto nodes = graph.nodes_of(wanted);
  const auto* index = chosen(nodes, choice);
  return index == nullptr ? nullptr : &graph.nodes[*index];
}

void set_integer(Graph& graph, const Mutation& m) {
  Node* node = chosen_node(graph, std::string_view("IntImm"), m.where);
  if (node != nullptr) node->set("value", std::to_string(m.flavour % 2 == 0 ? odd_number(m.value) : m.value % 64));
}

void set_dtype(Graph& graph, const Mutation& m) {
  std::vector<NodeIndex> typed;
  for (NodeIndex i = 0; i < graph.nodes.size(); ++i) {
    if (graph.nodes[i].find("dtype") != nullptr) typed.push_back(i);
  }
  if (const auto* index = chosen(typed, m.where)) graph.nodes[*index].set("dtype", odd_dtype(m.value));
}

// Another node of the same class; now and then any node at all.
void retarget(Graph& graph, const Mutation& m) {
  const NodeClass wanted = classes[m.flavour % std::size(classes)];
  const auto slots = graph.slots_to(wanted);
  const Slot* slot = chosen(slots, m.where);
  if (slot == nullptr) return;
  const auto nodes = graph.nodes_of(wanted);
  constexpr unsigned rare = 16;
  const bool any = m.value % rare == 0;
  graph.set_target(*slot, any ? static_cast<NodeIndex>(m.what % graph.nodes.size()) : *chosen(nodes, m.what));
}

void change_operation(Graph& graph, const Mutation& m) {
  std::vector<NodeIndex> binary;
  for (NodeIndex i = 0; i < graph.nodes.size(); ++i) {
    if (graph.nodes[i].reference("a") != 0 && graph.nodes[i].reference("b") != 0) binary.push_back(i);
  }
  if (const auto* index = chosen(binary, m.where)) graph.nodes[*index].type = *chosen(binary_types, m.value);
}

void edit_array(Graph& graph, const Mutation& m) {
  const auto arrays = graph.nodes_of(NodeClass::array);
  std::vector<NodeIndex> filled;
  std::copy_if(arrays.begin(), arrays.end(), std::back_inserter(filled),
               [&](NodeIndex array) { return !graph.nodes[array].data.empty(); });
  const auto* index = chosen(filled, m.where);
  if (index == nullptr) return;
  auto& data = graph.nodes[*index].data;
  const auto at = data.begin() + static_cast<std::ptrdiff_t>(m.what % data.size());
  const NodeIndex element = *at;
  switch (m.flavour % 4) {
    case 0:
      std::swap(*at, data[m.value % data.size()]);
      break;
    case 1:
      data.erase(at);
      break;
    case 2:
      data.insert(data.begin() + static_cast<std::ptrdiff_t>(m.value % data.size()), element);
      break;
    default: {
      auto& other = graph.nodes[*chosen(filled, m.value)].data;
      other.push_back(element);
    }
  }
}

// Attributes that are numbers of their own, not indices.
void set_scalar(Graph& graph, const Mutation& m) {
  std::vector<Slot> scalars;
  for (NodeIndex i = 0; i < graph.nodes.size(); ++i) {
    const Node& node = graph.nodes[i];
    for (std::size_t k = 0; k < node.attributes.size(); ++k) {
      const std::string& name = node.attributes[k].first;
      const bool is_value = name == "value" && node.type == "FloatImm";
      if (is_value || (!is_reference(node.type, name) && name != "dtype" && name != "value")) {
        scalars.push_back({i, k, false});
      }
    }
  }
  const Slot* slot = chosen(scalars, m.where);
  if (slot == nullptr) return;
  constexpr const char* floats[] = {"nan", "inf", "-inf", "1e400", "-0.0", "1e-320", "0x1p3", "", "16777217"};
  std::string& text = graph.nodes[slot->node].attributes[slot->index].second;
  text = m.flavour % 4 == 0 ? *chosen(floats, m.value)
                            : std::to_string(m.flavour % 2 == 0 ? odd_number(m.value) : m.value % 8);
}

void set_text(Graph& graph, const Mutation& m) {
  Node* node = chosen_node(graph, NodeClass::string, m.where);
  if (node == nullptr) return;
  const Node* other = chosen_node(graph, NodeClass::string, m.what);
  node->text = m.flavour % 2 == 0 ? odd_text(m.value) : other->text;
}

void edit_map(Graph& graph, const Mutation& m) {
  const auto maps = graph.nodes_of(NodeClass::map);
  std::vector<NodeIndex> filled;
  std::copy_if(maps.begin(), maps.end(), std::back_inserter(filled),
               [&](NodeIndex map) { return !graph.nodes[map].data.empty(); });
  const auto* index = chosen(filled, m.where);
  if (index == nullptr) return;
  Node& map = graph.nodes[*index];
  const std::size_t at = m.what % map.data.size();
  switch (m.flavour % 3) {
    case 0:
      map.data[at] = static_cast<NodeIndex>(m.value % graph.nodes.size());
      break;
    case 1:
      map.data.erase(map.data.begin() + static_cast<std::ptrdiff_t>(at));
      if (at < map.keys.size()) map.keys.erase(map.keys.begin() + static_cast<std::ptrdiff_t>(at));
      break;
    default:
      if (at < map.keys.size()) map.keys[at] = odd_text(m.value);
  }
}

void remove_attribute(Graph& graph, const Mutation& m) {
  Node* node = chosen(graph.nodes, m.where);
  if (node == nullptr || node->attributes.empty()) return;
  node->attributes.erase(node->attributes.begin() + static_cast<std::ptrdiff_t>(m.what % node->attributes.size()));
}

// A reference gets a node of its own, so that later changes of it do not reach the other uses.
void unshare(Graph& graph, const Mutation& m) {
  const auto slots = graph.slots_to(classes[m.flavour % std::size(classes)]);
  const Slot* slot = chosen(slots, m.where);
  if (slot != nullptr) graph.set_target(*slot, graph.add(Node(graph.nodes[graph.target(*slot)])));
}

void swap_references(Graph& graph, const Mutation& m) {
  const auto slots = graph.slots_to(classes[m.flavour % std::size(classes)]);
  if (slots.empty()) return;
  const Slot* a = chosen(slots, m.where);
  const Slot* b = chosen(slots, m.what);
  const NodeIndex target = graph.target(*a);
  graph.set_target(*a, graph.target(*b));
  graph.set_target(*b, target);
}

void set_attribute(Graph& graph, const Mutation& m) {
  Node* node = chosen(graph.nodes, m.where);
  if (node == nullptr || node->attributes.empty()) return;
  std::string& text = node->attributes[m.what % node->attributes.size()].second;
  text = m.flavour % 2 == 0 ? std::to_string(odd_number(m.value)) : odd_text(m.value);
}

void change_call(Graph& graph, const Mutation& m) {
  Node* node = chosen_node(graph, std::string_view("tir.Call"), m.where);
  if (node == nullptr) return;
  const NodeIndex op = node->reference("op");
  const auto index = static_cast<NodeIndex>(node - graph.nodes.data());
  Node changed = graph.nodes[op];
  changed.text = odd_operator(m.value);
  const NodeIndex added = graph.add(std::move(changed));
  graph.nodes[index].set("op", added);
}

void damage_constant(Graph& graph, const Mutation& m) {
  Node* node = chosen_node(graph, std::string_view("runtime.NDArray"), m.where);
  if (node == nullptr || node->text.empty()) return;
  constexpr std::size_t header = 64;
  if (m.flavour % 4 == 0) {
    node->text.resize(m.what % node->text.size());
  } else {
    node->text[m.what % std::min(header, node->text.size())] = static_cast<char>('A' + m.value % 26);
  }
}

// What fits pools to buffers: ordered candidates, some of which no pools file names.
void annotate_pools(Graph& graph, const Mutation& m) {
  std::vector<NodeIndex> annotated = graph.nodes_of("tir.Allocate");
  const auto constants = graph.nodes_of("tir.AllocateConst");
  annotated.insert(annotated.end(), constants.begin(), constants.end());
  const auto* index = chosen(annotated, m.where);
  if (index == nullptr) return;
  constexpr const char* pools[] = {"sram", "dtcm", "flash", "extra"};
  std::vector<NodeIndex> infos;
  for (unsigned i = 0; i <= m.flavour % 3U; ++i) {
    Node info{.type = graph.nodes[*index].type == "tir.Allocate" ? "ir.WorkspacePoolInfo" : "ir.ConstantPoolInfo"};
    info.set("pool_name", graph.add_string(*chosen(pools, m.what + i)));
    info.set("size_hint_bytes", graph.add_integer(m.value % 2 == 0 ? -1 : odd_number(m.value)));
    info.set("is_internal", i % 2 == 0 ? "0" : "1");
    infos.push_back(graph.add(std::move(info)));
  }
  const NodeIndex list = graph.add_array(std::move(infos));
  const NodeIndex map = graph.add({.type = "Map", .keys = {"candidate_memory_pools"}, .data = {list}});
  graph.nodes[*index].set("annotations", map);
}

}  // namespace

void apply(Graph& graph, const Mutation& mutation) {
  using Change = void (*)(Graph&, const Mutation&);
  constexpr Change changes[] = {set_integer, set_integer,     set_dtype,     retarget,   retarget, change_operation,
                                edit_array,  edit_array,      set_scalar,    set_text,   edit_map, remove_attribute,
                                unshare,     swap_references, set_attribute, change_call};
  static_assert(std::size(changes) == first_insertion);
  const std::uint8_t kind = mutation.kind % mutation_kinds;
  if (kind < first_insertion) {
    changes[kind](graph, mutation);
  } else if (kind == mutation_kinds - 2) {
    annotate_pools(graph, mutation);
  } else if (kind == mutation_kinds - 1) {
    damage_constant(graph, mutation);
  } else {
    insert(graph, mutation);
  }
}

}  // namespace usmp::fuzz
