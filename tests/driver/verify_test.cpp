// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// usmp-plan verify: what is checked, what is refused, what is left behind. More runs of emitted C:
// tests/e2e/execute.py.
#include <doctest/doctest.h>

#include <cstdlib>
#include <functional>
#include <nlohmann/json.hpp>
#include <sstream>
#include <string>

#include "files.hpp"
#include "usmp/driver/driver.hpp"

namespace usmp::driver::verify_test {
namespace {

using Json = nlohmann::ordered_json;

VerifyOptions options_for(const std::string& model) {
  VerifyOptions options;
  options.model.model = testdata + "/" + model;
  options.algorithm = "hill_climb";
  return options;
}

Outcome run_verify(const VerifyOptions& options) { return outcome_of(verify, options); }

// Temporary files go into a directory of the test's own while it lives.
class OwnTemporaries {
 public:
  explicit OwnTemporaries(const fs::path& path) {
    fs::create_directories(path);
    if (const char* value = std::getenv("TMPDIR")) before_ = value;
    ::setenv("TMPDIR", path.c_str(), 1);
  }
  OwnTemporaries(const OwnTemporaries&) = delete;
  OwnTemporaries& operator=(const OwnTemporaries&) = delete;
  ~OwnTemporaries() {
    if (before_.empty()) {
      ::unsetenv("TMPDIR");
    } else {
      ::setenv("TMPDIR", before_.c_str(), 1);
    }
  }

 private:
  std::string before_;
};

// A plan of lstm.tar in sram.yaml as the program writes it, changed by the test and verified again.
class PlanFile {
 public:
  PlanFile() {
    PlanOptions options;
    options.model.model = testdata + "/lstm.tar";
    options.pools_file = testdata + "/pools/sram.yaml";
    options.algorithm = "hill_climb";
    options.output = temporary_.file("out");
    std::ostringstream out;
    std::ostringstream err;
    REQUIRE(plan(options, out, err) == exit_ok);
    json = Json::parse(read(temporary_.path / "out" / "default.plan.json"));
  }

  [[nodiscard]] Outcome verified(bool workspace_io = false) const {
    write(temporary_.path / "plan.json", json.dump());
    VerifyOptions options = options_for("lstm.tar");
    options.algorithm.reset();
    options.pools_file = testdata + "/pools/sram.yaml";
    options.plans = {temporary_.file("plan.json")};
    options.workspace_io = workspace_io;
    return run_verify(options);
  }

  // Refused with the file's name and this text.
  void check_refused(const std::string& text) const {
    const Outcome outcome = verified();
    CHECK(outcome.code == exit_usage);
    CHECK(outcome.out.empty());
    CHECK_MESSAGE(contains(outcome.err, temporary_.file("plan.json") + ": "), outcome.err);
    CHECK_MESSAGE(contains(outcome.err, text), outcome.err);
  }

  Json json;

