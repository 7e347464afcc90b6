// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// Builds expressions from the leaves up, each node once, and puts variables for pointers that lets rename.
#include <algorithm>
#include <charconv>
#include <utility>

#include "tir_json/body_reader.hpp"
#include "tir_json/children.hpp"

namespace usmp::tir_json {
namespace {

using tir::Expr;
using tir::ExprKind;

// The operators whose node and expression differ in nothing but the spelling.
std::optional<ExprKind> plain_operator(NodeType type) {
  constexpr std::pair<NodeType, ExprKind> operators[] = {{NodeType::add, ExprKind::add},
                                                         {NodeType::sub, ExprKind::sub},
                                                         {NodeType::mul, ExprKind::mul},
                                                         {NodeType::div, ExprKind::div},
                                                         {NodeType::mod, ExprKind::mod},
                                                         {NodeType::floor_div, ExprKind::floor_div},
                                                         {NodeType::floor_mod, ExprKind::floor_mod},
                                                         {NodeType::min, ExprKind::min},
                                                         {NodeType::max, ExprKind::max},
                                                         {NodeType::eq, ExprKind::eq},
                                                         {NodeType::ne, ExprKind::ne},
                                                         {NodeType::lt, ExprKind::lt},
                                                         {NodeType::le, ExprKind::le},
                                                         {NodeType::gt, ExprKind::gt},
                                                         {NodeType::ge, ExprKind::ge},
                                                         {NodeType::and_, ExprKind::and_},
                                                         {NodeType::or_, ExprKind::or_},
                                                         {NodeType::not_, ExprKind::not_},
                                                         {NodeType::select, ExprKind::select},
                                                         {NodeType::cast, ExprKind::cast}};
  for (const auto& [node_type, kind] : operators) {
    if (node_type == type) return kind;
  }
  return std::nullopt;
}

// An int64, or a uint64 in two's complement.
std::int64_t int_value(const Graph& graph, NodeId node) {
  const std::string_view text = graph.attribute(node, "value");
  std::uint64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error == std::errc() && end == text.data() + text.size()) return static_cast<std::int64_t>(value);
  return graph.int_attribute(node, "value");
}

double float_value(const Graph& graph, NodeId node) {
  const std::string_view text = graph.attribute(node, "value");
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size()) {
    fail_at(node, "value", "found " + shown(text) + ", expected a floating point number");
  }
  return value;
}

// Element type and storage scope of a handle, as far as its annotation says them.
void read_pointer(const Graph& graph, NodeId var, tir::Var& out) {
  const NodeId annotation = graph.optional_node_attribute(var, "type_annotation");
  if (annotation == 0 || graph.type(annotation) != NodeType::pointer_type) return;
  if (const NodeId scope = graph.optional_node_attribute(annotation, "storage_scope"); scope != 0) {
    out.storage_scope = graph.text(scope);
  }
  const NodeId element = graph.optional_node_attribute(annotation, "element_type");
  if (element != 0 && graph.type(element) == NodeType::prim_type) out.element = type_attribute(graph, element);
}

}  // namespace

tir::VarId ExprReader::var(NodeId node) {
  const auto found = vars_.find(node);
  if (found != vars_.end()) return found->second;
  graph_.expect(node, NodeType::var);
  tir::Var var{.name = graph_.string_attribute(node, "name"),
               .type = type_attribute(graph_, node),
               .element = {},
               .storage_scope = {}};
  read_pointer(graph_, node, var);
  std::vector<tir::Var>& vars = context_.module().vars;
  const tir::VarId id(vars.size());
  vars.push_back(std::move(var));
  vars_[node] = id;
  return id;
}

tir::ExprRef ExprReader::expr(NodeId node) {
  build_all(node);
  return built(node).expr;
}

tir::ExprRef ExprReader::attribute(NodeId node, std::string_view name) {
  return expr(graph_.node_attribute(node, name));
}

tir::ExprRef ExprReader::optional_attribute(NodeId node, std::string_view name) {
  const NodeId value = graph_.optional_node_attribute(node, name);
  return value == 0 ? nullptr : expr(value);
}

