// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// Writes a module as a graph of nodes. A node gets its number when another one names it, and its text later, from a
// list of what is still to be written: nothing recurses.
#include "usmp/tir_json/writer.hpp"

#include <algorithm>
#include <cmath>
#include <deque>
#include <initializer_list>
#include <stdexcept>
#include <unordered_map>
#include <utility>
#include <variant>
#include <vector>

#include "tir_json/ndarray.hpp"

namespace usmp::tir_json {
namespace {

using tir::Block;
using tir::Expr;
using tir::ExprKind;
using tir::ExprRef;
using tir::Stmt;
using tir::VarId;

using Node = std::size_t;  // 0: null
using Nodes = std::vector<Node>;

bool is_declaration(const Stmt& stmt) {
  return std::holds_alternative<tir::Allocate>(stmt.node) || std::holds_alternative<tir::AllocateConst>(stmt.node) ||
         std::holds_alternative<tir::Let>(stmt.node);
}

const char* binary_node(ExprKind kind) {
  static constexpr const char* names[] = {"tir.Add",      "tir.Sub", "tir.Mul", "tir.Div", "tir.Mod", "tir.FloorDiv",
                                          "tir.FloorMod", "tir.Min", "tir.Max", "tir.EQ",  "tir.NE",  "tir.LT",
                                          "tir.LE",       "tir.GT",  "tir.GE",  "tir.And", "tir.Or"};
  return names[static_cast<std::size_t>(kind) - static_cast<std::size_t>(ExprKind::add)];
}

std::string number_text(double value) {
  return std::isnan(value) ? "nan" : shortest_decimal(value);  // without a sign
}

// In quotation marks, of printable ASCII characters.
std::string json_string(std::string_view text) {
  std::string quoted = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') quoted += '\\';
    quoted += c;
  }
  return quoted + '"';
}

bool is_printable(std::string_view text) {
  return std::ranges::all_of(text, [](char c) { return c >= ' ' && c <= '~'; });
}

// An attribute: a number, or a text that is written as it is.
struct Attribute {
  Attribute(const char* key, Node node) : name(key), value(std::to_string(node)) {}
  Attribute(const char* key, std::string text) : name(key), value(std::move(text)) {}

  const char* name;
  std::string value;
};

class GraphWriter {
 public:
  GraphWriter() { nodes_.emplace_back(R"({"type_key": ""})"); }

  Node reserve() {
    nodes_.emplace_back();
    return nodes_.size() - 1;
  }
  void set(Node node, const char* type, std::initializer_list<Attribute> attributes) {
    std::string text = std::string(R"({"type_key": ")") + type + "\"";
    const char* before = R"(, "attrs": {)";
    for (const Attribute& attribute : attributes) {
      text.append(before).append("\"").append(attribute.name).append("\": ").append(json_string(attribute.value));
      before = ", ";
    }
    nodes_[node] = text + (attributes.size() > 0 ? "}}" : "}");
  }
  Node add(const char* type, std::initializer_list<Attribute> attributes) {
    const Node node = reserve();
    set(node, type, attributes);
    return node;
  }
  Node with_text(const char* type, std::string_view key, std::string_view text) {
    nodes_.push_back(std::string(R"({"type_key": ")") + type + "\"" +
                     (text.empty() ? "" : ", \"" + std::string(key) + "\": " + json_string(text)) + "}");
    return nodes_.size() - 1;
  }

