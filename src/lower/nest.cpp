// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// Visits each statement of a nest once; pointers made inside, assertions and calls keep it from moving.
#include "lower/nest.hpp"

#include <algorithm>
#include <utility>

#include "usmp/lower/lower.hpp"
#include "usmp/tir/visit.hpp"

namespace usmp::lower {
namespace {

using tir::Block;
using tir::Expr;
using tir::ExprKind;
using tir::ExprRef;
using tir::Stmt;
using tir::VarId;

class NestReader {
 public:
  explicit NestReader(const tir::Module& module) : module_(module) {}

  NestUses read(const Stmt& nest) && {
    statement(nest);
    for (const Block* block : tir::blocks_of(nest)) {
      tir::for_each_stmt(*block, [&](const Stmt& stmt) { statement(stmt); });
    }
    return std::move(uses_);
  }

 private:
  void statement(const Stmt& stmt) {
    std::visit(tir::Overloaded{[&](const tir::Allocate& s) {
                                 if (!s.on_stack) uses_.can_move = false;
                                 if (s.on_stack) on_stack_.insert(s.var);
                               },
                               [&](const tir::AllocateConst& s) { bound_.insert(s.var); },
                               [&](const tir::Let& s) { visit_let(s); },
                               [&](const tir::Store& s) {
                                 if (access(s.storage, s.value->type)) uses_.written.insert(s.storage);
                               },
                               [](const tir::Evaluate&) {}, [&](const tir::For& s) { bound_.insert(s.var); },
                               [](const tir::While&) {}, [](const tir::IfThenElse&) {},
                               [&](const tir::Assert&) { uses_.can_move = false; }, [](const tir::Scope&) {}},
               stmt.node);
    const auto* let = std::get_if<tir::Let>(&stmt.node);
    if (let == nullptr || !is_pool_address(module_, *let->value)) {
      tir::for_each_expr_of(
          stmt, [&](const ExprRef& root) { tir::for_each_expr(*root, [&](const Expr& expr) { visit(expr); }); });
    }
  }

  void visit_let(const tir::Let& let) {
    bound_.insert(let.var);
    if (is_pool_address(module_, *let.value)) {
      if (uses_.address_values.emplace(let.var, let.value).second) uses_.addresses.push_back(let.var);
    } else if (module_.var(let.var).type.is_handle()) {
      uses_.can_move = false;  // a pointer made inside: left to the reader of the whole function
    }
  }

  void visit(const Expr& expr) {
    if (expr.kind == ExprKind::var) use(expr.var);
    if (expr.kind == ExprKind::let) bound_.insert(expr.var);
    if (expr.kind == ExprKind::load) (void)access(expr.var, expr.type);
    // Calls of functions, returns, and whatever else takes or gives a pointer.
    if (expr.kind == ExprKind::call && (expr.type.is_handle() || expr.type.is_void() || tir::named_call(expr) ||
                                        expr.op == tir::Op::tvm_check_return || expr.op == tir::Op::ret)) {
      uses_.can_move = false;
      uses_.has_calls = uses_.has_calls || tir::named_call(expr).has_value();
    }
  }

  // Whether it is of storage that anybody else could reach.
  bool access(VarId storage, tir::DataType type) {
    if (on_stack_.contains(storage)) return false;
    std::vector<tir::DataType>& types = uses_.types[storage];
    if (std::ranges::count(types, type.element()) == 0) types.push_back(type.element());
    use(storage);
    uses_.accessed.insert(storage);
    return true;
  }

  void use(VarId var) {
    if (!bound_.contains(var) && seen_.insert(var).second) uses_.free.push_back(var);
  }

  const tir::Module& module_;
  NestUses uses_;
  std::set<VarId> bound_;
  std::set<VarId> on_stack_;
  std::set<VarId> seen_;
};

}  // namespace

NestUses read_nest(const tir::Module& module, const Stmt& nest) { return NestReader(module).read(nest); }

bool is_pool_address(const tir::Module& module, const Expr& value) {
  if (value.kind != ExprKind::call || value.op != tir::Op::address_of || value.operands.size() != 1) return false;
  const Expr& byte = *value.operands[0];
  if (byte.kind != ExprKind::load) return false;
  const std::string& scope = module.var(byte.var).storage_scope;
  return scope == workspace_pool_scope || scope == constant_pool_scope;
}

}  // namespace usmp::lower
