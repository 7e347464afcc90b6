// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// Finds the range of each constant once, and hands it on to parameters along the entry's calls.
#include "usmp/program/constant_table.hpp"

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <set>
#include <string>
#include <variant>

#include "usmp/program/call_graph.hpp"
#include "usmp/program/entry_calls.hpp"
#include "usmp/tir/element_range.hpp"
#include "usmp/tir/integer_types.hpp"
#include "usmp/tir/visit.hpp"

namespace usmp::program {
namespace {

using tir::DataType;
using tir::Expr;
using tir::ExprKind;
using tir::VarId;

std::optional<ConstantElements> elements_of(const tir::Constant& constant) {
  const DataType type = constant.type;
  const bool is_whole = type.bits == 8 || type.bits == 16 || type.bits == 32 || type.bits == 64;
  if (!is_whole || type.is_vector() || !tir::range_of_type(type) || constant.bytes.empty()) return std::nullopt;
  const auto size = static_cast<std::size_t>(type.bytes());
  if (constant.bytes.size() % size != 0) return std::nullopt;
  const auto range = tir::range_of_elements(constant);
  return range ? std::optional(ConstantElements{type, *range}) : std::nullopt;
}

std::set<VarId> stored(const tir::Module& module) {
  std::set<VarId> vars;
  for (const tir::Function& function : module.functions) {
    tir::for_each_stmt(function.body, [&](const tir::Stmt& stmt) {
      if (const auto* store = std::get_if<tir::Store>(&stmt.node)) vars.insert(store->storage);
    });
  }
  return vars;
}

}  // namespace

ConstantTable::ConstantTable(const tir::Module& module) {
  add_constants(module);
  if (elements_.empty()) return;
  const std::set<VarId> written = stored(module);
  for (const VarId var : written) elements_.erase(var);
  if (!elements_.empty()) add_params(module, written);
}

void ConstantTable::add_constants(const tir::Module& module) {
  std::unordered_map<const tir::Constant*, std::optional<ConstantElements>> known;
  std::set<VarId> declared;
  for (const tir::Function& function : module.functions) {
    tir::for_each_stmt(function.body, [&](const tir::Stmt& stmt) {
      const auto* constant = std::get_if<tir::AllocateConst>(&stmt.node);
      if (constant == nullptr) return;
      const auto [found, is_new] = known.emplace(constant->data.get(), std::nullopt);
      if (is_new) found->second = elements_of(*constant->data);
      const bool is_first = declared.insert(constant->var).second;
      if (!is_first) {
        elements_.erase(constant->var);  // which data it stands for depends on the place
      } else if (found->second) {
        elements_.emplace(constant->var, *found->second);
      }
    });
  }
}

void ConstantTable::add_params(const tir::Module& module, const std::set<VarId>& written) {
  std::map<VarId, std::optional<ConstantElements>> params;  // nothing: something else is passed, too
  const auto pass = [&](VarId param, VarId argument) {
    std::optional<ConstantElements> passed;
    if (const auto found = elements_.find(argument); found != elements_.end()) passed = found->second;
    const auto [known, is_new] = params.emplace(param, passed);
    if (is_new || !known->second) return;
    if (!passed || passed->type != known->second->type) {
      known->second = std::nullopt;
      return;
    }
    Interval& range = known->second->range;
    range = {std::min(range.low, passed->range.low), std::max(range.high, passed->range.high)};
  };
  const auto pass_unknown = [&](std::size_t function) {
    for (const tir::Param& param : module.functions[function].params) pass(param.var, {});
  };
  const CallGraph graph = call_graph(module);
  for (std::size_t i = 0; i < module.functions.size(); ++i) {
    if (i == module.entry) continue;
    for (const CallSite& call : graph.calls[i]) pass_unknown(call.callee);
  }
  const EntryCalls entry = entry_calls(module);
  for (const std::size_t function : entry.called_otherwise) pass_unknown(function);
  for (const EntryCall& call : entry.calls) {
    if (call.is_opaque) pass_unknown(call.callee);
    for (std::size_t k = 0; k < call.arguments.size() && !call.is_opaque; ++k)
      pass(module.functions[call.callee].params[k].var, call.arguments[k]);
  }
  for (const auto& [param, constant] : params) {
    if (constant && !written.contains(param)) elements_.emplace(param, *constant);
  }
}

std::size_t ConstantTable::bind(arith::Ranges& ranges, const tir::Function& function) const {
  if (elements_.empty()) return 0;
  std::set<VarId> bound;
  tir::for_each_expr_in(function.body, [&](const Expr& expr) {
    if (expr.kind != ExprKind::load) return;
    const auto found = elements_.find(expr.var);
    if (found == elements_.end() || !bound.insert(expr.var).second) return;
    ranges.bind_storage(expr.var, found->second.type, found->second.range);
  });
  return bound.size();
}

std::optional<std::int64_t> ConstantTable::value_of(const Expr& expr) const {
  if (expr.kind == ExprKind::int_imm) return expr.int_value;
  if (expr.kind != ExprKind::load || expr.operands.size() != 1) return std::nullopt;
  const auto found = elements_.find(expr.var);
  if (found == elements_.end() || !found->second.range.is_point() || found->second.type != expr.type)
    return std::nullopt;
  return found->second.range.low;
}

}  // namespace usmp::program
