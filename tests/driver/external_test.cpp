// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// External algorithms as a user meets them; how the program is run is tested in tests/external.
#include <doctest/doctest.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <optional>
#include <sstream>
#include <string>
#include <vector>

#include "files.hpp"
#include "usmp/driver/driver.hpp"

namespace usmp::driver::external_test {
namespace {

using nlohmann::json;

const std::string example = "exec:" + testdata + "/../docs/examples/external_planner.py";
const std::string five = testdata + "/instances/five.csv";

Outcome run_plan(const std::string& model, const std::string& pools_file, const std::optional<std::string>& algorithm,
                 const std::string& output) {
  PlanOptions options;
  options.model.model = model;
  options.model.json = true;
  options.pools_file = pools_file;
  options.algorithm = algorithm;
  options.output = output;
  return outcome_of(plan, options);
}

Outcome run_solve(const std::string& algorithm, const std::string& instance = five) {
  SolveOptions options;
  options.instance = instance;
  options.algorithm = algorithm;
  return outcome_of(solve, options);
}

// Answers the same whatever it is asked.
std::string answering(const TemporaryDirectory& directory, const std::string& answer) {
  const std::string path = directory.file("planner");
  write(path, "#!/bin/sh\ncat <<'END'\n" + answer + "\nEND\n");
  fs::permissions(path, fs::perms::owner_all);
  return "exec:" + path;
}

std::string allocations(const std::vector<int>& offsets) {
  json list = json::array();
  for (std::size_t i = 0; i < offsets.size(); ++i) {
    list.push_back({{"buffer", i}, {"pool", "pool"}, {"offset", offsets[i]}});
  }
  return json{{"allocations", list}}.dump();
}

}  // namespace

TEST_CASE("the documented example plans archives into several pools, and its plan is emitted") {
  const TemporaryDirectory temporary;
  const Outcome outcome =
      run_plan(testdata + "/ds_cnn.tar", testdata + "/pools/dtcm_sram.yaml", example, temporary.file("out"));
  REQUIRE_MESSAGE(outcome.code == exit_ok, outcome.err);
  const json planned = json::parse(outcome.out).at("modules").at(0);
  CHECK(planned.at("algorithm") == "exec:external_planner.py");
  CHECK(fs::exists(temporary.path / "out" / "codegen" / "host" / "src" / "default_lib1.c"));
}

// Everything has been read when the program runs, and nothing is written yet; tests/e2e/changed_files.py has more.
TEST_CASE("what was saved while it was planned is not written over, nor anything else") {
  const auto run = [](const std::string& change, const std::string& output) {
    const TemporaryDirectory temporary;
    const std::string model = temporary.file("m.tar");
    const std::string pools = temporary.file("pools.yaml");
    fs::copy(testdata + "/cast_subtract.tar", model);
    write(pools, "workspace_pools:\n  - name: sram\n");
    const std::string planner = temporary.file("planner");
    write(planner, "#!/bin/sh\ncd " + temporary.path.string() + "\n" + change + "\nexec " + example.substr(5) + "\n");
    fs::permissions(planner, fs::perms::owner_all);
    const Outcome outcome = run_plan(model, pools, "exec:" + planner, temporary.file(output));
    CHECK(fs::exists(temporary.file(output)) == (outcome.code == exit_ok));
    CHECK(outcome.err.find(temporary.path.string()) == (outcome.code == exit_ok ? std::string::npos : 18));
    return outcome.code == exit_ok ? "" : outcome.err.substr(18 + temporary.path.string().size());
  };
  const std::string changed =
      " has changed since it was read, so nothing was written: expected a file that stays as it is; run again\n";
  for (const char* output : {"out", "out.tar"}) {
    CHECK(run("true", output).empty());
    CHECK(run("rm m.tar; chmod 600 pools.yaml; echo > other", output).empty());
    CHECK(run("echo >> m.tar", output) == "/m.tar:" + changed);
    CHECK(run("printf x | dd of=pools.yaml conv=notrunc 2> /dev/null", output) == "/pools.yaml:" + changed);
    CHECK(run("cp -p m.tar new; mv new m.tar", output) == "/m.tar:" + changed);
  }
}

TEST_CASE("the documented example obeys pins and alignments, and says when nothing fits") {
  const Outcome pinned = run_solve(example, testdata + "/instances/inclusive.csv");
  REQUIRE_MESSAGE(pinned.code == exit_ok, pinned.err);
  CHECK(pinned.out.find("planned by exec:external_planner.py\npool: 224 bytes") != std::string::npos);
  SolveOptions options;
  options.instance = five;
  options.algorithm = example;
  options.capacity = "170";
  std::ostringstream out;
  std::ostringstream err;
  CHECK(solve(options, out, err) == exit_ok);
  options.capacity = "100";
  CHECK(solve(options, out, err) == exit_infeasible);
}

TEST_CASE("a pools file may name a program") {
  const TemporaryDirectory temporary;
  write(temporary.path / "pools.yaml", "workspace_pools:\n  - name: sram\nalgorithm: \"" + example + "\"\n");
  Outcome outcome = run_plan(testdata + "/lstm.tar", temporary.file("pools.yaml"), std::nullopt, temporary.file("out"));
  REQUIRE_MESSAGE(outcome.code == exit_ok, outcome.err);
  CHECK(json::parse(outcome.out).at("modules").at(0).at("algorithm") == "exec:external_planner.py");
  write(temporary.path / "pools.yaml", "workspace_pools:\n  - name: sram\nalgorithm: \"exec:\"\n");
  outcome = run_plan(testdata + "/lstm.tar", temporary.file("pools.yaml"), std::nullopt, temporary.file("out2"));
  CHECK(outcome.code == exit_usage);
  CHECK(outcome.err == "usmp-plan: error: " + temporary.file("pools.yaml") +
                           ": line 3, column 12: found nothing after 'exec:', expected a program\n");
}

TEST_CASE("a wrong plan is refused with its violations: exit code 2, nothing written") {
  const TemporaryDirectory temporary;
  const std::string algorithm = answering(temporary, allocations({0, 40, 136, 200}));
  const Outcome outcome = run_solve(algorithm);
  CHECK(outcome.code == exit_usage);
  CHECK(outcome.out.empty());
  CHECK(outcome.err ==
        "usmp-plan: error: " + temporary.file("planner") +
            ": answer: the plan is wrong:\n"
            "  buffers 'input' and 'conv1' overlap in pool 'pool': [0, 48) and [40, 136), both live at 1\n"
            "  buffer 'output' has no place\n");
  const Outcome planned = run_plan(testdata + "/ds_cnn.tar", testdata + "/pools/sram.yaml",
                                   answering(temporary, R"({"allocations":[]})"), temporary.file("out"));
  CHECK(planned.code == exit_usage);
  CHECK(planned.err.find("has no place\n") != std::string::npos);
  CHECK_FALSE(fs::exists(temporary.path / "out"));
}

TEST_CASE("of many violations ten are named") {
  const TemporaryDirectory temporary;
  std::string rows = "id,lower,upper,size\n";
  for (int i = 0; i < 12; ++i) rows += std::to_string(i) + ",0,1,8\n";
  write(temporary.path / "clique.csv", rows);
  const Outcome outcome =
      run_solve(answering(temporary, allocations(std::vector<int>(12, 0))), temporary.file("clique.csv"));
  CHECK(outcome.code == exit_usage);
  CHECK(std::count(outcome.err.begin(), outcome.err.end(), '\n') == 12);
  CHECK(outcome.err.ends_with("\n  and more\n"));
  const Outcome exactly = run_solve(answering(temporary, R"({"allocations":[]})"), five);
  CHECK(std::count(exactly.err.begin(), exactly.err.end(), '\n') == 6);
  CHECK(exactly.err.find("and more") == std::string::npos);
}

TEST_CASE("a program that fails: exit code 2 and one message") {
  const TemporaryDirectory temporary;
  CHECK(run_solve("exec:./none").err ==
        "usmp-plan: error: ./none: the algorithm cannot be started: No such file or directory\n");
  const Outcome garbage = run_solve(answering(temporary, "garbage"));
  CHECK(garbage.code == exit_usage);
  CHECK(garbage.err.starts_with("usmp-plan: error: " + temporary.file("planner") +
                                ": answer: line 1, column 1: malformed JSON: "));
}

TEST_CASE("a program's claims are not believed, but bounds are") {
  const TemporaryDirectory temporary;
  CHECK(run_solve(answering(temporary, R"({"status":"infeasible"})"))
            .err.find("no plan was found that fits the pools (algorithm exec:planner)") != std::string::npos);
  json claim = json::parse(allocations({0, 48, 144, 0, 208}));
  claim["status"] = "optimal";
  CHECK(run_solve(answering(temporary, claim.dump())).out.find("248 bytes, gap of 88 (55.00%) to") !=
        std::string::npos);
  CHECK(run_solve(answering(temporary, allocations({96, 0, 96, 0, 16}))).out.find("160 bytes, proved minimal") !=
        std::string::npos);
}

}  // namespace usmp::driver::external_test
