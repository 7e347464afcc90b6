// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// Copies bodies with new variables, and makes one parameter of each storage that several calls pass.
#include "usmp/program/join.hpp"

#include <algorithm>
#include <iterator>
#include <map>
#include <span>
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
  FunctionJoiner(tir::Module& module, std::span<const tir::Allocate> between) : module_(module) {
    for (const tir::Allocate& allocate : between) between_.emplace(allocate.var, &allocate);
  }

  std::optional<JoinedCalls> join(std::span<const PassedFunction> calls) && {
    result_.function = calls.back().function;
    result_.function.params.clear();
    result_.function.body.clear();
    result_.function.notes.clear();
    std::vector<BodyCopy> copies;
    copies.reserve(calls.size());
    for (const PassedFunction& call : calls) {
      add_new(call.function.notes, result_.function.notes);
      copies.emplace_back(module_, call.function);
      take_params(call, copies.back());
    }
    for (const auto& [var, inner] : result_.inner) {
      if (!declare_inner(*between_.at(var), inner)) return std::nullopt;
    }
    for (BodyCopy& copy : copies) {
      result_.first.push_back(result_.function.body.size());
      Block body = std::move(copy).body();
      std::move(body.begin(), body.end(), std::back_inserter(result_.function.body));
    }
    return std::move(result_);
  }

 private:
  static void add_new(const std::vector<std::string>& notes, std::vector<std::string>& all) {
    std::ranges::copy_if(notes, std::back_inserter(all),
                         [&](const std::string& note) { return std::ranges::find(all, note) == all.end(); });
  }

  // The parameters become the joined function's, each storage once; those of the storage between variables inside.
  void take_params(const PassedFunction& passed, BodyCopy& copy) {
    for (std::size_t i = 0; i < passed.arguments.size(); ++i) {
      const tir::Param& param = passed.function.params[i];
      if (between_.contains(passed.arguments[i])) {
        const auto [known, is_new] = result_.inner.emplace(passed.arguments[i], copy.of(param.var));
        if (!is_new) copy.identify(param.var, known->second);
        if (is_new && param.shape) shapes_[known->second] = *param.shape;
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
  bool declare_inner(const tir::Allocate& outside, VarId inner) {
    const auto size = tir::allocation_size(outside);
    const tir::DataType element = module_.var(inner).element;
    if (!size.bytes || element.is_void() || element.is_vector() || *size.bytes % element.bytes() != 0) return false;
    tir::Allocate allocate = outside;
    allocate.var = inner;
    allocate.type = element;
    allocate.extents = {tir::make_int(*size.bytes / element.bytes())};
    const auto shape = shapes_.find(inner);
    if (shape != shapes_.end()) {
      tir::Allocate shaped = allocate;
      shaped.extents.clear();
      for (const std::int64_t extent : shape->second) shaped.extents.push_back(tir::make_int(extent));
      if (tir::allocation_size(shaped).bytes == size.bytes) allocate = std::move(shaped);
    }
    result_.function.body.push_back(Stmt{std::move(allocate)});
    return true;
  }

  tir::Module& module_;
  std::map<VarId, const tir::Allocate*> between_;
  JoinedCalls result_;
  std::map<VarId, std::size_t> places_;                // of the arguments
  std::map<VarId, std::vector<std::int64_t>> shapes_;  // of storages between the calls
};

}  // namespace

std::optional<JoinedCalls> joined(tir::Module& module, std::span<const PassedFunction> calls,
                                  std::span<const tir::Allocate> between) {
  return FunctionJoiner(module, between).join(calls);
}

std::optional<JoinedFunction> joined(tir::Module& module, const PassedFunction& first, const PassedFunction& second,
                                     const tir::Allocate& between) {
  const PassedFunction calls[] = {first, second};
  auto both = joined(module, calls, {&between, 1});
  if (!both) return std::nullopt;
  return JoinedFunction{std::move(both->function), std::move(both->arguments), both->inner.at(between.var)};
}

}  // namespace usmp::program
