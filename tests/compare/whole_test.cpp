// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// All that a program takes, in all and by region, and the budgets of it.
#include "usmp/compare/whole.hpp"

#include <doctest/doctest.h>

#include "usmp/compare/budget_check.hpp"

namespace usmp::compare::whole_test {

using plan_file::PlanDocument;

namespace {

// 1000 bytes of dtcm, 200 of sram, 50 + 30 of inputs and outputs (70 in a pool), stack 400, constants 5000.
PlanDocument plan_of(const std::string& name) {
  PlanDocument plan;
  plan.module = name;
  plan.archive = name + ".tar";
  const auto add_pool = [&](const char* pool_name, PoolKind kind, Bytes used) {
    PlanDocument::Pool& pool = plan.pools.emplace_back();
    pool.name = pool_name;
    pool.kind = kind;
    pool.used = used;
  };
  add_pool("dtcm", PoolKind::workspace, 1000);
  add_pool("sram", PoolKind::workspace, 200);
  add_pool("flash", PoolKind::constant, 4000);
  plan.inputs = {{.name = "x", .size = 50}, {.name = "z", .size = 70, .in_pool = true}};
  plan.outputs = {{.name = "y", .size = 30}};
  plan.stack_estimate = 400;
  plan.constant_bytes = 5000;
  plan.instructions = 123456;
  return plan;
}

config::PoolsConfig config_of(const std::string& more, bool has_script = true) {
  const std::vector<config::MemoryRegion> memory = config::parse_memory(
      "MEMORY { DTCM (rw) : ORIGIN = 0, LENGTH = 1024\nRAM2 (rw) : ORIGIN = 0, LENGTH = 300\n"
      "OTHER (rw) : ORIGIN = 0, LENGTH = 100\nFLASH (rx) : ORIGIN = 0, LENGTH = 1M }\nREGION_ALIAS(\"SRAM\", RAM2)");
  return config::parse_pools(
      "workspace_pools: [{name: dtcm}, {name: sram}]\nparameter_pools: [{name: flash}]\n" + more + "\n",
      has_script ? &memory : nullptr);
}

std::vector<RegionUse> uses_of(const std::string& more, const std::vector<PlanDocument>& documents) {
  std::vector<const PlanDocument*> plans;
  for (const PlanDocument& document : documents) plans.push_back(&document);
  return region_uses(plans, config_of(more));
}

std::string text_of(const std::vector<RegionUse>& uses) {
  std::string text;
  for (const RegionUse& use : uses) text += use.name + ": " + parts_text(use) + "; ";
  return text;
}

BudgetReport checked(const config::PoolsConfig& config, const std::vector<PlanDocument>& plans) {
  std::vector<PlanningOutcome> outcomes;
  for (const PlanDocument& plan : plans) {
    PlanningOutcome& one = outcomes.emplace_back();
    one.module = plan.module;
    one.archive = plan.archive;
    one.plan = plan;
  }
  return check_budgets(config, outcomes, {});
}

PlanningOutcome without_plan() {
  PlanningOutcome outcome;
  outcome.module = "one";
  outcome.no_plan = "none";
  return outcome;
}

// The only check of this rule; its pool's name in `of`.
LimitCheck only(const BudgetReport& report, Rule rule, const std::string& of = "program") {
  std::vector<LimitCheck> found;
  for (const PoolCheck& pool : report.whole) {
    for (const LimitCheck& check : pool.checks) {
      if (check.rule == rule && pool.name == of) found.push_back(check);
    }
  }
  REQUIRE(found.size() == 1);
  return found.front();
}

}  // namespace

TEST_CASE("what a program takes: pools, inputs, outputs, state and stack; one module, and several") {
  const config::PoolsConfig config = config_of("");
  PlanDocument one = plan_of("one");
  PlanDocument two = plan_of("two");
  two.pools[0].used = 1500;
  two.pools[1].used = 10;
  two.stack_estimate = 300;
  two.state_bytes = 7;
  two.instructions = 200000;
  WholeFigures figures = whole_figures({&one}, config);
  CHECK(figures.workspace == 1200);
  CHECK(figures.io == 80);
  CHECK(figures.stack == 400);
  CHECK(figures.ram() == 1680);
  CHECK(figures.constants == 5000);
  CHECK(figures.slowest == "one");
  figures = whole_figures({&one, &two}, config);
  CHECK(figures.workspace == 1700);  // 1500 and 200
  CHECK(figures.io == 167);
  CHECK(figures.stack == 400);
  CHECK(figures.constants == 10000);
  CHECK(figures.instructions == 200000);
  CHECK(figures.slowest == "two");
  figures = whole_figures({&one, &two}, config_of("concurrent: [[one, two]]"));
  CHECK(figures.stack == 700);
  CHECK(figures.knows_ram);
  two.inputs[0].size.reset();
  CHECK_FALSE(whole_figures({&two}, config).knows_ram);
  two = plan_of("two");
  two.unplanned.push_back({.name = "a", .function = "f", .reason = "r"});
  CHECK_FALSE(whole_figures({&two}, config).knows_ram);
}

TEST_CASE("inputs, outputs and stack are where the file says, else in the one region of the workspace") {
  const std::vector<PlanDocument> plans = {plan_of("one")};
  CHECK(text_of(uses_of("", plans)) == "DTCM: 1000 pools; RAM2: 200 pools; FLASH: 4000 pools; ");
  CHECK(text_of(uses_of("io_region: RAM2\nstack_region: OTHER", plans)) ==
        "DTCM: 1000 pools; RAM2: 200 pools + 80 inputs and outputs; OTHER: 0 pools + 400 stack; FLASH: 4000 pools; ");
  const std::vector<config::MemoryRegion> memory = config::parse_memory("MEMORY { A : ORIGIN = 0, LENGTH = 1680 }");
  config::PoolsConfig config = config::parse_pools(
      "workspace_pools: [{name: dtcm, size_hint_bytes: ld:A}, {name: sram, size_hint_bytes: ld:A}]", &memory);
  std::vector<RegionUse> uses = region_uses({&plans[0]}, config);
  REQUIRE(uses.size() == 1);
  CHECK(uses[0].total() == 1680);
  CHECK(uses[0].assumed == 480);
  CHECK(full_regions(uses).empty());
  config.regions[0].length = 1679;
  CHECK(full_regions(region_uses({&plans[0]}, config)) ==
        std::vector<std::string>{
            "region A of 1679 bytes is too small for 1680 bytes = 1200 pools + 80 inputs and outputs "
            "+ 400 stack; io_region and stack_region in the pools file say where these are, if not there"});
}

TEST_CASE("budgets of the program: at the limit is within it, a byte more is a breach") {
  const std::vector<PlanDocument> plans = {plan_of("one")};
  const std::string at = "budgets: {ram: 1680, flash: 5000, stack: 400, instructions: 123456}";
  CHECK(checked(config_of(at, false), plans).verdict() == Verdict::ok);
  BudgetReport report =
      checked(config_of("budgets: {ram: 1679, flash: 4999, stack: 399, instructions: 123455}", false), plans);
  for (const Rule rule : {Rule::ram, Rule::flash, Rule::stack, Rule::instructions}) {
    CAPTURE(to_string(rule));
    const LimitCheck check = only(report, rule);
    CHECK(check.verdict == Verdict::breach);
    CHECK(check.excess() == 1);
    CHECK(check.position.line == 3);
  }
  CHECK(report.verdict() == Verdict::breach);
  CHECK(only(report, Rule::ram).message ==
        "the program takes more than ram: required 1680 bytes = 1200 workspace + 80 inputs and outputs + 400 stack, "
        "available 1679, excess 1");
  std::vector<PlanDocument> unknown = plans;
  unknown[0].inputs[0].size.reset();
  CHECK(only(checked(config_of(at, false), unknown), Rule::ram).verdict == Verdict::warning);
  CHECK(only(checked(config_of("budgets: {ram: 1629}", false), unknown), Rule::ram).verdict == Verdict::breach);
  unknown[0].instructions.reset();
  CHECK(only(checked(config_of(at, false), unknown), Rule::instructions).verdict == Verdict::warning);
  BudgetReport lacking = check_budgets(config_of(at, false), {without_plan()}, {});
  CHECK(only(lacking, Rule::ram).verdict == Verdict::not_checked);
}

TEST_CASE("regions: a breach where it is known what is there, a warning where it is taken to be") {
  const std::vector<PlanDocument> plans = {plan_of("one")};
  BudgetReport report = checked(config_of("stack_region: DTCM"), plans);
  CHECK(only(report, Rule::length, "DTCM").verdict == Verdict::breach);
  CHECK(only(report, Rule::length, "DTCM").required == 1400);
  CHECK(only(report, Rule::length, "RAM2").verdict == Verdict::ok);
  const std::vector<config::MemoryRegion> memory = config::parse_memory("MEMORY { A : ORIGIN = 0, LENGTH = 1300 }");
  const std::string pools =
      "workspace_pools: [{name: dtcm, size_hint_bytes: ld:A}, {name: sram, size_hint_bytes: ld:A}]\n";
  const auto verdict_with = [&](const std::string& more) {
    return only(checked(config::parse_pools(pools + more, &memory), plans), Rule::length, "A").verdict;
  };
  CHECK(verdict_with("") == Verdict::warning);
  CHECK(verdict_with("io_region: A") == Verdict::warning);
  CHECK(verdict_with("stack_region: A") == Verdict::breach);
  std::vector<PlanDocument> larger = plans;
  larger[0].pools[0].used = 1101;
  CHECK(only(checked(config::parse_pools(pools, &memory), larger), Rule::length, "A").verdict == Verdict::breach);

  report = checked(config_of("budgets: {regions: {DTCM: 1000, RAM2: 199, OTHER: 0}}"), plans);
  CHECK(only(report, Rule::region, "DTCM").verdict == Verdict::ok);
  CHECK(only(report, Rule::region, "RAM2").verdict == Verdict::breach);
  CHECK(only(report, Rule::region, "RAM2").message ==
        "region RAM2 has more than its budget: required 200 bytes = 200 pools, available 199, excess 1");
  CHECK(only(report, Rule::region, "OTHER").verdict == Verdict::ok);
  report = checked(config_of("budgets: {regions: {DTCM: 1000}}", false), plans);
  CHECK(only(report, Rule::region, "DTCM").verdict == Verdict::warning);
  CHECK_THROWS_WITH_AS((void)config_of("budgets: {regions: {SRAM: 1}}"),
                       doctest::Contains("region 'SRAM' is an alias: expected 'RAM2'"), Error);
  CHECK_THROWS_WITH_AS((void)config_of("io_region: DTCN"),
                       doctest::Contains("the linker script has no region 'DTCN' (did you mean 'DTCM'?)"), Error);
}

TEST_CASE("advice: what gets smaller of what is exceeded, and nothing else") {
  const config::PoolsConfig config = config_of("budgets: {ram: 1600, stack: 500}", false);
  const BudgetReport before = checked(config, {plan_of("one")});
  PlanDocument smaller = plan_of("one");
  smaller.pools[0].used = 930;
  std::optional<Advice> advice = advice_of(before, checked(config, {smaller}), "--x");
  REQUIRE(advice);
  CHECK(advice->verdict == Verdict::breach);
  REQUIRE(advice->figures.size() == 1);
  CHECK(advice->figures[0] == Advice::Figure{"program", Rule::ram, 1680, 1610, 10});
  smaller.pools[0].used = 920;
  advice = advice_of(before, checked(config, {smaller}), "--x");
  CHECK(advice->verdict == Verdict::ok);
  CHECK_FALSE(advice_of(before, before, "--x"));
  CHECK(may_be_helped(before));
  CHECK_FALSE(may_be_helped(checked(config, {smaller})));
  CHECK_FALSE(may_be_helped(checked(config_of("budgets: {flash: 1, instructions: 1}", false), {plan_of("one")})));
  CHECK_FALSE(advice_of(checked(config, {smaller}), checked(config, {smaller}), "--x"));
  const BudgetReport lacking = check_budgets(config, {without_plan()}, {});
  CHECK_FALSE(advice_of(before, lacking, "--x"));
  CHECK(advice_of(lacking, checked(config, {smaller}), "--x"));
}

}  // namespace usmp::compare::whole_test
