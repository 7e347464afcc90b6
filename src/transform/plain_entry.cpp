// SPDX-License-Identifier: Apache-2.0
#include "transform/plain_entry.hpp"

#include <algorithm>
#include <set>
#include <utility>

#include "transform/device_states.hpp"
#include "usmp/tir/visit.hpp"

namespace usmp::transform {
namespace {

using program::EntryCall;
using tir::Block;
using tir::Expr;
using tir::ExprKind;
using tir::ExprRef;
using tir::VarId;

// Whether the call is all that its statement does, and passes whole storages.
bool passes_storage(const tir::Module& module, const EntryCall& call) {
  return call.is_plain && call.passes_variables_only &&
         std::ranges::all_of(call.arguments, [&](VarId argument) { return module.var(argument).type.is_handle(); });
}

// Parameters of the entry that no function gets which may change: contexts of devices.
std::set<VarId> contexts(const tir::Module& module, const std::vector<EntryCall>& calls) {
  std::set<VarId> vars;
  for (const tir::Param& param : module.functions[module.entry].params) vars.insert(param.var);
  for (const EntryCall& call : calls) {
    if (call.is_opaque) continue;
    for (const VarId argument : call.arguments) vars.erase(argument);
  }
  return vars;
}

// Whether the statement, a call, is handed nothing but numbers, texts and these variables.
bool is_handed_only(const tir::Stmt& stmt, const std::set<VarId>& vars) {
  bool is_so = true;
  tir::for_each_expr_of(stmt, [&](const ExprRef& root) {
    tir::for_each_expr(*root, [&](const Expr& part) {
      is_so = is_so && part.kind != ExprKind::load && (part.kind != ExprKind::var || vars.contains(part.var));
    });
  });
  return is_so;
}

// if (input == NULL) return -1; of a parameter of the entry: it touches no storage.
bool is_null_check(const tir::Stmt& stmt, const tir::Function& entry) {
  const auto* evaluate = std::get_if<tir::Evaluate>(&stmt.node);
  if (evaluate == nullptr) return false;
  const Expr& check = *evaluate->value;
  if (check.op != tir::Op::tvm_check_return || check.operands.size() != 3) return false;
  const bool is_known = tir::as_int(*check.operands[1]) || tir::kept_failure_of(*check.operands[1]);
  if (!tir::as_int(*check.operands[0]) || !is_known) return false;
  const Expr* asked = check.operands[2].get();
  if (asked->kind == ExprKind::cast) asked = asked->operands[0].get();
  if (asked->op != tir::Op::isnullptr || asked->operands.size() != 1) return false;
  const Expr& pointer = *asked->operands[0];
  return pointer.kind == ExprKind::var &&
         std::ranges::any_of(entry.params, [&](const tir::Param& param) { return param.var == pointer.var; });
}

}  // namespace

std::optional<PlainEntry> read_plain_entry(const tir::Module& module) {
  PlainEntry entry;
  entry.calls = program::entry_calls(module).calls;
  const Block& body = module.functions[module.entry].body;
  DeviceStates devices(module);
  const std::set<VarId> inert = contexts(module, entry.calls);
  std::size_t next = 0;
  std::size_t checks = 0;
  std::map<std::pair<std::size_t, std::size_t>, std::size_t> states;
  for (std::size_t i = 0; i < body.size(); ++i) {
    if (const auto* allocate = std::get_if<tir::Allocate>(&body[i].node)) {
      if (!entry.tensors.emplace(allocate->var, *allocate).second) return std::nullopt;
      continue;
    }
    if (std::holds_alternative<tir::AllocateConst>(body[i].node)) continue;
    if (devices.take(body[i])) {
      if (!is_handed_only(body[i], inert)) return std::nullopt;
      continue;
    }
    if (is_null_check(body[i], module.functions[module.entry])) {
      ++checks;
      continue;
    }
    if (next == entry.calls.size() || entry.calls[next].statement != i || !passes_storage(module, entry.calls[next]))
      return std::nullopt;
    for (const VarId argument : entry.calls[next].arguments) {
      std::vector<std::size_t>& with = entry.calls_with[argument];
      if (with.empty() || with.back() != next) with.push_back(next);
    }
    entry.states.push_back(states.emplace(std::pair(devices.now(), checks), states.size()).first->second);
    ++next;
  }
  return next == entry.calls.size() ? std::optional(std::move(entry)) : std::nullopt;
}

void replace_call(tir::Module& module, std::size_t statement, const std::string& name,
                  const std::vector<VarId>& arguments) {
  auto& evaluate = std::get<tir::Evaluate>(module.functions[module.entry].body[statement].node);
  tir::ExprRewriter rewriter([&](const ExprRef& expr) -> ExprRef {
    const auto named = tir::named_call(*expr);
    if (!named) return nullptr;
    Expr copy = *expr;
    const std::vector<ExprRef> rest(expr->operands.begin() + 1 + static_cast<std::ptrdiff_t>(named->arguments.size()),
                                    expr->operands.end());
    copy.operands = {tir::make_string(name)};
    for (const VarId argument : arguments) copy.operands.push_back(tir::make_var(module, argument));
    copy.operands.insert(copy.operands.end(), rest.begin(), rest.end());
    return tir::make_expr(std::move(copy));
  });
  evaluate.value = rewriter.rewritten(evaluate.value);
}

}  // namespace usmp::transform
