// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// Plans of several algorithms.
#pragma once

#include <doctest/doctest.h>

#include <chrono>
#include <optional>
#include <string>
#include <vector>

#include "plan_support/planned.hpp"
#include "usmp/compare/algorithms.hpp"

namespace usmp::plan_support::runs {

using compare::AlgorithmResult;
using compare::AlgorithmRun;
using compare::Comparison;
using compare::PoolResult;
using plan_file::PlanDocument;

// The example with other figures: used bytes and bounds of dtcm, sram and flash, and what is spilled.
struct Figures {
  PlanStatus status = PlanStatus::feasible;
  Bytes spilled = 0;
  std::vector<Bytes> used;
  std::vector<Bytes> bounds;
};

inline AlgorithmRun run(const std::string& algorithm, const Figures& figures) {
  Planned planned;
  fill_example(planned);
  PlanDocument plan = planned.finish();
  plan.algorithm = algorithm;
  plan.status = figures.status;
  REQUIRE(plan.spilled.size() == 1);
  plan.spilled[0].bytes = figures.spilled;
  for (std::size_t i = 0; i < plan.pools.size(); ++i) {
    plan.pools[i].used = figures.used[i];
    plan.pools[i].lower_bound = figures.bounds[i];
  }
  return {algorithm, plan, std::chrono::microseconds(1500)};
}

inline AlgorithmRun without_plan(const std::string& algorithm) {
  return {algorithm, std::nullopt, std::chrono::microseconds(7)};
}

inline std::vector<std::optional<Bytes>> bounds_of(const AlgorithmResult& result) {
  std::vector<std::optional<Bytes>> bounds;
  for (const PoolResult& pool : result.pools) bounds.push_back(pool.lower_bound);
  return bounds;
}

using Bounds = std::vector<std::optional<Bytes>>;

inline Comparison example() {
  Comparison comparison;
  comparison.archive = "net|1.tar";
  comparison.modules.push_back(compare::compare_runs(
      "default", {run("optimal", {PlanStatus::optimal, 0, {64, 100, 10}, {64, 100, 10}}),
                  run("greedy", {PlanStatus::feasible, 0, {64, 103, 10}, {60, 90, 10}}),
                  run("exec:a,\"b\"", {PlanStatus::feasible, 32, {48, 190, 10}, {48, 95, 10}}), without_plan("fast")}));
  comparison.modules.push_back(compare::compare_runs("other", {without_plan("optimal")}));
  return comparison;
}

}  // namespace usmp::plan_support::runs