void ExprReader::build_all(NodeId root) {
  struct Visit {
    NodeId node;
    bool operands_built;
  };
  std::vector<Visit> steps{{root, false}};
  std::vector<NodeId> children;
  while (!steps.empty()) {
    Visit& step = steps.back();
    const NodeId node = step.node;
    if (built_.contains(node)) {
      steps.pop_back();
    } else if (step.operands_built) {
      tir::Tree result = construct(node);
      built_.emplace(node, std::move(result));
      steps.pop_back();
    } else {
      step.operands_built = true;
      if (names_pointer(node)) alias_pointer(node);
      children.clear();
      append_children(graph_, node, children);
      // The first operand is built first, so that variables are numbered in the order of reading.
      std::reverse(children.begin(), children.end());
      for (const NodeId child : children) steps.push_back({child, false});
    }
  }
}

// Whether the node is a Let of a pointer that another variable holds.
bool ExprReader::names_pointer(NodeId node) const {
  if (graph_.type(node) != NodeType::let) return false;
  const NodeId value = graph_.node_attribute(node, "value");
  return graph_.type(value) == NodeType::var && type_attribute(graph_, value).is_handle();
}

// A copy of a tensor to an output is Let(tmp_read, x.data, BufferLoad(tmp_read, i)): tmp_read is another name of x.
void ExprReader::alias_pointer(NodeId let) {
  const NodeId name = graph_.node_attribute(let, "var");
  graph_.expect(name, NodeType::var);
  const tir::VarId storage = var(graph_.node_attribute(let, "value"));
  if (knows(name) && var(name) != storage) {
    fail_at(name, "the variable is bound to two pointers, expected a variable for each");
  }
  if (!type_attribute(graph_, name).is_handle()) fail_at(name, "dtype", "found a number, expected a pointer");
  alias(name, storage);
}

void ExprReader::build_operands(NodeId statement) {
  std::vector<NodeId> children;
  append_children(graph_, statement, children);
  for (const NodeId child : children) build_all(child);
}

std::vector<tir::Tree> ExprReader::built_list(std::span<const std::uint32_t> nodes) const {
  std::vector<tir::Tree> trees;
  for (const NodeId node : nodes) trees.push_back(built(node));
  return trees;
}

tir::Tree ExprReader::make(NodeId node, Expr expr, std::span<const tir::Tree> operands) const {
  return at(node, [&] { return builder_.make(std::move(expr), operands); });
}

tir::Tree ExprReader::construct(NodeId node) {
  switch (graph_.type(node)) {
    case NodeType::var:
    case NodeType::int_imm:
    case NodeType::float_imm:
    case NodeType::string_imm:
    case NodeType::string:
    case NodeType::global_var:
      return construct_leaf(node);
    case NodeType::load:
      return construct_load(node);
    case NodeType::buffer_load:
      return construct_buffer_load(node);
    case NodeType::ramp:
    case NodeType::broadcast:
    case NodeType::shuffle:
      return construct_vector(node);
    case NodeType::call:
      return construct_call(node);
    case NodeType::let: {
      if (names_pointer(node)) return built_attribute(node, "body");
      Expr expr = new_expr(ExprKind::let, type_attribute(graph_, node));
      expr.var = var(graph_.node_attribute(node, "var"));
      const tir::Tree operands[] = {built_attribute(node, "value"), built_attribute(node, "body")};
      return make(node, std::move(expr), operands);
    }
    case NodeType::any:
      fail_at(node, "a 'tir.Any' dimension has no value, expected an expression");
    case NodeType::null:
      fail_at(node, "found null, expected an expression");
    default:
      return construct_operator(node);
  }
}

tir::Tree ExprReader::construct_leaf(NodeId node) {
  switch (graph_.type(node)) {
    case NodeType::var:
      return {tir::make_var(context_.module(), var(node))};
    case NodeType::int_imm: {
      const tir::DataType type = type_attribute(graph_, node);
      if ((!type.is_int() && !type.is_uint()) || type.is_vector()) {
        fail_at(node, "dtype", "found " + shown(tir::to_string(type)) + ", expected an integer type");
      }
      return {tir::make_int(int_value(graph_, node), type)};
    }
    case NodeType::float_imm: {
      const tir::DataType type = type_attribute(graph_, node);
      if (!type.is_float() || type.is_vector()) {
        fail_at(node, "dtype", "found " + shown(tir::to_string(type)) + ", expected a floating point type");
      }
      return {tir::make_float(float_value(graph_, node), type)};
    }
    case NodeType::string_imm:
      return {tir::make_string(graph_.string_attribute(node, "value"))};
    case NodeType::global_var:
      return {tir::make_string(context_.symbol(node))};
    default:
      return {tir::make_string(graph_.text(node))};
  }
}