  Node string(const std::string& text) {
    Node& node = strings_[text];
    if (node == 0) {
      node = is_printable(text) ? with_text("runtime.String", "repr_str", text)
                                : with_text("runtime.String", "repr_b64", encode_text(text));
    }
    return node;
  }
  Node array(const Nodes& elements) { return with_data("Array", elements); }
  Node map(const std::vector<std::pair<std::string, Node>>& entries) {
    std::string keys;
    Nodes values;
    for (const auto& [key, value] : entries) {
      keys += (keys.empty() ? "" : ", ") + json_string(key);
      values.push_back(value);
    }
    nodes_.push_back(R"({"type_key": "Map")" +
                     (values.empty() ? "" : ", \"keys\": [" + keys + "], \"data\": " + list_of(values)) + "}");
    return nodes_.size() - 1;
  }
  Node node_map(const std::vector<std::pair<Node, Node>>& entries) {
    Nodes data;
    for (const auto& [key, value] : entries) data.insert(data.end(), {key, value});
    return with_data("Map", data);
  }
  Node dict_attrs(const std::vector<std::pair<std::string, Node>>& entries) {
    return add("DictAttrs", {{"__dict__", map(entries)}});
  }

  void write(Node root, const std::string& version, TextSink& sink) const {
    sink.write("{\n  \"root\": " + std::to_string(root) + ",\n  \"nodes\": [\n");
    for (std::size_t i = 0; i < nodes_.size(); ++i) {
      sink.write(std::string(i == 0 ? "    " : ",\n    ") + nodes_[i]);
    }
    sink.write("\n  ],\n  \"b64ndarrays\": []");
    if (!version.empty()) sink.write(",\n  \"attrs\": {\"tvm_version\": " + json_string(version) + "}");
    sink.write("\n}\n");
  }

 private:
  Node with_data(const char* type, const Nodes& data) {
    nodes_.push_back(std::string(R"({"type_key": ")") + type + "\"" +
                     (data.empty() ? "" : ", \"data\": " + list_of(data)) + "}");
    return nodes_.size() - 1;
  }
  static std::string list_of(const Nodes& nodes) {
    std::string text = "[";
    for (const Node node : nodes) text.append(text.size() == 1 ? "" : ", ").append(std::to_string(node));
    return text + "]";
  }

  std::vector<std::string> nodes_;
  std::unordered_map<std::string, Node> strings_;
};

class ModuleWriter {
 public:
  explicit ModuleWriter(const tir::Module& module) : module_(module) {}

  void run(TextSink& sink) && {
    std::vector<std::pair<Node, Node>> functions;
    for (const tir::Function& one : module_.functions) {
      const Node name = g_.add("GlobalVar", {{"name_hint", g_.string(one.name)}, {"span", Node{0}}});
      functions.emplace_back(name, function(one));
    }
    Nodes pools;
    for (const tir::AnnotatedPool& one : module_.annotated_pools) pools.push_back(pool(one.name));
    std::vector<std::pair<std::string, Node>> executor = {{"interface-api", g_.string("c")},
                                                          {"unpacked-api", integer(1, "bool")}};
    if (module_.workspace_alignment) {
      executor.emplace_back("workspace-byte-alignment", integer(*module_.workspace_alignment, "int32"));
    }
    if (module_.constant_alignment) {
      executor.emplace_back("constant-byte-alignment", integer(*module_.constant_alignment, "int32"));
    }
    std::vector<std::pair<std::string, Node>> attributes = {
        {"executor", g_.add("Executor", {{"attrs", g_.dict_attrs(executor)}, {"name", g_.string("aot")}})}};
    if (!pools.empty()) {
      attributes.emplace_back("workspace_memory_pools",
                              g_.add("ir.WorkspaceMemoryPools", {{"pools", g_.array(pools)}}));
    }
    const Node root = g_.add("IRModule", {{"attrs", g_.dict_attrs(attributes)}, {"functions", g_.node_map(functions)}});
    g_.write(root, module_.tvm_version, sink);
  }

 private:
  // A block from a statement on.
  struct Rest {
    const Block* block;
    std::size_t first;
  };
  // That becomes one node.
  struct PendingBlock {
    const Block* block;
    std::size_t first;
    Node node;
  };
  struct PendingExpr {
    const Expr* expr;
    Node node;
  };

  // --- Leaves

  Node integer(std::int64_t value, const std::string& type) {
    return g_.add("IntImm", {{"dtype", type}, {"span", Node{0}}, {"value", std::to_string(value)}});
  }

