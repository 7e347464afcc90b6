// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// What other options would make of a check: which breaches they mend, and by how much.
#include <algorithm>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "compare/limits.hpp"
#include "usmp/compare/budget_check.hpp"

namespace usmp::compare {
namespace {

// What is exceeded, by what names it: "kws: sram", "program", a region, with the rule.
using Required = std::map<std::pair<std::string, Rule>, LimitCheck>;

Required limits_of(const BudgetReport& report) {
  Required limits;
  const auto add = [&](const std::string& front, const std::vector<PoolCheck>& pools) {
    for (const PoolCheck& pool : pools) {
      for (const LimitCheck& check : pool.checks) {
        if (check.verdict != Verdict::not_checked) limits.insert_or_assign({front + pool.name, check.rule}, check);
      }
    }
  };
  for (const ModuleCheck& module : report.modules) {
    add(report.modules.size() > 1 ? module.module + ": " : "", module.pools);
  }
  add("all modules: ", report.together);
  add("", report.whole);
  return limits;
}

bool lacks_plan(const BudgetReport& report) {
  return std::ranges::any_of(report.modules, [](const ModuleCheck& module) { return !module.no_plan.empty(); });
}

}  // namespace

bool may_be_helped(const BudgetReport& report) {
  if (std::ranges::any_of(report.modules, lacks_workspace)) return true;
  return std::ranges::any_of(report.whole, [](const PoolCheck& pool) {
    return std::ranges::any_of(pool.checks, [](const LimitCheck& check) {
      return check.verdict == Verdict::breach && check.rule != Rule::flash && check.rule != Rule::instructions;
    });
  });
}

std::optional<Advice> advice_of(const BudgetReport& before, const BudgetReport& after, const std::string& options) {
  if (before.verdict() != Verdict::breach || lacks_plan(after)) return std::nullopt;
  Advice advice{.options = options, .verdict = after.verdict(), .figures = {}};
  const Required limits = limits_of(after);
  for (const auto& [name, check] : limits_of(before)) {
    const auto found = limits.find(name);
    if (check.verdict != Verdict::breach || found == limits.end()) continue;
    const LimitCheck& now = found->second;
    if (now.required >= check.required && !lacks_plan(before)) continue;
    advice.figures.push_back({.pool = name.first,
                              .rule = name.second,
                              .before = lacks_plan(before) ? std::nullopt : std::optional(check.required),
                              .after = now.required,
                              .excess = now.excess()});
  }
  if (advice.figures.empty() && !lacks_plan(before)) return std::nullopt;
  return advice;
}

}  // namespace usmp::compare
