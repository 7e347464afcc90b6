// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// Two passes over the module.
//
// The first finds which pools each function needs: those of the placed buffers that its code mentions, and what its
// callees need, callees before callers.
//
// The second rebuilds every function that needs a pool. Expressions are a DAG, and only calls change (they gain pool
// pointers), so a memo from old node to new keeps sharing and makes the pass linear; a subtree without such a call is
// kept as it is.
#include "usmp/lower/lower.hpp"

#include <algorithm>
#include <cassert>
#include <cstdint>
#include <limits>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <unordered_map>
#include <unordered_set>
#include <utility>

#include "lower/ring_places.hpp"
#include "usmp/program/call_graph.hpp"
#include "usmp/tir/verify.hpp"
#include "usmp/tir/visit.hpp"

namespace usmp::lower {
namespace {

using tir::Block;
using tir::Expr;
using tir::ExprKind;
using tir::ExprRef;
using tir::Function;
using tir::Module;
using tir::Stmt;
using tir::VarId;

// The variables that a function's code reads, writes or hands on; a mere declaration does not count.
std::set<VarId> used_in(const Block& body) {
  std::set<VarId> vars;
  std::unordered_set<const Expr*> seen;
  tir::for_each_stmt(body, [&](const Stmt& stmt) {
    if (const auto* store = std::get_if<tir::Store>(&stmt.node)) vars.insert(store->storage);
    tir::for_each_expr_of(stmt, [&](const ExprRef& root) {
      tir::for_each_expr(*root, [&](const Expr& expr) {
        const bool is_new = expr.operands.empty() || seen.insert(&expr).second;
        if (is_new && (expr.kind == ExprKind::var || expr.kind == ExprKind::load)) vars.insert(expr.var);
        return is_new;
      });
    });
  });
  return vars;
}

// Adds to each function's pools those of its callees, and theirs in turn.
void spread_to_callers(const Module& module, std::vector<std::set<PoolId>>& needs) {
  const program::CallGraph graph = program::call_graph(module);
  for (const std::size_t caller : program::callees_first(module, graph)) {
    for (const program::CallSite& call : graph.calls[caller])
      needs[caller].insert(needs[call.callee].begin(), needs[call.callee].end());
  }
}

using Offsets = std::unordered_map<VarId, Allocation>;

// Rebuilds one function with its pool parameters.
class FunctionRewriter {
 public:
  FunctionRewriter(Module& module, const std::vector<LoweredFunction>& functions, const Offsets& offsets,
                   const std::set<VarId>& used, const placement::Table& table)
      : module_(module), functions_(functions), offsets_(offsets), used_(used), table_(table) {}

  void rewrite(std::size_t index) {
    Function& function = module_.functions[index];
    std::vector<tir::Param> params;
    Block body;
    std::vector<std::pair<VarId, Allocation>> moved;
    for (tir::Param& param : function.params) {
      const auto planned = offsets_.find(param.var);
      if (planned == offsets_.end()) {
        params.push_back(std::move(param));
      } else {
        moved.emplace_back(param.var, planned->second);
      }
    }
    for (const PoolId pool : functions_[index].pools) params.push_back(pool_param(pool));
    for (const auto& [var, where] : moved) bind(var, where, body);
    rewrite(function.body, std::move(body));
    function.params = std::move(params);
  }

 private:
  tir::Param pool_param(PoolId pool) {
    const placement::Pool& described = table_.pool(pool);
    const VarId var(module_.vars.size());
    module_.vars.push_back(
        {.name = described.name,
         .type = tir::handle_type,
         .element = tir::uint8_type,
         .storage_scope = described.kind == PoolKind::constant ? constant_pool_scope : workspace_pool_scope});
    pool_vars_[pool] = var;
    return {.var = var, .name = described.name, .is_tensor = false, .element = tir::uint8_type, .shape = {}};
  }

  // var = &pool[offset], if anything uses it.
  void bind(VarId var, const Allocation& where, Block& block) const {
    if (!used_.contains(var)) return;
    const bool is_wide = where.offset > std::numeric_limits<std::int32_t>::max();
    ExprRef offset = tir::make_int(where.offset, is_wide ? tir::int64_type : tir::int32_type);
    ExprRef byte = tir::make_load(tir::uint8_type, pool_vars_.at(where.pool), std::move(offset));
    block.push_back({tir::Let{var, tir::make_call(tir::handle_type, tir::Op::address_of, {std::move(byte)})}});
  }

