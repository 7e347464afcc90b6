// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// Choosing an algorithm, running it and verifying its result.
#pragma once

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "usmp/pipeline/program.hpp"
#include "usmp/planners/minimize_pool.hpp"
#include "usmp/planners/planner.hpp"
#include "usmp/problem/problem.hpp"

namespace usmp::pipeline {

struct ChosenAlgorithm {
  std::string name;     // as reports show it
  std::string program;  // of an external one; else empty
  planners::Planner plan;
};

// What to search for; by default the best plan.
struct Goal {
  std::optional<PoolId> minimize = {};  // this pool is minimized first
  bool feasibility_only = false;        // any complete plan will do
  bool shares_less = false;             // the plan becomes C: see planners::share_less
};

// How long to search, and where to report progress.
struct Search {
  std::optional<std::uint64_t> node_limit = {};              // >= 1, in search nodes; absent: the algorithm's default
  std::optional<std::chrono::milliseconds> time_limit = {};  // absent: none, so that every machine gives the same plan
  std::uint64_t seed = 0;                                    // of randomised algorithms
  const std::atomic<bool>* interrupted = nullptr;            // ends the search once it is true
  std::function<void(const std::string& pool, const planners::Progress&)> progress = {};
  Log log = {};
};

// Number of violations of a plan that messages show.
inline constexpr std::size_t most_lines = 10;

// The verifier's violations of the plan, one line each, at most most_lines; empty if there are none.
[[nodiscard]] std::vector<std::string> violations_of(const Problem& problem, const Plan& plan);

// Throws std::logic_error: a wrong plan of our own is a bug.
[[noreturn]] void throw_wrong_plan(const std::vector<std::string>& violations);

// The first algorithm of the table.
[[nodiscard]] ChosenAlgorithm default_algorithm();

// What `--algorithm` and the pools file's `algorithm` name: a row of the table, or a program after "exec:"; `place` is
// where the name was read. Throws Error of kind usage.
[[nodiscard]] ChosenAlgorithm algorithm_named(const std::string& name, const std::string& place = {});

// The names of the table. "exec:PROGRAM" is also accepted.
[[nodiscard]] std::vector<std::string> algorithm_names();

// Plans within the limits, without verification.
[[nodiscard]] PlanResult search(const Problem& problem, const planners::Planner& planner, const Goal& goal,
                                const Search& how);

// Never returns a plan that the verifier rejects. From our own algorithms such a plan is a bug (std::logic_error), from
// an external one an Error of kind usage that names the violations.
[[nodiscard]] PlanResult plan_and_verify(const ChosenAlgorithm& algorithm, const Problem& problem, const Goal& goal,
                                         const Search& how);

}  // namespace usmp::pipeline
