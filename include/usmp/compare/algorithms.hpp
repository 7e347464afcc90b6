// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// The results of several algorithms on one problem.
#pragma once

#include <chrono>
#include <optional>
#include <string>
#include <vector>

#include "usmp/plan_file/plan_document.hpp"

namespace usmp::compare {

// One algorithm on one module.
struct AlgorithmRun {
  std::string algorithm;
  std::optional<plan_file::PlanDocument> plan;  // nothing: there is none
  // For planning alone, without reading, transforming and verifying. Nothing: not measured.
  std::optional<std::chrono::microseconds> time;
  // Names of the pools in the order in which they count, that of the problem: documents list pools by kind. Empty: as
  // in the document.
  std::vector<std::string> pool_order = {};
};

// One pool in one plan.
struct PoolResult {
  Bytes used = 0;
  // The best that is known: every complete plan that is no worse in all that is more important uses at least this.
  // What any of the algorithms has proved counts for the plans to which it applies. Nothing: no plan says.
  std::optional<Bytes> lower_bound;
  // Not if buffers may choose between this pool and others, and another plan has less outside of first choices: fewer
  // bytes here are then no merit.
  bool is_measured = true;

  [[nodiscard]] bool proved() const { return lower_bound == used; }
  // Nothing without a bound, with one of 0, or unless it measures the plan.
  [[nodiscard]] std::optional<double> ratio() const;
};

struct AlgorithmResult {
  std::string algorithm;
  std::optional<PlanStatus> status;  // as its plan says; nothing: there is none
  bool optimal = false;              // proved, by it or by another one whose plan costs as much
  Bytes spilled = 0;                 // sum of the sizes of the buffers outside their first choices
  std::vector<PoolResult> pools;     // as ModuleComparison::pools; empty without a plan
  std::optional<std::chrono::microseconds> time;
};

struct ModuleComparison {
  struct Pool {
    std::string name;
    PoolKind kind = PoolKind::workspace;
    std::optional<Bytes> capacity;  // nothing: unbounded
  };

  std::string module;
  std::vector<Pool> pools;  // empty if no algorithm has a plan
  std::vector<AlgorithmResult> results;
};

struct Comparison {
  std::string archive;  // file name only
  std::vector<ModuleComparison> modules;
};

// The plans are of the same problem. O(runs² · pools³ + runs · pools · candidates of all buffers).
[[nodiscard]] ModuleComparison compare_runs(const std::string& module, const std::vector<AlgorithmRun>& runs);

}  // namespace usmp::compare
