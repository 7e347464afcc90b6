// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// Tables of placements of a module of two functions, entry by entry.
#include "usmp/assemble/placements.hpp"

#include <doctest/doctest.h>

#include <string>
#include <utility>
#include <vector>

namespace usmp::assemble::placements_test {
namespace {

config::PoolSpec pool(std::string name, PoolKind kind) {
  config::PoolSpec spec;
  spec.name = std::move(name);
  spec.kind = kind;
  return spec;
}

liveness::Site site(std::size_t var, std::string name, BufferKind kind, std::size_t function) {
  liveness::Site result;
  result.var = tir::VarId(var);
  result.name = std::move(name);
  result.function = function;
  result.kind = kind;
  result.size = 64;
  result.alignment = 16;
  result.live = {{1, 3}};
  return result;
}

// A constant with two declarations, an input, and a buffer that nothing accesses.
struct Planned {
  tir::Module module;
  liveness::Analysis analysis;
  config::PoolsConfig pools;

  Planned() {
    module.functions.resize(2);
    module.functions[0].name = "main";
    module.functions[1].name = "operator";
    analysis.horizon = 9;
    analysis.sites = {site(4, "w", BufferKind::constant, 1), site(2, "x", BufferKind::input, 0),
                      site(3, "dead", BufferKind::scratch, 1)};
    analysis.sites[0].twins = {{tir::VarId(7), 0}};
    analysis.sites[2].live.clear();
    analysis.sites[2].size = 8;
    pools.workspace_pools = {pool("sram", PoolKind::workspace)};
    pools.workspace_pools[0].alignment = 32;
    pools.workspace_pools[0].section = ".fast";
    pools.workspace_pools[0].internal = true;
    pools.parameter_pools = {pool("flash", PoolKind::constant)};
  }
  [[nodiscard]] placement::Table table(const Plan& plan) const {
    return placements_of(analysis, assemble(module, analysis, pools), plan);
  }
};

TEST_CASE("a table of placements says of each buffer what declares it, what it is and where it is") {
  const placement::Table table = Planned().table({{{PoolId(1), 96}, {PoolId(0), 64}, {PoolId(0), 128}}});
  REQUIRE(table.storages.size() == 3);
  const placement::Storage& w = table.storages[0];
  CHECK(w.name == "w");
  CHECK(w.kind == BufferKind::constant);
  CHECK(w.place == Allocation{PoolId(1), 96});
  REQUIRE(w.declarations.size() == 2);
  CHECK(w.declarations[0].var == tir::VarId(4));
  CHECK(w.declarations[0].function == 1);
  CHECK(w.declarations[1].var == tir::VarId(7));
  CHECK(w.declarations[1].function == 0);
  const placement::Storage& x = table.storages[1];
  CHECK(x.kind == BufferKind::input);
  CHECK(x.size == 64);
  CHECK(x.alignment == 16);
  CHECK(x.live == std::vector<LiveRange>{{1, 3}});
  CHECK(x.declarations.size() == 1);
  const placement::Storage& dead = table.storage(placement::StorageId(2));
  CHECK(dead.size == 8);
  CHECK(dead.live.empty());
  CHECK(dead.place == Allocation{PoolId(0), 128});
}

TEST_CASE("a table of placements says of each pool what emission needs") {
  const placement::Table table = Planned().table({{{PoolId(1), 0}, {PoolId(0), 0}, {PoolId(0), 64}}});
  REQUIRE(table.pools.size() == 2);
  CHECK(table.pools[0].name == "sram");
  CHECK(table.pools[0].kind == PoolKind::workspace);
  CHECK(table.pools[0].alignment == 32);
  CHECK(table.pools[0].section == ".fast");
  CHECK(table.pools[0].internal);
  CHECK(table.pool(PoolId(1)).name == "flash");
  CHECK(table.pools[1].kind == PoolKind::constant);
  CHECK(table.pools[1].alignment == 1);
  CHECK_FALSE(table.pools[1].internal);
}

TEST_CASE("constants that have no pool to go to are not in the table") {
  Planned planned;
  planned.pools.parameter_pools.clear();
  const placement::Table table = planned.table({{{PoolId(0), 0}, {PoolId(0), 64}}});
  REQUIRE(table.storages.size() == 2);
  CHECK(table.storages[0].name == "x");
  CHECK(table.storages[0].declarations.front().var == tir::VarId(2));
  CHECK(table.storages[1].name == "dead");
}

}  // namespace
}  // namespace usmp::assemble::placements_test
