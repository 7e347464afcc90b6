// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// Compares each pool with its limits, and names the operators that grew where one is exceeded.
#include "usmp/compare/budget_check.hpp"

#include <algorithm>
#include <map>
#include <utility>

#include "compare/limits.hpp"
#include "compare/whole_checks.hpp"
#include "usmp/compare/diff.hpp"
#include "usmp/support/text.hpp"

namespace usmp::compare {
namespace {

using plan_file::PlanDocument;

using config::Budget;
using config::PoolSpec;

using Baseline = std::optional<std::vector<PlanDocument>>;

// The only one; null: there is none, or there are several.
template <class Matches>
const PlanDocument* only(const std::vector<PlanDocument>& plans, const Matches& matches) {
  const auto found = std::find_if(plans.begin(), plans.end(), matches);
  return found == plans.end() || std::count_if(plans.begin(), plans.end(), matches) > 1 ? nullptr : &*found;
}

// Modules are renamed when others join them: "default" of kws.tar is then "kws". `modules`: all that are checked.
const PlanDocument* find_module(const Baseline& baseline, const PlanningOutcome& module,
                                const std::vector<PlanningOutcome>& modules) {
  if (!baseline) return nullptr;
  const auto by_name = [&](const PlanDocument& plan) { return plan.module == module.module; };
  const auto by_archive = [&](const PlanDocument& plan) { return plan.archive == module.archive; };
  const auto by_both = [&](const PlanDocument& plan) { return by_name(plan) && by_archive(plan); };
  if (const PlanDocument* const plan = only(*baseline, by_both)) return plan;
  if (const PlanDocument* const plan = only(*baseline, by_name)) return plan;
  const auto beside = std::count_if(modules.begin(), modules.end(),
                                    [&](const PlanningOutcome& other) { return other.archive == module.archive; });
  return beside > 1 ? nullptr : only(*baseline, by_archive);
}

// Why the growth of a pool is not checked, though there is a baseline. `plan`: that of the module; null: none.
std::string no_growth(const Baseline& baseline, const PlanDocument* plan, const std::string& module) {
  if (plan != nullptr) return "the baseline has no such pool in this module";
  std::vector<std::string> names;
  for (const PlanDocument& other : *baseline) names.push_back("'" + other.module + "' (" + other.archive + ")");
  return "the baseline has no plan of '" + module + "', only of " + joined(names) +
         "; plan all models again for it, with --dry-run --json";
}

std::vector<PoolSpec> all_pools(const config::PoolsConfig& config) {
  std::vector<PoolSpec> pools = config.workspace_pools;
  pools.insert(pools.end(), config.parameter_pools.begin(), config.parameter_pools.end());
  return pools;
}

// "required 9536 bytes, available 9000 (max), excess 536".
std::string figures_text(const LimitCheck& check, const std::string& of_available) {
  return "required " + bytes_text(check.required) + ", available " + std::to_string(check.available) + " (" +
         of_available + "), excess " + std::to_string(check.excess());
}

// The checks of one pool of a plan.
class PoolChecks {
 public:
  PoolChecks(const PlanDocument::Pool& pool, const PoolSpec& spec)
      : pool_(pool),
        spec_(spec),
        result_{.name = pool.name,
                .kind = pool.kind,
                .used = pool.used,
                .capacity = pool.capacity,
                .baseline = {},
                .checks = {}} {}

  // `plan`: that of the module in the baseline; null: none.
  PoolCheck run(const Baseline& baseline, const PlanDocument* plan, const std::string& module) && {
    sizes();
    const PlanDocument::Pool* const before = plan == nullptr ? nullptr : plan->find_pool(pool_.name);
    if (before != nullptr) result_.baseline = before->used;
    if (spec_.budget.max_growth) {
      max_growth(*spec_.budget.max_growth, baseline ? no_growth(baseline, plan, module) : "");
    }
    return std::move(result_);
  }

  // Growth is that of each module.
  PoolCheck run_together() && {
    sizes();
    return std::move(result_);
  }

 private:
  void add(LimitCheck check, const std::string& what, const std::string& of_available) {
    if (check.excess() > 0) check.message = pool_.name + " " + what + ": " + figures_text(check, of_available);
    result_.checks.push_back(std::move(check));
  }

  void sizes() {
    const Budget& budget = spec_.budget;
    if (pool_.capacity) size();
    if (budget.max) max(*budget.max);
    if (budget.warn_at) warn_at(*budget.warn_at);
    if (budget.min_headroom && pool_.capacity) min_headroom(*budget.min_headroom);
  }

  // A verified plan fits; the constants of several may not.
  void size() {
    add(compared(Rule::size, pool_.used, *pool_.capacity, spec_.size_position), "is too small for the constants",
        "size_hint_bytes");
  }

