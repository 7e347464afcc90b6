// Statement nodes → tir::Block in the normal form of tir/ir.hpp: what a statement declares is visible to the end of
// its block, so a body that ends before the block does gets a Scope of its own.
#include <algorithm>
#include <utility>

#include "tir_json/body_builder.hpp"

namespace usmp::tir_json {
namespace {

bool is_constant_true(const tir::ExprRef& expr) {
  return expr && expr->kind == tir::ExprKind::int_imm && expr->int_value != 0;
}

}  // namespace

void BlockBuilder::build(NodeId body) {
  frames_.push_back({.out = &function_.body, .depth = 1, .pending = {body}});
  while (!frames_.empty()) {
    std::vector<NodeId>& pending = frames_.back().pending;
    if (pending.empty()) {
      frames_.pop_back();
      continue;
    }
    const NodeId node = pending.back();
    pending.pop_back();
    statement(node);
  }
}

void BlockBuilder::open(NodeId owner, tir::Block& block, NodeId body) { open(owner, block, body, depth() + 1); }

void BlockBuilder::open(NodeId owner, tir::Block& block, NodeId body, std::size_t depth) {
  context_.check_block_depth(owner, depth);
  frames_.push_back({.out = &block, .depth = depth, .pending = {body}});
}

void BlockBuilder::statement(NodeId node) {
  switch (graph_.type(node)) {
    case NodeType::allocate:
    case NodeType::allocate_const:
    case NodeType::let_stmt:
      return declaration(node);
    case NodeType::decl_buffer:
      return go_on(node);
    case NodeType::attr_stmt:
      return attr_stmt(node);
    case NodeType::seq_stmt:
      return seq_stmt(node);
    case NodeType::for_:
      return loop(node, exprs_.var(graph_.node_attribute(node, "loop_var")), exprs_.attribute(node, "min"),
                  exprs_.attribute(node, "extent"));
    case NodeType::while_: {
      auto& loop = emit(tir::While{exprs_.attribute(node, "condition"), {}});
      return open(node, loop.body, graph_.node_attribute(node, "body"));
    }
    case NodeType::if_then_else:
      return if_then_else(node);
    case NodeType::evaluate:
      return evaluate(node);
    case NodeType::store:
    case NodeType::buffer_store: {
      auto parts = exprs_.store(node);
      emit(tir::Store{parts.storage, parts.index, parts.value, parts.predicate});
      return;
    }
    case NodeType::assert_stmt:
      return assert_stmt(node);
    case NodeType::block:
      fail_at(node, graph_.describe(node) +
                        " is TensorIR that is not lowered, expected the module that TVM hands to its memory planner");
    default:
      fail_at(node, "found " + graph_.describe(node) + ", expected a statement that planning knows");
  }
}

void BlockBuilder::declaration(NodeId node) {
  if (!frames_.back().pending.empty()) {
    auto& scope = emit(tir::Scope{});
    return open(node, scope.body, node);
  }
  switch (graph_.type(node)) {
    case NodeType::allocate:
      emit(allocate(node));
      break;
    case NodeType::allocate_const:
      emit(allocate_const(node));
      break;
    default: {
      const tir::VarId var = exprs_.var(graph_.node_attribute(node, "var"));
      emit(tir::Let{var, exprs_.attribute(node, "value")});
    }
  }
  go_on(node);
}

void BlockBuilder::attr_stmt(NodeId node) {
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
    std::string text = graph_.string_attribute(source, "value");
    auto& imported = function_.imported_c;
    if (std::find(imported.begin(), imported.end(), text) == imported.end()) imported.push_back(std::move(text));
  }
  go_on(node);
}

void BlockBuilder::seq_stmt(NodeId node) {
  const auto statements = graph_.array(graph_.node_attribute(node, "seq"));
  std::vector<NodeId>& pending = frames_.back().pending;
  const std::size_t first = pending.size();
  for (const NodeId statement : statements) {
    if (!checked_.is_no_op(statement)) pending.push_back(statement);
  }
  std::reverse(pending.begin() + static_cast<std::ptrdiff_t>(first), pending.end());
}

