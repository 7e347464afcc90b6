// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// A TIR module without its archive: it can be looked at and planned, but there is no interface to emit C for.
#include <doctest/doctest.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <set>
#include <string>
#include <vector>

#include "files.hpp"
#include "usmp/driver/driver.hpp"
#include "usmp/mlf/archive.hpp"
#include "usmp/support/checked.hpp"

namespace usmp::driver::bare_module_test {
namespace {

struct BareModule {
  BareModule() {
    const mlf::Archive archive = mlf::read_archive(testdata + "/lstm.tar");
    write(path(), archive.find("src/default.tir.json")->bytes);
  }
  [[nodiscard]] std::string path() const { return temporary.file("lstm.tir.json"); }

  template <class Options>
  [[nodiscard]] Outcome run(int (*command)(const Options&, std::ostream&, std::ostream&), Options options) const {
    options.model.model = path();
    return outcome_of(command, options);
  }

  TemporaryDirectory temporary;
};

Bytes used(const Outcome& outcome) {
  REQUIRE_MESSAGE(outcome.code == exit_ok, outcome.err);
  return nlohmann::json::parse(outcome.out).at("modules").at(0).at("totals").at("workspace_used").get<Bytes>();
}

}  // namespace

TEST_CASE("bare module: the plan is that of its archive") {
  const BareModule bare;
  PlanOptions options;
  options.dry_run = true;
  options.model.json = true;
  const Bytes bytes = used(bare.run(plan, options));
  CHECK(bytes > 0);
  options.model.model = testdata + "/lstm.tar";
  CHECK(used(outcome_of(plan, options)) == bytes);
}

TEST_CASE("bare module: pools that TVM was given are used if a pools file names them, and else named") {
  const BareModule bare;
  auto graph = nlohmann::json::parse(read(bare.path()));
  auto& nodes = graph.at("nodes");
  const auto add = [&](nlohmann::json node) {
    nodes.push_back(std::move(node));
    return std::to_string(nodes.size() - 1);
  };
  const auto pool = [&](const char* name, int size, const char* is_internal) {
    const std::string bytes = add({{"type_key", "IntImm"}, {"attrs", {{"dtype", "int32"}, {"value", size}}}});
    const std::string text = add({{"type_key", "runtime.String"}, {"repr_str", name}});
    return std::stoi(add({{"type_key", "ir.WorkspacePoolInfo"},
                          {"attrs", {{"pool_name", text}, {"size_hint_bytes", bytes}, {"is_internal", is_internal}}}}));
  };
  const std::vector<int> pools = {pool("dtcm", 4096, "0"), pool("sram", -1, "0"), pool("own", 64, "1")};
  const std::string list = add({{"type_key", "Array"}, {"data", pools}});
  const int all = std::stoi(add({{"type_key", "ir.WorkspaceMemoryPools"}, {"attrs", {{"pools", list}}}}));
  for (auto& node : nodes) {
    const auto keys = node.value("keys", std::vector<std::string>());
    const auto key = std::ranges::find(keys, "workspace_memory_pools");
    if (key != keys.end()) node.at("data").at(static_cast<std::size_t>(key - keys.begin())) = all;
  }
  write(bare.path(), graph.dump());
  PlanOptions options;
  options.dry_run = true;
  const Outcome without = bare.run(plan, options);
  CHECK(without.code == exit_ok);
  CHECK(without.out.find("warning: the pools that TVM was given are not used: 'dtcm' (4096 bytes), 'sram'; usmp-plan "
                         "init writes a file with them, for --pools\n") != std::string::npos);
  const std::string file = bare.temporary.file("pools.yaml");
  write(file, "workspace_pools:\n  - name: ram\n");
  options.pools_file = file;
  CHECK(bare.run(plan, options).out.find("TVM was given") == std::string::npos);
}

TEST_CASE("bare module: no C can be written or run, and nothing is left") {
  const BareModule bare;
  const Outcome written = bare.run(plan, PlanOptions{});
  CHECK(written.code == exit_usage);
  CHECK(written.err ==
        "usmp-plan: error: " + bare.path() + ": a TIR module without its archive can only be planned with --dry-run\n");
  VerifyOptions options;
  options.execute = true;
  const Outcome executed = bare.run(verify, options);
  CHECK(executed.code == exit_usage);
  CHECK(executed.err ==
        "usmp-plan: error: " + bare.path() + ": a bare TIR module has no interface, so it cannot be executed\n");
  CHECK(files_below(bare.temporary.path) == std::set<std::string>{"lstm.tir.json"});
  options.execute = false;
  CHECK(bare.run(verify, options).code == exit_ok);
}

TEST_CASE("bare module: it can be inspected") {
  const BareModule bare;
  InspectOptions options;
  options.tir = true;
  const Outcome outcome = bare.run(inspect, options);
  CHECK_MESSAGE(outcome.code == exit_ok, outcome.err);
  CHECK(outcome.out.find("tvmgen_default___tvm_main__") != std::string::npos);
}

}  // namespace usmp::driver::bare_module_test
