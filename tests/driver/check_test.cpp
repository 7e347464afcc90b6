// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// usmp-plan check as a user meets it: exit codes, files, several modules. The formats are those of tests/report.
#include <doctest/doctest.h>

#include <nlohmann/json.hpp>
#include <sstream>

#include "files.hpp"
#include "two_modules.hpp"
#include "usmp/driver/driver.hpp"

namespace usmp::driver::check_test {

using nlohmann::json;

namespace {

// lstm.tar as TVM wrote it, which needs 9824 bytes; cast_subtract.tar needs none.
struct Checked {
  TemporaryDirectory temporary;
  CheckOptions options;

  explicit Checked(const std::string& model = testdata + "/lstm.tar") {
    options.model.model = model;
    options.model.transform = "none";
  }

  Outcome run(const std::string& pools) {
    write(temporary.path / "pools.yaml", pools);
    options.pools_file = temporary.file("pools.yaml");
    std::ostringstream out;
    std::ostringstream err;
    const int code = check(options, out, err);
    return {code, out.str(), err.str()};
  }
};

std::string sram(const std::string& budget) {
  return "workspace_pools:\n  - name: sram\n    budget: {" + budget + "}\n";
}

std::string plan_as_json(const std::string& model, const std::string& algorithm) {
  PlanOptions options;
  options.model.model = model;
  options.model.json = true;
  options.model.transform = "none";
  options.pools_file = testdata + "/pools/sram.yaml";
  options.algorithm = algorithm;
  options.dry_run = true;
  std::ostringstream out;
  std::ostringstream err;
  REQUIRE_MESSAGE(plan(options, out, err) == exit_ok, err.str());
  return out.str();
}

}  // namespace

TEST_CASE("check: what cannot be read is reported, too") {
  const auto with_reports = [](Checked& checked) {
    checked.options.junit = checked.temporary.file("junit.xml");
    checked.options.step_summary = checked.temporary.file("summary.md");
    write(checked.temporary.path / "summary.md", "before\n");
    checked.options.github = true;
  };
  SUBCASE("a pools file, with line and column") {
    Checked checked;
    with_reports(checked);
    const Outcome outcome = checked.run("workspace_pools:\n  - name: sram\n    bugdet: {max: 9824}\n");
    CHECK(outcome.code == exit_usage);
    const std::string pools = checked.temporary.file("pools.yaml");
    const std::string message =
        pools + ": line 3, column 5: unknown key 'bugdet' in a workspace pool (did you mean 'budget'?)";
    CHECK(outcome.out == "::error file=" + pools + ",line=3,col=5,title=usmp-plan check::" + message + "\n");
    CHECK(outcome.err == "usmp-plan: error: " + message + "\n");
    const std::string junit = read(checked.temporary.path / "junit.xml");
    CHECK(contains(junit, "tests=\"1\" failures=\"0\" errors=\"1\" skipped=\"0\""));
    CHECK(contains(junit, "line=\"3\">\n   <error message=\""));
    CHECK(contains(junit, "line 3, column 5: unknown key "));
    CHECK(read(checked.temporary.path / "summary.md") ==
          "before\n## Memory budgets: not checked\n\n    " + message + "\n\n");
  }
  SUBCASE("an archive, as JSON") {
    Checked checked;
    write(checked.temporary.path / "bad.tar", std::string(1024, 'x'));
    checked.options.model.model = checked.temporary.file("bad.tar");
    checked.options.model.json = true;
    const Outcome outcome = checked.run(sram("max: 9824"));
    CHECK(outcome.code == exit_archive);
    const json report = json::parse(outcome.out);
    CHECK(report.size() == 4);
    CHECK(report["schema"] == "usmp-plan/check");
    CHECK(report["exit_code"] == exit_archive);
    CHECK("usmp-plan: error: " + report["error"].get<std::string>() + "\n" == outcome.err);
  }
  SUBCASE("but not into a file that the check would read") {
    Checked checked;
    checked.options.junit = checked.temporary.file("pools.yaml");
    const std::string pools = sram("max: 9824");
    CHECK(checked.run(pools).code == exit_usage);
    CHECK(read(checked.temporary.path / "pools.yaml") == pools);
  }
}

TEST_CASE("check: within budget, a warning, a breach") {
  Checked checked;
  Outcome outcome = checked.run(sram("max: 9824"));
  CHECK(outcome.code == exit_ok);
  CHECK(outcome.err.empty());
  CHECK(outcome.out ==
        "module default of lstm.tar, planned by optimal: within budget\n"
        "  Pool  Limit  Required  Available  Excess  Result\n"
        "  sram  max        9824       9824       -  ok\n");
  outcome = checked.run(sram("max: 9824, warn_at: 99%"));
  CHECK(outcome.code == exit_ok);
  CHECK(outcome.out.find(checked.temporary.file("pools.yaml") + ":3:34: warning: module default: sram uses more") !=
        std::string::npos);
  outcome = checked.run(sram("max: 9823, warn_at: 99%"));
  CHECK(outcome.code == exit_breach);
  CHECK(outcome.err.empty());
  CHECK(outcome.out.find(checked.temporary.file("pools.yaml") +
                         ":3:19: error: module default: sram uses more than max: required 9824 bytes, available 9823 "
                         "(max), excess 1\n") != std::string::npos);
  checked.options.verbosity = Verbosity::quiet;
  CHECK(checked.run(sram("max: 9824")).out.empty());
  CHECK(checked.run(sram("max: 9823")).code == exit_breach);
}

TEST_CASE("check: warnings of the plan are part of the output, and breaches if that is asked") {
  Checked checked;
  const std::string pools = "workspace_pools:\n  - {name: sram, section: .sram, budget: {max: 9824}}\n";
  Outcome outcome = checked.run(pools);
  CHECK(outcome.code == exit_ok);
  CHECK(outcome.err.empty());
  CHECK(outcome.out.find("\nlstm.tar: warning: module default: pool 'sram': section .sram takes space") !=
        std::string::npos);
  checked.options.strict = true;
  CHECK(checked.run(sram("max: 9824")).code == exit_ok);
  CHECK(checked.run(sram("max: 9824, warn_at: 99%")).code == exit_breach);
  outcome = checked.run(pools);
  CHECK(outcome.code == exit_breach);
  CHECK(outcome.out.find("\nlstm.tar: error: module default: pool 'sram': section .sram takes space") !=
        std::string::npos);
}

TEST_CASE("check: a model that does not fit has the exit code of that, the figures, and all formats") {
  Checked checked;
  checked.options.github = true;
  checked.options.junit = checked.temporary.file("junit.xml");
  const Outcome outcome =
      checked.run("workspace_pools:\n  - name: sram\n    size_hint_bytes: 512\n    budget: {max: 500}\n");
  CHECK(outcome.code == exit_infeasible);
  CHECK(outcome.err.empty());
  const std::string message =
      "module default: no plan fits the pools: sram is too small: required 9824 bytes, available 512 "
      "(size_hint_bytes), "
      "excess 9312\n";
  CHECK(outcome.out.find(":3:22: error: " + message) != std::string::npos);
  CHECK(outcome.out.find(",line=3,col=22,title=sram%3A size_hint_bytes::" + message) != std::string::npos);
  CHECK(read(checked.temporary.path / "junit.xml").find(" failures=\"1\" ") != std::string::npos);
}

TEST_CASE("check: GitHub's commands stand behind the text, Markdown is appended to the job's summary") {
  Checked checked;
  checked.options.github = true;
  checked.options.step_summary = checked.temporary.file("summary.md");
  write(checked.temporary.path / "summary.md", "of the step before\n");
  Outcome outcome = checked.run(sram("max: 1"));
  CHECK(outcome.code == exit_breach);
  CHECK(
      outcome.out.ends_with(",line=3,col=19,title=sram%3A max::module default: sram uses more than max: required 9824 "
                            "bytes, available 1 (max), excess 9823\n"));
  const std::string summary = read(checked.temporary.path / "summary.md");
  CHECK(summary.starts_with("of the step before\n### Memory budgets of lstm.tar: 1 breach\n"));
  outcome = checked.run(sram("max: 10KiB"));
  CHECK(outcome.code == exit_ok);
  CHECK(outcome.out.find("::") == std::string::npos);
  CHECK(read(checked.temporary.path / "summary.md").size() > summary.size());
  checked.options.step_summary = checked.temporary.file("none/summary.md");
  CHECK(checked.run(sram("max: 10KiB")).code == exit_output);
}

TEST_CASE("check: growth against a plan file, and against what --json prints") {
  Checked checked;
  write(checked.temporary.path / "base.json", plan_as_json(testdata + "/lstm.tar", "optimal"));
  checked.options.baselines = {checked.temporary.file("base.json")};
  CHECK(checked.run(sram("max_growth: 0%")).code == exit_ok);
  checked.options.algorithm = "none";
  Outcome outcome = checked.run(sram("max_growth: 1%"));
  CHECK(outcome.code == exit_breach);
  CHECK(outcome.out.find("available 9922 (1% above the baseline's 9824), excess") != std::string::npos);
  const json single = json::parse(read(checked.temporary.path / "base.json")).at("modules").at(0);
  write(checked.temporary.path / "default.plan.json", single.dump());
  checked.options.baselines = {checked.temporary.file("default.plan.json")};
  CHECK(checked.run(sram("max_growth: 1%")).code == exit_breach);
  checked.options.baselines.push_back(checked.temporary.file("base.json"));
  outcome = checked.run(sram("max_growth: 1%"));
  CHECK(outcome.code == exit_usage);
  CHECK(outcome.err ==
        "usmp-plan: error: " + checked.temporary.file("base.json") + ": a second plan of module 'default'\n");
}

TEST_CASE("check: every module of an archive is held to the budgets, also behind one without a plan") {
  Checked checked;
  const std::string model = checked.temporary.file("model");
  write_two_modules(model, "cast_subtract.tar", "lstm.tar");
  checked.options.model.model = model;
  checked.options.model.json = true;
  json value = json::parse(checked.run(sram("max: 9824")).out);
  REQUIRE(value.at("modules").size() == 2);
  CHECK(value.at("result") == "ok");
  const Outcome breach = checked.run(sram("max: 9823"));
  CHECK(breach.code == exit_breach);
  value = json::parse(breach.out);
  CHECK(value.at("modules").at(0).at("result") == "ok");
  CHECK(value.at("modules").at(1).at("result") == "breach");

  write_two_modules(checked.temporary.path / "other", "lstm.tar", "cast_subtract.tar");
  checked.options.model.model = checked.temporary.file("other");
  const Outcome none = checked.run("workspace_pools:\n  - {name: sram, size_hint_bytes: 9823}\n");
  CHECK(none.code == exit_infeasible);
  value = json::parse(none.out);
  CHECK(value.at("modules").at(0).at("module") == "default");
  CHECK(value.at("modules").at(0).at("no_plan").is_string());
  CHECK(value.at("modules").at(1).at("result") == "ok");

  write(checked.temporary.path / "base.json", plan_as_json(model, "optimal"));
  checked.options.model.model = model;
  checked.options.baselines = {checked.temporary.file("base.json")};
  CHECK(checked.run(sram("max_growth: 0%")).code == exit_ok);
  checked.options.model.module = "second";
  value = json::parse(checked.run(sram("max_growth: 0%")).out);
  CHECK(value.at("modules").size() == 1);
}

TEST_CASE("check: mistakes keep their exit codes and messages, which the report has") {
  Checked checked;
  checked.options.junit = checked.temporary.file("junit.xml");
  Outcome outcome = checked.run("workspace_pools:\n  - name: sram\n");
  CHECK(outcome.code == exit_usage);
  CHECK(outcome.err == "usmp-plan: error: " + checked.temporary.file("pools.yaml") +
                           ": no pool has a budget or a size: expected something to check (docs/pools.md)\n");
  CHECK(outcome.out.empty());
  outcome = checked.run(sram("maximum: 1"));
  CHECK(outcome.code == exit_usage);
  checked.options.baselines = {checked.temporary.file("none.plan.json")};
  CHECK(checked.run(sram("max: 1")).code == exit_usage);
  checked.options.baselines.clear();
  checked.options.model.model = checked.temporary.file("none.tar");
  CHECK(checked.run(sram("max: 1")).code == exit_usage);
  CHECK(contains(read(checked.temporary.path / "junit.xml"), "none.tar: "));
  fs::remove(checked.temporary.path / "junit.xml");
  checked.options.model.model = testdata + "/lstm.tar";
  checked.options.junit = checked.temporary.path.string();  // a directory
  outcome = checked.run(sram("max: 1"));
  CHECK(outcome.code == exit_usage);
  CHECK(outcome.out.empty());
  checked.options.pools_file.reset();
  std::ostringstream out;
  std::ostringstream err;
  CHECK(check(checked.options, out, err) == exit_usage);
}

}  // namespace usmp::driver::check_test