void BlockBuilder::loop(NodeId node, tir::VarId var, tir::ExprRef min, tir::ExprRef extent) {
  const tir::DataType type = context_.module().var(var).type;
  for (const tir::DataType part : {type, min->type, extent->type}) {
    if ((!part.is_int() && !part.is_uint()) || part.is_vector()) {
      fail_at(node, "a loop variable or bound of type " + shown(tir::to_string(part)) + ", expected an integer type");
    }
  }
  auto& emitted = emit(tir::For{var, std::move(min), std::move(extent), {}});
  open(node, emitted.body, graph_.node_attribute(node, "body"));
}

void BlockBuilder::if_then_else(NodeId node) {
  auto& branch = emit(tir::IfThenElse{exprs_.attribute(node, "condition"), {}, {}});
  const std::size_t inner = depth() + 1;
  const NodeId then_case = graph_.node_attribute(node, "then_case");
  if (const NodeId else_case = graph_.optional_node_attribute(node, "else_case"); else_case != 0) {
    open(node, branch.else_body, else_case, inner);
  }
  open(node, branch.then_body, then_case, inner);
}

void BlockBuilder::evaluate(NodeId node) {
  if (!checked_.is_no_op(node)) emit(tir::Evaluate{exprs_.attribute(node, "value")});
}

void BlockBuilder::assert_stmt(NodeId node) {
  std::string message;
  const NodeId text = graph_.optional_node_attribute(node, "message");
  if (text != 0 && graph_.type(text) == NodeType::string_imm) message = graph_.string_attribute(text, "value");
  emit(tir::Assert{exprs_.attribute(node, "condition"), std::move(message)});
  go_on(node);
}

std::vector<std::string> BlockBuilder::candidate_pools(NodeId node) {
  const NodeId annotations = graph_.optional_node_attribute(node, "annotations");
  if (annotations == 0) return {};
  const NodeId pools = graph_.find_in_map(annotations, "candidate_memory_pools");
  return pools == 0 ? std::vector<std::string>{} : context_.pool_names(graph_.array(pools));
}

void BlockBuilder::check_redeclared(NodeId node, tir::VarId var, const std::optional<Bytes>& size) {
  const auto [entry, is_new] = declared_.emplace(var, size);
  if (!is_new && entry->second != size) {
    fail_at(node, "storage " + shown(context_.module().var(var).name) +
                      " is allocated twice with different sizes, expected one size for each variable");
  }
}

tir::Allocate BlockBuilder::allocate(NodeId node) {
  tir::Allocate result{.var = exprs_.var(graph_.node_attribute(node, "buffer_var")),
                       .type = type_attribute(graph_, node),
                       .extents = {},
                       .condition = exprs_.optional_attribute(node, "condition"),
                       .candidate_pools = candidate_pools(node)};
  if (is_constant_true(result.condition)) result.condition = nullptr;
  for (const NodeId extent : graph_.array_attribute(node, "extents")) {
    result.extents.push_back(exprs_.expr(extent));
    const tir::DataType type = result.extents.back()->type;
    if ((!type.is_int() && !type.is_uint()) || type.is_vector()) {
      fail_at(extent, "an extent of type " + shown(tir::to_string(type)) + ", expected an integer type");
    }
  }
  check_redeclared(node, result.var, tir::allocation_size(result).bytes);
  return result;
}

tir::AllocateConst BlockBuilder::allocate_const(NodeId node) {
  tir::AllocateConst result{.var = exprs_.var(graph_.node_attribute(node, "buffer_var")),
                            .type = type_attribute(graph_, node),
                            .data = context_.constant_of(node),
                            .candidate_pools = candidate_pools(node)};
  std::optional<Bytes> size = result.type.bytes();
  for (const NodeId extent : graph_.array_attribute(node, "extents")) {
    graph_.expect(extent, NodeType::int_imm);
    const std::int64_t value = graph_.int_attribute(extent, "value");
    size = size && value >= 0 ? checked_mul(*size, value) : std::nullopt;
  }
  const auto data_size = static_cast<Bytes>(result.data->bytes.size());
  if (result.data->type.element_bytes() != result.type.element_bytes() || size != data_size) {
    fail_at(node, "the constant is " + tir::to_string(result.type) + " of " +
                      (size ? std::to_string(*size) : "an impossible number of") + " bytes, but its data is " +
                      tir::to_string(result.data->type) + " of " + std::to_string(data_size) + " bytes");
  }
  check_redeclared(node, result.var, size);
  return result;
}

}  // namespace usmp::tir_json
