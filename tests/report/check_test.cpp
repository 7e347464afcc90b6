// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// Checks of budgets as text. test_schema.py holds check.json against docs/schema/check.schema.json.
#include "usmp/report/check.hpp"

#include <doctest/doctest.h>

#include "plan_support/budgets.hpp"
#include "plan_support/golden.hpp"
#include "report/findings.hpp"

namespace usmp::report::check_test {

using compare::BudgetReport;
using compare::PlanningOutcome;
using compare::Verdict;
using namespace usmp::plan_support::budgets;

namespace {

bool contains(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

}  // namespace

TEST_CASE("a check in every format") {
  BudgetReport report = full_report();
  report.shared_pools = {
      {"dtcm", PoolKind::workspace, 128, {{"default", 64, 1}, {"vww", 96, 1}}, {96, {"default", "vww"}}},
      {"flash", PoolKind::constant, 250, {{"default", 200, 16}, {"vww", 50, 16}}, {258, {"default", "vww"}}}};
  compare::LimitCheck size;
  size.required = 258;
  size.available = 250;
  size.position = {9, 22};
  size.verdict = Verdict::breach;
  size.message = "flash is too small for the constants: required 258 bytes, available 250 (size_hint_bytes), excess 8";
  report.together = {{"flash", PoolKind::constant, 258, 250, {}, {size}}};
  compare::LimitCheck ram;
  ram.rule = compare::Rule::ram;
  ram.required = 1680;
  ram.available = 1600;
  ram.position = {12, 16};
  ram.verdict = Verdict::breach;
  ram.message = "the program takes more than ram: required 1680 bytes = …, available 1600, excess 80";
  ram.grown = {{"#3 conv2d", 48}, {"#1 add", 2}};
  compare::LimitCheck length = ram;
  length.rule = compare::Rule::length;
  length.verdict = Verdict::warning;
  length.message = "region RAM of 1600 bytes is too small";
  length.grown.clear();
  report.whole = {{"program", PoolKind::workspace, {}, {}, {}, {ram}},
                  {"RAM", PoolKind::workspace, 1680, 1600, {}, {length}}};
  report.advice = {{"--workspace-io", Verdict::breach, {{"program", compare::Rule::ram, 1680, 1610, 10}}},
                   {"--allow-recompute 30", Verdict::warning, {{"vww: dtcm", compare::Rule::size, {}, 100, 0}}}};
  report.warnings = {"no budget has max_growth, so the baseline is not used"};
  check_golden("check.txt", check_text(report, {}));
  check_golden("check.md", check_markdown(report));
  check_golden("check.json", check_json(report));
  check_golden("check.xml", check_junit(report));
  check_golden("check.github", check_github(report));
}

TEST_CASE("quiet text has what is beyond a limit and no more") {
  CheckTextOptions quiet;
  quiet.quiet = true;
  BudgetReport report = compare::check_budgets(pools("max: 64"), {outcome(example())}, {});
  report.pools_file = "p.yaml";
  CHECK(check_text(report, quiet).empty());
  report = compare::check_budgets(pools("max: 63"), {outcome(example())}, {});
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

TEST_CASE("pools of which one is enough to enlarge say so, in every format") {
  PlanningOutcome without;
  without.module = "m";
  without.no_plan = "no plan fits the pools";
  without.needed.shortfalls = {{.choices = {{{"dtcm", 1024, 2000, 2000}}, {{"flash", 2048, 3000, 3000}}}}};
  const BudgetReport report = compare::check_budgets(pools(""), {without}, {});
  const std::string unless = "dtcm is too small, unless flash is enlarged: required ";
  CHECK(check_text(report, {}).find("976  breach, unless flash is enlarged\n") != std::string::npos);
  for (const std::string& text :
       {check_text(report, {}), check_github(report), check_junit(report), check_json(report)}) {
    CHECK(text.find(unless) != std::string::npos);
  }
  CHECK(check_json(report).find(R"("alternatives":["flash"])") != std::string::npos);
  CHECK(check_json(report).find(R"("alternatives":["dtcm"])") != std::string::npos);
}

TEST_CASE("warnings of a plan are told in every format, as breaches if they count as such") {
  plan_file::PlanDocument plan = example();
  plan.archive = "kws.tar";
  plan.warnings = {"a", "b<"};
  BudgetReport report = compare::check_budgets(pools("max: 64"), {outcome(plan)}, {});
  report.pools_file = "p.yaml";
  report.other_archives = {"other"};
  CHECK(contains(check_text(report, {}),
                 "\nkws.tar: warning: module default: a\nkws.tar: warning: module default: b<\n"));
  CHECK(contains(check_github(report), "\n::warning title=kws.tar::module default: a\n"));
  CHECK(contains(check_markdown(report), "\n- kws.tar: module default: a\n"));
  CHECK(contains(check_json(report), R"("warnings":["a","b<"])"));
  const std::string junit = check_junit(report);
  CHECK(contains(junit, R"(<system-out>warning: a
b&lt;</system-out>)"));
  CHECK(contains(junit, R"(failures="0")"));
  make_strict(report);
  CHECK(contains(check_text(report, {}), "\nkws.tar: error: module default: a\n"));
  CHECK(contains(check_text(report, {}), "p.yaml: error: other\n"));
  CHECK(contains(check_github(report), "\n::error title=kws.tar::module default: a\n"));
  CHECK(contains(check_json(report), R"("breaches": 3)"));
  CHECK(contains(check_junit(report), R"(<testsuites name="usmp-plan check" tests="5" failures="2")"));
}

TEST_CASE("a baseline of another archive is told in every format") {
  BudgetReport report = full_report();
  report.other_archives = {"the baseline is of \x1b"};
  CHECK(check_text(report, {}).find(": warning: the baseline is of \\x1b\n") != std::string::npos);
  CHECK(check_github(report).find(",title=baseline::the baseline is of ") != std::string::npos);
  CHECK(check_json(report).find("the baseline is of ") != std::string::npos);
}

TEST_CASE("a module without a plan is a breach, with the figures of the pools that are too small") {
  PlanningOutcome without;
  without.module = "m";
  without.no_plan = "no plan fits the pools\nbuffer …";
  without.needed.shortfalls = {{.choices = {{{"dtcm", 1024, 2000, 2000}}}}};
  const BudgetReport report = compare::check_budgets(pools("max: 60"), {without}, {});
  CHECK(report.verdict() == Verdict::breach);
  const std::vector<Finding> findings = findings_of(report);
  REQUIRE(findings.size() == 1);
  CHECK(findings[0].position == config::Position{3, 22});
  // Each breach is one failure.
  CHECK(contains(check_markdown(report), ": 1 breach\n"));
  CHECK(contains(check_junit(report), "<testsuites name=\"usmp-plan check\" tests=\"4\" failures=\"1\" errors=\"0\" "));
  CHECK(contains(check_junit(report), "   <skipped message=\"no plan fits the pools"));
  CHECK(findings[0].message ==
        "module m: no plan fits the pools: dtcm is too small: required 2000 bytes, available 1024 (size_hint_bytes), "
        "excess 976");
  without.needed = {};
  const std::vector<Finding> silent = findings_of(compare::check_budgets(pools("max: 60"), {without}, {}));
  REQUIRE(silent.size() == 1);
  CHECK(silent[0].message == "module m: no plan fits the pools");
  CHECK(silent[0].verdict == Verdict::breach);
  CHECK(contains(check_junit(compare::check_budgets(pools("max: 60"), {without}, {})), " failures=\"1\" "));
  without.needed.shortfalls = {{.choices = {{{"of_the_module", 8, 9, 9}}}}, {.choices = {{{"other", 1, 2, 2}}}}};
  const std::vector<Finding> unlisted = findings_of(compare::check_budgets(pools("max: 60"), {without}, {}));
  REQUIRE(unlisted.size() == 1);
  CHECK(unlisted[0].message ==
        "module m: no plan fits the pools: of_the_module: 9 bytes needed, 8 available, 1 missing; other: 2 bytes "
        "needed, 1 available, 1 missing");
}

}  // namespace usmp::report::check_test
