// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// usmp-plan report as a user meets it: what it takes, exit codes. The formats are those of tests/report.
#include <doctest/doctest.h>
#include <fcntl.h>
#include <unistd.h>

#include <array>
#include <nlohmann/json.hpp>
#include <sstream>
#include <thread>

#include "files.hpp"
#include "two_modules.hpp"
#include "usmp/driver/driver.hpp"
#include "usmp/support/descriptor.hpp"

namespace usmp::driver::report_test {

using nlohmann::json;

namespace {

Outcome run_report(const ReportOptions& options) { return outcome_of(report, options); }

ReportOptions options_for(const std::string& model) {
  ReportOptions options;
  options.model.model = model;
  return options;
}

std::string plans_of(const std::string& model) {
  PlanOptions options;
  options.model.model = model;
  options.model.json = true;
  options.dry_run = true;
  std::ostringstream out;
  std::ostringstream err;
  REQUIRE_MESSAGE(plan(options, out, err) == exit_ok, err.str());
  return out.str();
}

// The report of what comes out of a pipe.
Outcome report_of_pipe(const std::string& content) {
  std::array<int, 2> ends = {-1, -1};
  REQUIRE(::pipe2(ends.data(), O_CLOEXEC) == 0);
  const Descriptor read_end(ends[0]);
  Descriptor write_end(ends[1]);
  std::thread writer([&] {
    std::size_t written = 0;
    while (written < content.size()) {
      const ssize_t count = ::write(write_end.get(), content.data() + written, content.size() - written);
      if (count <= 0) break;
      written += static_cast<std::size_t>(count);
    }
    write_end.close();
  });
  Outcome outcome = run_report(options_for("/dev/fd/" + std::to_string(read_end.get())));
  writer.join();
  return outcome;
}

}  // namespace

TEST_CASE("report: a plan in a pipe, a model in a pipe") {
  const Outcome of_model = run_report(options_for(testdata + "/lstm.tar"));
  const Outcome of_plan = report_of_pipe("\n " + plans_of(testdata + "/lstm.tar"));
  CHECK_MESSAGE(of_plan.code == exit_ok, of_plan.err);
  CHECK(of_plan.out == of_model.out);
  const Outcome of_archive = report_of_pipe(read(testdata + "/lstm.tar"));
  CHECK_MESSAGE(of_archive.code == exit_ok, of_archive.err);
  CHECK(of_archive.out.size() > 100);
  CHECK(report_of_pipe("").err.find("the file is empty") != std::string::npos);
}

TEST_CASE("report: every format of a model and of its plan file is the same, with exit code 0") {
  const TemporaryDirectory temporary;
  write(temporary.path / "lstm.json", plans_of(testdata + "/lstm.tar"));
  for (const ReportFormat format : {ReportFormat::text, ReportFormat::json, ReportFormat::csv, ReportFormat::markdown,
                                    ReportFormat::svg, ReportFormat::html}) {
    ReportOptions model = options_for(testdata + "/lstm.tar");
    model.format = format;
    ReportOptions plan = options_for(temporary.file("lstm.json"));
    plan.format = format;
    const Outcome of_model = run_report(model);
    const Outcome of_plan = run_report(plan);
    CHECK_MESSAGE(of_model.code == exit_ok, of_model.err);
    CHECK_MESSAGE(of_plan.code == exit_ok, of_plan.err);
    CHECK(of_model.out.size() > 100);
    CHECK(of_model.out == of_plan.out);
    plan.output = temporary.file("report");
    CHECK(run_report(plan).out.empty());
    CHECK(read(temporary.path / "report") == of_plan.out);
  }
}

TEST_CASE("report, diff, check, compare: warnings of a plan are in the text, else on standard error") {
  const TemporaryDirectory temporary;
  write(temporary.path / "pools.yaml", "workspace_pools:\n  - {name: ram, size_hint_bytes: 1MiB, section: .ram}\n");
  const std::string model = testdata + "/lstm.tar";
  const auto warned = [](const std::string& text) { return text.find("warning: ") != std::string::npos; };
  ReportOptions options = options_for(model);
  options.pools_file = temporary.file("pools.yaml");
  Outcome outcome = run_report(options);
  CHECK(warned(outcome.out));
  CHECK(outcome.err.empty());
  for (const ReportFormat format : {ReportFormat::json, ReportFormat::csv, ReportFormat::markdown, ReportFormat::svg}) {
    options.format = format;
    outcome = run_report(options);
    CHECK(outcome.code == exit_ok);
    CHECK(warned(outcome.err));
  }
  DiffOptions both;
  both.before = model;
  both.after = model;
  both.pools_file = options.pools_file;
  both.verbosity = Verbosity::quiet;
  outcome = outcome_of(diff, both);
  CHECK((outcome.code == exit_ok && outcome.out.empty() && warned(outcome.err)));
  CheckOptions budget;
  budget.model.model = model;
  budget.pools_file = options.pools_file;
  outcome = outcome_of(check, budget);
  CHECK((outcome.code == exit_ok && outcome.err.empty() && warned(outcome.out)));
  CompareOptions algorithms;
  algorithms.model.model = model;
  algorithms.pools_file = options.pools_file;
  algorithms.algorithms = "fast";
  outcome = outcome_of(compare, algorithms);
  CHECK((outcome.code == exit_ok && warned(outcome.err)));
}

TEST_CASE("report: one module of several, of a model and of a file with the plans of all") {
  const TemporaryDirectory temporary;
  write_two_modules(temporary.path / "model", "lstm.tar", "cast_subtract.tar");
  write(temporary.path / "plans.json", plans_of(temporary.file("model")));
  for (const char* name : {"model", "plans.json"}) {
    ReportOptions options = options_for(temporary.file(name));
    options.format = ReportFormat::json;
    Outcome outcome = run_report(options);
    CHECK(outcome.code == exit_usage);
    CHECK(outcome.err == "usmp-plan: error: " + temporary.file(name) +
                             ": has 2 modules, and this format shows one: expected --module default or --module "
                             "second\n");
    options.more_models = {temporary.file(name)};
    if (std::string(name) == "plans.json") {
      CHECK(run_report(options).err == "usmp-plan: error: 4 modules, and this format shows one: expected one model\n");
    }
    options.more_models.clear();
    // In text, Markdown and pages all of them are shown.
    options.format = ReportFormat::text;
    outcome = run_report(options);
    REQUIRE_MESSAGE(outcome.code == exit_ok, outcome.err);
    CHECK((contains(outcome.out, "module default of") && contains(outcome.out, "\nmodule second of")));
    options.format = ReportFormat::html;
    const std::string page = run_report(options).out;
    CHECK((contains(page, "<h1>module default of") && contains(page, "<h1>module second of")));
    options.format = ReportFormat::json;
    options.model.module = "second";
    outcome = run_report(options);
    REQUIRE_MESSAGE(outcome.code == exit_ok, outcome.err);
    CHECK(json::parse(outcome.out).at("module") == "second");
    options.model.module = "secnod";
    outcome = run_report(options);
    CHECK(outcome.code == exit_usage);
    CHECK(outcome.err.find("no module 'secnod' (did you mean 'second'?)") != std::string::npos);
  }
}

TEST_CASE("report: exit codes of what goes wrong") {
  const TemporaryDirectory temporary;
  CHECK(run_report(options_for(temporary.file("none.tar"))).code == exit_usage);
  CHECK(run_report(options_for(temporary.file("none.plan.json"))).code == exit_usage);
  write(temporary.path / "bad.plan.json", R"({"schema": "usmp-plan/plan", "schema_version": 9})");
  Outcome outcome = run_report(options_for(temporary.file("bad.plan.json")));
  CHECK(outcome.code == exit_usage);
  CHECK(outcome.err ==
        "usmp-plan: error: " + temporary.file("bad.plan.json") + ": schema_version is 9: expected at most 2\n");

  json dateless = json::parse(plans_of(testdata + "/lstm.tar")).at("modules").at(0);
  dateless["buffers"][0].erase("live");
  write(temporary.path / "old.plan.json", dateless.dump());
  outcome = run_report(options_for(temporary.file("old.plan.json")));
  CHECK(outcome.code == exit_usage);
  CHECK(outcome.err.find("buffers[0]: the key live is missing") != std::string::npos);

  ReportOptions useless = options_for(temporary.file("old.plan.json"));
  useless.algorithm = "none";
  outcome = run_report(useless);
  CHECK(outcome.code == exit_usage);
  CHECK(outcome.err.ends_with("is a plan: --algorithm applies to models only\n"));
  useless.model.transform = "all";
  useless.model.recompute_percent = 0;
  useless.pools_file = "pools.yaml";
  useless.workspace_io = true;
  useless.minimize = "sram";
  useless.pins = {"plan.json"};
  useless.search = {.node_limit = 1, .time_limit = std::chrono::milliseconds(1), .seed = 0};
  CHECK(
      run_report(useless).err.ends_with("is a plan: --transform, --allow-recompute, --pools, --workspace-io, "
                                        "--algorithm, --minimize, --pins, --node-limit, "
                                        "--time-limit, --seed apply to models only\n"));

  ReportOptions tight = options_for(testdata + "/lstm.tar");
  tight.pools_file = testdata + "/pools/tight.yaml";
  outcome = run_report(tight);
  CHECK(outcome.code == exit_infeasible);
  CHECK(outcome.out.empty());

  ReportOptions nowhere = options_for(testdata + "/lstm.tar");
  nowhere.output = temporary.path.string();  // a directory
  outcome = run_report(nowhere);
  CHECK(outcome.code == exit_usage);
  CHECK(outcome.out.empty());
}

TEST_CASE("plan files that somebody has edited are refused with the line") {
  const TemporaryDirectory temporary;
  PlanOptions planning;
  planning.model.model = testdata + "/repeated_op.tar";
  planning.model.transform = "none";
  planning.dry_run = true;
  planning.model.json = true;
  planning.algorithm = "optimal";
  const std::string whole = outcome_of(plan, planning).out;
  const auto refused = [&](const std::string& old, const std::string& edited) {
    std::string text = whole;
    const std::size_t at = text.find(old);
    REQUIRE_MESSAGE(at != std::string::npos, old);
    text.replace(at, old.size(), edited);
    write(temporary.path / "edited.plan.json", text);
    ReportOptions options;
    options.model.model = temporary.file("edited.plan.json");
    const Outcome outcome = outcome_of(report, options);
    CHECK(outcome.code == exit_usage);
    CHECK(outcome.out.empty());
    const auto line = 1 + std::count(text.begin(), text.begin() + static_cast<std::ptrdiff_t>(at), '\n');
    CHECK_MESSAGE(contains(outcome.err, "edited.plan.json: line " + std::to_string(line) + ": "), outcome.err);
    return outcome.err;
  };
  const std::size_t used_at = whole.find("\"used\":") + 7;
  const std::string used = whole.substr(used_at, whole.find(',', used_at) - used_at);
  CHECK(contains(refused("\"used\":" + used, "\"used\":1099511627776"), "but its buffers end at"));
  CHECK(contains(refused("\"lower_bound\":" + used, "\"lower_bound\":99999999"), "the lower bound is 99999999"));
  CHECK(contains(refused("\"offset\":0,", "\"offset\":1,"), "not a multiple of"));
  std::string claimed = whole;
  const auto replace_all = [&](const std::string& old, const std::string& edited) {
    for (std::size_t at = claimed.find(old); at != std::string::npos; at = claimed.find(old, at + edited.size())) {
      claimed.replace(at, old.size(), edited);
    }
  };
  replace_all("\"lower_bound\":" + used, "\"lower_bound\":1");
  replace_all("\"status\":\"optimal\"}", "\"status\":\"feasible\"}");
  replace_all("\"status\":\"optimal\"},", "\"status\":\"feasible\"},");
  write(temporary.path / "claimed.plan.json", claimed);
  ReportOptions options;
  options.model.model = temporary.file("claimed.plan.json");
  CHECK(contains(outcome_of(report, options).err, "status: is optimal, but the lower bound of pool "));
}

}  // namespace usmp::driver::report_test
