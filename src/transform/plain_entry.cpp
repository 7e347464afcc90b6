// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// Reads the entry statement by statement, and counts barriers and device states between calls.
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

std::set<VarId> variables_of(const tir::Stmt& stmt) {
  std::set<VarId> vars;
  tir::for_each_expr_of(stmt, [&](const ExprRef& root) {
    tir::for_each_expr(*root, [&](const Expr& part) {
      if (part.kind == ExprKind::load || part.kind == ExprKind::var) vars.insert(part.var);
    });
  });
  return vars;
}

}  // namespace

bool PlainEntry::is_used_before(VarId var, std::size_t call) const {
  const auto with = calls_with.find(var);
  const auto barriers = barriers_with.find(var);
  return (with != calls_with.end() && with->second.front() < call) ||
         (barriers != barriers_with.end() && barriers->second.first <= call);
}

bool PlainEntry::is_used_behind(VarId var, std::size_t count) const {
  const auto with = calls_with.find(var);
  const auto barriers = barriers_with.find(var);
  return (with != calls_with.end() && with->second.back() >= count) ||
         (barriers != barriers_with.end() && barriers->second.second >= count);
}

std::optional<PlainEntry> read_plain_entry(const tir::Module& module) {
  PlainEntry entry;
  const std::vector<EntryCall> calls = program::entry_calls(module).calls;
  const Block& body = module.functions[module.entry].body;
  DeviceStates devices(module);
  const std::set<VarId> inert = contexts(module, calls);
  auto call = calls.begin();
  std::size_t barriers = 0;
  std::map<std::pair<std::size_t, std::size_t>, std::size_t> states;
  for (std::size_t i = 0; i < body.size(); ++i) {
    if (const auto* allocate = std::get_if<tir::Allocate>(&body[i].node)) {
      if (!entry.tensors.emplace(allocate->var, *allocate).second) return std::nullopt;
      continue;
    }
    if (std::holds_alternative<tir::AllocateConst>(body[i].node)) continue;
    if (!std::holds_alternative<tir::Evaluate>(body[i].node)) return std::nullopt;
    if (devices.take(body[i]) && is_handed_only(body[i], inert)) continue;
    if (call == calls.end() || call->statement != i || !passes_storage(module, *call)) {
      ++barriers;
      for (const VarId var : variables_of(body[i])) {
        const std::size_t before = entry.calls.size();
        entry.barriers_with.emplace(var, std::pair(before, before)).first->second.second = before;
      }
      while (call != calls.end() && call->statement == i) ++call;
      continue;
    }
    for (const VarId argument : call->arguments) {
      std::vector<std::size_t>& with = entry.calls_with[argument];
      if (with.empty() || with.back() != entry.calls.size()) with.push_back(entry.calls.size());
    }
    entry.states.push_back(states.emplace(std::pair(devices.now(), barriers), states.size()).first->second);
    entry.calls.push_back(*call++);
  }
  return entry;
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
