// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// Scans the entry's statements for calls, and for uses of variables that are no argument of a listed call.
#include "usmp/program/entry_calls.hpp"

#include <algorithm>
#include <span>
#include <string>
#include <utility>

namespace usmp::program {
namespace {

using tir::Expr;
using tir::ExprKind;

class EntryReader {
 public:
  explicit EntryReader(const tir::Module& module) : module_(module) {}

  EntryCalls read() && {
    const tir::Block& body = module_.functions[module_.entry].body;
    for (statement_ = 0; statement_ < body.size(); ++statement_) {
      const tir::Stmt& stmt = body[statement_];
      const auto plain = plain_call(stmt);
      plain_ = plain ? plain->name : nullptr;
      is_nested_ = false;
      scan(stmt);
      is_nested_ = true;
      for (const tir::Block* block : tir::blocks_of(stmt)) {
        tir::for_each_stmt(*block, [&](const tir::Stmt& inner) { scan(inner); });
      }
    }
    return std::move(result_);
  }

 private:
  void scan(const tir::Stmt& stmt) {
    if (const auto* store = std::get_if<tir::Store>(&stmt.node)) result_.used_otherwise.insert(store->storage);
    tir::for_each_expr_of(stmt, [&](const tir::ExprRef& root) { scan(*root); });
  }

  void scan(const Expr& root) {
    std::vector<std::pair<const Expr*, bool>> pending = {{&root, false}};  // with whether it is part of an argument
    while (!pending.empty()) {
      const auto [expr, is_part] = pending.back();
      pending.pop_back();
      if (expr->kind == ExprKind::var || expr->kind == ExprKind::load) result_.used_otherwise.insert(expr->var);
      auto call = call_of(*expr);
      const std::span<const tir::ExprRef> below = call ? tir::named_call(*expr)->arguments : std::span(expr->operands);
      for (std::size_t i = below.size(); i-- > 0;) {
        const bool is_passed = call && below[i]->kind == ExprKind::var;
        if (!is_passed || is_part) pending.emplace_back(below[i].get(), is_part || call);
      }
      if (call) add(std::move(*call), below);
    }
  }

  void add(EntryCall call, std::span<const tir::ExprRef> arguments) {
    for (const tir::ExprRef& argument : arguments) {
      const bool is_variable = argument->kind == ExprKind::var;
      call.arguments.push_back(is_variable ? argument->var : tir::VarId());
      call.passes_variables_only = call.passes_variables_only && is_variable;
    }
    result_.calls.push_back(std::move(call));
  }

  // Without its arguments. Nothing: none that is listed.
  std::optional<EntryCall> call_of(const Expr& expr) {
    const auto named = tir::named_call(expr);
    const auto callee = named ? module_.find(*named->name) : std::nullopt;
    if (!callee) return std::nullopt;
    const tir::Function& function = module_.functions[*callee];
    if (*callee == module_.entry || function.params.size() != named->arguments.size()) {
      result_.called_otherwise.insert(*callee);
      return std::nullopt;
    }
    EntryCall call;
    call.statement = statement_;
    call.callee = *callee;
    call.is_opaque = tir::is_opaque(module_, function);
    call.is_nested = is_nested_;
    call.is_plain = named->name == plain_;
    return call;
  }

  const tir::Module& module_;
  EntryCalls result_;
  std::size_t statement_ = 0;
  const std::string* plain_ = nullptr;  // the name in the call that is all that the statement does
  bool is_nested_ = false;
};

}  // namespace

EntryCalls entry_calls(const tir::Module& module) { return EntryReader(module).read(); }

std::optional<tir::NamedCall> plain_call(const tir::Stmt& stmt) {
  const auto* evaluate = std::get_if<tir::Evaluate>(&stmt.node);
  if (evaluate == nullptr) return std::nullopt;
  const Expr* expr = evaluate->value.get();
  if (expr->kind == ExprKind::call && expr->op == tir::Op::tvm_check_return && expr->operands.size() == 3 &&
      tir::as_int(*expr->operands[0]) &&
      (tir::as_int(*expr->operands[1]) || tir::is_own_code(*expr->operands[1]) ||
       tir::kept_failure_of(*expr->operands[1]))) {
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

bool may_act(const tir::Module& module, const tir::NamedCall& call) {
  const auto function = module.find(*call.name);
  return function ? module.functions[*function].target == kept_c_target : !call.name->starts_with("tvmgen_");
}

}  // namespace usmp::program
