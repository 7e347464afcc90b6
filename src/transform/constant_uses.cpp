// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// Joins constants and the parameters that they are handed to as a union-find forest, and drops groups with other uses.
#include "transform/constant_uses.hpp"

#include <algorithm>
#include <set>
#include <utility>

#include "usmp/program/call_graph.hpp"
#include "usmp/program/storage_uses.hpp"
#include "usmp/tir/visit.hpp"

namespace usmp::transform {
namespace {

using tir::Expr;
using tir::ExprKind;
using tir::VarId;

class Uses {
 public:
  explicit Uses(const tir::Module& module) : module_(module) {}

  std::vector<ConstantGroup> groups() && {
    for (const tir::Function& function : module_.functions) declare(function);
    for (const tir::Function& function : module_.functions) {
      for (const auto& [var, use] : program::storage_uses(function.body)) note(var, use);
    }
    const program::CallGraph graph = program::call_graph(module_);
    for (const std::vector<program::CallSite>& calls : graph.calls) {
      for (const program::CallSite& call : calls) hand_on(call);
    }
    std::map<VarId, ConstantGroup> by_root;
    std::set<VarId> unknown;
    for (const auto& [var, node] : nodes_) {
      const VarId root = root_of(var);
      if (node.is_unknown || node.mentions != node.handed_on) unknown.insert(root);
      ConstantGroup& group = by_root[root];
      if (node.constant == nullptr) {
        group.params.push_back(var);
        continue;
      }
      if (!group.constants.empty() && group.type != node.constant->data->type) unknown.insert(root);
      group.type = node.constant->data->type;
      group.constants.push_back(var);
    }
    std::vector<ConstantGroup> found;
    for (auto& [root, group] : by_root) {
      if (group.constants.empty() || unknown.contains(root) || !is_read_as_stored(group)) continue;
      found.push_back(std::move(group));
    }
    std::sort(found.begin(), found.end(),
              [](const ConstantGroup& a, const ConstantGroup& b) { return a.constants[0] < b.constants[0]; });
    return found;
  }

 private:
  // A constant, or a pointer parameter of a function that only this module calls.
  struct Node {
    const tir::AllocateConst* constant = nullptr;  // null: a parameter
    VarId parent;                                  // of the union of those that stand for one another
    std::size_t mentions = 0;                      // of the whole pointer
    std::size_t handed_on = 0;                     // of these as arguments that are nodes
    std::vector<tir::DataType> types;              // of loads
    bool is_unknown = false;
  };

  void declare(const tir::Function& function) {
    if (!function.is_entry && !tir::is_opaque(module_, function)) {
      for (const tir::Param& param : function.params) {
        if (module_.var(param.var).type.is_handle()) nodes_[param.var].parent = param.var;
      }
    }
    tir::for_each_stmt(function.body, [&](const tir::Stmt& stmt) {
      const auto* constant = std::get_if<tir::AllocateConst>(&stmt.node);
      if (constant == nullptr) return;
      Node& node = nodes_[constant->var];
      const tir::Constant& data = *constant->data;
      node.is_unknown =
          node.constant != nullptr || constant->type != data.type || data.type.is_vector() || data.bytes.empty();
      node.constant = constant;
      node.parent = constant->var;
    });
  }

  void note(VarId var, const program::StorageUse& use) {
    Node* node = find(var);
    if (node == nullptr) return;
    node->mentions += use.mentions;
    if (use.stores > 0 || use.has_addresses || use.has_predicates || use.has_vectors) node->is_unknown = true;
    node->types.insert(node->types.end(), use.types.begin(), use.types.end());
  }

  // What else a parameter gets than constants and parameters makes it unknown.
  void hand_on(const program::CallSite& call) {
    const tir::Function& function = module_.functions[call.callee];
    for (std::size_t i = 0; i < function.params.size(); ++i) {
      Node* param = find(function.params[i].var);
      if (param == nullptr) continue;
      const Expr* argument = i < call.arguments.size() ? call.arguments[i].get() : nullptr;
      Node* handed = argument != nullptr && argument->kind == ExprKind::var ? find(argument->var) : nullptr;
      if (handed == nullptr) {
        param->is_unknown = true;
        continue;
      }
      ++handed->handed_on;
      nodes_.at(root_of(argument->var)).parent = root_of(function.params[i].var);
    }
  }

  Node* find(VarId var) {
    const auto found = nodes_.find(var);
    return found == nodes_.end() ? nullptr : &found->second;
  }

  VarId root_of(VarId var) {
    while (nodes_.at(var).parent != var) {
      Node& node = nodes_.at(var);
      node.parent = nodes_.at(node.parent).parent;
      var = node.parent;
    }
    return var;
  }

  bool is_read_as_stored(const ConstantGroup& group) const {
    const auto reads_as_stored = [&](VarId var) {
      return std::ranges::all_of(nodes_.at(var).types, [&](tir::DataType type) { return type == group.type; });
    };
    return std::all_of(group.constants.begin(), group.constants.end(), reads_as_stored) &&
           std::all_of(group.params.begin(), group.params.end(), reads_as_stored);
  }

  const tir::Module& module_;
  std::map<VarId, Node> nodes_;
};

}  // namespace

std::vector<ConstantGroup> constant_groups(const tir::Module& module) { return Uses(module).groups(); }

}  // namespace usmp::transform
