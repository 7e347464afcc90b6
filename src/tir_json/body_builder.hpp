// Function bodies: statement and expression nodes → tir::Block and tir::Expr.
//
// Nothing here recurses: expressions are built bottom up from an explicit stack, statements from a stack of open
// blocks. So a file may nest as deep as it likes; what is built is held to Limits. Each expression node is built once a
// function and shared where the graph shares it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

#include "tir_json/children.hpp"
#include "tir_json/graph.hpp"
#include "usmp/tir/ir.hpp"
#include "usmp/tir_json/reader.hpp"

namespace usmp::tir_json {

// Without operands.
[[nodiscard]] inline tir::Expr new_expr(tir::ExprKind kind, tir::DataType type) {
  tir::Expr expr;
  expr.kind = kind;
  expr.type = type;
  return expr;
}

// What functions share while a module is read.
class ModuleContext {
 public:
  ModuleContext(const Graph& graph, tir::Module& module, const Limits& limits)
      : graph_(graph), module_(module), limits_(limits) {}

  [[nodiscard]] const Graph& graph() const { return graph_; }
  [[nodiscard]] tir::Module& module() { return module_; }
  // Throw if that is too deep.
  void check_block_depth(NodeId node, std::size_t levels) const;
  void check_expression_depth(NodeId node, std::size_t levels) const;
  // Throws if a tensor has too many dimensions.
  void check_dimensions(NodeId node, std::size_t dimensions) const;

  // The name that call_extern uses for the function of a GlobalVar.
  void set_symbol(NodeId global_var, std::string symbol) { symbols_[global_var] = std::move(symbol); }
  [[nodiscard]] std::string symbol(NodeId global_var) const;

  // The module's `constants`, which irmod_storage_idx counts.
  void set_constants(std::span<const std::uint32_t> constants) { constants_ = constants; }
  // The constant of an AllocateConst, decoded at its first use.
  [[nodiscard]] std::shared_ptr<const tir::Constant> constant_of(NodeId allocate_const);

  // The pools of an Array of pool infos, by name; new ones go to Module::annotated_pools.
  std::vector<std::string> pool_names(std::span<const std::uint32_t> pool_infos);

 private:
  [[nodiscard]] NodeId constant_node(NodeId allocate_const) const;

  const Graph& graph_;
  tir::Module& module_;
  const Limits& limits_;
  std::unordered_map<NodeId, std::string> symbols_;
  std::span<const std::uint32_t> constants_;
  std::unordered_map<NodeId, std::shared_ptr<const tir::Constant>> decoded_;             // by node
  std::unordered_map<std::size_t, std::shared_ptr<const tir::Constant>> decoded_blobs_;  // by index in b64ndarrays
  std::unordered_map<NodeId, std::string> seen_pools_;
};

// TargetKind name of a Target node.
[[nodiscard]] std::string target_kind(const Graph& graph, NodeId target);
// Parses the dtype attribute.
[[nodiscard]] tir::DataType type_attribute(const Graph& graph, NodeId node, std::string_view name = "dtype");

class ExprBuilder {
 public:
  // An expression and its height: 1 for a leaf.
  struct Built {
    tir::ExprRef expr;
    std::size_t height = 1;
  };

  explicit ExprBuilder(ModuleContext& context) : context_(context), graph_(context.graph()) {}

  // Var or SizeVar node → its variable; the same node is the same variable within the function.
  tir::VarId var(NodeId node);
  // Makes `node` stand for a variable that exists already (the handle of a tensor parameter for its data).
  void alias(NodeId node, tir::VarId var) { vars_[node] = var; }
  [[nodiscard]] bool knows(NodeId node) const { return vars_.contains(node); }

  tir::ExprRef expr(NodeId node);
  // The same for an attribute; null if it is missing, unless `required`.
  tir::ExprRef attribute(NodeId node, std::string_view name);
  tir::ExprRef optional_attribute(NodeId node, std::string_view name);

  struct StoreParts {
    tir::VarId storage;
    tir::ExprRef index, value, predicate;
  };
  // Of a Store or BufferStore.
  StoreParts store(NodeId node);

 private:
  void build_all(NodeId root);
  void build_operands(NodeId statement);
  Built construct(NodeId node);
  Built construct_leaf(NodeId node);
  Built construct_operator(NodeId node);
  Built construct_vector(NodeId node);
  Built construct_call(NodeId node);
  Built construct_load(NodeId node);
  Built construct_buffer_load(NodeId node);

  // An expression that build_all has built already.
  const Built& built(NodeId node) const { return built_.at(node); }
  Built built_attribute(NodeId node, std::string_view name) const { return built(graph_.node_attribute(node, name)); }
  Built make(NodeId node, tir::Expr expr, std::span<const Built> operands) const;
  Built binary(NodeId node, tir::ExprKind kind, Built a, Built b) const;

  // Accesses (accesses.cpp).
  Built flat_index(NodeId access, NodeId buffer);
  Built lane_index(NodeId access, Built index, std::uint16_t lanes) const;
  Built predicate(NodeId access) const;  // .expr null: always
  Built convert(NodeId node, Built value, tir::DataType type) const;

  ModuleContext& context_;
  const Graph& graph_;
  std::unordered_map<NodeId, tir::VarId> vars_;
  std::unordered_map<NodeId, Built> built_;
};

class BlockBuilder {
 public:
  BlockBuilder(ModuleContext& context, const BodyCheck& checked, ExprBuilder& exprs, tir::Function& function)
      : context_(context), graph_(context.graph()), checked_(checked), exprs_(exprs), function_(function) {}

  // The statements of `body`, which has been checked, into the function's body.
  void build(NodeId body);

 private:
  struct Frame {
    tir::Block* out;  // nothing is added to the block around it while this one is open
    std::size_t depth;
    std::vector<NodeId> pending;  // statements still to come, the next one last
  };

  void statement(NodeId node);
  void declaration(NodeId node);
  void attr_stmt(NodeId node);
  void seq_stmt(NodeId node);
  void loop(NodeId node, tir::VarId var, tir::ExprRef min, tir::ExprRef extent);
  void if_then_else(NodeId node);
  void evaluate(NodeId node);
  void assert_stmt(NodeId node);
  tir::Allocate allocate(NodeId node);
  tir::AllocateConst allocate_const(NodeId node);
  std::vector<std::string> candidate_pools(NodeId node);
  void check_redeclared(NodeId node, tir::VarId var, const std::optional<Bytes>& size);

  template <class T>
  T& emit(T statement) {
    tir::Block& out = *frames_.back().out;
    out.push_back(tir::Stmt{std::move(statement)});
    return std::get<T>(out.back().node);
  }
  // `body` comes next, in the block that is open.
  void go_on(NodeId node) { frames_.back().pending.push_back(graph_.node_attribute(node, "body")); }
  void open(NodeId owner, tir::Block& block, NodeId body);
  void open(NodeId owner, tir::Block& block, NodeId body, std::size_t depth);
  [[nodiscard]] std::size_t depth() const { return frames_.back().depth; }

  ModuleContext& context_;
  const Graph& graph_;
  const BodyCheck& checked_;
  ExprBuilder& exprs_;
  tir::Function& function_;
  std::vector<Frame> frames_;
  std::unordered_map<tir::VarId, std::optional<Bytes>> declared_;  // sizes of allocations by variable
};

}  // namespace usmp::tir_json
