// SPDX-License-Identifier: Apache-2.0
#include "usmp/program/join.hpp"

#include <algorithm>
#include <iterator>
#include <map>
#include <string>
#include <utility>

#include "usmp/tir/visit.hpp"

namespace usmp::program {
namespace {

using tir::Block;
using tir::Expr;
using tir::ExprKind;
using tir::ExprRef;
using tir::Stmt;
using tir::VarId;

// The variable that the statement declares; null: none.
template <class AnyStmt>
auto declared_by(AnyStmt& stmt) {
  using Result = decltype(&std::get<tir::Let>(stmt.node).var);
  return std::visit(
      [](auto& node) -> Result {
        if constexpr (requires { node.var; }) {
          return &node.var;
        } else {
          return nullptr;
        }
      },
      stmt.node);
}

// A copy of a function's body in which every variable has a new identity.
class BodyCopy {
 public:
  BodyCopy(tir::Module& module, const tir::Function& function) : module_(module), body_(function.body) {
    for (const tir::Param& param : function.params) renew(param.var);
    tir::for_each_stmt(body_, [&](const Stmt& stmt) {
      if (const VarId* var = declared_by(stmt)) renew(*var);
    });
  }

  // The new parameter variable is an old one after all.
  void identify(VarId old_var, VarId with) { vars_[old_var] = with; }

  [[nodiscard]] VarId of(VarId old_var) const { return vars_.at(old_var); }

  Block body() && {
    tir::ExprRewriter rewriter([this](const ExprRef& expr) -> ExprRef {
      if (expr->kind != ExprKind::var && expr->kind != ExprKind::load) return nullptr;
      Expr copy = *expr;
      copy.var = of(expr->var);
      return tir::make_expr(std::move(copy));
    });
    tir::for_each_block(body_, [&](Block& block) {
      for (Stmt& stmt : block) {
        if (VarId* var = declared_by(stmt)) *var = of(*var);
        if (auto* store = std::get_if<tir::Store>(&stmt.node)) store->storage = of(store->storage);
        tir::for_each_expr_of(stmt, [&](ExprRef& expr) { expr = rewriter.rewritten(expr); });
      }
    });
    return std::move(body_);
  }

 private:
  void renew(VarId old_var) {
    module_.vars.push_back(tir::Var(module_.var(old_var)));
    vars_[old_var] = VarId(module_.vars.size() - 1);
  }

  tir::Module& module_;
  Block body_;
  std::map<VarId, VarId> vars_;
};

class FunctionJoiner {
 public:
  FunctionJoiner(tir::Module& module, const tir::Allocate& between) : module_(module), between_(between) {}

  std::optional<JoinedFunction> join(const PassedFunction& first, const PassedFunction& second) && {
    result_.function = second.function;
    std::vector<std::string>& notes = result_.function.notes;
    notes = first.function.notes;
    for (const std::string& note : second.function.notes) {
      if (std::ranges::find(notes, note) == notes.end()) notes.push_back(note);
    }
    result_.function.params.clear();
    result_.function.body.clear();
    BodyCopy a(module_, first.function);
    BodyCopy b(module_, second.function);
    take_params(first, a);
    take_params(second, b);
    if (!declare_inner()) return std::nullopt;
    for (BodyCopy* copy : {&a, &b}) {
      Block body = std::move(*copy).body();
      std::move(body.begin(), body.end(), std::back_inserter(result_.function.body));
    }
    return std::move(result_);
  }

 private:
  // The parameters become the joined function's, each storage once; that of the storage between a variable inside.
  void take_params(const PassedFunction& passed, BodyCopy& copy) {
    for (std::size_t i = 0; i < passed.arguments.size(); ++i) {
      const tir::Param& param = passed.function.params[i];
      if (passed.arguments[i] == between_.var) {
        if (result_.inner.valid()) copy.identify(param.var, result_.inner);
        result_.inner = copy.of(param.var);
        continue;
      }
      const auto [known, is_new] = places_.emplace(passed.arguments[i], result_.arguments.size());
      if (!is_new) {
        copy.identify(param.var, result_.function.params[known->second].var);
        continue;
      }
      tir::Param own = param;
      own.var = copy.of(param.var);
      result_.function.params.push_back(std::move(own));
      result_.arguments.push_back(passed.arguments[i]);
    }
  }

  // As a buffer of the function, which knows its element type.
  bool declare_inner() {
    const auto size = tir::allocation_size(between_);
    const tir::DataType element = module_.var(result_.inner).element;
    if (!size.bytes || element.is_void() || element.is_vector() || *size.bytes % element.bytes() != 0) return false;
    tir::Allocate allocate = between_;
    allocate.var = result_.inner;
    allocate.type = element;
    allocate.extents = {tir::make_int(*size.bytes / element.bytes())};
    result_.function.body.push_back(Stmt{std::move(allocate)});
    return true;
  }

  tir::Module& module_;
  const tir::Allocate& between_;
  JoinedFunction result_;
  std::map<VarId, std::size_t> places_;  // of the arguments
};

}  // namespace

std::optional<JoinedFunction> joined(tir::Module& module, const PassedFunction& first, const PassedFunction& second,
                                     const tir::Allocate& between) {
  return FunctionJoiner(module, between).join(first, second);
}

}  // namespace usmp::program
