// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// The planning algorithms and the table that names them. A planner knows nothing of the IR.
//
// What they minimise, in this order: the sum of the sizes of buffers without a place; then the plan's Cost: bytes
// outside the buffers' first choices, outside their first two, and so on; then the used bytes of the pools, in their
// order. "Optimal" means the least possible in this order.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "usmp/problem/problem.hpp"

namespace usmp::planners {

// Progress of a search, for display.
struct Progress {
  PoolId pool;      // whose size is being proved
  Bytes lower = 0;  // no plan uses less there
  Bytes upper = 0;  // of the best plan so far
  std::uint64_t nodes = 0;
  bool has_plan = true;  // a search that ended now would have a plan that fits all pools
};

struct Options {
  std::uint64_t seed = 0;        // of randomised algorithms; the same seed gives the same plan everywhere
  std::uint64_t iterations = 0;  // limit of heuristic searches; 0: the algorithm's default
  std::uint64_t node_limit = 0;  // limit of exact searches, in search nodes; 0: the algorithm's default
  // Exact searches end after this time. The plan then depends on the machine.
  std::optional<std::chrono::milliseconds> time_limit = {};
  // Searches look at it every few thousand steps and end with the best plan so far once it is true. May be null.
  const std::atomic<bool>* interrupted = nullptr;
  bool feasibility_only = false;  // any complete plan is accepted: an algorithm may end at its first one
  // Called at most a few times a second, by the thread that called the algorithm. May be empty.
  std::function<void(const Progress&)> progress = {};
};

// Problem (valid, see invalid_reason) → result. Deterministic: ties break by buffer id.
using PlanFunction = PlanResult (*)(const Problem& problem, const Options& options);

struct Algorithm {
  std::string_view name;
  std::string_view summary;  // one line for --list-algorithms
  PlanFunction plan;
};

// All algorithms, the default first.
[[nodiscard]] std::span<const Algorithm> algorithms();

// nullptr if there is none of that name.
[[nodiscard]] const Algorithm* find_algorithm(std::string_view name);

// Each is explained at the head of src/planners/<name>.cpp.
[[nodiscard]] PlanResult optimal(const Problem& problem, const Options& options);
[[nodiscard]] PlanResult greedy_by_size(const Problem& problem, const Options& options);
[[nodiscard]] PlanResult greedy_by_conflicts(const Problem& problem, const Options& options);
[[nodiscard]] PlanResult greedy_by_breadth(const Problem& problem, const Options& options);
[[nodiscard]] PlanResult hill_climb(const Problem& problem, const Options& options);
[[nodiscard]] PlanResult shared_objects(const Problem& problem, const Options& options);
[[nodiscard]] PlanResult gmem(const Problem& problem, const Options& options);
[[nodiscard]] PlanResult fast(const Problem& problem, const Options& options);
[[nodiscard]] PlanResult none(const Problem& problem, const Options& options);  // no sharing: the reference

}  // namespace usmp::planners
