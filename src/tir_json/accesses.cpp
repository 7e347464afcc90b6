// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// Nodes of accesses: what they access, where, and under which condition.
#include <utility>

#include "tir_json/body_reader.hpp"

namespace usmp::tir_json {

tir::View ExprReader::view(NodeId buffer) {
  tir::View view;
  view.storage = var(graph_.node_attribute(buffer, "data"));
  view.element = type_attribute(graph_, buffer).element();
  const auto shape = graph_.array_attribute(buffer, "shape");
  view.dimensions = shape.size();
  view.strides = built_list(graph_.array_attribute(buffer, "strides"));
  if (view.strides.empty() && !shape.empty()) view.extents = built_list(shape.subspan(1));
  if (const NodeId offset = graph_.optional_node_attribute(buffer, "elem_offset"); offset != 0) {
    view.offset = built(offset);
  }
  return view;
}

tir::Tree ExprReader::predicate(NodeId access) const {
  const NodeId node = graph_.optional_node_attribute(access, "predicate");
  return node == 0 ? tir::Tree{nullptr, 0} : built(node);
}

tir::Tree ExprReader::construct_load(NodeId node) {
  const tir::DataType type = type_attribute(graph_, node);
  const tir::VarId storage = var(graph_.node_attribute(node, "buffer_var"));
  return at(node, [&] { return builder_.load(type, storage, built_attribute(node, "index"), predicate(node)); });
}

tir::Tree ExprReader::construct_buffer_load(NodeId node) {
  const tir::DataType type = type_attribute(graph_, node);
  const tir::View storage = view(graph_.node_attribute(node, "buffer"));
  const std::vector<tir::Tree> indices = built_list(graph_.array_attribute(node, "indices"));
  return at(node, [&] { return builder_.load(type, storage, indices, predicate(node)); });
}

tir::Store ExprReader::store(NodeId node) {
  build_operands(node);
  const tir::Tree value = built_attribute(node, "value");
  if (graph_.type(node) == NodeType::store) {
    const tir::VarId storage = var(graph_.node_attribute(node, "buffer_var"));
    return at(node, [&] { return builder_.store(storage, built_attribute(node, "index"), value, predicate(node)); });
  }
  const tir::View storage = view(graph_.node_attribute(node, "buffer"));
  const std::vector<tir::Tree> indices = built_list(graph_.array_attribute(node, "indices"));
  return at(node, [&] { return builder_.store(storage, indices, value, predicate(node)); });
}

}  // namespace usmp::tir_json