  Node string_imm(const std::string& text) {
    return g_.add("tir.StringImm", {{"dtype", std::string("handle")}, {"span", Node{0}}, {"value", g_.string(text)}});
  }

  Node var_node(const std::string& name, const std::string& type, Node annotation) {
    return g_.add("tir.Var",
                  {{"dtype", type}, {"name", g_.string(name)}, {"span", Node{0}}, {"type_annotation", annotation}});
  }

  Node prim_type(const std::string& type) { return g_.add("PrimType", {{"dtype", type}, {"span", Node{0}}}); }

  Node var(VarId id) {
    Node& node = vars_[id];
    if (node != 0) return node;
    const tir::Var& described = module_.var(id);
    const bool points = described.type.is_handle() && !described.element.is_void();
    const Node annotation = points ? g_.add("PointerType", {{"element_type", prim_type(to_string(described.element))},
                                                            {"span", Node{0}},
                                                            {"storage_scope", g_.string(described.storage_scope)}})
                                   : prim_type(to_string(described.type));
    return node = var_node(described.name, to_string(described.type), annotation);
  }

  Node pool(const std::string& name) {
    Node& node = pools_[name];
    if (node != 0) return node;
    for (const tir::AnnotatedPool& described : module_.annotated_pools) {
      if (described.name != name) continue;
      node = g_.add(described.is_constant ? "ir.ConstantPoolInfo" : "ir.WorkspacePoolInfo",
                    {{"is_internal", std::string(described.is_internal ? "1" : "0")},
                     {"pool_name", g_.string(name)},
                     {"size_hint_bytes", integer(described.size_hint.value_or(-1), "int32")},
                     {"targets", g_.array({})}});
    }
    return node;
  }

  Node buffer(const std::string& name, Node data, const std::string& type, const Nodes& shape) {
    return g_.add("tir.Buffer", {{"axis_separators", g_.array({})},
                                 {"buffer_type", std::string("1")},
                                 {"data", data},
                                 {"data_alignment", std::string("64")},
                                 {"dtype", type},
                                 {"elem_offset", integer(0, "int32")},
                                 {"name", g_.string(name)},
                                 {"offset_factor", std::string("1")},
                                 {"shape", g_.array(shape)},
                                 {"span", Node{0}},
                                 {"strides", g_.array({})}});
  }

  // --- Functions

  Node function(const tir::Function& function) {
    Nodes params;
    std::vector<std::pair<Node, Node>> buffers;
    for (const tir::Param& param : function.params) {
      if (!param.is_tensor) {
        params.push_back(var(param.var));
        continue;
      }
      params.push_back(var_node(param.name, "handle", prim_type("handle")));
      Nodes shape;
      if (!param.shape) throw std::logic_error("a parameter without a constant shape: " + param.name);
      for (const std::int64_t extent : *param.shape) shape.push_back(integer(extent, "int32"));
      buffers.emplace_back(params.back(), buffer(param.name, var(param.var), to_string(param.element), shape));
    }
    std::vector<std::pair<std::string, Node>> attributes = {{"global_symbol", g_.string(function.name)}};
    if (!function.target.empty()) attributes.emplace_back("target", target(function.target));
    if (function.is_entry) attributes.emplace_back("runner_function", integer(1, "bool"));
    const Node result = g_.reserve();
    Node body = g_.reserve();
    blocks_.push_back({&function.body, 0, body});
    write_pending();
    for (std::size_t i = function.imported_c.size(); i-- > 0;) {
      body = g_.add("tir.AttrStmt", {{"attr_key", g_.string("pragma_import_c")},
                                     {"body", body},
                                     {"node", integer(0, "int32")},
                                     {"span", Node{0}},
                                     {"value", string_imm(function.imported_c[i])}});
    }
    g_.set(result, "tir.PrimFunc",
           {{"attrs", g_.dict_attrs(attributes)},
            {"body", body},
            {"buffer_map", g_.node_map(buffers)},
            {"params", g_.array(params)},
            {"ret_type", g_.add("PrimType", {{"dtype", std::string("int32")}, {"span", Node{0}}})},
            {"span", Node{0}}});
    return result;
  }

