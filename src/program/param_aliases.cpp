// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// Groups the parameters to which a call of the entry passes the same variable.
#include "usmp/program/param_aliases.hpp"

#include <algorithm>
#include <set>
#include <utility>

#include "usmp/program/call_graph.hpp"
#include "usmp/tir/visit.hpp"

namespace usmp::program {
namespace {

using tir::VarId;

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

}  // namespace

ParamAliases::ParamAliases(const tir::Module& module) : known_(module.functions.size(), false) {
  const EntryCalls entry = entry_calls(module);
  std::vector<bool> refuted(module.functions.size(), false);
  for (const std::size_t function : entry.called_otherwise) refuted[function] = true;
  const CallGraph graph = call_graph(module);
  for (std::size_t i = 0; i < refuted.size(); ++i) {
    const std::vector<std::size_t>& callers = graph.callers[i];
    refuted[i] = refuted[i] || std::ranges::any_of(callers, [&](std::size_t caller) { return caller != module.entry; });
  }
  const std::set<VarId> storages = storages_of_entry(module.functions[module.entry]);
  for (const EntryCall& call : entry.calls) {
    if (!std::ranges::all_of(call.arguments, [&](VarId argument) { return storages.contains(argument); })) {
      refuted[call.callee] = true;
      continue;
    }
    known_[call.callee] = true;
    note_call(module.functions[call.callee], call.arguments);
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

}  // namespace usmp::program