  void max(const config::Limit<Bytes>& limit) {
    add(compared(Rule::max, pool_.used, limit.value, limit.position), "uses more than max", "max");
  }

  void warn_at(const config::Limit<config::Percent>& limit) {
    const std::string part = config::format_percent(limit.value);
    const Budget& budget = spec_.budget;
    if (budget.max && pool_.used > budget.max->value) {
      result_.checks.push_back(not_checked(Rule::warn_at, limit.position, "max is exceeded already"));
      return;
    }
    const Bytes whole = budget.max ? budget.max->value : *pool_.capacity;
    const std::string of = part + (budget.max ? " of max " : " of the pool's ") + std::to_string(whole);
    add(compared(Rule::warn_at, pool_.used, config::share_of(whole, limit.value), limit.position),
        "uses more than warn_at", of);
  }

  void min_headroom(const config::Limit<Bytes>& limit) {
    const Bytes size = *pool_.capacity;
    const std::string parts =
        "size_hint_bytes " + std::to_string(size) + " less min_headroom " + std::to_string(limit.value);
    add(compared(Rule::min_headroom, pool_.used, std::max<Bytes>(0, size - limit.value), limit.position),
        "leaves less than min_headroom", parts);
  }

  // `lacking`: why there are no figures of the baseline; empty: there is none.
  void max_growth(const config::Limit<config::Percent>& limit, const std::string& lacking) {
    if (!result_.baseline) {
      result_.checks.push_back(lacking.empty()
                                   ? not_checked(Rule::max_growth, limit.position, "there is no baseline")
                                   : not_checked(Rule::max_growth, limit.position,
                                                 pool_.name + " has no growth to check: " + lacking, Verdict::warning));
      return;
    }
    const Bytes before = *result_.baseline;
    const std::string grown = before > 0 && pool_.used > before ? " by " + percent(pool_.used - before, before) : "";
    add(compared(Rule::max_growth, pool_.used, before + config::share_of(before, limit.value), limit.position),
        "grew" + grown + ", more than max_growth",
        config::format_percent(limit.value) + " above the baseline's " + std::to_string(before));
  }