  Node target(const std::string& kind) {
    Node& node = targets_[kind];
    if (node == 0) {
      node = g_.add("Target", {{"attrs", g_.map({})},
                               {"host", Node{0}},
                               {"keys", g_.array({g_.string("cpu")})},
                               {"kind", g_.add("TargetKind", {{"name", g_.string(kind)}})},
                               {"tag", g_.string("")}});
    }
    return node;
  }

  void write_pending() {
    while (!blocks_.empty() || !exprs_.empty()) {
      if (!exprs_.empty()) {
        const PendingExpr next = exprs_.back();
        exprs_.pop_back();
        write(*next.expr, next.node);
      } else {
        const PendingBlock next = blocks_.front();
        blocks_.pop_front();
        write(next);
      }
    }
  }

  // --- Statements

  Node later(const Block& block, std::size_t first = 0) {
    const Node node = g_.reserve();
    blocks_.push_back({&block, first, node});
    return node;
  }

  void write(const PendingBlock& part) {
    const Block& block = *part.block;
    std::size_t end = part.first;
    while (end < block.size() && !is_declaration(block[end])) ++end;
    if (end < block.size()) ++end;
    if (end == part.first) {
      g_.set(part.node, "tir.Evaluate", {{"span", Node{0}}, {"value", integer(0, "int32")}});
    } else if (end - part.first == 1) {
      statement(block, part.first, part.node);
    } else {
      Nodes statements;
      for (std::size_t i = part.first; i < end; ++i) {
        statements.push_back(g_.reserve());
        statement(block, i, statements.back());
      }
      g_.set(part.node, "tir.SeqStmt", {{"seq", g_.array(statements)}, {"span", Node{0}}});
    }
  }

  // The statement, and what stands behind a declaration in its body.
  void statement(const Block& block, std::size_t at, Node node) {
    const Stmt& stmt = block[at];
    if (const auto* scope = std::get_if<tir::Scope>(&stmt.node)) {
      blocks_.push_back({&scope->body, 0, node});
      return;
    }
    std::visit([&](const auto& one) { write(one, node, Rest{&block, at + 1}); }, stmt.node);
  }

  void write(const tir::Allocate& allocate, Node node, Rest rest) {
    if (allocate.on_stack || allocate.ring) throw std::logic_error("storage that TIR has no word for");
    std::vector<std::pair<std::string, Node>> annotations = pools_of(allocate.candidate_pools);
    if (allocate.was_on_stack) annotations.emplace_back(stack_array_annotation, integer(1, "bool"));
    g_.set(node, "tir.Allocate",
           {{"annotations", g_.map(annotations)},
            {"body", later(*rest.block, rest.first)},
            {"buffer_var", var(allocate.var)},
            {"condition", allocate.condition ? of(allocate.condition) : integer(1, "bool")},
            {"dtype", to_string(allocate.type)},
            {"extents", list(allocate.extents)},
            {"span", Node{0}}});
  }

  void write(const tir::AllocateConst& constant, Node node, Rest rest) {
    Nodes extents;
    for (const std::int64_t extent : constant.data->shape) extents.push_back(integer(extent, "int32"));
    Node& data = constants_[constant.data.get()];
    if (data == 0) data = g_.with_text("runtime.NDArray", "repr_str", encode_ndarray(*constant.data));
    g_.set(node, "tir.AllocateConst",
           {{"annotations", g_.map(pools_of(constant.candidate_pools))},
            {"body", later(*rest.block, rest.first)},
            {"buffer_var", var(constant.var)},
            {"data", data},
            {"dtype", to_string(constant.type)},
            {"extents", g_.array(extents)},
            {"irmod_storage_idx", Node{0}},
            {"span", Node{0}}});
  }

