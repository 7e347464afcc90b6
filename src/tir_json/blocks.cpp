// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// Statement nodes, one after the other, to the builder: a body that ends before its block does gets a scope.
#include <algorithm>
#include <utility>

#include "tir_json/body_reader.hpp"
#include "usmp/tir_json/writer.hpp"

namespace usmp::tir_json {

void BodyReader::read(NodeId body) {
  next(body);
  while (!pending_.empty()) {
    const Pending step = pending_.back();
    pending_.pop_back();
    if (step.action == Action::statement) {
      at(step.node, [&] { statement(step.node); });
    } else if (step.action == Action::open_else) {
      builder_.open_else();
    } else {
      builder_.close();
    }
  }
}

void BodyReader::statement(NodeId node) {
  switch (graph_.type(node)) {
    case NodeType::allocate:
    case NodeType::allocate_const:
    case NodeType::let_stmt:
      return declaration(node);
    case NodeType::decl_buffer:
      return next(body_of(node));
    case NodeType::attr_stmt:
      return attr_stmt(node);
    case NodeType::seq_stmt:
      return seq_stmt(node);
    case NodeType::for_:
      return loop(node, exprs_.var(graph_.node_attribute(node, "loop_var")), exprs_.attribute(node, "min"),
                  exprs_.attribute(node, "extent"));
    case NodeType::while_:
      builder_.open_while(exprs_.attribute(node, "condition"));
      return next_inside(body_of(node));
    case NodeType::if_then_else:
      return if_then_else(node);
    case NodeType::evaluate:
      if (!checked_.is_no_op(node)) builder_.evaluate(exprs_.attribute(node, "value"));
      return;
    case NodeType::store:
    case NodeType::buffer_store:
      return builder_.add(exprs_.store(node));
    case NodeType::assert_stmt:
      return assert_stmt(node);
    case NodeType::block:
      fail_at(node,
              graph_.describe(node) +
                  " is TensorIR that has not been lowered, expected the module that TVM passes to its memory planner");
    default:
      fail_at(node, "found " + graph_.describe(node) + ", expected a supported statement");
  }
}

void BodyReader::declaration(NodeId node) {
  const bool ends_with_block = pending_.empty() || pending_.back().action != Action::statement;
  if (!ends_with_block) {
    builder_.open_scope();
    return next_inside(node);
  }
  switch (graph_.type(node)) {
    case NodeType::allocate:
      allocate(node);
      break;
    case NodeType::allocate_const:
      allocate_const(node);
      break;
    default: {
      const tir::VarId var = exprs_.var(graph_.node_attribute(node, "var"));
      builder_.let(var, exprs_.attribute(node, "value"));
    }
  }
  next(body_of(node));
}

void BodyReader::attr_stmt(NodeId node) {
  const std::string key = graph_.string_attribute(node, "attr_key");
  if (key == "thread_extent" || key == "virtual_thread") {
    const NodeId target = graph_.node_attribute(node, "node");
    const NodeId var = graph_.type(target) == NodeType::iter_var ? graph_.node_attribute(target, "var") : target;
    const tir::ExprRef extent = exprs_.attribute(node, "value");
    return loop(node, exprs_.var(var), tir::make_int(0, extent->type), extent);
  }
  if (key == "pragma_import_c") {
    const NodeId source = graph_.node_attribute(node, "value");
    graph_.expect(source, NodeType::string_imm);
    builder_.import_c(graph_.string_attribute(source, "value"));
  }
  next(body_of(node));
}

void BodyReader::seq_stmt(NodeId node) {
  const auto statements = graph_.array(graph_.node_attribute(node, "seq"));
  for (std::size_t i = statements.size(); i-- > 0;) {
    if (!checked_.is_no_op(statements[i])) next(statements[i]);
  }
}

void BodyReader::loop(NodeId node, tir::VarId var, tir::ExprRef min, tir::ExprRef extent) {
  builder_.open_loop(var, std::move(min), std::move(extent));
  next_inside(body_of(node));
}

void BodyReader::if_then_else(NodeId node) {
  builder_.open_branch(exprs_.attribute(node, "condition"));
  pending_.push_back({Action::close});
  const NodeId then_case = graph_.node_attribute(node, "then_case");
  if (const NodeId else_case = graph_.optional_node_attribute(node, "else_case"); else_case != 0) {
    next(else_case);
    pending_.push_back({Action::open_else});
  }
  next(then_case);
}

void BodyReader::assert_stmt(NodeId node) {
  std::string message;
  const NodeId text = graph_.optional_node_attribute(node, "message");
  if (text != 0 && graph_.type(text) == NodeType::string_imm) message = graph_.string_attribute(text, "value");
  builder_.require(exprs_.attribute(node, "condition"), std::move(message));
  next(body_of(node));
}

std::vector<std::string> BodyReader::candidate_pools(NodeId node) {
  const NodeId annotations = graph_.optional_node_attribute(node, "annotations");
  if (annotations == 0) return {};
  const NodeId pools = graph_.find_in_map(annotations, "candidate_memory_pools");
  return pools == 0 ? std::vector<std::string>{} : context_.pool_names(graph_.array(pools));
}

bool BodyReader::is_stack_array(NodeId allocate) const {
  const NodeId annotations = graph_.optional_node_attribute(allocate, "annotations");
  const NodeId value = annotations == 0 ? 0 : graph_.find_in_map(annotations, stack_array_annotation);
  return value != 0 && graph_.type(value) == NodeType::int_imm && graph_.int_attribute(value, "value") != 0;
}

void BodyReader::allocate(NodeId node) {
  const tir::VarId var = exprs_.var(graph_.node_attribute(node, "buffer_var"));
  const tir::DataType type = type_attribute(graph_, node);
  tir::ExprRef condition = exprs_.optional_attribute(node, "condition");
  std::vector<std::string> pools = candidate_pools(node);
  std::vector<tir::ExprRef> extents;
  for (const NodeId extent : graph_.array_attribute(node, "extents")) {
    extents.push_back(exprs_.expr(extent));
    at(extent, [&] { tir::BodyBuilder::check_extent(*extents.back()); });
  }
  builder_.allocate(var, type, std::move(extents), std::move(condition), std::move(pools), is_stack_array(node));
}

void BodyReader::allocate_const(NodeId node) {
  const tir::VarId var = exprs_.var(graph_.node_attribute(node, "buffer_var"));
  const tir::DataType type = type_attribute(graph_, node);
  std::shared_ptr<const tir::Constant> data = context_.constant_of(node);
  std::vector<std::string> pools = candidate_pools(node);
  std::vector<std::int64_t> extents;
  for (const NodeId extent : graph_.array_attribute(node, "extents")) {
    graph_.expect(extent, NodeType::int_imm);
    extents.push_back(graph_.int_attribute(extent, "value"));
  }
  builder_.allocate_const(var, type, extents, std::move(data), std::move(pools));
}

}  // namespace usmp::tir_json
