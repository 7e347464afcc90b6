// Plans held to budgets. test_schema.py holds check.json against docs/schema/check.schema.json.
#include "usmp/report/budget_check.hpp"

#include <doctest/doctest.h>

#include "fixtures.hpp"
#include "golden.hpp"
#include "report/findings.hpp"

namespace usmp::report::budget_check_test {

using usmp::config::parse_pools;
using usmp::config::PoolsConfig;

namespace {

// Of the example: dtcm uses 64 of 1024 bytes, sram 100, flash 10 of 2048.
PlanDocument example() {
  Planned planned;
  fill_example(planned);
  return plan_document(planned.finish());
}

PoolsConfig pools(const std::string& dtcm, const std::string& sram = "") {
  return parse_pools("workspace_pools:\n  - name: dtcm\n    size_hint_bytes: 1024\n" +
                     (dtcm.empty() ? "" : "    budget: {" + dtcm + "}\n") + "  - name: sram\n" +
                     (sram.empty() ? "" : "    budget: {" + sram + "}\n") +
                     "parameter_pools: [{name: flash, size_hint_bytes: 2048}]\n");
}

PlanningOutcome outcome(PlanDocument plan) {
  PlanningOutcome result;
  result.module = plan.module;
  result.algorithm = plan.algorithm;
  result.plan = std::move(plan);
  return result;
}

// What becomes of one limit of dtcm.
LimitCheck only(const PoolsConfig& config, const PlanDocument& plan, Rule rule,
                const std::optional<std::vector<PlanDocument>>& baseline = {}) {
  const BudgetReport report = check_budgets(config, {outcome(plan)}, baseline);
  for (const LimitCheck& check : report.modules.at(0).pools.at(0).checks) {
    if (check.rule == rule) return check;
  }
  FAIL("no such check");
  return {};
}

LimitCheck only(const std::string& budget, Bytes used, Rule rule) {
  PlanDocument plan = example();
  plan.pools[0].used = used;
  return only(pools(budget), plan, rule);
}

PlanDocument with_used(Bytes dtcm) {
  PlanDocument plan = example();
  plan.pools[0].used = dtcm;
  return plan;
}

// Everything at once: breaches, warnings, what is not checked, odd names, a module without a plan.
BudgetReport full_report() {
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
  without.algorithm = "exec:my";
  without.no_plan = "no plan was found that fits the pools (algorithm exec:my)\nbuffer 'b' does not fit:\n  dtcm: …";
  without.needs = {{"dtcm", 2000, 1024}};
  BudgetReport report = check_budgets(config, {outcome(example()), without}, {{baseline}});
  report.archive = "net|1.tar";
  report.pools_file = "./ci/pools,1.yaml";
  return report;
}

}  // namespace

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
  CHECK(check.required == 1064);
  CHECK(check.available == 1024);
  CHECK(check.message ==
        "dtcm leaves less than min_headroom: required 1064 bytes (64 used, 1000 of headroom), available 1024 "
        "(size_hint_bytes), excess 40");
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
  check = only(config, example(), Rule::max_growth, {{other}});
  CHECK(check.verdict == Verdict::warning);
  CHECK(check.message == "dtcm has no growth to check: the baseline has no such pool in this module");
  CHECK(only(config, with_used(64), Rule::max_growth, {{other, with_used(64)}}).verdict == Verdict::ok);
}

TEST_CASE("the gravest verdict is that of the module and of the report; what is not checked has no weight") {
  const auto verdict = [](const PoolsConfig& config, Bytes used) {
    return check_budgets(config, {outcome(with_used(used))}, {}).verdict();
  };
  CHECK(verdict(pools("max_growth: 0%"), 64) == Verdict::ok);
  CHECK(verdict(pools("warn_at: 1%"), 64) == Verdict::warning);
  CHECK(verdict(pools("max: 63, warn_at: 1%"), 64) == Verdict::breach);
  CHECK(verdict(pools("warn_at: 1%", "max: 1"), 64) == Verdict::breach);
  CHECK(verdict(pools(""), 64) == Verdict::ok);
}

TEST_CASE("a module without a plan is a breach, with the figures of the pools that are too small") {
  PlanningOutcome without;
  without.module = "m";
  without.no_plan = "no plan fits the pools\nbuffer …";
  without.needs = {{"dtcm", 2000, 1024}};
  const BudgetReport report = check_budgets(pools("max: 60"), {without}, {});
  CHECK(report.verdict() == Verdict::breach);
  const std::vector<Finding> findings = findings_of(report);
  REQUIRE(findings.size() == 1);
  CHECK(findings[0].position == config::Position{3, 22});
  CHECK(findings[0].message ==
        "module m: no plan fits the pools: dtcm is too small: required 2000 bytes, available 1024 (size_hint_bytes), "
        "excess 976");
  without.needs.clear();
  const std::vector<Finding> silent = findings_of(check_budgets(pools("max: 60"), {without}, {}));
  REQUIRE(silent.size() == 1);
  CHECK(silent[0].message == "module m: no plan fits the pools");
  CHECK(silent[0].verdict == Verdict::breach);
}

TEST_CASE("whether there is anything to check") {
  CHECK(has_limits(pools("")));
  CHECK(has_limits(parse_pools("workspace_pools: [{name: a, budget: {max: 1}}]")));
  CHECK_FALSE(has_limits(parse_pools("workspace_pools: [{name: a}]\nparameter_pools: [{name: b}]")));
  CHECK(has_limits(parse_pools("workspace_pools: [{name: a}]\nparameter_pools: [{name: b, size_hint_bytes: 1}]")));
}

TEST_CASE("a check in every format") {
  const BudgetReport report = full_report();
  check_golden("check.txt", check_text(report, {}));
  check_golden("check.md", check_markdown(report));
  check_golden("check.json", check_json(report));
  check_golden("check.xml", check_junit(report));
  check_golden("check.github", check_github(report));
}

TEST_CASE("quiet text has what is beyond a limit and no more") {
  CheckTextOptions quiet;
  quiet.quiet = true;
  BudgetReport report = check_budgets(pools("max: 64"), {outcome(example())}, {});
  report.pools_file = "p.yaml";
  CHECK(check_text(report, quiet).empty());
  report = check_budgets(pools("max: 63"), {outcome(example())}, {});
  report.pools_file = "p.yaml";
  CHECK(check_text(report, quiet) ==
        "p.yaml:4:19: error: module default: dtcm uses more than max: required 64 bytes, available 63 (max), excess "
        "1\n");
}

TEST_CASE("text in colour is the text and its colours") {
  const BudgetReport report = full_report();
  CheckTextOptions options;
  options.color = true;
  std::string text = check_text(report, options);
  for (const std::string code : {"\x1b[1m", "\x1b[31m", "\x1b[33m", "\x1b[0m"}) {
    REQUIRE(text.find(code) != std::string::npos);
    for (std::size_t at = 0; (at = text.find(code)) != std::string::npos;) text.erase(at, code.size());
  }
  CHECK(text == check_text(report, {}));
}

}  // namespace usmp::report::budget_check_test
