// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// Plans held to budgets.
#include "usmp/compare/budget_check.hpp"

#include <doctest/doctest.h>

#include "plan_support/budgets.hpp"

namespace usmp::compare::budget_check_test {

using plan_file::PlanDocument;
using namespace usmp::plan_support::budgets;

TEST_CASE("max: at the limit is within it, a byte more is a breach with all figures") {
  LimitCheck check = only("max: 64", 64, Rule::max);
  CHECK(check.verdict == Verdict::ok);
  CHECK(check.message.empty());
  check = only("max: 64", 65, Rule::max);
  CHECK(check.verdict == Verdict::breach);
  CHECK(check.required == 65);
  CHECK(check.available == 64);
  CHECK(check.excess() == 1);
  CHECK(check.position == config::Position{4, 19});
  CHECK(check.message == "dtcm uses more than max: required 65 bytes, available 64 (max), excess 1");
  CHECK(only("max: 0", 0, Rule::max).verdict == Verdict::ok);
  CHECK(only("max: 0", 1, Rule::max).verdict == Verdict::breach);
}

TEST_CASE("warn_at is a part of max, else of the pool's size, and silent where max is exceeded") {
  CHECK(only("max: 101, warn_at: 50%", 50, Rule::warn_at).verdict == Verdict::ok);  // 50.5, rounded down
  LimitCheck check = only("max: 101, warn_at: 50%", 51, Rule::warn_at);
  CHECK(check.verdict == Verdict::warning);
  CHECK(check.message == "dtcm uses more than warn_at: required 51 bytes, available 50 (50% of max 101), excess 1");
  check = only("warn_at: 12.5%", 129, Rule::warn_at);
  CHECK(check.verdict == Verdict::warning);
  CHECK(check.message ==
        "dtcm uses more than warn_at: required 129 bytes, available 128 (12.5% of the pool's 1024), excess 1");
  CHECK(only("warn_at: 12.5%", 128, Rule::warn_at).verdict == Verdict::ok);
  check = only("max: 101, warn_at: 50%", 102, Rule::warn_at);
  CHECK(check.verdict == Verdict::not_checked);
  CHECK(check.message == "max is exceeded already");
}

TEST_CASE("min_headroom is what has to be left of the pool's size") {
  CHECK(only("min_headroom: 1000", 24, Rule::min_headroom).verdict == Verdict::ok);
  const LimitCheck check = only("min_headroom: 1000", 64, Rule::min_headroom);
  CHECK(check.verdict == Verdict::breach);
  CHECK(check.required == 64);
  CHECK(check.available == 24);
  CHECK(check.message ==
        "dtcm leaves less than min_headroom: required 64 bytes, available 24 (size_hint_bytes 1024 less min_headroom "
        "1000), excess 40");
}

TEST_CASE("max_growth is measured against the pool of the same name in the module of the same name") {
  const PoolsConfig config = pools("max_growth: 1.5%");
  const auto grown = [&](Bytes before, Bytes now) {
    return only(config, with_used(now), Rule::max_growth, {{with_used(before)}});
  };
  CHECK(grown(200, 203).verdict == Verdict::ok);
  CHECK(grown(200, 100).verdict == Verdict::ok);
  CHECK(grown(0, 0).verdict == Verdict::ok);
  LimitCheck check = grown(200, 204);
  CHECK(check.verdict == Verdict::breach);
  CHECK(check.message ==
        "dtcm grew by 2.00%, more than max_growth: required 204 bytes, available 203 (1.5% above the baseline's 200), "
        "excess 1");
  check = grown(0, 1);
  CHECK(check.verdict == Verdict::breach);
  CHECK(check.message ==
        "dtcm grew, more than max_growth: required 1 byte, available 0 (1.5% above the baseline's 0), excess 1");

  check = only(config, example(), Rule::max_growth);
  CHECK(check.verdict == Verdict::not_checked);
  CHECK(check.message == "there is no baseline");
  PlanDocument other = example();
  other.module = "other";
  other.archive = "other.tar";
  check = only(config, example(), Rule::max_growth, {{other}});
  CHECK(check.verdict == Verdict::warning);
  CHECK(check.message ==
        "dtcm has no growth to check: the baseline has no plan of 'default', only of 'other' (other.tar); plan all "
        "models again for it, with --dry-run --json");
  PlanDocument without = example();
  without.pools.erase(without.pools.begin());
  check = only(config, example(), Rule::max_growth, {{without}});
  CHECK(check.verdict == Verdict::warning);
  CHECK(check.message == "dtcm has no growth to check: the baseline has no such pool in this module");
  CHECK(only(config, with_used(64), Rule::max_growth, {{other, with_used(64)}}).verdict == Verdict::ok);
}

TEST_CASE("a module that has another name in the baseline is found by its archive, if one alone has it") {
  const PoolsConfig config = pools("max_growth: 0%");
  PlanDocument alone = with_used(50);
  alone.archive = "kws.tar";  // "default", as all models are that are planned alone
  PlanningOutcome renamed = outcome(example());
  renamed.module = "kws";
  renamed.archive = "kws.tar";
  PlanningOutcome second = renamed;
  second.module = "vww";
  second.archive = "vww.tar";
  const auto verdict_of_first = [&](const std::vector<PlanningOutcome>& modules, std::vector<PlanDocument> baseline) {
    return check_budgets(config, modules, std::move(baseline)).modules.at(0).verdict();
  };
  CHECK(verdict_of_first({renamed, second}, {alone}) == Verdict::breach);
  CHECK(check_budgets(config, {renamed, second}, {{alone}}).modules.at(1).verdict() == Verdict::warning);
  second.archive = "kws.tar";  // which of the two was it?
  CHECK(verdict_of_first({renamed, second}, {alone}) == Verdict::warning);
  // Two plans of one archive are told apart by their names, two of one name by their archives.
  PlanDocument other = with_used(64);
  other.archive = "kws.tar";
  other.module = "other";
  CHECK(verdict_of_first({renamed}, {other, alone}) == Verdict::warning);
  other.module = "kws";
  CHECK(verdict_of_first({renamed}, {alone, other}) == Verdict::ok);
  other.archive = "vww.tar";
  other.module = "default";
  renamed.module = "default";
  CHECK(verdict_of_first({renamed}, {other, alone}) == Verdict::breach);
}

TEST_CASE("the constants of all modules count together for max, warn_at, min_headroom and the size") {
  const auto report_of = [](const std::string& flash, Bytes first, Bytes second) {
    const PoolsConfig config =
        parse_pools("workspace_pools: [{name: dtcm, budget: {max: 64}}]\nparameter_pools:\n  - name: flash\n" + flash);
    PlanDocument one = example();
    PlanDocument two = example();
    two.module = "vww";
    one.pools[2].used = first;
    two.pools[2].used = second;
    for (PlanDocument* plan : {&one, &two}) {
      plan->pools[2].alignment = 16;
      plan->pools[2].capacity = config.parameter_pools[0].size_hint;
    }
    return check_budgets(config, {outcome(one), outcome(two)}, {});
  };
  const std::string budget = "    size_hint_bytes: 100\n    budget: {max: 60, warn_at: 90%, min_headroom: 50}\n";
  BudgetReport report = report_of(budget, 20, 16);  // 20, 12 of padding, 16
  REQUIRE(report.together.size() == 1);
  CHECK(report.shared_pools.at(2).padding() == 12);
  const PoolCheck& flash = report.together[0];
  CHECK(flash.used == 48);
  REQUIRE(flash.checks.size() == 4);
  for (const LimitCheck& check : flash.checks) CHECK(check.verdict == Verdict::ok);
  CHECK(report.verdict() == Verdict::ok);
  report = report_of(budget, 52, 2);
  CHECK(report.modules[0].verdict() == Verdict::breach);  // min_headroom
  CHECK(report.modules[1].verdict() == Verdict::ok);
  CHECK(report_of("    budget: {max: 60}\n", 40, 30).verdict() == Verdict::breach);
  CHECK(report_of("    budget: {max: 100, warn_at: 60%}\n", 48, 16).verdict() == Verdict::warning);
  CHECK(report_of("    size_hint_bytes: 100\n    budget: {min_headroom: 40}\n", 48, 16).verdict() == Verdict::breach);
  report = report_of("    size_hint_bytes: 100\n", 48, 53);
  CHECK(report.verdict() == Verdict::breach);
  CHECK(report.together.at(0).checks.at(0).message ==
        "flash is too small for the constants: required 112 bytes, available 100 (size_hint_bytes), excess 12");
  // Nothing is said twice.
  CHECK(report_of(budget, 20, 0).together.empty());
}

TEST_CASE("a file without budgets is warned of, and a baseline that no budget uses") {
  using Texts = std::vector<std::string>;
  const auto warnings = [](const PoolsConfig& config, const std::optional<std::vector<PlanDocument>>& baseline) {
    const BudgetReport report = check_budgets(config, {outcome(example())}, baseline);
    CHECK((report.verdict() == Verdict::ok) == report.warnings.empty());
    return report.warnings;
  };
  const std::vector<PlanDocument> baseline = {example()};
  CHECK(warnings(pools("max_growth: 0%"), baseline).empty());
  CHECK(warnings(pools("max: 64"), {}).empty());
  CHECK(warnings(pools("max: 64"), baseline) == Texts{"no budget has max_growth, so the baseline is not used"});
  CHECK(warnings(pools(""), {}) == Texts{"no pool has a budget, so only sizes are checked"});
  CHECK(warnings(pools(""), baseline) ==
        Texts{"no pool has a budget, so only sizes are checked, and the baseline is not used"});
}

TEST_CASE("a baseline of another archive is warned of where growth is checked, and changes no verdict but ok") {
  PlanDocument base = example();
  const auto report_of = [&](const std::string& budget, const std::string& archive) {
    base.archive = archive;
    return check_budgets(pools(budget), {outcome(example())}, {{base}});
  };
  REQUIRE(example().archive == "net.tar");
  for (const std::string same : {"net.tar", "net.tar.gz", "net", "stdin", ""}) {
    CHECK(report_of("max_growth: 0%", same).other_archives.empty());
  }
  const BudgetReport other = report_of("max_growth: 0%", "kws.tar");
  CHECK(other.other_archives ==
        std::vector<std::string>{
            "the baseline of module 'default' of net.tar is of kws.tar: growth is measured against another model"});
  CHECK(other.verdict() == Verdict::warning);
  CHECK(report_of("max: 60", "kws.tar").other_archives.empty());
  CHECK(report_of("max: 60, max_growth: 0%", "kws.tar").verdict() == Verdict::breach);
}

TEST_CASE("the size that min_headroom asks for is told, too; without a plan there is still a baseline") {
  PlanningOutcome without;
  without.module = "default";
  without.archive = "net.tar";
  without.no_plan = "no plan fits the pools";
  const auto dtcm = [&](std::optional<Bytes> enough) {
    without.needed.shortfalls = {{{{{"dtcm", 1024, 1100, enough}}}}};
    return check_budgets(pools("min_headroom: 100"), {without}, {{example()}}).modules.at(0).pools.at(0);
  };
  CHECK(dtcm(1100).baseline == 64);
  CHECK(dtcm(1100).checks.at(0).message ==
        "dtcm is too small: required 1100 bytes, available 1024 (size_hint_bytes), excess 76; with min_headroom 1200 "
        "bytes");
  CHECK(dtcm(std::nullopt).checks.at(0).message.find("; with min_headroom at least 1200 bytes") != std::string::npos);
}

TEST_CASE("the gravest verdict is that of the module and of the report; what is not checked has no weight") {
  const auto verdict = [](const PoolsConfig& config, Bytes used) {
    return check_budgets(config, {outcome(with_used(used))}, {}).verdict();
  };
  CHECK(verdict(pools("max_growth: 0%"), 64) == Verdict::ok);
  CHECK(verdict(pools("warn_at: 1%"), 64) == Verdict::warning);
  CHECK(verdict(pools("max: 63, warn_at: 1%"), 64) == Verdict::breach);
  CHECK(verdict(pools("warn_at: 1%", "max: 1"), 64) == Verdict::breach);
  CHECK(verdict(pools(""), 64) == Verdict::warning);
}

TEST_CASE("warnings of a plan count, and all warnings are breaches if that is asked") {
  PlanDocument plan = example();
  CHECK(check_budgets(pools("max: 64"), {outcome(plan)}, {}).verdict() == Verdict::ok);
  plan.warnings = {"w"};
  BudgetReport report = check_budgets(pools("max: 64"), {outcome(plan)}, {});
  CHECK(report.modules[0].warnings == std::vector<std::string>{"w"});
  CHECK(report.modules[0].verdict() == Verdict::warning);
  CHECK(report.verdict() == Verdict::warning);
  make_strict(report);
  CHECK(report.modules[0].verdict() == Verdict::breach);
  CHECK(report.verdict() == Verdict::breach);
  const auto strict = [](const std::string& budget) {
    BudgetReport checked = check_budgets(pools(budget), {outcome(example())}, {});
    make_strict(checked);
    return checked.verdict();
  };
  CHECK(strict("max: 64") == Verdict::ok);
  CHECK(strict("max: 64, warn_at: 99%") == Verdict::breach);
  CHECK(strict("") == Verdict::breach);  // no budget
}

TEST_CASE("whether there is anything to check") {
  CHECK(has_limits(pools("")));
  CHECK(has_limits(parse_pools("workspace_pools: [{name: a, budget: {max: 1}}]")));
  CHECK_FALSE(has_limits(parse_pools("workspace_pools: [{name: a}]\nparameter_pools: [{name: b}]")));
  CHECK(has_limits(parse_pools("workspace_pools: [{name: a}]\nparameter_pools: [{name: b, size_hint_bytes: 1}]")));
}

TEST_CASE("a pool that is too small: what is enough, what is proved, and what else would do") {
  PlanningOutcome without;
  without.module = "m";
  without.no_plan = "no plan fits the pools";
  const auto message = [&](std::vector<Enlargement> choices) {
    without.needed.shortfalls = {{std::move(choices)}};
    const BudgetReport report = compare::check_budgets(pools(""), {without}, {});
    CHECK(report.modules.at(0).needed.shortfalls.size() == 1);
    const LimitCheck check = report.modules.at(0).pools.at(0).checks.at(0);
    CHECK((check.verdict == Verdict::breach) == (check.excess() > 0));
    return check.message;
  };
  const NeededSize flash{"flash", 2048, 3000, 3000};
  const std::string is_too_small =
      "dtcm is too small: required 1100 bytes, available 1024 (size_hint_bytes), excess 76";
  CHECK(message({{{"dtcm", 1024, 1100, 1100}}}) == is_too_small);
  CHECK(message({{{"dtcm", 1024, 1090, 1100}}}) == is_too_small + ", at least 1090 needed");
  CHECK(message({{{"dtcm", 1024, 1024, 1100}}}) == is_too_small + ", less may be enough");
  CHECK(message({{{"dtcm", 1024, 1100, std::nullopt}}}) == is_too_small + ", no size was found that is enough");
  CHECK(
      message({{{"dtcm", 1024, 1100, 1100}}, {flash}}) ==
      "dtcm is too small, unless flash is enlarged: required 1100 bytes, available 1024 (size_hint_bytes), excess 76");
  CHECK(message({{{"dtcm", 1024, 1100, 1100}, flash}}) == is_too_small + "; enlarge flash too");
  CHECK(message({{{"dtcm", 1024, 1100, 1100}}, {flash}, {{"sram", 1, 2, 2}}})
            .starts_with("dtcm is too small, unless flash or sram is enlarged: "));
  CHECK(message({{{"dtcm", 1024, 1024, std::nullopt}}}) == "there is no plan");
  CHECK(message({{flash}}) == "there is no plan");
}

}  // namespace usmp::compare::budget_check_test
