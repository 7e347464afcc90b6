// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// Reads archives of testdata, strips what the reader passes over, and cuts their entries to some calls.
#include "seeds.hpp"

#include <algorithm>
#include <cstdint>
#include <map>
#include <set>
#include <tuple>

#include "fuzz.hpp"
#include "usmp/mlf/archive.hpp"

namespace usmp::fuzz {
namespace {

constexpr std::string_view names[] = {"cast_subtract", "repeated_op", "lstm", "ds_cnn", "resnet8"};

// Relay, types and source positions: the reader passes over them.
void strip(Graph& graph) {
  constexpr std::string_view unread[] = {"_checked_type_",   "span",       "virtual_device_", "global_type_var_map_",
                                         "type_definitions", "source_map", "global_var_map_"};
  for (Node& node : graph.nodes) {
    std::erase_if(node.attributes, [&](const auto& a) {
      return std::find(std::begin(unread), std::end(unread), a.first) != std::end(unread);
    });
  }
  Node& attributes = graph.nodes[graph.nodes[graph.nodes[graph.root].reference("attrs")].reference("__dict__")];
  for (std::size_t i = 0; i < attributes.keys.size(); ++i) {
    if (attributes.keys[i] == "main_func_info") attributes.data[i] = 0;
  }
}

Seed read_seed(std::string_view name) {
  const mlf::Archive archive = mlf::read_archive(std::string(USMP_TESTDATA "/") + std::string(name) + ".tar");
  const auto text = [&](std::string_view member) {
    const mlf::Member* found = archive.find(member);
    require(found != nullptr, "a seed without its members");
    return found->bytes;
  };
  Seed seed{.graph = parse_graph(text("src/default.tir.json")),
            .metadata = text("metadata.json"),
            .header = text("codegen/host/include/tvmgen_default.h")};
  strip(seed.graph);
  seed.graph = compacted(seed.graph);
  return seed;
}

NodeIndex entry_of(const Graph& graph) {
  for (const NodeIndex function : graph.nodes_of("tir.PrimFunc")) {
    if (graph.in_map(graph.nodes[function].reference("attrs"), "runner_function") != 0) return function;
  }
  return 0;
}

// The names in calls below a statement of the entry: the first argument of a call.
std::string callee_below(const Graph& graph, NodeIndex statement) {
  std::vector<NodeIndex> open = {statement};
  while (!open.empty()) {
    const Node& node = graph.nodes[open.back()];
    open.pop_back();
    if (node.type == "tir.StringImm") return graph.nodes[node.reference("value")].text;
    if (node.type == "Array") open.insert(open.end(), node.data.begin(), node.data.end());
    if (node.type == "tir.Evaluate") open.push_back(node.reference("value"));
    if (node.type == "tir.Call") open.push_back(node.reference("args"));
  }
  return {};
}

void keep_functions(Graph& graph, const std::set<std::string>& called, NodeIndex entry) {
  Node& map = graph.nodes[graph.nodes[graph.root].reference("functions")];
  std::vector<NodeIndex> kept;
  for (std::size_t i = 0; i + 1 < map.data.size(); i += 2) {
    const NodeIndex symbol = graph.in_map(graph.nodes[map.data[i + 1]].reference("attrs"), "global_symbol");
    if (map.data[i + 1] != entry && !called.contains(graph.nodes[symbol].text)) continue;
    kept.insert(kept.end(), {map.data[i], map.data[i + 1]});
  }
  map.data = kept;
}

Graph with_calls(Graph graph, unsigned first, unsigned count) {
  const NodeIndex entry = entry_of(graph);
  std::vector<NodeIndex> calls;
  std::vector<NodeIndex> open = {graph.nodes[entry].reference("body")};
  while (!open.empty()) {
    const NodeIndex index = open.back();
    const Node& node = graph.nodes[index];
    open.pop_back();
    if (node.type == "tir.Evaluate") calls.push_back(index);
    if (node.type == "Array") open.insert(open.end(), node.data.rbegin(), node.data.rend());
    for (const std::string_view child : {"body", "seq"}) {
      if (const NodeIndex next = node.reference(child); next != 0) open.push_back(next);
    }
  }
  if (calls.empty()) return graph;
  first %= static_cast<unsigned>(calls.size());
  count = 1 + count % static_cast<unsigned>(calls.size());
  std::set<NodeIndex> dropped;
  std::set<std::string> called;
  for (std::size_t i = 0; i < calls.size(); ++i) {
    if (i >= first && i < first + count) {
      called.insert(callee_below(graph, calls[i]));
    } else {
      dropped.insert(calls[i]);
    }
  }
  for (Node& node : graph.nodes) {
    if (node.type == "Array") std::erase_if(node.data, [&](NodeIndex element) { return dropped.contains(element); });
  }
  keep_functions(graph, called, entry);
  return compacted(graph);
}

}  // namespace

const std::vector<Seed>& seeds() {
  static const std::vector<Seed> all = [] {
    std::vector<Seed> read;
    for (const std::string_view name : names) read.push_back(read_seed(name));
    return read;
  }();
  return all;
}

const Graph& cut(const Seed& seed, unsigned first, unsigned count) {
  constexpr std::size_t most_kept = 100;
  static std::map<std::tuple<const Seed*, unsigned, unsigned>, Graph> kept;
  if (kept.size() > most_kept) kept.clear();
  const auto [at, is_new] = kept.try_emplace({&seed, first, count});
  if (is_new) at->second = with_calls(seed.graph, first, count);
  return at->second;
}

}  // namespace usmp::fuzz
