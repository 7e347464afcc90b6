// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// Statements around statements, expressions around expressions. The parts come from the graph where they can, so that
// much of the result is a module that makes sense.
#include <iterator>
#include <string>

#include "mutations.hpp"

namespace usmp::fuzz {
namespace {

template <class List>
auto chosen_of(const List& list, unsigned choice) {
  return list[choice % std::size(list)];
}

NodeIndex some(const Graph& graph, NodeClass wanted, unsigned choice) {
  const auto nodes = graph.nodes_of(wanted);
  return nodes.empty() ? 0 : chosen_of(nodes, choice);
}

NodeIndex some(const Graph& graph, std::string_view type, unsigned choice) {
  const auto nodes = graph.nodes_of(type);
  return nodes.empty() ? 0 : chosen_of(nodes, choice);
}

std::string dtype_of(const Graph& graph, NodeIndex node) {
  const std::string* dtype = graph.nodes[node].find("dtype");
  return dtype == nullptr ? "int32" : *dtype;
}

Node with(std::string type, std::initializer_list<std::pair<const char*, NodeIndex>> references,
          const std::string& dtype = {}) {
  Node node{.type = std::move(type)};
  if (!dtype.empty()) node.set("dtype", dtype);
  for (const auto& [name, target] : references) node.set(name, target);
  return node;
}

NodeIndex binary(Graph& graph, const char* type, NodeIndex a, NodeIndex b, const std::string& dtype) {
  return graph.add(with(type, {{"a", a}, {"b", b}}, dtype));
}

NodeIndex call(Graph& graph, const char* op, std::vector<NodeIndex> arguments, const std::string& dtype) {
  const NodeIndex name = graph.add({.type = "Op", .text = op});
  const NodeIndex list = graph.add_array(std::move(arguments));
  return graph.add(with("tir.Call", {{"op", name}, {"args", list}}, dtype));
}

NodeIndex condition(Graph& graph, const Mutation& m) {
  if (m.value % 4 == 0) return graph.add_integer(m.value / 4 % 2, "bool");
  const NodeIndex variable = some(graph, NodeClass::variable, m.what);
  constexpr const char* comparisons[] = {"tir.LT", "tir.EQ", "tir.GE", "tir.NE"};
  const NodeIndex bound = graph.add_integer(m.value % 16, dtype_of(graph, variable));
  return binary(graph, chosen_of(comparisons, m.value), variable, bound, "bool");
}

NodeIndex buffer_of(Graph& graph, NodeIndex data, NodeIndex extents, const std::string& dtype) {
  Node node = with("tir.Buffer",
                   {{"data", data},
                    {"shape", extents},
                    {"strides", graph.add_array({})},
                    {"name", graph.add_string("added")},
                    {"elem_offset", graph.add_integer(0)}},
                   dtype);
  node.set("data_alignment", "64");
  node.set("offset_factor", "1");
  return graph.add(std::move(node));
}

NodeIndex store(Graph& graph, NodeIndex buffer, NodeIndex index, NodeIndex value) {
  return graph.add(
      with("tir.BufferStore", {{"buffer", buffer}, {"indices", graph.add_array({index})}, {"value", value}}));
}

NodeIndex sequence(Graph& graph, std::vector<NodeIndex> statements) {
  return graph.add(with("tir.SeqStmt", {{"seq", graph.add_array(std::move(statements))}}));
}

NodeIndex loop(Graph& graph, const Mutation& m, NodeIndex body) {
  const NodeIndex variable = graph.add_variable("i", "int32");
  const NodeIndex first = graph.add_integer(m.value % 8 == 7 ? -1 : 0);
  const NodeIndex extent =
      m.value % 8 == 6 ? some(graph, NodeClass::expression, m.what) : graph.add_integer(m.value % 9);
  Node node = with("tir.For", {{"loop_var", variable}, {"min", first}, {"extent", extent}, {"body", body}});
  node.set("kind", std::to_string(m.value / 8 % 5));
  return graph.add(std::move(node));
}

// An allocate around the statement, written in front of it and read behind it, or not.
NodeIndex allocate(Graph& graph, const Mutation& m, NodeIndex body) {
  const std::string dtype = m.value % 4 == 0 ? odd_dtype(m.value / 4) : "int32";
  const NodeIndex data = graph.add_pointer("added", dtype);
  const NodeIndex extents = graph.add_array({graph.add_integer(1 + m.what % 1000)});
  const NodeIndex zero = graph.add_integer(0);
  const NodeIndex buffer = buffer_of(graph, data, extents, dtype);
  std::vector<NodeIndex> parts = {body};
  if (m.value & 1U) parts.insert(parts.begin(), store(graph, buffer, zero, graph.add_integer(7, dtype)));
  if (m.value & 2U) {
    const NodeIndex load =
        graph.add(with("tir.BufferLoad", {{"buffer", buffer}, {"indices", graph.add_array({zero})}}, dtype));
    parts.push_back(store(graph, buffer, zero, load));
  }
  return graph.add(with("tir.Allocate",
                        {{"buffer_var", data},
                         {"extents", extents},
                         {"condition", graph.add_integer(1, "bool")},
                         {"body", sequence(graph, std::move(parts))},
                         {"annotations", graph.add({.type = "Map"})}},
                        dtype));
}

NodeIndex allocate_const(Graph& graph, const Mutation& m, NodeIndex body) {
  const NodeIndex present = some(graph, "tir.AllocateConst", m.what);
  if (present == 0) return body;
  Node node = graph.nodes[present];
  const NodeIndex data =
      m.value % 2 == 0 ? graph.add_pointer("constant", dtype_of(graph, present)) : node.reference("buffer_var");
  node.set("buffer_var", data);
  node.set("body", body);
  return graph.add(std::move(node));
}

NodeIndex around_statement(Graph& graph, const Mutation& m, NodeIndex body) {
  const NodeIndex other = some(graph, NodeClass::statement, m.what);
  const NodeIndex value = some(graph, NodeClass::expression, m.what);
  switch (m.flavour % 12) {
    case 0:
      return loop(graph, m, body);
    case 1:
      return graph.add(
          with("tir.IfThenElse",
               {{"condition", condition(graph, m)}, {"then_case", body}, {"else_case", m.value % 2 == 0 ? 0 : other}}));
    case 2:
      return allocate(graph, m, body);
    case 3: {
      const NodeIndex variable = graph.add_variable("let", dtype_of(graph, value));
      return graph.add(with("tir.LetStmt", {{"var", variable}, {"value", value}, {"body", body}}));
    }
    case 4: {
      const NodeIndex key = graph.add_string(odd_text(m.value));
      const NodeIndex node = m.what % 2 == 0 ? some(graph, NodeClass::variable, m.what) : graph.add_string("c");
      const NodeIndex text =
          graph.add(with("tir.StringImm", {{"value", graph.add_string(odd_text(m.what))}}, "handle"));
      return graph.add(
          with("tir.AttrStmt",
               {{"node", node}, {"attr_key", key}, {"value", m.value % 2 == 0 ? value : text}, {"body", body}}));
    }
    case 5:
      return m.value % 2 == 0 ? sequence(graph, {body, other}) : sequence(graph, {other, body});
    case 6:
      return graph.add(with("tir.While", {{"condition", condition(graph, m)}, {"body", body}}));
    case 7: {
      const NodeIndex text =
          graph.add(with("tir.StringImm", {{"value", graph.add_string(odd_text(m.what))}}, "handle"));
      return graph.add(with("tir.AssertStmt", {{"condition", condition(graph, m)}, {"message", text}, {"body", body}}));
    }
    case 8:
      return sequence(graph, {body, graph.add(with("tir.Evaluate", {{"value", value}}))});
    case 9:
      return graph.add(with("tir.DeclBuffer", {{"buffer", some(graph, NodeClass::buffer, m.what)}, {"body", body}}));
    case 10:
      return allocate_const(graph, m, body);
    default: {
      const NodeIndex index =
          m.value % 2 == 0 ? some(graph, NodeClass::variable, m.value) : graph.add_integer(m.value % 7);
      return sequence(graph, {store(graph, some(graph, NodeClass::buffer, m.what), index, value), body});
    }
  }
}

NodeIndex pointer_call(Graph& graph, const Mutation& m, NodeIndex index) {
  const NodeIndex buffer = some(graph, NodeClass::buffer, m.what);
  const NodeIndex data = graph.nodes[buffer].reference("data");
  if (m.value % 2 == 0) {
    const NodeIndex load = graph.add(
        with("tir.BufferLoad", {{"buffer", buffer}, {"indices", graph.add_array({index})}}, dtype_of(graph, buffer)));
    return call(graph, "tir.address_of", {load}, "handle");
  }
  const NodeIndex type = call(graph, "tir.type_annotation", {}, dtype_of(graph, buffer));
  return call(graph, "tir.tvm_access_ptr", {type, data, index, graph.add_integer(8), graph.add_integer(m.value % 4)},
              "handle");
}

NodeIndex around_expression(Graph& graph, const Mutation& m, NodeIndex inner) {
  const std::string dtype = dtype_of(graph, inner);
  const NodeIndex other = some(graph, NodeClass::expression, m.what);
  constexpr const char* operations[] = {"tir.Add",      "tir.Sub",      "tir.Mul", "tir.Div", "tir.Mod",
                                        "tir.FloorDiv", "tir.FloorMod", "tir.Min", "tir.Max"};
  switch (m.flavour % 13) {
    case 0:
      return graph.add(with("tir.Cast", {{"value", inner}}, odd_dtype(m.value)));
    case 1:
      return graph.add(with(
          "tir.Select", {{"condition", condition(graph, m)}, {"true_value", inner}, {"false_value", other}}, dtype));
    case 2:
      return graph.add(with("tir.Not", {{"a", inner}}, "bool"));
    case 3: {
      const NodeIndex variable = graph.add_variable("x", dtype);
      const NodeIndex twice = binary(graph, "tir.Add", variable, variable, dtype);
      return graph.add(with("tir.Let", {{"var", variable}, {"value", inner}, {"body", twice}}, dtype));
    }
    case 4: {
      std::vector<NodeIndex> arguments = {inner};
      for (unsigned i = 0; i < m.what % 7U; ++i)
        arguments.push_back(i % 2 == 0 ? graph.add_integer(i * 5 + 1, dtype) : other);
      return call(graph, odd_operator(m.value), std::move(arguments), dtype);
    }
    case 5: {
      Node node = m.value % 2 == 0
                      ? with("tir.Broadcast", {{"value", inner}}, dtype + "x4")
                      : with("tir.Ramp", {{"base", inner}, {"stride", graph.add_integer(1)}}, dtype + "x4");
      node.set("lanes", m.value % 8 == 7 ? "0" : "4");
      return graph.add(std::move(node));
    }
    case 6: {
      const NodeIndex buffer = some(graph, NodeClass::buffer, m.what);
      return graph.add(
          with("tir.BufferLoad", {{"buffer", buffer}, {"indices", graph.add_array({inner})}}, dtype_of(graph, buffer)));
    }
    case 7:
      return binary(graph, chosen_of(operations, m.value), inner,
                    m.value % 3 == 0 ? other : graph.add_integer(m.what % 9, dtype), dtype);
    case 8:
      return graph.add(with("tir.Shuffle",
                            {{"vectors", graph.add_array({inner, other})},
                             {"indices", graph.add_array({graph.add_integer(m.value % 4)})}},
                            dtype));
    case 9:
      return call(graph, "tir.if_then_else", {condition(graph, m), inner, other}, dtype);
    case 10:
      return pointer_call(graph, m, inner);
    case 11:
      return some(graph, NodeClass::variable, m.what);
    default:
      return graph.add_integer(odd_number(m.value), dtype);
  }
}

}  // namespace

void insert(Graph& graph, const Mutation& mutation) {
  const bool statement = mutation.kind % 2 == 0;
  const auto slots = graph.slots_to(statement ? NodeClass::statement : NodeClass::expression);
  if (slots.empty()) return;
  const Slot slot = chosen_of(slots, mutation.where);
  const NodeIndex inner = graph.target(slot);
  graph.set_target(slot,
                   statement ? around_statement(graph, mutation, inner) : around_expression(graph, mutation, inner));
}

}  // namespace usmp::fuzz
