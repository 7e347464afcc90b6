// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// The public instances of MiniMalloc and TVM, where they are present.
#include <doctest/doctest.h>

#include <algorithm>
#include <filesystem>
#include <string>

#include "planning_support/instance_files.hpp"
#include "usmp/bounds/bounds.hpp"
#include "usmp/planners/planner.hpp"
#include "usmp/verify/verify.hpp"

namespace usmp::planners::instances_test {

namespace fs = std::filesystem;

namespace {

Bytes used_by(const Problem& problem, const char* name) {
  const PlanResult result = planners::find_algorithm(name)->plan(problem, {.seed = 0, .iterations = 50});
  REQUIRE(result.has_plan());
  const auto violations = verify::check(problem, result.plan);
  REQUIRE(violations.empty());
  return used_bytes(problem, result.plan).front();
}

}  // namespace

TEST_CASE("public instances: right plans, in the order of the algorithms' strength") {
  const fs::path folder = fs::path(USMP_SHARED) / "instances";
  if (!fs::is_directory(folder)) {
    MESSAGE("no instances beside the project: skipped");
    return;
  }
  int seen = 0;
  for (const auto& entry : fs::recursive_directory_iterator(folder)) {
    if (entry.path().extension() != ".csv") continue;
    ++seen;
    CAPTURE(entry.path().filename().string());
    const Problem problem = test::read_instance(entry.path());
    REQUIRE_FALSE(invalid_reason(problem).has_value());
    const Bytes bound = bounds::pool_bounds(problem).front().bytes;
    const Bytes climbed = used_by(problem, "hill_climb");
    const Bytes by_size = used_by(problem, "greedy_by_size");
    CHECK(climbed >= bound);
    CHECK(climbed <= by_size);
    CHECK(climbed <= used_by(problem, "greedy_by_conflicts"));
    CHECK(by_size <= bound * 3 / 2);
    CHECK(by_size <= used_by(problem, "none"));
    // TVM's four are easy: the load is reached.
    if (entry.path().parent_path().filename() == "tvm") CHECK(climbed == bound);
  }
  CHECK(seen == 15);
}

TEST_CASE("MiniMalloc's instances: all fit their capacity, and nine of eleven are proved best") {
  const fs::path folder = fs::path(USMP_SHARED) / "instances" / "minimalloc";
  if (!fs::is_directory(folder)) {
    MESSAGE("no instances beside the project: skipped");
    return;
  }
  int proved = 0;
  int seen = 0;
  for (const auto& entry : fs::directory_iterator(folder)) {
    ++seen;
    CAPTURE(entry.path().filename().string());
    Problem problem = test::read_instance(entry.path());
    const PlanResult least = planners::optimal(problem, {.node_limit = 10'000});
    if (least.status == PlanStatus::optimal) ++proved;
    REQUIRE(least.bound.has_value());
    CHECK(least.bound->used == std::vector{bounds::pool_bounds(problem).front().bytes});
    problem.pools.front().capacity = 1048576;
    const PlanResult fits = planners::optimal(problem, {.node_limit = 10'000, .feasibility_only = true});
    REQUIRE(fits.has_plan());
    CHECK(verify::check(problem, fits.plan).empty());
  }
  CHECK(seen == 11);
  CHECK(proved == 9);
}

}  // namespace usmp::planners::instances_test
