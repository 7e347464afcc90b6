// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// usmp-plan diff as a user meets it.
#include <doctest/doctest.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <sstream>

#include "files.hpp"
#include "two_modules.hpp"
#include "usmp/driver/driver.hpp"

namespace usmp::driver::diff_test {
namespace {

Outcome run_diff(const DiffOptions& options) { return outcome_of(diff, options); }

DiffOptions options_for(const std::string& before, const std::string& after) {
  DiffOptions options;
  options.before = before;
  options.after = after;
  return options;
}

std::string planned(const TemporaryDirectory& temporary, const std::string& name, const std::string& algorithm) {
  PlanOptions options;
  options.model.model = testdata + "/ds_cnn.tar";
  options.model.transform = "none";
  options.algorithm = algorithm;
  options.output = temporary.file(name);
  std::ostringstream out;
  std::ostringstream err;
  REQUIRE_MESSAGE(plan(options, out, err) == exit_ok, err.str());
  return temporary.file(name) + "/default.plan.json";
}

}  // namespace

TEST_CASE("diff: files and archives, equal and different") {
  const TemporaryDirectory temporary;
  const std::string optimal = planned(temporary, "optimal", "optimal");
  const std::string none = planned(temporary, "none", "none");
  CHECK(run_diff(options_for(optimal, optimal)).code == exit_ok);
  const Outcome different = run_diff(options_for(none, optimal));
  CHECK(different.code == exit_different);
  CHECK(different.err.empty());
  CHECK(different.out.starts_with(
      "module default: none/default.plan.json (none) -> optimal/default.plan.json (optimal)\n"));
  DiffOptions archive = options_for(none, testdata + "/ds_cnn.tar");
  archive.model.transform = "none";
  archive.algorithm = "optimal";
  CHECK(run_diff(archive).code == exit_different);
  archive.algorithm = "none";
  CHECK(run_diff(archive).code == exit_ok);
  archive.format = DiffFormat::json;
  CHECK(nlohmann::json::parse(run_diff(archive).out).at("differs") == false);
  DiffOptions pictures = options_for(none, optimal);
  pictures.format = DiffFormat::svg;
  CHECK(run_diff(pictures).out.starts_with("<svg "));
  pictures.format = DiffFormat::html;
  const Outcome page = run_diff(pictures);
  CHECK((page.code == exit_different && page.out.starts_with("<!DOCTYPE html>") && contains(page.out, ", moved: ")));
  archive.format = DiffFormat::text;
  archive.verbosity = Verbosity::quiet;
  CHECK(run_diff(archive).out.empty());
}

TEST_CASE("diff: a directory of output counts as its plans, an extracted archive as a model") {
  const TemporaryDirectory temporary;
  const std::string none = planned(temporary, "none", "none");
  const std::string optimal = planned(temporary, "optimal", "optimal");
  const Outcome outcome = run_diff(options_for(temporary.file("none"), temporary.file("optimal")));
  CHECK(outcome.code == exit_different);
  CHECK(outcome.out.starts_with("module default: none (none) -> optimal (optimal)\n"));
  CHECK(run_diff(options_for(temporary.file("optimal"), optimal)).code == exit_ok);
  write(temporary.path / "none/mine.plan.json", read(optimal));  // not by the name of its module
  CHECK(run_diff(options_for(temporary.file("none"), none)).code == exit_ok);

  DiffOptions planning = options_for(temporary.file("none"), temporary.file("optimal"));
  planning.algorithm = "none";
  CHECK(run_diff(planning).err == "usmp-plan: error: both sides are plans: --algorithm applies to models only\n");

  fs::remove(temporary.path / "none/codegen/host/include/metadata.h");  // C beside a baseline
  CHECK(run_diff(planning).code != exit_usage);

  write_two_modules(temporary.path / "two", "ds_cnn.tar", "lstm.tar");
  write(temporary.path / "two/default.plan.json", read(none));
  fs::create_directories(temporary.path / "two/codegen/host/include");
  write(temporary.path / "two/codegen/host/include/metadata.h", "");
  const Outcome model = run_diff(options_for(none, temporary.file("two")));
  CHECK(model.out.find("module second") != std::string::npos);

  PlanOptions both;
  both.model.model = temporary.file("two");
  both.output = temporary.file("out");
  both.algorithm = "fast";
  REQUIRE(outcome_of(plan, both).code == exit_ok);
  CHECK(run_diff(options_for(temporary.file("out"), temporary.file("out"))).code == exit_ok);
  ReportOptions report_options;
  report_options.model.model = temporary.file("out");
  report_options.model.module = "second";
  CHECK(outcome_of(report, report_options).out.starts_with("module second of two, planned by fast"));
}

TEST_CASE("diff: warnings of the new plan are part of the output, others stand on standard error, each once") {
  const TemporaryDirectory temporary;
  write(temporary.path / "pools.yaml", "workspace_pools: [{name: sram, section: .sram}]\n");
  const std::string model = testdata + "/lstm.tar";
  DiffOptions options = options_for(model, model);
  options.pools_file = temporary.file("pools.yaml");
  const std::string warning = "pool 'sram': section .sram takes space";
  Outcome outcome = run_diff(options);
  CHECK(outcome.code == exit_ok);
  CHECK(outcome.err.empty());
  CHECK(outcome.out.find("\n  warning: " + warning) != std::string::npos);
  options.format = DiffFormat::csv;
  outcome = run_diff(options);
  CHECK(outcome.out.find(warning) == std::string::npos);
  CHECK(outcome.err.starts_with("usmp-plan: warning: module 'default': " + warning));
  CHECK(std::ranges::count(outcome.err, '\n') == 1);
  PlanOptions planning;
  planning.model.model = model;
  planning.output = temporary.file("plain");
  REQUIRE(outcome_of(plan, planning).code == exit_ok);
  options.format = DiffFormat::text;
  options.after = temporary.file("plain");
  outcome = run_diff(options);
  CHECK(outcome.out.find(warning) == std::string::npos);
  CHECK(outcome.err.find(warning) != std::string::npos);
  options.before = options.after;
  options.after = model;
  CHECK(run_diff(options).err.empty());
}

TEST_CASE("diff: as CSV, a row a difference") {
  const TemporaryDirectory temporary;
  DiffOptions options = options_for(planned(temporary, "none", "none"), planned(temporary, "optimal", "optimal"));
  options.format = DiffFormat::csv;
  const Outcome outcome = run_diff(options);
  CHECK(outcome.code == exit_different);
  CHECK(outcome.out.find(",global_workspace,") != std::string::npos);
  CHECK(outcome.out.find("1061120") != std::string::npos);
}

TEST_CASE("diff: a buffer that is gone is named by the transformation that did without it") {
  const TemporaryDirectory temporary;
  DiffOptions options = options_for(planned(temporary, "none", "none"), testdata + "/ds_cnn.tar");
  options.algorithm = "none";
  options.model.transform = "fuse";
  options.format = DiffFormat::json;
  const Outcome outcome = run_diff(options);
  CHECK(outcome.code == exit_different);
  const auto json = nlohmann::json::parse(outcome.out);
  const auto& module = json.at("modules").at(0);
  REQUIRE(module.at("transformed").size() == 1);
  const auto& step = module.at("transformed").at(0);
  CHECK(step.at("step") == "fuse");
  CHECK(step.at("before").is_null());
  CHECK(step.at("only_before").empty());
  CHECK(step.at("after").at("changes") == step.at("only_after").size());
  int gone = 0;
  for (const auto& buffer : module.at("buffers")) {
    if (buffer.at("change") != "gone") continue;
    ++gone;
    const auto name = buffer.at("before").at("name").get<std::string>();
    const auto function = buffer.at("before").at("function").get<std::string>();
    const bool is_named = std::ranges::any_of(step.at("only_after"), [&](const auto& change) {
      return change.at("function") == function &&
             change.at("what").template get<std::string>().starts_with(name + " (");
    });
    CHECK_MESSAGE(is_named, function << ": " << name);
  }
  CHECK(gone > 0);
}

TEST_CASE("diff: errors keep their exit codes and messages") {
  const TemporaryDirectory temporary;
  const std::string plan = planned(temporary, "optimal", "optimal");
  Outcome outcome = run_diff(options_for(plan, temporary.file("none.plan.json")));
  CHECK(outcome.code == exit_usage);
  CHECK(outcome.err ==
        "usmp-plan: error: " + temporary.file("none.plan.json") + ": cannot be read: no such file or directory\n");
  write(temporary.path / "bad.plan.json", R"({"schema": "usmp-plan/plan", "schema_version": 9})");
  outcome = run_diff(options_for(plan, temporary.file("bad.plan.json")));
  CHECK(outcome.code == exit_usage);
  CHECK(outcome.err ==
        "usmp-plan: error: " + temporary.file("bad.plan.json") + ": schema_version is 9: expected at most 2\n");
  outcome = run_diff(options_for(plan, temporary.file("none.tar")));
  CHECK(outcome.code == exit_usage);
  DiffOptions useless = options_for(plan, plan);
  useless.algorithm = "none";
  outcome = run_diff(useless);
  CHECK(outcome.code == exit_usage);
  CHECK(outcome.err == "usmp-plan: error: both sides are plans: --algorithm applies to models only\n");
  DiffOptions tight = options_for(plan, testdata + "/ds_cnn.tar");
  write(temporary.path / "tiny.yaml", "workspace_pools:\n  - {name: sram, size_hint_bytes: 16}\n");
  tight.pools_file = temporary.file("tiny.yaml");
  outcome = run_diff(tight);
  CHECK(outcome.code == exit_infeasible);
  CHECK(outcome.out.empty());
}

TEST_CASE("diff: the plans of several modules in one file, as --json prints them") {
  const TemporaryDirectory temporary;
  write_two_modules(temporary.path / "model", "lstm.tar", "cast_subtract.tar");
  PlanOptions options;
  options.model.model = temporary.file("model");
  options.model.json = true;
  options.dry_run = true;
  for (const std::string algorithm : {"optimal", "none"}) {
    options.algorithm = algorithm;
    std::ostringstream out;
    std::ostringstream err;
    REQUIRE_MESSAGE(plan(options, out, err) == exit_ok, err.str());
    write(temporary.path / (algorithm + ".json"), out.str());
  }
  CHECK(run_diff(options_for(temporary.file("none.json"), temporary.file("none.json"))).code == exit_ok);
  DiffOptions both = options_for(temporary.file("none.json"), temporary.file("optimal.json"));
  both.format = DiffFormat::json;
  const Outcome outcome = run_diff(both);
  CHECK(outcome.code == exit_different);
  const auto value = nlohmann::json::parse(outcome.out);
  REQUIRE(value.at("modules").size() == 2);
  CHECK(value.at("modules").at(0).at("differs") == true);
  CHECK(value.at("modules").at(1).at("after").at("module") == "second");

  DiffOptions model = options_for(temporary.file("optimal.json"), temporary.file("model"));
  CHECK_MESSAGE(run_diff(model).code == exit_ok, run_diff(model).out);
}

}  // namespace usmp::driver::diff_test
