// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// usmp-plan compare as a user meets it: exit codes, saved plans. The formats are those of tests/report.
#include <doctest/doctest.h>

#include <nlohmann/json.hpp>
#include <sstream>

#include "files.hpp"
#include "two_modules.hpp"
#include "usmp/driver/driver.hpp"

namespace usmp::driver::compare_test {

using nlohmann::json;

namespace {

Outcome run_compare(const CompareOptions& options) { return outcome_of(compare, options); }

CompareOptions options_for(const std::string& model, const std::string& algorithms) {
  CompareOptions options;
  options.model.model = model;
  options.algorithms = algorithms;
  options.times = false;
  return options;
}

}  // namespace

TEST_CASE("compare: the chosen algorithms in their order, the same bytes without times") {
  CompareOptions options = options_for(testdata + "/ds_cnn.tar", "none,optimal,greedy_by_size");
  options.model.transform = "none";
  const Outcome outcome = run_compare(options);
  CHECK_MESSAGE(outcome.code == exit_ok, outcome.err);
  CHECK(outcome.out ==
        "module default of ds_cnn.tar\n"
        "  Algorithm       global_workspace  used/bound  Plan\n"
        "  none                     1061120      16.580  feasible\n"
        "  optimal                    64000      proved  optimal\n"
        "  greedy_by_size             64000      proved  optimal\n"
        "\n"
        "used/bound: the bytes used in the pool on the left, divided by its lower bound; proved: they are equal.\n");
  CHECK(run_compare(options).out == outcome.out);
  options.times = true;
  CHECK(run_compare(options).out.find(" ms\n") != std::string::npos);
}

TEST_CASE("compare: all algorithms of the table by default") {
  CompareOptions options = options_for(testdata + "/cast_subtract.tar", "");
  options.algorithms.reset();
  options.format = CompareFormat::json;
  const Outcome outcome = run_compare(options);
  REQUIRE_MESSAGE(outcome.code == exit_ok, outcome.err);
  std::ostringstream listed;
  REQUIRE(list_algorithms(listed, false) == exit_ok);
  const json results = json::parse(outcome.out).at("modules").at(0).at("results");
  CHECK(results.size() >= 9);
  for (const json& result : results) {
    CHECK(listed.str().find(result.at("algorithm").get<std::string>() + " ") != std::string::npos);
    CHECK(result.at("seconds").is_null());
  }
}

TEST_CASE("compare: saved plans are those of the algorithms, for diff") {
  const TemporaryDirectory temporary;
  write_two_modules(temporary.path / "model", "lstm.tar", "cast_subtract.tar");
  CompareOptions options = options_for(temporary.file("model"), "none,fast");
  options.save = temporary.file("plans");
  fs::create_directories(temporary.path / "plans");
  write(temporary.path / "plans/mine.txt", "stays");
  const Outcome outcome = run_compare(options);
  CHECK_MESSAGE(outcome.code == exit_ok, outcome.err);
  CHECK(files_below(temporary.path / "plans") ==
        std::set<std::string>{"default.fast.plan.json", "default.none.plan.json", "mine.txt", "second.fast.plan.json",
                              "second.none.plan.json"});
  CHECK(json::parse(read(temporary.path / "plans/second.fast.plan.json")).at("algorithm") == "fast");
  DiffOptions difference;
  difference.before = temporary.file("plans/default.none.plan.json");
  difference.after = temporary.file("plans/default.fast.plan.json");
  std::ostringstream out;
  std::ostringstream err;
  CHECK(diff(difference, out, err) == exit_different);
  CHECK(err.str().empty());
}

TEST_CASE("compare: without any plan the exit code and the message are those of planning") {
  CompareOptions options = options_for(testdata + "/lstm.tar", "fast,none");
  options.pools_file = testdata + "/pools/tight.yaml";
  const Outcome outcome = run_compare(options);
  CHECK(outcome.code == exit_infeasible);
  CHECK(outcome.err.starts_with("usmp-plan: error: module 'default': no plan "));
  CHECK(outcome.out == "module default of lstm.tar\n  Algorithm  Plan\n  fast       no plan\n  none       no plan\n");
}

TEST_CASE("compare: an algorithm without a plan is a row, not an error") {
  const TemporaryDirectory temporary;
  write(temporary.path / "pools.yaml", "workspace_pools:\n  - {name: sram, size_hint_bytes: 1000}\n");
  CompareOptions options = options_for(testdata + "/lstm.tar", "optimal,none");
  options.pools_file = temporary.file("pools.yaml");
  const Outcome outcome = run_compare(options);
  CHECK_MESSAGE(outcome.code == exit_ok, outcome.err);
  CHECK(outcome.out.find("  none          -           -  no plan\n") != std::string::npos);
}

TEST_CASE("compare: a table for Markdown") {
  CompareOptions options = options_for(testdata + "/ds_cnn.tar", "none,optimal");
  options.format = CompareFormat::markdown;
  const Outcome outcome = run_compare(options);
  CHECK_MESSAGE(outcome.code == exit_ok, outcome.err);
  CHECK(outcome.out.find("\n| none |") != std::string::npos);
  CHECK(outcome.out.find("\n| optimal |") != std::string::npos);
}

TEST_CASE("compare: programs whose saved plans would have one name: exit code 2, nothing saved") {
  const TemporaryDirectory temporary;
  const fs::path example = fs::path(testdata).parent_path() / "docs" / "examples" / "external_planner.py";
  std::string programs;
  for (const char* name : {"a planner", "a_planner"}) {
    fs::copy_file(example, temporary.path / name);
    programs += (programs.empty() ? "exec:" : ",exec:") + temporary.file(name);
  }
  CompareOptions options = options_for(testdata + "/lstm.tar", programs);
  options.save = temporary.file("plans");
  const Outcome outcome = run_compare(options);
  CHECK(outcome.code == exit_usage);
  CHECK(outcome.err == "usmp-plan: error: --save: two plans would have the name default.exec_a_planner.plan.json\n");
  CHECK_FALSE(fs::exists(temporary.path / "plans"));
}

TEST_CASE("compare: mistakes have their exit codes and messages, and nothing is written") {
  const TemporaryDirectory temporary;
  const std::string model = testdata + "/lstm.tar";
  const auto message = [&](const std::string& algorithms) {
    CompareOptions options = options_for(model, algorithms);
    options.save = temporary.file("plans");
    const Outcome outcome = run_compare(options);
    CHECK(outcome.code == exit_usage);
    CHECK(outcome.out.empty());
    CHECK_FALSE(fs::exists(temporary.path / "plans"));
    return outcome.err;
  };
  CHECK(message("optimal,fats") ==
        "usmp-plan: error: unknown algorithm 'fats' (did you mean 'fast'?); --list-algorithms lists them\n");
  CHECK(message("fast,,none") ==
        "usmp-plan: error: --algorithms: found 'fast,,none', expected names separated by commas\n");
  CHECK(message("") == "usmp-plan: error: --algorithms: found '', expected names separated by commas\n");
  CHECK(message("fast,none,fast") == "usmp-plan: error: --algorithms: 'fast' stands twice\n");
  CHECK(run_compare(options_for(temporary.file("none.tar"), "fast")).code == exit_usage);
  write(temporary.path / "file", "");
  CompareOptions options = options_for(model, "fast");
  options.save = temporary.file("file");
  const Outcome outcome = run_compare(options);
  CHECK(outcome.code == exit_usage);
  CHECK(outcome.out.empty());
}

}  // namespace usmp::driver::compare_test