  const PlanDocument::Pool& pool_;
  const PoolSpec& spec_;
  PoolCheck result_;
};

// What else there is to say of a pool that is too small, besides how large it has to be.
std::string beside(const NeededSize& size, const Enlargement& choice) {
  std::string text;
  if (!size.enough) text += ", no size was found that is enough";
  if (size.enough && !size.proved()) {
    text += size.at_least > size.available ? ", at least " + std::to_string(size.at_least) + " needed"
                                           : ", less may be enough";
  }
  std::vector<std::string> names;
  for (const NeededSize& other : choice) {
    if (&other != &size) names.push_back(other.pool);
  }
  if (!names.empty()) text += "; enlarge " + joined(names, " and ") + " too";
  return text;
}

// The size that leaves no other limit to exceed, where required bytes alone do: "; with min_headroom 26572 bytes".
std::string with_headroom(const PoolSpec& spec, const NeededSize& size, Bytes required) {
  if (!spec.budget.min_headroom) return {};
  return std::string("; with min_headroom ") + (size.enough ? "" : "at least ") +
         bytes_text(required + spec.budget.min_headroom->value);
}

// The breach of a pool that has to be larger; nothing: nothing is known of it.
std::optional<LimitCheck> too_small(const PoolSpec& spec, const NeededSizes& needed) {
  for (const Shortfall& shortfall : needed.shortfalls) {
    for (const Enlargement& choice : shortfall.choices) {
      for (const NeededSize& size : choice) {
        const Bytes required = size.enough.value_or(size.at_least);
        if (size.pool != spec.name || required <= size.available) continue;
        LimitCheck check = compared(Rule::size, required, size.available, spec.size_position);
        for (const Enlargement& other : shortfall.choices) {
          if (&other != &choice) check.alternatives.push_back(other.front().pool);
        }
        check.message =
            spec.name + " is too small" +
            (check.alternatives.empty() ? "" : ", unless " + joined(check.alternatives, " or ") + " is enlarged") +
            ": " + figures_text(check, "size_hint_bytes") + with_headroom(spec, size, required) + beside(size, choice);
        return check;
      }
    }
  }
  return std::nullopt;
}

// A pool of a module without a plan: what did not fit, and everything else unchecked. `before`: that module's plan in
// the baseline; null: none.
PoolCheck unplanned_pool(const PoolSpec& spec, const PlanningOutcome& module, const PlanDocument* before) {
  PoolCheck result{
      .name = spec.name, .kind = spec.kind, .used = {}, .capacity = spec.size_hint, .baseline = {}, .checks = {}};
  if (const PlanDocument::Pool* const pool = before == nullptr ? nullptr : before->find_pool(spec.name)) {
    result.baseline = pool->used;
  }
  const std::string why = "there is no plan";
  if (std::optional<LimitCheck> check = too_small(spec, module.needed)) {
    result.checks.push_back(*std::move(check));
  } else if (spec.size_hint) {
    result.checks.push_back(not_checked(Rule::size, spec.size_position, why));
  }
  const auto add = [&](Rule rule, const auto& limit) {
    if (limit) result.checks.push_back(not_checked(rule, limit->position, why));
  };
  add(Rule::max, spec.budget.max);
  add(Rule::warn_at, spec.budget.warn_at);
  add(Rule::min_headroom, spec.budget.min_headroom);
  add(Rule::max_growth, spec.budget.max_growth);
  return result;
}

// Operators that grow in one of the pools, by how much more bytes their buffers have at the pool's peak. Largest first,
// then in the order of names.
std::vector<LimitCheck::Grown> grown_in(const PlanDiff& diff, const std::vector<std::string>& pools) {
  const auto bytes_of = [&](const std::optional<BufferPlace>& place) {
    return place && std::ranges::find(pools, place->pool) != pools.end() ? place->bytes_at_peak : 0;
  };
  std::map<std::string, Bytes> growth;
  for (const BufferDiff& buffer : diff.buffers) {
    if (buffer.shown().caller.empty()) continue;
    growth[buffer.shown().caller] += bytes_of(buffer.after) - bytes_of(buffer.before);
  }
  std::vector<LimitCheck::Grown> grown;
  for (const auto& [name, bytes] : growth) {
    if (bytes > 0) grown.push_back({name, bytes});
  }
  std::ranges::stable_sort(grown, std::ranges::greater(), &LimitCheck::Grown::bytes);
  return grown;
}

// Adds to each breach the operators that need more than in the baseline.
void name_grown(std::vector<LimitCheck>& checks, const PlanDiff& diff, const std::vector<std::string>& pools) {
  constexpr std::size_t most_named = 3;
  const std::vector<LimitCheck::Grown> grown = grown_in(diff, pools);
  if (grown.empty()) return;
  std::vector<std::string> names;
  for (std::size_t i = 0; i < std::min(most_named, grown.size()); ++i) {
    names.push_back(grown[i].name + " by " + bytes_text(grown[i].bytes));
  }
  const std::string rest =
      grown.size() > names.size() ? " and " + std::to_string(grown.size() - names.size()) + " more" : "";
  for (LimitCheck& check : checks) {
    if (check.verdict != Verdict::breach) continue;
    check.grown = grown;
    check.message += "; at the peak grew " + joined(names) + rest;
  }
}

bool says_when_live(const PlanDocument& plan) {
  return std::ranges::all_of(plan.buffers, [](const PlanDocument::Buffer& buffer) { return buffer.live.has_value(); });
}

void name_grown(ModuleCheck& module, const PlanDocument& before, const PlanDocument& after) {
  if (!lacks_workspace(module) || !says_when_live(before)) return;
  const PlanDiff diff = diff_plans(before, after);
  for (PoolCheck& pool : module.pools) {
    if (pool.kind == PoolKind::workspace) name_grown(pool.checks, diff, {pool.name});
  }
}

bool has_growth(const std::vector<PoolSpec>& specs) {
  return std::ranges::any_of(specs, [](const PoolSpec& spec) { return spec.budget.max_growth.has_value(); });
}

// Where a name is not known, as of standard input and other pipes, nothing is said.
bool same_archive(const std::string& a, const std::string& b) {
  const auto is_file = [](const std::string& name) { return !name.empty() && name != "stdin" && name != "pipe"; };
  return !is_file(a) || !is_file(b) || is_same_model(a, b);
}

// What was asked for and is not checked.
std::vector<std::string> unused(const std::vector<PoolSpec>& specs, bool has_budget, bool has_baseline) {
  if (!has_budget) {
    return {std::string("no pool has a budget, so only sizes are checked") +
            (has_baseline ? ", and the baseline is not used" : "")};
  }
  if (has_baseline && !has_growth(specs)) return {"no budget has max_growth, so the baseline is not used"};
  return {};
}

}  // namespace

const char* to_string(Rule rule) {
  switch (rule) {
    case Rule::size:
      return "size_hint_bytes";
    case Rule::max:
      return "max";
    case Rule::warn_at:
      return "warn_at";
    case Rule::min_headroom:
      return "min_headroom";
    case Rule::max_growth:
      return "max_growth";
    case Rule::ram:
      return "ram";
    case Rule::flash:
      return "flash";
    case Rule::stack:
      return "stack";
    case Rule::instructions:
      return "instructions";
    case Rule::length:
      return "LENGTH";
    case Rule::region:
      return "regions";
  }
  return "?";
}

const char* to_string(Verdict verdict) {
  switch (verdict) {
    case Verdict::ok:
      return "ok";
    case Verdict::not_checked:
      return "not_checked";
    case Verdict::warning:
      return "warning";
    case Verdict::breach:
      return "breach";
  }
  return "?";
}

Verdict verdict_of(const std::vector<PoolCheck>& pools) {
  Verdict gravest = Verdict::ok;
  for (const PoolCheck& pool : pools) {
    for (const LimitCheck& check : pool.checks) {
      if (check.verdict != Verdict::not_checked) gravest = std::max(gravest, check.verdict);
    }
  }
  return gravest;
}

Verdict ModuleCheck::verdict() const {
  if (!no_plan.empty()) return Verdict::breach;
  return std::max(verdict_of(pools), warnings.empty() ? Verdict::ok : warned);
}

Verdict BudgetReport::verdict() const {
  Verdict gravest = std::max(verdict_of(together), warnings.empty() && other_archives.empty() ? Verdict::ok : warned);
  gravest = std::max(gravest, verdict_of(whole));
  for (const ModuleCheck& module : modules) gravest = std::max(gravest, module.verdict());
  return gravest;
}

void make_strict(BudgetReport& report) {
  report.warned = Verdict::breach;
  const auto harden = [](std::vector<PoolCheck>& pools) {
    for (PoolCheck& pool : pools) {
      for (LimitCheck& check : pool.checks) {
        if (check.verdict == Verdict::warning) check.verdict = Verdict::breach;
      }
    }
  };
  for (ModuleCheck& module : report.modules) {
    module.warned = Verdict::breach;
    harden(module.pools);
  }
  harden(report.together);
  harden(report.whole);
}

BudgetReport check_budgets(const config::PoolsConfig& pools, const std::vector<PlanningOutcome>& modules,
                           const std::optional<std::vector<PlanDocument>>& baseline) {
  const std::vector<PoolSpec> specs = all_pools(pools);
  const auto spec_of = [&](const std::string& name) {
    const auto found =
        std::find_if(specs.begin(), specs.end(), [&](const PoolSpec& spec) { return spec.name == name; });
    return found == specs.end() ? PoolSpec() : *found;  // a pool that only the module names
  };
  BudgetReport report;
  report.has_budget = pools.budgets.any() ||
                      std::any_of(specs.begin(), specs.end(), [](const PoolSpec& spec) { return spec.budget.any(); });
  report.warnings = unused(specs, report.has_budget, baseline.has_value());
  std::vector<const PlanDocument*> plans;
  const bool grows = has_growth(specs);
  for (const PlanningOutcome& module : modules) {
    const PlanDocument* const before = find_module(baseline, module, modules);
    if (grows && before != nullptr && !same_archive(before->archive, module.archive)) {
      report.other_archives.push_back("the baseline of module '" + module.module + "' of " + module.archive +
                                      " is of " + before->archive + ": growth is measured against another model");
    }
    ModuleCheck& result = report.modules.emplace_back();
    result.module = module.module;
    result.archive = module.archive;
    result.algorithm = module.algorithm;
    if (!module.plan) {
      result.no_plan = module.no_plan;
      result.needed = module.needed;
      for (const PoolSpec& spec : specs) result.pools.push_back(unplanned_pool(spec, module, before));
      continue;
    }
    plans.push_back(&*module.plan);
    result.warnings = module.plan->warnings;
    for (const PlanDocument::Pool& pool : module.plan->pools) {
      const PoolSpec spec = spec_of(pool.name);
      result.pools.push_back(PoolChecks(pool, spec).run(baseline, before, module.module));
    }
    if (before != nullptr) name_grown(result, *before, *module.plan);
  }
  report.whole = whole_checks(pools, plans, plans.size() == modules.size());
  if (modules.size() < 2 || plans.size() < modules.size()) return report;
  report.shared_pools = shared_pools(plans, pools.concurrent);
  for (const SharedPool& shared : report.shared_pools) {
    if (shared.kind != PoolKind::constant || shared.all.set_by.size() < 2) continue;
    PlanDocument::Pool pool;
    pool.name = shared.name;
    pool.kind = shared.kind;
    pool.capacity = shared.capacity;
    pool.used = shared.all.used;
    const PoolSpec spec = spec_of(pool.name);
    report.together.push_back(PoolChecks(pool, spec).run_together());
  }
  return report;
}

bool has_limits(const config::PoolsConfig& pools) {
  if (pools.budgets.any()) return true;
  const std::vector<PoolSpec> specs = all_pools(pools);
  return std::any_of(specs.begin(), specs.end(),
                     [](const PoolSpec& spec) { return spec.size_hint.has_value() || spec.budget.any(); });
}

}  // namespace usmp::compare
