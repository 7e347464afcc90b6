// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// Walks the graph depth first, marks nodes on the way to find cycles, and adds up what each unfolds to.
#include "tir_json/children.hpp"

#include <algorithm>

namespace usmp::tir_json {
namespace {

void append_buffer(const Graph& graph, NodeId buffer, std::vector<NodeId>& children) {
  graph.expect(buffer, NodeType::buffer);
  auto factors = graph.array_attribute(buffer, "strides");
  if (factors.empty()) {
    // Row-major: the outermost extent takes no part in the address.
    factors = graph.array_attribute(buffer, "shape");
    if (!factors.empty()) factors = factors.subspan(1);
  }
  children.insert(children.end(), factors.begin(), factors.end());
  if (const NodeId offset = graph.optional_node_attribute(buffer, "elem_offset"); offset != 0) {
    children.push_back(offset);
  }
}

bool is_list(std::string_view attribute) {
  constexpr std::string_view lists[] = {"args", "extents", "indices", "seq", "vectors"};
  return std::find(std::begin(lists), std::end(lists), attribute) != std::end(lists);
}

bool is_loop(const Graph& graph, NodeId attr_stmt) {
  const NodeId key = graph.node_attribute(attr_stmt, "attr_key");
  const std::string text = graph.text(key);
  return text == "thread_extent" || text == "virtual_thread";
}

}  // namespace

void append_children(const Graph& graph, NodeId node, std::vector<NodeId>& children) {
  const NodeTypeInfo& info = graph.info(node);
  for (const std::string_view attribute : info.children) {
    if (attribute.empty()) break;
    if (info.type == NodeType::attr_stmt && attribute == "value" && !is_loop(graph, node)) continue;
    const NodeId child = graph.optional_node_attribute(node, attribute);
    if (child == 0) continue;
    if (attribute == "buffer") {
      append_buffer(graph, child, children);
    } else if (is_list(attribute)) {
      const auto elements = graph.array_attribute(node, attribute);
      children.insert(children.end(), elements.begin(), elements.end());
    } else {
      children.push_back(child);
    }
  }
}

void BodyCheck::enter(NodeId node) {
  counts_[node] = in_progress;
  const std::size_t first = children_.size();
  append_children(graph_, node, children_);
  frames_.push_back({node, first, first, 1, true});
}

void BodyCheck::leave() {
  const Frame& frame = frames_.back();
  counts_[frame.node] = frame.count;
  const NodeType type = graph_.type(frame.node);
  const bool may_be_no_op = type == NodeType::int_imm || type == NodeType::evaluate || type == NodeType::seq_stmt ||
                            type == NodeType::decl_buffer;
  no_op_[frame.node] = may_be_no_op && frame.children_are_no_ops;
  children_.resize(frame.first_child);
  frames_.pop_back();
}

void BodyCheck::check(NodeId body) {
  if (counts_[body] == unseen) enter(body);
  while (!frames_.empty()) {
    Frame& frame = frames_.back();
    if (frame.next_child == children_.size()) {
      leave();
      continue;
    }
    const NodeId child = children_[frame.next_child];
    if (counts_[child] == in_progress) fail_at(child, graph_.describe(child) + " contains itself");
    if (counts_[child] == unseen) {
      enter(child);
      continue;
    }
    frame.count = std::min(frame.count + counts_[child], limit_ + 1);
    frame.children_are_no_ops = frame.children_are_no_ops && no_op_[child];
    ++frame.next_child;
  }
  total_ += counts_[body];
  if (total_ <= limit_) return;
  fail_at(body, "more than " + std::to_string(limit_) + " statements and expressions in a module of " +
                    std::to_string(graph_.extent()) +
                    " nodes and references, counting shared ones at every use, which is the limit");
}

}  // namespace usmp::tir_json
