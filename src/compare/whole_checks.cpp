// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// Holds what whole.hpp adds up to the budgets of the file and the lengths of regions.
#include "compare/whole_checks.hpp"

#include <algorithm>
#include <map>
#include <string>
#include <utility>

#include "compare/limits.hpp"
#include "usmp/compare/whole.hpp"
#include "usmp/support/text.hpp"

namespace usmp::compare {
namespace {

using plan_file::PlanDocument;

class WholeChecks {
 public:
  WholeChecks(const config::PoolsConfig& config, const std::vector<const PlanDocument*>& plans, bool all_planned)
      : config_(config), plans_(plans), all_planned_(all_planned) {}

  std::vector<PoolCheck> run() && {
    program();
    if (all_planned_) {
      for (const RegionUse& use : region_uses(plans_, config_)) region(use);
    }
    for (const config::RegionBudget& budget : config_.budgets.regions) budget_of(budget);
    return std::move(result_);
  }

 private:
  void program() {
    const config::WholeBudget& budgets = config_.budgets;
    if (!budgets.ram && !budgets.flash && !budgets.stack && !budgets.instructions) return;
    result_.push_back({.name = "program", .used = {}, .capacity = {}, .baseline = {}, .checks = {}});
    const WholeFigures figures = all_planned_ ? whole_figures(plans_, config_) : WholeFigures();
    std::string parts =
        std::to_string(figures.workspace) + " workspace + " + std::to_string(figures.io) + " inputs and outputs";
    if (figures.state > 0) parts += " + " + std::to_string(figures.state) + " state";
    parts += " + " + std::to_string(figures.stack) + " stack";
    limit(Rule::ram, budgets.ram, figures.ram(), bytes_text(figures.ram()) + " = " + parts,
          figures.knows_ram && figures.knows_stack);
    limit(Rule::flash, budgets.flash, figures.constants, bytes_text(figures.constants), figures.knows_constants);
    limit(Rule::stack, budgets.stack, figures.stack, bytes_text(figures.stack), figures.knows_stack);
    limit(Rule::instructions, budgets.instructions, figures.instructions,
          std::to_string(figures.instructions) + (plans_.size() > 1 ? " of module " + figures.slowest : ""),
          figures.knows_instructions);
  }

  // `known`: else `required` is a lower bound.
  void limit(Rule rule, const std::optional<config::Limit<Bytes>>& limit, Bytes required,
             const std::string& required_text, bool known) {
    if (!limit) return;
    std::vector<LimitCheck>& checks = result_.back().checks;
    if (!all_planned_) return checks.push_back(not_checked(rule, limit->position, "there is no plan"));
    LimitCheck check = compared(rule, required, limit->value, limit->position);
    if (check.excess() > 0) {
      check.message = std::string("the program takes more than ") + to_string(rule) + ": required " +
                      (known ? "" : "at least ") + required_text + ", available " + std::to_string(check.available) +
                      ", excess " + std::to_string(check.excess());
    } else if (!known) {
      check = not_checked(rule, limit->position,
                          std::string(to_string(rule)) + " cannot be checked: the plan does not say all of it",
                          Verdict::warning);
    }
    checks.push_back(std::move(check));
  }

  void region(const RegionUse& use) {
    PoolCheck& result = result_.emplace_back();
    result.name = use.name;
    result.used = use.total();
    result.capacity = use.length;
    LimitCheck check = compared(Rule::length, use.total(), use.length, use.position);
    if (check.excess() > 0) {
      if (check.excess() <= use.assumed) check.verdict = Verdict::warning;
      check.message = full_regions({use}).front();
    }
    result.checks.push_back(std::move(check));
    parts_[use.name] = parts_text(use);
  }

  void budget_of(const config::RegionBudget& budget) {
    const config::Limit<Bytes>& limit = budget.max;
    auto known = std::ranges::find(result_, budget.region, &PoolCheck::name);
    if (known == result_.end() || known->name == "program") {
      PoolCheck empty;
      empty.name = budget.region;
      if (all_planned_ && !config_.regions.empty()) empty.used = 0;
      known = result_.insert(result_.end(), std::move(empty));
    }
    if (!all_planned_) return known->checks.push_back(not_checked(Rule::region, limit.position, "there is no plan"));
    if (config_.regions.empty()) {
      known->checks.push_back(not_checked(Rule::region, limit.position,
                                          "region " + budget.region +
                                              " cannot be checked: expected --memory with the "
                                              "linker script",
                                          Verdict::warning));
      return;
    }
    LimitCheck check = compared(Rule::region, *known->used, limit.value, limit.position);
    if (check.excess() > 0) {
      check.message = "region " + budget.region + " has more than its budget: required " + bytes_text(check.required) +
                      " = " + parts_[budget.region] + ", available " + std::to_string(check.available) + ", excess " +
                      std::to_string(check.excess());
    }
    known->checks.push_back(std::move(check));
  }

  const config::PoolsConfig& config_;
  const std::vector<const PlanDocument*>& plans_;
  bool all_planned_;
  std::vector<PoolCheck> result_;
  std::map<std::string, std::string> parts_;  // by region
};

}  // namespace

std::vector<PoolCheck> whole_checks(const config::PoolsConfig& config, const std::vector<const PlanDocument*>& plans,
                                    bool all_planned) {
  return WholeChecks(config, plans, all_planned).run();
}

}  // namespace usmp::compare