  // Rewrites the block and those inside; `head` comes before its statements.
  void rewrite(Block& body, Block head) {
    std::vector<Block*> pending = {&body};
    while (!pending.empty()) {
      Block& block = *pending.back();
      pending.pop_back();
      Block result = std::exchange(head, {});
      result.reserve(result.size() + block.size());
      for (Stmt& stmt : block) append(stmt, result);
      block = std::move(result);
      for (Stmt& stmt : block) {
        for (Block* inner : tir::blocks_of(stmt)) pending.push_back(inner);
      }
    }
  }

  void append(Stmt& stmt, Block& to) {
    if (const auto* allocate = std::get_if<tir::Allocate>(&stmt.node)) {
      if (const auto planned = offsets_.find(allocate->var); planned != offsets_.end()) {
        return bind(allocate->var, planned->second, to);
      }
    }
    if (const auto* constant = std::get_if<tir::AllocateConst>(&stmt.node)) {
      if (const auto planned = offsets_.find(constant->var); planned != offsets_.end()) {
        return bind(constant->var, planned->second, to);
      }
    }
    tir::for_each_expr_of(stmt, [&](ExprRef& expr) { replace(expr); });
    to.push_back(std::move(stmt));
  }

  void replace(ExprRef& root) {
    tir::for_each_expr_bottom_up(
        root, [&](const Expr& expr) { return memo_.contains(&expr); },
        [&](const ExprRef& expr) {
          memo_.emplace(expr.get(), rebuilt(expr));
          originals_.push_back(expr);
        });
    root = memo_.at(root.get());
  }

  // With the operands that are in the memo.
  ExprRef rebuilt(const ExprRef& expr) const {
    std::vector<ExprRef> operands;
    operands.reserve(expr->operands.size());
    bool changed = false;
    for (const ExprRef& operand : expr->operands) {
      operands.push_back(memo_.at(operand.get()));
      changed = changed || operands.back() != operand;
    }
    if (const auto pools = pools_of_callee(*expr); !pools.empty()) {
      const auto end_of_arguments = 1 + static_cast<std::ptrdiff_t>(tir::named_call(*expr)->arguments.size());
      operands.insert(operands.begin() + end_of_arguments, pools.begin(), pools.end());
      changed = true;
    }
    if (!changed) return expr;
    Expr copy = *expr;
    copy.operands = std::move(operands);
    return tir::make_expr(std::move(copy));
  }

  // The pool pointers that a call must pass in addition; empty for anything else.
  std::vector<ExprRef> pools_of_callee(const Expr& expr) const {
    std::vector<ExprRef> pointers;
    const auto call = tir::named_call(expr);
    const auto callee = call ? module_.find(*call->name) : std::nullopt;
    if (!callee) return pointers;
    for (const PoolId pool : functions_[*callee].pools) pointers.push_back(tir::make_var(module_, pool_vars_.at(pool)));
    return pointers;
  }

  Module& module_;
  const std::vector<LoweredFunction>& functions_;
  const Offsets& offsets_;
  const std::set<VarId>& used_;
  const placement::Table& table_;
  std::map<PoolId, VarId> pool_vars_;
  std::unordered_map<const Expr*, ExprRef> memo_;
  std::vector<ExprRef> originals_;  // keeps the memo's keys alive: an address must not be used twice
};

}  // namespace

Lowered lower(const Module& module, const placement::Table& table) {
  Lowered lowered{.module = module, .functions = std::vector<LoweredFunction>(module.functions.size())};
  lower_rings(lowered.module);
  Offsets offsets;
  for (std::size_t i = 0; i < table.storages.size(); ++i) {
    const placement::Storage& storage = table.storages[i];
    assert(storage.place.placed());
    for (const placement::Declaration& declaration : storage.declarations) {
      offsets.emplace(declaration.var, storage.place);
      lowered.functions[declaration.function].placements.push_back({declaration.var, placement::StorageId(i)});
    }
  }

  std::vector<std::set<VarId>> used(module.functions.size());
  std::vector<std::set<PoolId>> needs(module.functions.size());
  for (std::size_t i = 0; i < module.functions.size(); ++i) {
    if (tir::is_opaque(module, module.functions[i])) continue;
    used[i] = used_in(lowered.module.functions[i].body);
    for (const Placement& placement : lowered.functions[i].placements) {
      if (used[i].contains(placement.var)) needs[i].insert(offsets.at(placement.var).pool);
    }
  }
  spread_to_callers(module, needs);
  for (std::size_t i = 0; i < needs.size(); ++i) lowered.functions[i].pools.assign(needs[i].begin(), needs[i].end());

  for (std::size_t i = 0; i < module.functions.size(); ++i) {
    if (tir::is_opaque(module, module.functions[i])) continue;
    FunctionRewriter(lowered.module, lowered.functions, offsets, used[i], table).rewrite(i);
  }
  tir::check_pass(lowered.module, "lower");
  return lowered;
}

}  // namespace usmp::lower
