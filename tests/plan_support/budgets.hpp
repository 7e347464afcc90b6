// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// Plans and the budgets that they are held to.
#pragma once

#include <doctest/doctest.h>

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "plan_support/planned.hpp"
#include "usmp/compare/budget_check.hpp"

namespace usmp::plan_support::budgets {

using compare::BudgetReport;
using compare::LimitCheck;
using compare::PlanningOutcome;
using compare::Rule;
using plan_file::PlanDocument;

using usmp::config::parse_pools;
using usmp::config::PoolsConfig;

// The plan of the example: dtcm uses 64 of 1024 bytes, sram 100, flash 10 of 2048.
inline PlanDocument example() {
  Planned planned;
  fill_example(planned);
  return planned.finish();
}

inline PoolsConfig pools(const std::string& dtcm, const std::string& sram = "") {
  return parse_pools("workspace_pools:\n  - name: dtcm\n    size_hint_bytes: 1024\n" +
                     (dtcm.empty() ? "" : "    budget: {" + dtcm + "}\n") + "  - name: sram\n" +
                     (sram.empty() ? "" : "    budget: {" + sram + "}\n") +
                     "parameter_pools: [{name: flash, size_hint_bytes: 2048}]\n");
}

inline PlanningOutcome outcome(PlanDocument plan) {
  PlanningOutcome result;
  result.module = plan.module;
  result.archive = plan.archive;
  result.algorithm = plan.algorithm;
  result.plan = std::move(plan);
  return result;
}

// What becomes of one limit of dtcm.
inline LimitCheck only(const PoolsConfig& config, const PlanDocument& plan, Rule rule,
                       const std::optional<std::vector<PlanDocument>>& baseline = {}) {
  const BudgetReport report = compare::check_budgets(config, {outcome(plan)}, baseline);
  for (const LimitCheck& check : report.modules.at(0).pools.at(0).checks) {
    if (check.rule == rule) return check;
  }
  FAIL("no such check");
  return {};
}

inline LimitCheck only(const std::string& budget, Bytes used, Rule rule) {
  PlanDocument plan = example();
  plan.pools[0].used = used;
  return only(pools(budget), plan, rule);
}

inline PlanDocument with_used(Bytes dtcm) {
  PlanDocument plan = example();
  plan.pools[0].used = dtcm;
  return plan;
}

// Everything at once: breaches, warnings, what is not checked, odd names, a module without a plan.
inline BudgetReport full_report() {
  const PoolsConfig config = parse_pools(R"(workspace_pools:
  - name: dtcm
    size_hint_bytes: 1024
    budget: {max: 60, warn_at: 50%, min_headroom: 1000, max_growth: 10%}
  - name: sram
    budget: {max: 200, warn_at: 49.5%, max_growth: 0%}
parameter_pools:
  - name: flash
    size_hint_bytes: 2048
    budget: {max_growth: 5%}
)");
  PlanDocument baseline = with_used(50);
  baseline.pools.erase(baseline.pools.begin() + 2);  // flash, which the plan lists last
  PlanningOutcome without;
  without.module = "<&\"odd\",:\n%>";
  without.archive = "odd|1.tar";
  without.algorithm = "exec:my";
  without.no_plan =
      "no plan was found that fits the pools (algorithm exec:my)\n  dtcm: 2000 bytes needed, 1024 available, 976 "
      "missing";
  without.needed.shortfalls = {{.choices = {{{"dtcm", 1024, 2000, 2000}}}}};
  BudgetReport report = compare::check_budgets(config, {outcome(example()), without}, {{baseline}});
  report.modules[0].archive = "net|1.tar";
  report.archive = "net|1.tar, odd|1.tar";
  report.pools_file = "./ci/pools,1.yaml";
  return report;
}

}  // namespace usmp::plan_support::budgets
