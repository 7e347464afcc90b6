// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// Passes regions from callers to callees, context by context; a sweep over sorted ones finds those that meet.
#include "lower/regions.hpp"

#include <algorithm>
#include <set>
#include <utility>

#include "usmp/program/call_graph.hpp"
#include "usmp/program/pointers.hpp"
#include "usmp/tir/visit.hpp"

namespace usmp::lower {
namespace {

using tir::Expr;
using tir::ExprKind;
using tir::ExprRef;

constexpr std::size_t most_contexts = 256;

const Regions unknown_regions = {Region{}};

bool are_disjoint(const Region& a, const Region& b) {
  using Kind = Region::Kind;
  if (a.kind == Kind::unknown || b.kind == Kind::unknown) return false;
  if (a.kind != b.kind) return true;
  if (a.kind == Kind::pool) return a.index != b.index || a.end <= b.begin || b.end <= a.begin;
  return false;
}

Regions regions_of(const Expr& root, const std::map<tir::VarId, Regions>& known) {
  const auto of_var = [&](tir::VarId var) {
    const auto found = known.find(var);
    return found == known.end() ? unknown_regions : found->second;
  };
  // Down to the variable that a single pointer is made of; what chooses among several is not followed, nor is a pointer
  // that is loaded.
  std::vector<const Expr*> parts = {&root};
  while (parts.size() == 1) {
    const Expr& pointer = *parts.back();
    const bool is_element = pointer.kind == ExprKind::load && !pointer.type.is_handle();
    if (pointer.kind == ExprKind::var || is_element) return of_var(pointer.var);
    parts.clear();
    program::append_pointer_parts(pointer, parts);
  }
  return unknown_regions;
}

}  // namespace

bool are_disjoint(const Regions& a, const Regions& b) {
  return std::all_of(a.begin(), a.end(), [&](const Region& x) {
    return std::all_of(b.begin(), b.end(), [&](const Region& y) { return are_disjoint(x, y); });
  });
}

std::vector<bool> meet_others(const std::vector<Regions>& all) {
  std::vector<bool> meet(all.size(), false);
  if (std::ranges::any_of(all, [](const Regions& regions) { return regions.size() > 1; })) {
    for (std::size_t i = 0; i < all.size(); ++i) {
      for (std::size_t k = 0; k < all.size(); ++k) meet[i] = meet[i] || (k != i && !are_disjoint(all[i], all[k]));
    }
    return meet;
  }
  // By kind, pool and begin. Of those that begin earlier in the same pool it is enough to know which ends last: two
  // that one of these meets meet each other.
  std::vector<std::pair<Region, std::size_t>> sorted;
  for (std::size_t i = 0; i < all.size(); ++i) {
    if (!all[i].empty()) sorted.emplace_back(all[i].front(), i);
  }
  std::sort(sorted.begin(), sorted.end());
  const bool has_unknown =
      std::ranges::any_of(sorted, [](const auto& one) { return one.first.kind == Region::Kind::unknown; });
  std::size_t last = 0;
  for (std::size_t i = 1; i < sorted.size(); ++i) {
    if (has_unknown || !are_disjoint(sorted[last].first, sorted[i].first))
      meet[sorted[last].second] = meet[sorted[i].second] = true;
    const bool is_elsewhere =
        sorted[i].first.kind != sorted[last].first.kind || sorted[i].first.index != sorted[last].first.index;
    if (is_elsewhere || sorted[i].first.end > sorted[last].first.end) last = i;
  }
  return meet;
}

std::map<tir::VarId, Regions> regions_in(const Lowered& lowered, std::size_t function, const Context& context,
                                         const placement::Table& table) {
  const tir::Function& body_of = lowered.module.functions[function];
  std::map<tir::VarId, Regions> known;
  for (std::size_t i = 0; i < body_of.params.size(); ++i) {
    known[body_of.params[i].var] = i < context.size() ? context[i] : unknown_regions;
  }
  std::set<tir::VarId> placed;
  for (const Placement& placement : lowered.functions[function].placements) {
    placed.insert(placement.var);
    const placement::Storage& storage = table.storage(placement.storage);
    known[placement.var] = {{.kind = Region::Kind::pool,
                             .index = storage.place.pool.index(),
                             .begin = storage.place.offset,
                             .end = storage.place.offset + storage.size}};
  }
  tir::for_each_stmt(body_of.body, [&](const tir::Stmt& stmt) {
    if (const auto* constant = std::get_if<tir::AllocateConst>(&stmt.node)) {
      known[constant->var] = {{.kind = Region::Kind::constant, .index = 0, .begin = 0, .end = 0}};
    }
    const auto* let = std::get_if<tir::Let>(&stmt.node);
    if (let == nullptr || placed.contains(let->var) || !lowered.module.var(let->var).type.is_handle()) return;
    // Sibling blocks may bind one variable to different pointers.
    const bool is_first = !known.contains(let->var);
    known[let->var] = is_first ? regions_of(*let->value, known) : unknown_regions;
  });
  return known;
}

std::vector<std::vector<Context>> find_contexts(const Lowered& lowered, const placement::Table& table) {
  const tir::Module& module = lowered.module;
  const program::CallGraph graph = program::call_graph(module);
  const std::vector<std::size_t> order = program::callees_first(module, graph, {module.entry});
  std::vector<std::set<Context>> contexts(module.functions.size());
  Context entry;
  for (std::size_t i = 0; i < module.functions[module.entry].params.size(); ++i) {
    entry.push_back({{.kind = Region::Kind::application, .index = i, .begin = 0, .end = 0}});
  }
  contexts[module.entry].insert(entry);
  for (const std::size_t caller : std::vector<std::size_t>(order.rbegin(), order.rend())) {
    if (contexts[caller].size() > most_contexts) contexts[caller] = {Context{}};
    for (const Context& context : contexts[caller]) {
      const std::map<tir::VarId, Regions> known = regions_in(lowered, caller, context, table);
      for (const program::CallSite& call : graph.calls[caller]) {
        Context passed;
        for (const ExprRef& argument : call.arguments) passed.push_back(regions_of(*argument, known));
        contexts[call.callee].insert(std::move(passed));
      }
    }
  }
  std::vector<std::vector<Context>> result;
  result.reserve(contexts.size());
  for (const std::set<Context>& set : contexts) result.emplace_back(set.begin(), set.end());
  return result;
}

}  // namespace usmp::lower
