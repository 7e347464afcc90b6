// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// Pools of several modules: their sizes, and which modules set them.
#include "usmp/compare/shared_pools.hpp"

#include <doctest/doctest.h>

namespace usmp::compare::shared_pools_test {

using plan_file::PlanDocument;
using Names = std::vector<std::string>;

namespace {

// A module with bytes used in workspace pools "a" and "b" and in parameter pool "p".
PlanDocument module_of(const std::string& name, Bytes a, Bytes b, Bytes constants) {
  PlanDocument document;
  document.module = name;
  document.pools.resize(3);
  document.pools[0].name = "a";
  document.pools[0].used = a;
  document.pools[0].capacity = 100;
  document.pools[1].name = "b";
  document.pools[1].used = b;
  document.pools[2].name = "p";
  document.pools[2].kind = PoolKind::constant;
  document.pools[2].used = constants;
  return document;
}

std::vector<SharedPool> shared_of(const std::vector<PlanDocument>& documents, const std::vector<Names>& groups = {},
                                  bool own_arrays = false) {
  std::vector<const PlanDocument*> plans;
  for (const PlanDocument& document : documents) plans.push_back(&document);
  std::vector<config::ConcurrentModules> concurrent;
  for (const Names& group : groups) concurrent.push_back({group, "line 1, column 1"});
  return shared_pools(plans, concurrent, own_arrays);
}

}  // namespace

TEST_CASE("one module after another: the largest workspace, the sum of the constants") {
  const auto pools = shared_of({module_of("x", 10, 0, 3), module_of("y", 40, 0, 0), module_of("z", 40, 0, 5)});
  REQUIRE(pools.size() == 3);
  CHECK(pools[0].name == "a");
  CHECK(pools[0].capacity == 100);
  CHECK(pools[0].all == PlanDocument::Pool::AllModules{40, {"y"}});  // the first of two that need as much
  CHECK(pools[0].uses.size() == 3);
  CHECK(pools[1].all == PlanDocument::Pool::AllModules{0, {}});
  CHECK(pools[2].kind == PoolKind::constant);
  CHECK(pools[2].all == PlanDocument::Pool::AllModules{8, {"x", "z"}});
}

TEST_CASE("constants have padding between them, in whatever order they are linked") {
  PlanDocument x = module_of("x", 0, 0, 26);
  PlanDocument y = module_of("y", 0, 0, 16);
  const auto constants = [&] { return shared_of({x, y}).at(2); };
  CHECK(constants().padding() == 0);
  y.buffers.resize(1);
  y.buffers[0].pool = "p";
  y.buffers[0].alignment = 16;
  CHECK(constants().all.used == 48);  // y may come behind x
  CHECK(constants().padding() == 6);
  std::swap(x, y);
  CHECK(constants().all.used == 48);
  x.buffers[0].pool = "a";
  CHECK(constants().padding() == 0);
  x.pools[2].alignment = 8;
  CHECK(constants().padding() == 6);
  CHECK(shared_of({x}).at(2).padding() == 0);
}

TEST_CASE("arrays of the modules' own: the sum of what the C owns") {
  std::vector<PlanDocument> modules = {module_of("x", 10, 7, 3), module_of("y", 40, 5, 0)};
  for (PlanDocument& document : modules) document.pools[0].internal = true;
  const auto pools = shared_of(modules, {{"x", "y"}}, true);
  CHECK(pools[0].all == PlanDocument::Pool::AllModules{50, {"x", "y"}});
  CHECK(pools[0].is_sum());
  CHECK(pools[1].all == PlanDocument::Pool::AllModules{7, {"x"}});  // the application's
  CHECK_FALSE(pools[1].is_sum());
  CHECK(shared_of(modules)[0].all == PlanDocument::Pool::AllModules{40, {"y"}});
}

TEST_CASE("side by side: the one on top and those beneath it") {
  const std::vector<PlanDocument> modules = {module_of("x", 10, 5, 0), module_of("y", 30, 0, 0),
                                             module_of("z", 50, 7, 0), module_of("w", 20, 0, 0)};
  // z stands on y, which stands on x; w on nothing.
  auto pools = shared_of(modules, {{"x", "y"}, {"z", "y"}});
  CHECK(pools[0].all == PlanDocument::Pool::AllModules{50, {"x", "y", "z"}});
  CHECK(pools[1].all == PlanDocument::Pool::AllModules{7, {"z"}});  // y has nothing there
  // Where two lie beneath it, it stands on the one that reaches higher.
  pools = shared_of(modules, {{"x", "z"}, {"z", "y"}});
  CHECK(pools[0].all == PlanDocument::Pool::AllModules{50, {"y", "z"}});
  CHECK(pools[1].all == PlanDocument::Pool::AllModules{7, {"x", "z"}});
  pools = shared_of(modules, {{"w", "z"}, {"w", "x"}});
  CHECK(pools[0].all == PlanDocument::Pool::AllModules{50, {"z"}});  // w lies above
  pools = shared_of(modules, {{"x", "y", "z", "w"}});
  CHECK(pools[0].all == PlanDocument::Pool::AllModules{50, {"x", "y", "z"}});
}

TEST_CASE("pools that only some modules have, and of one name but two kinds") {
  PlanDocument other = module_of("y", 1, 2, 3);
  other.pools.erase(other.pools.begin());
  other.pools[0].kind = PoolKind::constant;
  const auto pools = shared_of({module_of("x", 4, 5, 6), other});
  REQUIRE(pools.size() == 4);
  CHECK(pools[0].all.set_by == Names{"x"});
  CHECK(pools[1].all == PlanDocument::Pool::AllModules{5, {"x"}});
  CHECK(pools[2].all == PlanDocument::Pool::AllModules{9, {"x", "y"}});
  CHECK(pools[3].name == "b");
  CHECK(pools[3].kind == PoolKind::constant);
  CHECK(pools[3].all == PlanDocument::Pool::AllModules{2, {"y"}});
}

TEST_CASE("modules run side by side if one list has both") {
  const std::vector<config::ConcurrentModules> groups = {{{"a", "b"}, ""}, {{"b", "c"}, ""}};
  CHECK(run_side_by_side(groups, "a", "b"));
  CHECK(run_side_by_side(groups, "c", "b"));
  CHECK_FALSE(run_side_by_side(groups, "a", "c"));
  CHECK_FALSE(run_side_by_side({}, "a", "b"));
}

}  // namespace usmp::compare::shared_pools_test
