// SPDX-License-Identifier: Apache-2.0
#include "usmp/compare/budget_check.hpp"

#include <algorithm>
#include <utility>

#include "usmp/support/text.hpp"

namespace usmp::compare {
namespace {

using plan_file::PlanDocument;

using config::Budget;
using config::PoolSpec;

const PlanDocument* find_module(const std::optional<std::vector<PlanDocument>>& plans, const std::string& module) {
  if (!plans) return nullptr;
  const auto found =
      std::find_if(plans->begin(), plans->end(), [&](const PlanDocument& plan) { return plan.module == module; });
  return found == plans->end() ? nullptr : &*found;
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

LimitCheck compared(Rule rule, Bytes required, Bytes available, config::Position position) {
  LimitCheck check{.rule = rule,
                   .verdict = Verdict::ok,
                   .required = required,
                   .available = available,
                   .position = position,
                   .message = {}};
  if (required > available) check.verdict = rule == Rule::warn_at ? Verdict::warning : Verdict::breach;
  return check;
}

LimitCheck not_checked(Rule rule, config::Position position, std::string why, Verdict verdict = Verdict::not_checked) {
  return {
      .rule = rule, .verdict = verdict, .required = 0, .available = 0, .position = position, .message = std::move(why)};
}

// The checks of one pool of a plan.
class PlannedPool {
 public:
  PlannedPool(const PlanDocument::Pool& pool, const PoolSpec& spec)
      : pool_(pool),
        spec_(spec),
        result_{.name = pool.name,
                .kind = pool.kind,
                .used = pool.used,
                .capacity = pool.capacity,
                .baseline = {},
                .checks = {}} {}

  PoolCheck run(const PlanDocument* baseline, bool has_baseline) && {
    const Budget& budget = spec_.budget;
    if (pool_.capacity) size();
    if (budget.max) max(*budget.max);
    if (budget.warn_at) warn_at(*budget.warn_at);
    if (budget.min_headroom && pool_.capacity) min_headroom(*budget.min_headroom);
    const PlanDocument::Pool* const before = baseline == nullptr ? nullptr : baseline->find_pool(pool_.name);
    if (before != nullptr) result_.baseline = before->used;
    if (budget.max_growth) max_growth(*budget.max_growth, has_baseline);
    return std::move(result_);
  }

 private:
  void add(LimitCheck check, const std::string& what, const std::string& of_available) {
    if (check.excess() > 0) check.message = pool_.name + " " + what + ": " + figures_text(check, of_available);
    result_.checks.push_back(std::move(check));
  }

  // A verified plan fits.
  void size() { result_.checks.push_back(compared(Rule::size, pool_.used, *pool_.capacity, spec_.size_position)); }

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

  void max_growth(const config::Limit<config::Percent>& limit, bool has_baseline) {
    if (!result_.baseline) {
      const std::string lacking = pool_.name + " has no growth to check: the baseline has no such pool in this module";
      result_.checks.push_back(has_baseline ? not_checked(Rule::max_growth, limit.position, lacking, Verdict::warning)
                                            : not_checked(Rule::max_growth, limit.position, "there is no baseline"));
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
std::string beside(const NeededSize& size, const Shortfall& shortfall, const Enlargement& choice) {
  std::string text;
  if (!size.enough) text += ", no size was found that is enough";
  if (size.enough && !size.proved()) {
    text += size.at_least > size.available ? ", at least " + std::to_string(size.at_least) + " needed"
                                           : ", less may be enough";
  }
  std::vector<std::string> names;
  for (const Enlargement& other : shortfall.choices) {
    if (&other != &choice) names.push_back(other.front().pool);
  }
  if (!names.empty()) text += "; or enlarge " + joined(names, " or ") + " instead";
  names.clear();
  for (const NeededSize& other : choice) {
    if (&other != &size) names.push_back(other.pool);
  }
  if (!names.empty()) text += "; enlarge " + joined(names, " and ") + " too";
  return text;
}

// The breach of a pool that has to be larger; nothing: nothing is known of it.
std::optional<LimitCheck> too_small(const PoolSpec& spec, const NeededSizes& needed) {
  for (const Shortfall& shortfall : needed.shortfalls) {
    for (const Enlargement& choice : shortfall.choices) {
      for (const NeededSize& size : choice) {
        const Bytes required = size.enough.value_or(size.at_least);
        if (size.pool != spec.name || required <= size.available) continue;
        LimitCheck check = compared(Rule::size, required, size.available, spec.size_position);
        check.message = spec.name + " is too small: " + figures_text(check, "size_hint_bytes") +
                        (spec.budget.min_headroom
                             ? ", " + std::to_string(required + spec.budget.min_headroom->value) + " with min_headroom"
                             : "") +
                        beside(size, shortfall, choice);
        return check;
      }
    }
  }
  return std::nullopt;
}

// Of a module without a plan: what did not fit, and everything else unchecked.
PoolCheck unplanned_pool(const PoolSpec& spec, const PlanningOutcome& module) {
  PoolCheck result{
      .name = spec.name, .kind = spec.kind, .used = {}, .capacity = spec.size_hint, .baseline = {}, .checks = {}};
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

Verdict ModuleCheck::verdict() const {
  Verdict gravest = no_plan.empty() ? Verdict::ok : Verdict::breach;
  for (const PoolCheck& pool : pools) {
    for (const LimitCheck& check : pool.checks) {
      if (check.verdict != Verdict::not_checked) gravest = std::max(gravest, check.verdict);
    }
  }
  return gravest;
}

Verdict BudgetReport::verdict() const {
  Verdict gravest = Verdict::ok;
  for (const ModuleCheck& module : modules) gravest = std::max(gravest, module.verdict());
  return gravest;
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
  for (const PlanningOutcome& module : modules) {
    ModuleCheck& result = report.modules.emplace_back();
    result.module = module.module;
    result.archive = module.archive;
    result.algorithm = module.algorithm;
    if (!module.plan) {
      result.no_plan = module.no_plan;
      result.needed = module.needed;
      for (const PoolSpec& spec : specs) result.pools.push_back(unplanned_pool(spec, module));
      continue;
    }
    const PlanDocument* const before = find_module(baseline, module.module);
    for (const PlanDocument::Pool& pool : module.plan->pools) {
      result.pools.push_back(PlannedPool(pool, spec_of(pool.name)).run(before, baseline.has_value()));
    }
  }
  return report;
}

bool has_limits(const config::PoolsConfig& pools) {
  const std::vector<PoolSpec> specs = all_pools(pools);
  return std::any_of(specs.begin(), specs.end(),
                     [](const PoolSpec& spec) { return spec.size_hint.has_value() || spec.budget.any(); });
}

}  // namespace usmp::compare
