#include "tir_json/scopes.hpp"

#include "usmp/tir/visit.hpp"

namespace usmp::tir_json {
namespace {

// Iterative, like the builders, so that the depth of a module costs no stack here.
class ScopeCheck {
 public:
  ScopeCheck(const tir::Module& module, NodeId prim_func)
      : module_(module), prim_func_(prim_func), open_(module.vars.size()) {}

  void function(const tir::Function& function) {
    for (const tir::Param& param : function.params) {
      if (param.is_tensor) storage(param.var);
      ++open_[param.var.index()];
    }
    frames_.push_back({.block = &function.body, .next = 0, .declared = {}});
    while (!frames_.empty()) {
      Frame& frame = frames_.back();
      if (frame.next == frame.block->size()) {
        for (const tir::VarId var : frame.declared) --open_[var.index()];
        frames_.pop_back();
      } else {
        statement((*frame.block)[frame.next++]);
      }
    }
  }

 private:
  struct Frame {
    const tir::Block* block;
    std::size_t next;                  // statement
    std::vector<tir::VarId> declared;  // until the block ends
  };
  enum class Action : std::uint8_t { visit, open_let, close_let };
  struct Step {
    const tir::Expr* expr;
    Action action;
  };

  void statement(const tir::Stmt& stmt);
  void expr(const tir::Expr& root);
  void declare(tir::VarId var) {
    if (open_[var.index()]++ > 0) fail_redeclared(var);
    frames_.back().declared.push_back(var);
  }
  [[noreturn]] void fail_redeclared(tir::VarId var) const {
    fail_at(prim_func_, name(var) + " is declared again within its own scope");
  }
  void storage(tir::VarId var) const {
    const tir::DataType type = module_.var(var).type;
    if (type.is_handle() && !type.is_vector()) return;
    fail_at(prim_func_,
            name(var) + " of type " + shown(tir::to_string(type)) + " is used as storage, expected a handle");
  }
  void use(tir::VarId var) const {
    if (open_[var.index()] == 0) fail_at(prim_func_, name(var) + " is used where nothing declares it");
  }
  [[nodiscard]] std::string name(tir::VarId var) const { return "variable " + shown(module_.var(var).name); }

  const tir::Module& module_;
  NodeId prim_func_;
  std::vector<std::uint32_t> open_;  // by variable: scopes around the current place that declare it
  std::vector<Frame> frames_;
  std::vector<Step> steps_;
};

void ScopeCheck::statement(const tir::Stmt& stmt) {
  tir::for_each_expr_of(stmt, [&](const tir::ExprRef& part) { expr(*part); });
  if (const auto* allocate = std::get_if<tir::Allocate>(&stmt.node)) {
    storage(allocate->var);
    declare(allocate->var);
  } else if (const auto* constant = std::get_if<tir::AllocateConst>(&stmt.node)) {
    storage(constant->var);
    declare(constant->var);
  } else if (const auto* let = std::get_if<tir::Let>(&stmt.node)) {
    declare(let->var);
  } else if (const auto* store = std::get_if<tir::Store>(&stmt.node)) {
    storage(store->storage);
    use(store->storage);
  }
  for (const tir::Block* inner : tir::blocks_of(stmt)) {
    frames_.push_back({.block = inner, .next = 0, .declared = {}});
    if (const auto* loop = std::get_if<tir::For>(&stmt.node)) declare(loop->var);
  }
}

void ScopeCheck::expr(const tir::Expr& root) {
  steps_.push_back({&root, Action::visit});
  while (!steps_.empty()) {
    const auto [expr, action] = steps_.back();
    steps_.pop_back();
    if (action == Action::open_let) {
      if (open_[expr->var.index()]++ > 0) fail_redeclared(expr->var);
    } else if (action == Action::close_let) {
      --open_[expr->var.index()];
    } else if (expr->kind == tir::ExprKind::let) {
      // Last in, first out: the value stands outside of the variable's scope, the body inside.
      steps_.push_back({expr, Action::close_let});
      steps_.push_back({expr->operands[1].get(), Action::visit});
      steps_.push_back({expr, Action::open_let});
      steps_.push_back({expr->operands[0].get(), Action::visit});
    } else {
      if (expr->kind == tir::ExprKind::load) storage(expr->var);
      if (expr->kind == tir::ExprKind::load || expr->kind == tir::ExprKind::var) use(expr->var);
      for (const tir::ExprRef& operand : expr->operands) steps_.push_back({operand.get(), Action::visit});
    }
  }
}

}  // namespace

void check_scopes(const tir::Module& module, const tir::Function& function, NodeId prim_func) {
  ScopeCheck(module, prim_func).function(function);
}

}  // namespace usmp::tir_json
