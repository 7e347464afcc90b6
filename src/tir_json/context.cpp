// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// Looks constants, pools, targets and symbols up in the graph, and decodes each constant once.
#include <algorithm>
#include <utility>

#include "tir_json/body_reader.hpp"
#include "tir_json/ndarray.hpp"

namespace usmp::tir_json {
namespace {

// The Integer that an attribute points to; nothing if it points to null or to another node (a Map of them).
std::optional<std::int64_t> integer_attribute(const Graph& graph, NodeId node, std::string_view name) {
  const NodeId value = graph.optional_node_attribute(node, name);
  if (value == 0 || graph.type(value) != NodeType::int_imm) return std::nullopt;
  return graph.int_attribute(value, "value");
}

std::vector<std::string> pool_targets(const Graph& graph, NodeId info) {
  std::vector<std::string> targets;
  const auto add = [&](NodeId target) {
    std::string kind = target_kind(graph, target);
    if (std::find(targets.begin(), targets.end(), kind) == targets.end()) targets.push_back(std::move(kind));
  };
  for (const NodeId target : graph.array_attribute(info, "targets")) add(target);
  // Development versions before `targets`: a Map from Target to the kind of access.
  if (const NodeId access = graph.optional_node_attribute(info, "target_access"); access != 0) {
    const auto entries = graph.data(access);
    for (std::size_t i = 0; i + 1 < entries.size(); i += 2) add(entries[i]);
    std::sort(targets.begin(), targets.end());  // a Map has no order of its own
  }
  return targets;
}

tir::AnnotatedPool read_pool(const Graph& graph, NodeId info) {
  const NodeType type = graph.type(info);
  if (type != NodeType::workspace_pool_info && type != NodeType::constant_pool_info) {
    fail_at(info, "found " + graph.describe(info) + ", expected a memory pool info");
  }
  tir::AnnotatedPool pool;
  pool.name = graph.string_attribute(info, "pool_name");
  pool.is_constant = type == NodeType::constant_pool_info;
  if (const auto size = integer_attribute(graph, info, "size_hint_bytes"); size && *size >= 0) pool.size_hint = size;
  pool.is_internal = graph.find_attribute(info, "is_internal").value_or("0") != "0";
  pool.targets = pool_targets(graph, info);
  return pool;
}

}  // namespace

std::string target_kind(const Graph& graph, NodeId target) {
  if (graph.type(target) == NodeType::string) return graph.text(target);
  graph.expect(target, NodeType::target);
  const NodeId kind = graph.node_attribute(target, "kind");
  graph.expect(kind, NodeType::target_kind);
  return graph.find_attribute(kind, "name") ? graph.string_attribute(kind, "name") : graph.text(kind);
}

tir::DataType type_attribute(const Graph& graph, NodeId node, std::string_view name) {
  const std::string text(graph.attribute(node, name));
  const auto type = tir::parse_data_type(text);
  if (!type) fail_at(node, name, "found " + shown(text) + ", expected a data type such as int8 or float32x4");
  return *type;
}

void ModuleContext::check_dimensions(NodeId node, std::size_t dimensions) const {
  if (dimensions <= limits_.dimensions) return;
  fail_at(node, std::to_string(dimensions) + " dimensions, more than " + std::to_string(limits_.dimensions) +
                    ", which is the limit");
}

std::string ModuleContext::symbol(NodeId global_var) const {
  const auto found = symbols_.find(global_var);
  return found != symbols_.end() ? found->second : graph_.string_attribute(global_var, "name_hint");
}

NodeId ModuleContext::constant_node(NodeId allocate_const) const {
  if (const NodeId data = graph_.optional_node_attribute(allocate_const, "data"); data != 0) return data;
  const NodeId index_node = graph_.optional_node_attribute(allocate_const, "irmod_storage_idx");
  if (index_node == 0) {
    fail_at(allocate_const, "data", "found null, expected the constant here or an index in irmod_storage_idx");
  }
  graph_.expect(index_node, NodeType::int_imm);
  const std::int64_t index = graph_.int_attribute(index_node, "value");
  if (index < 0 || static_cast<std::uint64_t>(index) >= constants_.size()) {
    fail_at(allocate_const, "irmod_storage_idx",
            "index " + std::to_string(index) + " is out of range, the module has " + std::to_string(constants_.size()) +
                " constants");
  }
  return constants_[static_cast<std::size_t>(index)];
}

std::shared_ptr<const tir::Constant> ModuleContext::constant_of(NodeId allocate_const) {
  const NodeId node = constant_node(allocate_const);
  switch (graph_.type(node)) {
    case NodeType::ndarray: {
      auto& constant = decoded_[node];
      if (!constant) {
        constant = std::make_shared<const tir::Constant>(
            decode_ndarray(graph_.raw_text(node), "nodes[" + std::to_string(node) + "].repr_str"));
      }
      return constant;
    }
    case NodeType::relay_constant:
    case NodeType::constant_info: {
      const std::int64_t index = graph_.int_attribute(node, "data");
      if (index < 0 || static_cast<std::uint64_t>(index) >= graph_.blob_count()) {
        fail_at(node, "data",
                "index " + std::to_string(index) + " is out of range, b64ndarrays has " +
                    std::to_string(graph_.blob_count()));
      }
      const auto blob = static_cast<std::size_t>(index);
      auto& constant = decoded_blobs_[blob];
      if (!constant) {
        constant = std::make_shared<const tir::Constant>(
            decode_ndarray(graph_.blob(blob), "b64ndarrays[" + std::to_string(blob) + "]"));
      }
      return constant;
    }
    default:
      fail_at(node, "found " + graph_.describe(node) + ", expected a 'runtime.NDArray'");
  }
}

std::vector<std::string> ModuleContext::pool_names(std::span<const std::uint32_t> pool_infos) {
  const auto check_count = [&](std::size_t count) {
    if (count <= limits_.pools) return;
    fail_at(pool_infos.back(), std::to_string(count) + " memory pools, more than " + std::to_string(limits_.pools) +
                                   ", which is the limit");
  };
  check_count(pool_infos.size());
  std::vector<std::string> names;
  for (const NodeId info : pool_infos) {
    auto& name = seen_pools_[info];
    if (name.empty()) {
      tir::AnnotatedPool pool = read_pool(graph_, info);
      if (pool.name.empty()) fail_at(info, "pool_name", "the name is empty");
      name = pool.name;
      const auto same = std::find_if(module_.annotated_pools.begin(), module_.annotated_pools.end(),
                                     [&](const tir::AnnotatedPool& other) { return other.name == pool.name; });
      if (same == module_.annotated_pools.end()) {
        module_.annotated_pools.push_back(std::move(pool));
        check_count(module_.annotated_pools.size());
      } else if (same->is_constant != pool.is_constant || same->size_hint != pool.size_hint) {
        fail_at(info, "pool " + shown(name) + " is described twice with different kinds or sizes");
      }
    }
    names.push_back(name);
  }
  return names;
}

}  // namespace usmp::tir_json