 private:
  TemporaryDirectory temporary_;
};

}  // namespace

TEST_CASE("verify says what was checked") {
  VerifyOptions options = options_for("lstm.tar");
  options.model.transform = "none";
  const Outcome outcome = run_verify(options);
  CHECK_MESSAGE(outcome.code == exit_ok, outcome.err);
  CHECK(outcome.out ==
        "module default of lstm.tar, planned by hill_climb\n"
        "verified: 43 buffers, 137 pairs live together, 1 pool; every buffer is in one of\n"
        "    its candidate pools, aligned, within the pool's bounds, and shares no byte\n"
        "    with a buffer that is live at the same time\n"
        "  global_workspace: 9824 bytes, proved minimal (as many bytes are live at once)\n");
  options.model.transform = "all";
  CHECK(contains(in_a_line(run_verify(options).out),
                 "live at the same time, except 4 pairs that share in place replayed: all 4 pairs, "));
  options.model.model = testdata + "/ds_cnn.tar";
  CHECK(contains(in_a_line(run_verify(options).out),
                 ", except 9 rings, whose rows replace older ones replayed: all 9 rings, "));
  options.verbosity = Verbosity::quiet;
  CHECK(run_verify(options).out.empty());
  options.pools_file = testdata + "/pools/tight.yaml";
  options.model.model = testdata + "/resnet8.tar";
  CHECK(run_verify(options).code == exit_infeasible);
}

TEST_CASE("verify gives no bound where fewer bytes are not better") {
  VerifyOptions options = options_for("resnet8.tar");
  options.pools_file = testdata + "/pools/dtcm_sram.yaml";
  options.model.transform = "none";
  const Outcome outcome = run_verify(options);
  CHECK_MESSAGE(outcome.code == exit_ok, outcome.err);
  CHECK(contains(outcome.out, " of 16384 bytes\n  sram: "));
  options.model.transform = "all";  // here the plan meets the bound
  CHECK(contains(run_verify(options).out, " of 16384 bytes, proved minimal by hill_climb\n  sram: "));
}

TEST_CASE("a plan file is verified against archive and pools") {
  PlanFile plan;
  const Outcome outcome = plan.verified();
  CHECK_MESSAGE(outcome.code == exit_ok, outcome.err);
  CHECK(contains(outcome.out, "planned by plan.json\nverified: "));
  CHECK(plan.verified(true).err.find("has inputs and outputs outside of the workspace, but they are asked for in the "
                                     "workspace (--workspace-io)") != std::string::npos);
}

TEST_CASE("plan files that are none of this archive and these pools") {
  const auto changed = [](const std::function<void(Json&)>& change, const std::string& text) {
    PlanFile plan;
    change(plan.json);
    plan.check_refused(text);
  };
  changed([](Json& json) { json["buffers"].erase(3); }, "is not a plan of this archive with these pools:\n  ");
  changed([](Json& json) { json["buffers"].erase(3); }, "' is missing in the plan");
  changed([](Json& json) { json["buffers"][3]["name"] = "other"; }, "buffer 'other' of ");
  changed([](Json& json) { json["buffers"][3]["name"] = "other"; }, " is only in the plan");
  changed([](Json& json) { json["buffers"][3]["size"] = 7; }, " has 7 bytes in the plan, ");
  changed(
      [](Json& json) {
        json["buffers"][3]["live"] = {{0, 2}, {5, 6}};
      },
      " is live in [0,2) [5,6) in the plan, in [");
  changed([](Json& json) { json["buffers"][3].erase("live"); }, " has no live ranges in the plan");
  changed([](Json& json) { json["buffers"][3]["live"] = {{0, -2}}; }, "buffers[3].live[0]: expected a live range");
  changed([](Json& json) { json["buffers"][3]["pool"] = "rom"; },
          "buffers[3]: pool is 'rom': expected one of the pools of the plan");
  changed(
      [](Json& json) {
        const Json name = json["pools"][0]["name"];
        json["pools"][0]["name"] = "rom";
        for (Json& buffer : json["buffers"]) {
          if (buffer["pool"] == name) buffer["pool"] = "rom";
        }
        for (Json& buffer : json["buffers"]) buffer["candidates"] = {"rom"};
      },
      "has buffers in other pools than those given: rom; expected the pools file that it was planned with (--pools)\n");
  changed([](Json& json) { json["buffers"][3]["pool"] = nullptr; }, " is not placed");
  changed([](Json& json) { json["module"] = "defualt"; },
          "is a plan of module 'defualt', which is not among those planned");
  changed([](Json& json) { json["workspace_io"] = 1; }, "workspace_io is number: expected true or false");
  changed([](Json& json) { json["schema"] = "x"; }, "is not a plan of usmp-plan");
}

TEST_CASE("plan files whose places are wrong") {
  PlanFile overlapping;
  for (Json& buffer : overlapping.json["buffers"]) buffer["offset"] = 0;
  overlapping.check_refused("the plan is wrong:\n  buffers '");
  overlapping.check_refused("overlap in pool 'sram': [0, ");
  overlapping.check_refused("\n  and more");
  PlanFile misaligned;
  misaligned.json["buffers"][0]["offset"] = 9825;
  misaligned.check_refused("the plan is wrong:");
}

TEST_CASE("a plan file that is not there") {
  VerifyOptions options = options_for("lstm.tar");
  options.plans = {testdata + "/no.plan.json"};
  CHECK(run_verify(options).code == exit_usage);
  CHECK(contains(run_verify(options).err, "no.plan.json: cannot be read"));
}

TEST_CASE("executing leaves no file behind, unless asked to") {
  const TemporaryDirectory temporary;
  const OwnTemporaries own(temporary.path / "tmp");
  VerifyOptions options = options_for("repeated_op.tar");
  options.execute = true;
  options.rounds = 2;
  options.compiler = "gcc";
  const Outcome outcome = run_verify(options);
  CHECK_MESSAGE(outcome.code == exit_ok, outcome.err);
  CHECK_MESSAGE(contains(in_a_line(outcome.out),
                         "executed: 4608 output elements in 2 rounds match a build in which no buffers overlap, bit "
                         "for bit (gcc) "),
                outcome.out);
  CHECK(fs::is_empty(temporary.path / "tmp"));
  options.compiler_flags = "  -O0\t-fno-such-flag ";
  const Outcome refused = run_verify(options);
  CHECK(refused.code == exit_usage);
  CHECK(contains(refused.err, "-fno-such-flag"));
  CHECK_FALSE(contains(refused.err, temporary.path.string()));
  CHECK(fs::is_empty(temporary.path / "tmp"));
  options.compiler_flags = "-O0";
  options.keep = temporary.file("kept");
  CHECK(run_verify(options).code == exit_ok);
  CHECK(fs::is_empty(temporary.path / "tmp"));
  for (const char* file : {"default/inputs", "default/planned/main.c", "default/planned/program",
                           "default/reference/codegen/host/src/default_lib1.c", "default/reference/program"}) {
    CHECK_MESSAGE(fs::exists(temporary.path / "kept" / file), file);
  }
  const Outcome again = run_verify(options);
  CHECK(again.code == exit_usage);
  CHECK(contains(again.err, "is not empty, expected a new or empty directory"));
}

}  // namespace usmp::driver::verify_test