  void write(const tir::Let& let, Node node, Rest rest) {
    g_.set(
        node, "tir.LetStmt",
        {{"body", later(*rest.block, rest.first)}, {"span", Node{0}}, {"value", of(let.value)}, {"var", var(let.var)}});
  }

  void write(const tir::Store& store, Node node, Rest /*rest*/) {
    g_.set(node, "tir.BufferStore",
           {{"buffer", accessed(store.storage, store.value->type.element())},
            {"indices", list({store.index})},
            {"predicate", store.predicate ? of(store.predicate) : Node{0}},
            {"span", Node{0}},
            {"value", of(store.value)}});
  }

  void write(const tir::Evaluate& evaluate, Node node, Rest /*rest*/) {
    g_.set(node, "tir.Evaluate", {{"span", Node{0}}, {"value", of(evaluate.value)}});
  }

  void write(const tir::For& loop, Node node, Rest /*rest*/) {
    g_.set(node, "tir.For",
           {{"annotations", g_.map({})},
            {"body", later(loop.body)},
            {"extent", of(loop.extent)},
            {"kind", std::string("0")},
            {"loop_var", var(loop.var)},
            {"min", of(loop.min)},
            {"span", Node{0}},
            {"thread_binding", Node{0}}});
  }

  void write(const tir::While& loop, Node node, Rest /*rest*/) {
    g_.set(node, "tir.While", {{"body", later(loop.body)}, {"condition", of(loop.condition)}, {"span", Node{0}}});
  }

  void write(const tir::IfThenElse& branch, Node node, Rest /*rest*/) {
    g_.set(node, "tir.IfThenElse",
           {{"condition", of(branch.condition)},
            {"else_case", branch.else_body.empty() ? Node{0} : later(branch.else_body)},
            {"span", Node{0}},
            {"then_case", later(branch.then_body)}});
  }

  void write(const tir::Assert& check, Node node, Rest /*rest*/) {
    g_.set(node, "tir.AssertStmt",
           {{"body", g_.add("tir.Evaluate", {{"span", Node{0}}, {"value", integer(0, "int32")}})},
            {"condition", of(check.condition)},
            {"message", string_imm(check.message)},
            {"span", Node{0}}});
  }

  void write(const tir::Scope& /*scope*/, Node /*node*/, Rest /*rest*/) {}  // its statements stand for it

  std::vector<std::pair<std::string, Node>> pools_of(const std::vector<std::string>& candidates) {
    if (candidates.empty()) return {};
    Nodes pools;
    for (const std::string& name : candidates) pools.push_back(pool(name));
    return {{"candidate_memory_pools", g_.array(pools)}};
  }

  // Storage as accesses see it: elements of a type, one after the other.
  Node accessed(VarId storage, tir::DataType element) {
    const std::string type = to_string(element);
    return buffer(module_.var(storage).name, var(storage), type, {integer(1, "int32")});
  }

  // --- Expressions

  Node of(const ExprRef& expr) {
    if (expr->kind == ExprKind::var) return var(expr->var);
    Node& node = known_[expr.get()];
    if (node == 0) {
      node = g_.reserve();
      exprs_.push_back({expr.get(), node});
    }
    return node;
  }

  Node list(const std::vector<ExprRef>& exprs) {
    Nodes nodes;
    for (const ExprRef& expr : exprs) nodes.push_back(of(expr));
    return g_.array(nodes);
  }

