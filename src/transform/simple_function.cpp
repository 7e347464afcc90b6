#include "transform/simple_function.hpp"

#include <algorithm>
#include <optional>

#include "usmp/tir/visit.hpp"

namespace usmp::transform {
namespace {

using tir::Expr;
using tir::ExprKind;
using tir::VarId;

// What a call of the entry passes, if every argument is the name of whole storage.
std::optional<std::vector<VarId>> whole_arguments(const tir::NamedCall& call, const std::set<VarId>& storages) {
  std::vector<VarId> arguments;
  for (const tir::ExprRef& argument : call.arguments) {
    if (argument->kind != ExprKind::var || !storages.contains(argument->var)) return std::nullopt;
    arguments.push_back(argument->var);
  }
  return arguments;
}

// Parameters of the entry, and what it allocates.
std::set<VarId> storages_of_entry(const tir::Function& entry) {
  std::set<VarId> storages;
  for (const tir::Param& param : entry.params) storages.insert(param.var);
  tir::for_each_stmt(entry.body, [&](const tir::Stmt& stmt) {
    if (const auto* allocate = std::get_if<tir::Allocate>(&stmt.node)) storages.insert(allocate->var);
    if (const auto* constant = std::get_if<tir::AllocateConst>(&stmt.node)) storages.insert(constant->var);
  });
  tir::for_each_stmt(entry.body, [&](const tir::Stmt& stmt) {
    if (const auto* let = std::get_if<tir::Let>(&stmt.node)) storages.erase(let->var);
  });
  return storages;
}

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
                                 if (s.condition || s.type.is_vector() || !tir::element_count(s)) simple_ = false;
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
    // Of a parameter the type is what the first access says.
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

ParamAliases::ParamAliases(const tir::Module& module) : known_(module.functions.size(), false) {
  std::vector<bool> refuted(module.functions.size(), false);
  for (std::size_t caller = 0; caller < module.functions.size(); ++caller) {
    const tir::Function& function = module.functions[caller];
    const std::set<VarId> storages = caller == module.entry ? storages_of_entry(function) : std::set<VarId>();
    tir::for_each_expr_in(function.body, [&](const Expr& expr) {
      const auto call = tir::named_call(expr);
      const auto callee = call ? module.find(*call->name) : std::nullopt;
      if (!callee) return;
      const tir::Function& called = module.functions[*callee];
      const auto arguments = whole_arguments(*call, storages);
      if (!arguments || arguments->size() < called.params.size()) {
        refuted[*callee] = true;
        return;
      }
      known_[*callee] = true;
      note_call(called, *arguments);
    });
  }
  for (std::size_t i = 0; i < known_.size(); ++i) known_[i] = known_[i] && !refuted[i];
}

void ParamAliases::note_call(const tir::Function& called, const std::vector<VarId>& arguments) {
  std::vector<std::pair<VarId, VarId>> passed;  // argument, parameter
  passed.reserve(called.params.size());
  for (std::size_t i = 0; i < called.params.size(); ++i) passed.emplace_back(arguments[i], called.params[i].var);
  std::sort(passed.begin(), passed.end());
  for (auto first = passed.begin(); first != passed.end();) {
    const auto last = std::find_if(first, passed.end(), [&](const auto& other) { return other.first != first->first; });
    std::vector<VarId> params;
    for (; first != last; ++first) params.push_back(first->second);
    if (params.size() > 1) note_class(std::move(params));
  }
}

void ParamAliases::note_class(std::vector<VarId> params) {
  const auto [known, is_new] = classes_.emplace(std::move(params), classes_.size());
  if (!is_new) return;
  for (const VarId param : known->first) {
    std::vector<std::size_t>& classes = classes_of_[param];
    if (classes.size() <= most_classes) classes.push_back(known->second);  // one more says that there are too many
  }
}

bool ParamAliases::may_alias(VarId a, VarId b) const {
  if (a == b) return true;
  const auto of_a = classes_of_.find(a);
  const auto of_b = classes_of_.find(b);
  if (of_a == classes_of_.end() || of_b == classes_of_.end()) return false;
  if (of_a->second.size() > most_classes || of_b->second.size() > most_classes) return true;
  return std::ranges::any_of(
      of_a->second, [&](std::size_t one) { return std::ranges::find(of_b->second, one) != of_b->second.end(); });
}

bool is_simple(const tir::Module& module, std::size_t function, const ParamAliases& aliases) {
  if (function == module.entry || !aliases.known(function)) return false;
  const tir::Function& candidate = module.functions[function];
  return !tir::is_opaque(module, candidate) && candidate.imported_c.empty() && Simplicity(module, candidate).holds();
}

std::optional<tir::NamedCall> plain_call(const tir::Stmt& stmt) {
  const auto* evaluate = std::get_if<tir::Evaluate>(&stmt.node);
  if (evaluate == nullptr) return std::nullopt;
  const Expr* expr = evaluate->value.get();
  if (expr->kind == ExprKind::call && expr->op == tir::Op::tvm_check_return && expr->operands.size() == 3 &&
      tir::as_int(*expr->operands[0]) && tir::as_int(*expr->operands[1])) {
    expr = expr->operands[2].get();
  }
  const auto call = tir::named_call(*expr);
  if (!call) return std::nullopt;
  const bool is_plain = std::none_of(call->arguments.begin(), call->arguments.end(), [](const tir::ExprRef& argument) {
    bool calls = false;
    tir::for_each_expr(*argument, [&](const Expr& part) { calls = calls || tir::named_call(part); });
    return calls;
  });
  return is_plain ? call : std::nullopt;
}

std::set<std::string> called_functions(const tir::Module& module) {
  std::set<std::string> names;
  for (const tir::Function& function : module.functions) {
    tir::for_each_expr_in(function.body, [&](const Expr& expr) {
      if (const auto call = tir::named_call(expr)) names.insert(*call->name);
    });
  }
  return names;
}

}  // namespace usmp::transform