tir::Tree ExprReader::construct_operator(NodeId node) {
  const auto kind = plain_operator(graph_.type(node));
  if (!kind) fail_at(node, "found " + graph_.describe(node) + ", expected a supported expression");
  std::vector<tir::Tree> operands;
  for (const std::string_view name : graph_.info(node).children) {
    if (!name.empty()) operands.push_back(built_attribute(node, name));
  }
  const tir::DataType type = type_attribute(graph_, node);
  // Select's condition and Cast's operand have types of their own.
  const std::size_t first = *kind == ExprKind::select ? 1 : 0;
  for (const tir::Tree& operand : std::span(operands).subspan(first)) {
    if (operand.expr->type != operands[first].expr->type || operand.expr->type.lanes != type.lanes) {
      fail_at(node, "the operands are " + shown(tir::to_string(operands[first].expr->type)) + " and " +
                        shown(tir::to_string(operand.expr->type)) + ", the result is " + shown(tir::to_string(type)) +
                        ": expected types that agree");
    }
  }
  return make(node, new_expr(*kind, type), operands);
}

tir::Tree ExprReader::construct_vector(NodeId node) {
  const tir::DataType type = type_attribute(graph_, node);
  std::vector<tir::Tree> operands;
  if (graph_.type(node) == NodeType::shuffle) {
    Expr expr = new_expr(ExprKind::shuffle, type);
    for (const char* const name : {"vectors", "indices"}) {
      const auto elements = graph_.array_attribute(node, name);
      if (elements.empty()) fail_at(node, name, "found an empty list, expected at least one element");
      for (const NodeId element : elements) operands.push_back(built(element));
      if (expr.int_value == 0) expr.int_value = static_cast<std::int64_t>(elements.size());
    }
    return make(node, std::move(expr), operands);
  }
  // `lanes` is a number or, from TVM 0.16, a node; the dtype says the same in all versions.
  if (!type.is_vector()) {
    fail_at(node, "dtype", "found " + shown(tir::to_string(type)) + ", expected a vector type");
  }
  const bool is_ramp = graph_.type(node) == NodeType::ramp;
  for (const std::string_view name : graph_.info(node).children) {
    if (name.empty()) break;
    operands.push_back(built_attribute(node, name));
    if (operands.back().expr->type != type.element()) {
      fail_at(node, name,
              "found an operand of type " + shown(tir::to_string(operands.back().expr->type)) + ", expected " +
                  shown(tir::to_string(type.element())));
    }
  }
  return make(node, new_expr(is_ramp ? ExprKind::ramp : ExprKind::broadcast, type), operands);
}

tir::Tree ExprReader::construct_call(NodeId node) {
  Expr expr = new_expr(ExprKind::call, type_attribute(graph_, node));
  std::vector<tir::Tree> operands;
  const NodeId op = graph_.node_attribute(node, "op");
  if (graph_.type(op) == NodeType::op) {
    const std::string name = graph_.text(op);
    if (tir::is_reserved_op_name(name)) {
      fail_at(node, "op",
              "found the operator " + shown(name) + ", which only this program generates, expected one of TVM's");
    }
    expr.op = tir::op_of(name);
    if (expr.op == tir::Op::other) expr.text = name;
  } else if (graph_.type(op) == NodeType::global_var) {
    expr.op = tir::Op::call_extern;
    operands.push_back({tir::make_string(context_.symbol(op))});
  } else {
    fail_at(node, "op", "found " + graph_.describe(op) + ", expected an 'Op' or a 'GlobalVar'");
  }
  for (const NodeId argument : graph_.array_attribute(node, "args")) operands.push_back(built(argument));
  if (expr.op == tir::Op::q_multiply_shift) {
    std::vector<tir::ExprRef> arguments;
    arguments.reserve(operands.size());
    for (const tir::Tree& operand : operands) arguments.push_back(operand.expr);
    expr.op = tir::fixed_point_op(arguments);
  }
  return make(node, std::move(expr), operands);
}

}  // namespace usmp::tir_json