  void write(const Expr& expr, Node node) {
    const std::string type = to_string(expr.type);
    const auto operand = [&](std::size_t i) { return of(expr.operands[i]); };
    switch (expr.kind) {
      case ExprKind::int_imm: {
        const bool is_large = expr.type.is_uint() && expr.int_value < 0;
        return g_.set(node, "IntImm",
                      {{"dtype", type},
                       {"span", Node{0}},
                       {"value", is_large ? std::to_string(static_cast<std::uint64_t>(expr.int_value))
                                          : std::to_string(expr.int_value)}});
      }
      case ExprKind::float_imm:
        return g_.set(node, "FloatImm", {{"dtype", type}, {"span", Node{0}}, {"value", number_text(expr.float_value)}});
      case ExprKind::string_imm:
        return g_.set(node, "tir.StringImm",
                      {{"dtype", std::string("handle")}, {"span", Node{0}}, {"value", g_.string(expr.text)}});
      case ExprKind::var:
        throw std::logic_error("a variable has a node of its own");
      case ExprKind::not_:
        return g_.set(node, "tir.Not", {{"a", operand(0)}, {"dtype", type}, {"span", Node{0}}});
      case ExprKind::select:
        return g_.set(node, "tir.Select",
                      {{"condition", operand(0)},
                       {"dtype", type},
                       {"false_value", operand(2)},
                       {"span", Node{0}},
                       {"true_value", operand(1)}});
      case ExprKind::cast:
        return g_.set(node, "tir.Cast", {{"dtype", type}, {"span", Node{0}}, {"value", operand(0)}});
      case ExprKind::load:
        return g_.set(node, "tir.BufferLoad",
                      {{"buffer", accessed(expr.var, expr.type.element())},
                       {"dtype", type},
                       {"indices", list({expr.operands[0]})},
                       {"predicate", expr.operands.size() > 1 ? operand(1) : Node{0}},
                       {"span", Node{0}}});
      case ExprKind::ramp:
        return g_.set(node, "tir.Ramp",
                      {{"base", operand(0)},
                       {"dtype", type},
                       {"lanes", integer(expr.type.lanes, "int32")},
                       {"span", Node{0}},
                       {"stride", operand(1)}});
      case ExprKind::broadcast:
        return g_.set(
            node, "tir.Broadcast",
            {{"dtype", type}, {"lanes", integer(expr.type.lanes, "int32")}, {"span", Node{0}}, {"value", operand(0)}});
      case ExprKind::shuffle: {
        const auto middle = expr.operands.begin() + expr.int_value;
        return g_.set(node, "tir.Shuffle",
                      {{"dtype", type},
                       {"indices", list({middle, expr.operands.end()})},
                       {"span", Node{0}},
                       {"vectors", list({expr.operands.begin(), middle})}});
      }
      case ExprKind::let:
        return g_.set(
            node, "tir.Let",
            {{"body", operand(1)}, {"dtype", type}, {"span", Node{0}}, {"value", operand(0)}, {"var", var(expr.var)}});
      case ExprKind::call: {
        // What TVM has for the operator of our own that the reader makes.
        const bool is_half = expr.op == tir::Op::q_multiply_shift_half;
        const std::string name(is_half ? "tir.q_multiply_shift" : tir::operator_name(expr));
        if (tir::is_reserved_op_name(name)) throw std::logic_error("an operator that TIR does not have: " + name);
        return g_.set(node, "tir.Call",
                      {{"args", list(expr.operands)}, {"dtype", type}, {"op", op(name)}, {"span", Node{0}}});
      }
      default:
        return g_.set(node, binary_node(expr.kind),
                      {{"a", operand(0)}, {"b", operand(1)}, {"dtype", type}, {"span", Node{0}}});
    }
  }

  Node op(const std::string& name) {
    Node& node = ops_[name];
    if (node == 0) node = g_.with_text("Op", "repr_str", name);
    return node;
  }

  const tir::Module& module_;
  GraphWriter g_;
  std::deque<PendingBlock> blocks_;
  std::vector<PendingExpr> exprs_;
  std::unordered_map<VarId, Node> vars_;
  std::unordered_map<const Expr*, Node> known_;
  std::unordered_map<const tir::Constant*, Node> constants_;
  std::unordered_map<std::string, Node> pools_;
  std::unordered_map<std::string, Node> targets_;
  std::unordered_map<std::string, Node> ops_;
};

}  // namespace

void write_module(const tir::Module& module, TextSink& sink) { ModuleWriter(module).run(sink); }

}  // namespace usmp::tir_json
