// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// Real networks in two and three workspace pools, the fast one half as large as one pool would have to be: the exact
// search proves its plans, within a number of nodes that any machine does in a fraction of a second.
#include <doctest/doctest.h>

#include <algorithm>
#include <filesystem>
#include <string>
#include <vector>

#include "driver/model.hpp"
#include "planners/exact/pools.hpp"
#include "usmp/assemble/assemble.hpp"
#include "usmp/bounds/load.hpp"
#include "usmp/config/pools.hpp"
#include "usmp/verify/verify.hpp"

namespace usmp::driver::exact_pools_archives_test {

namespace fs = std::filesystem;

namespace {

constexpr std::uint64_t nodes_enough = 30'000;

config::PoolSpec pool_of(const std::string& name, PoolKind kind, std::optional<Bytes> size) {
  config::PoolSpec pool;
  pool.name = name;
  pool.kind = kind;
  pool.size_hint = size;
  return pool;
}

struct Network {
  std::string name;
  tir::Module module;
  liveness::Analysis analysis;

  [[nodiscard]] Problem problem(const std::vector<std::optional<Bytes>>& sizes) const {
    config::PoolsConfig pools;
    for (const auto& size : sizes) {
      pools.workspace_pools.push_back(
          pool_of("w" + std::to_string(pools.workspace_pools.size()), PoolKind::workspace, size));
    }
    pools.parameter_pools.push_back(pool_of("weights", PoolKind::constant, std::nullopt));
    return assemble::assemble(module, analysis, pools).problem;
  }

  // The room that one pool has to have at least: it is enough for all of these networks.
  [[nodiscard]] Bytes load() const {
    const Problem one = problem({std::nullopt});
    std::vector<BufferId> buffers;
    for (std::size_t i = 0; i < one.buffers.size(); ++i) {
      if (one.buffers[i].kind != BufferKind::constant) buffers.emplace_back(i);
    }
    return bounds::packing_bound(one, buffers, one.pools.front()).bytes;
  }
};

std::vector<Network> networks(const fs::path& folder) {
  std::vector<fs::path> tars;
  for (const auto& entry : fs::recursive_directory_iterator(folder)) {
    if (entry.path().extension() == ".tar") tars.push_back(entry.path());
  }
  std::sort(tars.begin(), tars.end());
  std::vector<Network> found;
  for (const fs::path& tar : tars) {
    driver::ModelOptions options;
    options.model = tar.string();
    driver::Model model = driver::open_model(options);
    for (const model::Description& info : model.metadata.modules) {
      if (model.archive.find(info.tir_member) == nullptr) continue;  // as TVM writes archives
      for (const bool workspace_io : {false, true}) {
        // Rings of rows are live together all the time: dividing them among pools is a knapsack, which is not proved.
        pipeline::Transformations transformations = model.transformations;
        std::erase(transformations.steps, transform::Step::rolling);
        pipeline::Program program =
            pipeline::transformed(driver::read_module(model, info, false), transformations, workspace_io);
        const std::string name = tar.lexically_relative(folder).string() + " " + info.name;
        found.push_back({name, std::move(program.module), std::move(program.analysis)});
      }
    }
  }
  return found;
}

Cost prove(const Problem& problem) {
  planners::exact::Budget budget(nodes_enough);
  const PlanResult result = planners::exact::plan_all_pools(problem, nullptr, budget);
  REQUIRE(result.status == PlanStatus::optimal);
  REQUIRE(verify::check(problem, result.plan).empty());
  return cost_of(problem, result.plan);
}

}  // namespace

TEST_CASE("every archive in two and three pools is proved to be planned best") {
  const fs::path shared = fs::path(USMP_SHARED) / "archives";
  const fs::path folder = fs::is_directory(shared) ? shared : fs::path(USMP_TESTDATA);
  const std::vector<Network> all = networks(folder);
  CHECK(all.size() >= 8);
  for (const Network& network : all) {
    CAPTURE(network.name);
    const Bytes load = network.load();
    const Cost unbounded = prove(network.problem({load / 2, std::nullopt}));
    // With just as much room as that plan needs in the second pool, the same plan is still the best.
    CHECK((prove(network.problem({load / 2, unbounded.used[1]})) == unbounded));
    const Cost three = prove(network.problem({load / 4, load / 3, std::nullopt}));
    if (!three.spilled.empty() && !unbounded.spilled.empty()) CHECK(three.spilled.front() >= unbounded.spilled.front());
  }
}

}  // namespace usmp::driver::exact_pools_archives_test
