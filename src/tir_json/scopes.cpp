#include "tir_json/scopes.hpp"

#include "usmp/tir/visit.hpp"

namespace usmp::tir_json {
namespace {

class ScopeCheck {
 public:
  ScopeCheck(const tir::Module& module, NodeId prim_func)
      : module_(module), prim_func_(prim_func), open_(module.vars.size()) {}

  void function(const tir::Function& function) {
    for (const tir::Param& param : function.params) {
      if (param.is_tensor) storage(param.var);
      ++open_[param.var.index()];
    }
    block(function.body);
  }

 private:
  void block(const tir::Block& block);
  void statement(const tir::Stmt& stmt, std::vector<tir::VarId>& declared);
  void expr(const tir::Expr& expr);
  void declare(tir::VarId var) {
    if (open_[var.index()]++ > 0) fail_at(prim_func_, name(var) + " is declared again within its own scope");
  }
  void storage(tir::VarId var) const {
    const tir::DataType type = module_.var(var).type;
    if (type.is_handle() && !type.is_vector()) return;
    fail_at(prim_func_,
            name(var) + " of type " + quoted(tir::to_string(type)) + " is used as storage, expected a handle");
  }
  void use(tir::VarId var) const {
    if (open_[var.index()] == 0) fail_at(prim_func_, name(var) + " is used where nothing declares it");
  }
  [[nodiscard]] std::string name(tir::VarId var) const { return "variable " + quoted(module_.var(var).name); }

  const tir::Module& module_;
  NodeId prim_func_;
  std::vector<std::uint32_t> open_;  // by variable: scopes around the current place that declare it
};

void ScopeCheck::block(const tir::Block& block) {
  std::vector<tir::VarId> declared;
  for (const tir::Stmt& stmt : block) statement(stmt, declared);
  for (const tir::VarId var : declared) --open_[var.index()];
}

void ScopeCheck::statement(const tir::Stmt& stmt, std::vector<tir::VarId>& declared) {
  tir::for_each_expr_of(stmt, [&](const tir::ExprRef& part) { expr(*part); });
  const auto until_the_end = [&](tir::VarId var) {
    declare(var);
    declared.push_back(var);
  };
  if (const auto* allocate = std::get_if<tir::Allocate>(&stmt.node)) {
    storage(allocate->var);
    until_the_end(allocate->var);
  } else if (const auto* constant = std::get_if<tir::AllocateConst>(&stmt.node)) {
    storage(constant->var);
    until_the_end(constant->var);
  } else if (const auto* let = std::get_if<tir::Let>(&stmt.node)) {
    until_the_end(let->var);
  } else if (const auto* store = std::get_if<tir::Store>(&stmt.node)) {
    storage(store->storage);
    use(store->storage);
  } else if (const auto* loop = std::get_if<tir::For>(&stmt.node)) {
    declare(loop->var);
    block(loop->body);
    --open_[loop->var.index()];
    return;
  }
  for (const tir::Block* inner : tir::blocks_of(stmt)) block(*inner);
}

void ScopeCheck::expr(const tir::Expr& expr) {
  if (expr.kind == tir::ExprKind::let) {
    this->expr(*expr.operands[0]);
    ++open_[expr.var.index()];
    this->expr(*expr.operands[1]);
    --open_[expr.var.index()];
    return;
  }
  if (expr.kind == tir::ExprKind::load) storage(expr.var);
  if (expr.kind == tir::ExprKind::load || expr.kind == tir::ExprKind::var) use(expr.var);
  for (const tir::ExprRef& operand : expr.operands) this->expr(*operand);
}

}  // namespace

void check_scopes(const tir::Module& module, const tir::Function& function, NodeId prim_func) {
  ScopeCheck(module, prim_func).function(function);
}

}  // namespace usmp::tir_json
