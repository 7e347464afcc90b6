// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// Function bodies: statement and expression nodes → tir::Block and tir::Expr.
//
// What the nodes say is handed to the builders of usmp/tir/builder.hpp, which make the normal form of it. Nothing here
// recurses: expressions are built bottom up from an explicit stack, statements from a stack of what is still to come.
// Each expression node is built once a function and shared where the graph shares it.
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
#include "usmp/tir/builder.hpp"
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
  [[nodiscard]] const Limits& limits() const { return limits_; }
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

// What `build` gives; what it throws without a place gets that of the node.
template <class Build>
auto at(NodeId node, const Build& build) {
  try {
    return build();
  } catch (const Error& error) {
    if (!error.where().place.empty()) throw;
    fail_at(node, error.message());
  }
}

class ExprReader {
 public:
  explicit ExprReader(ModuleContext& context)
      : context_(context), graph_(context.graph()), builder_(context.limits().expression_depth) {}

  // Var or SizeVar node → its variable; the same node is the same variable within the function.
  tir::VarId var(NodeId node);
  // Makes `node` stand for a variable that exists already (the handle of a tensor parameter for its data).
  void alias(NodeId node, tir::VarId var) { vars_[node] = var; }
  [[nodiscard]] bool knows(NodeId node) const { return vars_.contains(node); }

  tir::ExprRef expr(NodeId node);
  // The same for an attribute; null if it is missing, unless `required`.
  tir::ExprRef attribute(NodeId node, std::string_view name);
  tir::ExprRef optional_attribute(NodeId node, std::string_view name);
  // Reads a Store or BufferStore.
  tir::Store store(NodeId node);

 private:
  void build_all(NodeId root);
  void build_operands(NodeId statement);
  [[nodiscard]] bool names_pointer(NodeId node) const;
  void alias_pointer(NodeId let);
  tir::Tree construct(NodeId node);
  tir::Tree construct_leaf(NodeId node);
  tir::Tree construct_operator(NodeId node);
  tir::Tree construct_vector(NodeId node);
  tir::Tree construct_call(NodeId node);
  tir::Tree construct_load(NodeId node);
  tir::Tree construct_buffer_load(NodeId node);

  // An expression that build_all has built already.
  const tir::Tree& built(NodeId node) const { return built_.at(node); }
  tir::Tree built_attribute(NodeId node, std::string_view name) const {
    return built(graph_.node_attribute(node, name));
  }
  std::vector<tir::Tree> built_list(std::span<const std::uint32_t> nodes) const;
  tir::Tree make(NodeId node, tir::Expr expr, std::span<const tir::Tree> operands) const;

  // Accesses (accesses.cpp).
  tir::View view(NodeId buffer);
  tir::Tree predicate(NodeId access) const;  // .expr null: none

  ModuleContext& context_;
  const Graph& graph_;
  tir::ExprBuilder builder_;
  std::unordered_map<NodeId, tir::VarId> vars_;
  std::unordered_map<NodeId, tir::Tree> built_;
};

class BodyReader {
 public:
  BodyReader(ModuleContext& context, const BodyCheck& checked, ExprReader& exprs, tir::Function& function)
      : context_(context),
        graph_(context.graph()),
        checked_(checked),
        exprs_(exprs),
        builder_(context.module(), function, context.limits().block_depth) {}

  // The statements of `body`, which has been checked, into the function's body.
  void read(NodeId body);

 private:
  enum class Action : std::uint8_t { statement, open_else, close };
  struct Pending {
    Action action = Action::statement;
    NodeId node = 0;  // of a statement
  };

  void statement(NodeId node);
  void declaration(NodeId node);
  void attr_stmt(NodeId node);
  void seq_stmt(NodeId node);
  void loop(NodeId node, tir::VarId var, tir::ExprRef min, tir::ExprRef extent);
  void if_then_else(NodeId node);
  void assert_stmt(NodeId node);
  void allocate(NodeId node);
  void allocate_const(NodeId node);
  std::vector<std::string> candidate_pools(NodeId node);
  [[nodiscard]] bool is_stack_array(NodeId allocate) const;  // as write_module marks it

  // What comes next, before all that is pending.
  void next(NodeId node) { pending_.push_back({Action::statement, node}); }
  // The same, in the block that has just been opened.
  void next_inside(NodeId node) {
    pending_.push_back({Action::close});
    next(node);
  }
  [[nodiscard]] NodeId body_of(NodeId node) const { return graph_.node_attribute(node, "body"); }

  ModuleContext& context_;
  const Graph& graph_;
  const BodyCheck& checked_;
  ExprReader& exprs_;
  tir::BodyBuilder builder_;
  std::vector<Pending> pending_;  // the next one last
};

}  // namespace usmp::tir_json
