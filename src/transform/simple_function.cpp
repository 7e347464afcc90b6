// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// Goes over declarations, then over accesses, for anything that simple functions do not have.
#include "transform/simple_function.hpp"

#include <algorithm>
#include <optional>

#include "usmp/tir/visit.hpp"

namespace usmp::transform {
namespace {

using tir::Expr;
using tir::ExprKind;
using tir::VarId;

// Collects what speaks against a function; a walker of tir::walk is not needed, since order does not matter.
class Simplicity {
 public:
  Simplicity(const tir::Module& module, const tir::Function& function) {
    for (const tir::Param& param : function.params) {
      if (module.var(param.var).type.is_handle())
        declare(param.var);
      else
        bind(param.var);
    }
    tir::for_each_stmt(function.body, [&](const tir::Stmt& stmt) { declarations(stmt); });
    tir::for_each_stmt(function.body, [&](const tir::Stmt& stmt) { accesses(stmt); });
  }

  [[nodiscard]] bool holds() const { return simple_ && statements_ <= max_statements && nodes_ <= max_expressions; }

 private:
  void bind(VarId var) { simple_ = simple_ && bound_.insert(var).second; }
  void declare(VarId var) {
    bind(var);
    storages_.emplace(var, tir::DataType());
  }

  void declarations(const tir::Stmt& stmt) {
    ++statements_;
    std::visit(tir::Overloaded{[&](const tir::Allocate& s) {
                                 if (s.condition || s.type.is_vector() || s.ring || !tir::element_count(s))
                                   simple_ = false;
                                 declare(s.var);
                                 storages_[s.var] = s.type;
                               },
                               [&](const tir::AllocateConst& s) {
                                 declare(s.var);
                                 storages_[s.var] = s.type;
                               },
                               [&](const tir::Let& s) {
                                 if (s.value->type.is_handle()) simple_ = false;
                                 bind(s.var);
                               },
                               [&](const tir::For& s) { bind(s.var); }, [&](const tir::While&) { simple_ = false; },
                               [&](const tir::Assert&) { simple_ = false; }, [](const auto&) {}},
               stmt.node);
  }

  void accesses(const tir::Stmt& stmt) {
    if (const auto* store = std::get_if<tir::Store>(&stmt.node)) {
      if (store->predicate || store->value->type.is_vector()) simple_ = false;
      access(store->storage, store->value->type);
    }
    tir::for_each_expr_of(
        stmt, [&](const tir::ExprRef& root) { tir::for_each_expr(*root, [&](const Expr& expr) { part(expr); }); });
  }

  void part(const Expr& expr) {
    ++nodes_;
    if (expr.type.is_vector() || expr.kind == ExprKind::let) simple_ = false;
    if (expr.kind == ExprKind::var && (expr.type.is_handle() || !bound_.contains(expr.var))) simple_ = false;
    if (expr.kind == ExprKind::call && !tir::info(expr.op).is_elementwise) {
      simple_ = false;
    }
    if (expr.kind != ExprKind::load) return;
    if (expr.operands.size() != 1) simple_ = false;
    access(expr.var, expr.type);
  }

  void access(VarId storage, tir::DataType type) {
    const auto found = storages_.find(storage);
    // The first access says of which type a parameter is.
    if (found != storages_.end() && found->second.is_void()) found->second = type;
    if (found == storages_.end() || found->second != type) simple_ = false;
  }

  bool simple_ = true;
  std::size_t statements_ = 0;
  std::size_t nodes_ = 0;
  std::set<VarId> bound_;
  std::map<VarId, tir::DataType> storages_;
};

}  // namespace

bool is_simple(const tir::Module& module, std::size_t function, const ParamAliases& aliases) {
  if (function == module.entry || !aliases.known(function)) return false;
  const tir::Function& candidate = module.functions[function];
  return !tir::is_opaque(module, candidate) && candidate.imported_c.empty() && Simplicity(module, candidate).holds();
}

}  // namespace usmp::transform
