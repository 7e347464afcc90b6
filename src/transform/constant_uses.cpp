#include "transform/constant_uses.hpp"

#include <algorithm>
#include <set>
#include <utility>

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
      tir::for_each_stmt(function.body, [&](const tir::Stmt& stmt) { visit(stmt); });
    }
    std::map<VarId, ConstantGroup> by_root;
    std::set<VarId> spoilt;
    for (const auto& [var, node] : nodes_) {
      const VarId root = root_of(var);
      if (node.is_spoilt || node.mentions != node.handed_on) spoilt.insert(root);
      ConstantGroup& group = by_root[root];
      if (node.constant == nullptr) {
        group.params.push_back(var);
        continue;
      }
      if (!group.constants.empty() && group.type != node.constant->data->type) spoilt.insert(root);
      group.type = node.constant->data->type;
      group.constants.push_back(var);
    }
    std::vector<ConstantGroup> found;
    for (auto& [root, group] : by_root) {
      if (group.constants.empty() || spoilt.contains(root) || !is_read_as_stored(group)) continue;
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
    std::vector<tir::DataType> loads;              // types, each once
    bool is_spoilt = false;
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
      node.is_spoilt =
          node.constant != nullptr || constant->type != data.type || data.type.is_vector() || data.bytes.empty();
      node.constant = constant;
      node.parent = constant->var;
    });
  }

  void visit(const tir::Stmt& stmt) {
    if (const auto* store = std::get_if<tir::Store>(&stmt.node)) spoil(store->storage);
    tir::for_each_expr_of(
        stmt, [&](const tir::ExprRef& root) { tir::for_each_expr(*root, [&](const Expr& expr) { visit(expr); }); });
  }

  void visit(const Expr& expr) {
    if (expr.kind == ExprKind::var) {
      if (Node* node = find(expr.var)) ++node->mentions;
    } else if (expr.kind == ExprKind::load) {
      load(expr);
    } else if (expr.kind == ExprKind::call) {
      if (expr.op == tir::Op::address_of) {
        for (const tir::ExprRef& operand : expr.operands) spoil(operand->var);
      }
      if (const auto call = tir::named_call(expr)) hand_on(*call);
    }
  }

  void load(const Expr& expr) {
    Node* node = find(expr.var);
    if (node == nullptr) return;
    if (expr.operands.size() != 1 || expr.type.is_vector()) node->is_spoilt = true;
    const bool is_new = std::find(node->loads.begin(), node->loads.end(), expr.type) == node->loads.end();
    if (is_new) node->loads.push_back(expr.type);
  }

  // What else a parameter gets than constants and parameters spoils it.
  void hand_on(const tir::NamedCall& call) {
    const auto callee = module_.find(*call.name);
    if (!callee) return;
    const tir::Function& function = module_.functions[*callee];
    for (std::size_t i = 0; i < function.params.size(); ++i) {
      Node* param = find(function.params[i].var);
      if (param == nullptr) continue;
      const Expr* argument = i < call.arguments.size() ? call.arguments[i].get() : nullptr;
      Node* handed = argument != nullptr && argument->kind == ExprKind::var ? find(argument->var) : nullptr;
      if (handed == nullptr) {
        param->is_spoilt = true;
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

  void spoil(VarId var) {
    if (Node* node = find(var)) node->is_spoilt = true;
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
      const std::vector<tir::DataType>& loads = nodes_.at(var).loads;
      return std::all_of(loads.begin(), loads.end(), [&](tir::DataType type) { return type == group.type; });
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
