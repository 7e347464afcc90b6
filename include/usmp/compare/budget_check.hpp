// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// Plans checked against the budgets of a pools file (docs/pools.md, "Budgets"). What is said of a pool is always the
// same three figures: required, available, excess.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "usmp/compare/shared_pools.hpp"
#include "usmp/config/pools.hpp"
#include "usmp/plan_file/plan_document.hpp"
#include "usmp/problem/needed_sizes.hpp"

namespace usmp::compare {

// size: the pool's own; ram to instructions: of all modules together; length, region: of a region of the linker script,
// its own and its budget.
enum class Rule : std::uint8_t {
  size,
  max,
  warn_at,
  min_headroom,
  max_growth,
  ram,
  flash,
  stack,
  instructions,
  length,
  region
};
enum class Verdict : std::uint8_t { ok, not_checked, warning, breach };  // by weight

[[nodiscard]] const char* to_string(Rule rule);        // the key of the pools file: "size_hint_bytes", "max", …
[[nodiscard]] const char* to_string(Verdict verdict);  // "ok", "not_checked", "warning", "breach"

// One limit of one pool. Where it is not checked, both figures are 0.
struct LimitCheck {
  // An operator that has more at the peak of a pool in the plan than in the baseline.
  struct Grown {
    std::string name;  // "#3 conv2d"
    Bytes bytes = 0;   // by how much
  };

  Rule rule = Rule::size;
  Verdict verdict = Verdict::ok;
  Bytes required = 0;         // what the plan needs for the limit to hold
  Bytes available = 0;        // what the limit leaves it
  config::Position position;  // of the limit in the pools file; line 0: the limit is from the module
  std::string message;        // a sentence with the figures, or why it is not checked; empty if ok
  // Other pools, each of which could grow in the place of one that is too small.
  std::vector<std::string> alternatives = {};
  std::vector<Grown> grown = {};  // of a breach with a baseline: the operators that need more, largest growth first

  [[nodiscard]] Bytes excess() const { return required > available ? required - available : 0; }
  // Whether the figures were compared.
  [[nodiscard]] bool has_figures() const { return required != 0 || available != 0 || verdict == Verdict::ok; }
};

struct PoolCheck {
  std::string name;
  PoolKind kind = PoolKind::workspace;
  std::optional<Bytes> used;      // nothing: there is no plan
  std::optional<Bytes> capacity;  // nothing: unbounded
  std::optional<Bytes> baseline;  // used by the baseline; nothing: it has no such pool
  std::vector<LimitCheck> checks;
};

struct ModuleCheck {
  std::string module;
  std::string archive;  // file name only
  std::string algorithm;
  std::string no_plan;  // why there is no plan, first a line and then perhaps details; empty if there is one
  NeededSizes needed;   // if there is none
  std::vector<PoolCheck> pools;
  std::vector<std::string> warnings;  // of the plan
  Verdict warned = Verdict::warning;  // what they count as

  [[nodiscard]] Verdict verdict() const;  // the most severe; without a plan a breach
};

// The most severe of the limits that are checked.
[[nodiscard]] Verdict verdict_of(const std::vector<PoolCheck>& pools);

// What other options would make of a check with a breach.
struct Advice {
  struct Figure {
    std::string pool;  // as PoolCheck::name; of a module of several: "kws: sram"
    Rule rule = Rule::size;
    std::optional<Bytes> before;  // required; nothing: there was no plan
    Bytes after = 0;
    Bytes excess = 0;  // that is left

    friend bool operator==(const Figure&, const Figure&) = default;
  };

  std::string options;            // "--workspace-io"
  Verdict verdict = Verdict::ok;  // of the check with them
  std::vector<Figure> figures;    // of the breaches, those that get smaller; not empty, unless there was no plan
};

struct BudgetReport {
  std::string archive;                      // file name only; of several archives all, separated by ", "
  std::string pools_file;                   // as the user named it
  bool has_budget = true;                   // else only sizes were checked
  std::vector<std::string> warnings;        // of the file as a whole
  std::vector<std::string> other_archives;  // of modules whose baseline is of another archive
  std::vector<ModuleCheck> modules;
  std::vector<SharedPool> shared_pools;  // of several modules that all have a plan; else empty
  // Parameter pools of shared_pools with constants of several modules, which are there together.
  std::vector<PoolCheck> together;
  // "program" with the budgets of all modules together, then each region of the linker script. `kind` and `capacity`
  // mean nothing, and of "program" neither does `used`.
  std::vector<PoolCheck> whole;
  std::vector<Advice> advice;
  Verdict warned = Verdict::warning;  // what `warnings` and `other_archives` count as

  [[nodiscard]] Verdict verdict() const;
};

// Every warning becomes a breach: of budgets, of the file and of the plans.
void make_strict(BudgetReport& report);

// What planning made of a module.
struct PlanningOutcome {
  std::string module;
  std::string archive;  // file name only
  std::string algorithm;
  std::optional<plan_file::PlanDocument> plan;
  std::string no_plan;  // if there is none: why
  NeededSizes needed;   // if there is none
};

// Holds each module to the budgets of `pools`, and the constants of all modules together. `baseline`: the plans to
// measure growth against, matched by the names of modules and archives: both, else that of the module, else that of the
// archive, if one plan alone has it. Nothing: growth is not checked. O(modules · (pools + plans)), and shared_pools.
[[nodiscard]] BudgetReport check_budgets(const config::PoolsConfig& pools, const std::vector<PlanningOutcome>& modules,
                                         const std::optional<std::vector<plan_file::PlanDocument>>& baseline);

// Whether a plan that needs less RAM could mend a breach: of workspace pools, ram, stack or a region.
[[nodiscard]] bool may_be_helped(const BudgetReport& report);

// How the check with `options` compares with the one that it repeats; nothing: it is no help.
[[nodiscard]] std::optional<Advice> advice_of(const BudgetReport& before, const BudgetReport& after,
                                              const std::string& options);

// Whether there is anything to check: a budget, or a pool of bounded size.
[[nodiscard]] bool has_limits(const config::PoolsConfig& pools);

}  // namespace usmp::compare
