// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// On every archive and module that TVM's own planner was run on, each algorithm needs no more workspace than TVM's
// algorithm of the same name.
#include <doctest/doctest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <sstream>
#include <string>
#include <vector>

#include "usmp/assemble/assemble.hpp"
#include "usmp/bounds/bounds.hpp"
#include "usmp/config/pools.hpp"
#include "usmp/liveness/liveness.hpp"
#include "usmp/mlf/archive.hpp"
#include "usmp/planners/planner.hpp"
#include "usmp/tir_json/reader.hpp"
#include "usmp/verify/verify.hpp"

namespace usmp::driver::algorithms_vs_tvm_test {

namespace fs = std::filesystem;

namespace {

constexpr const char* tir_ending = ".tir.json";

// One unbounded workspace pool; constants stay in the code.
Problem problem_of(const fs::path& tar) {
  const mlf::Archive archive = mlf::read_archive(tar.string());
  const auto tir = std::find_if(archive.members.begin(), archive.members.end(),
                                [](const mlf::Member& member) { return member.name.ends_with(tir_ending); });
  REQUIRE(tir != archive.members.end());
  const tir::Module module = tir_json::read_module(tir->bytes);
  return assemble::assemble(module, liveness::analyse(module), config::default_pools()).problem;
}

nlohmann::json plans_of_tvm(fs::path tar) {
  std::ifstream file(tar.replace_extension(".tvm.json"));
  return nlohmann::json::parse(file).at("plans");
}

// The archives with a .tvm.json beside them, in the order of their paths.
std::vector<fs::path> archives_planned_by_tvm(const fs::path& folder) {
  std::vector<fs::path> tars;
  for (const auto& entry : fs::recursive_directory_iterator(folder)) {
    fs::path known = entry.path();
    if (known.extension() == ".tar" && fs::exists(known.replace_extension(".tvm.json"))) tars.push_back(entry.path());
  }
  std::sort(tars.begin(), tars.end());
  return tars;
}

void compare(const Problem& problem, const planners::Algorithm& algorithm, const nlohmann::json& tvm_plan) {
  CAPTURE(algorithm.name);
  const PlanResult result = algorithm.plan(problem, {});
  REQUIRE(result.has_plan());
  const auto violations = verify::check(problem, result.plan);
  REQUIRE(violations.empty());
  const Bytes used = used_bytes(problem, result.plan).front();
  CHECK(used >= bounds::pool_bounds(problem).front().bytes);
  // TVM leaves out a pool that it puts nothing into.
  CHECK(used <= tvm_plan.at("pool_sizes").value("global_workspace", Bytes{0}));
}

}  // namespace

TEST_CASE("no algorithm needs more workspace than TVM's of the same name") {
  const fs::path folder = fs::path(USMP_SHARED) / "archives";
  if (!fs::is_directory(folder)) {
    MESSAGE("no archives beside the project: skipped");
    return;
  }
  const std::vector<fs::path> tars = archives_planned_by_tvm(folder);
  CHECK(tars.size() >= 20);
  for (const fs::path& tar : tars) {
    CAPTURE(tar.lexically_relative(folder).string());
    const Problem problem = problem_of(tar);
    REQUIRE_FALSE(invalid_reason(problem).has_value());
    const nlohmann::json tvm = plans_of_tvm(tar);
    for (const char* name : {"greedy_by_size", "greedy_by_conflicts", "hill_climb"}) {
      compare(problem, *planners::find_algorithm(name), tvm.at(name));
    }
    // The default algorithm reaches the load on all of them, and knows that nothing is better.
    CHECK(planners::hill_climb(problem, {}).status == PlanStatus::optimal);
  }
}

TEST_CASE("modules that annotate their own pools need no more of any pool than with TVM") {
  const fs::path folder = fs::path(USMP_SHARED) / "modules";
  if (!fs::is_directory(folder)) {
    MESSAGE("no modules beside the project: skipped");
    return;
  }
  for (const std::string name : {"mobilenet_subgraph", "resnet_subgraph"}) {
    CAPTURE(name);
    std::ifstream file(folder / (name + tir_ending));
    std::ostringstream json;
    json << file.rdbuf();
    const tir::Module module = tir_json::read_module(json.str());
    const Problem problem = assemble::assemble(module, liveness::analyse(module), config::default_pools()).problem;
    const nlohmann::json tvm = plans_of_tvm(folder / (name + ".tar"));
    for (const char* algorithm : {"greedy_by_size", "greedy_by_conflicts", "hill_climb"}) {
      CAPTURE(algorithm);
      const PlanResult result = planners::find_algorithm(algorithm)->plan(problem, {});
      CHECK(result.status == PlanStatus::optimal);
      REQUIRE(verify::check(problem, result.plan).empty());
      const std::vector<Bytes> used = used_bytes(problem, result.plan);
      for (std::size_t p = 0; p < used.size(); ++p) {
        CHECK(used[p] <= tvm.at(algorithm).value(problem.pools[p].name, Bytes{0}));
        // Every buffer of these modules that misses the fast pool is too large for it.
        if (!problem.pools[p].capacity) CHECK(used[p] == bounds::pool_bounds(problem)[p].bytes);
      }
    }
  }
}

}  // namespace usmp::driver::algorithms_vs_tvm_test
