// Choosing an algorithm, running it and verifying what it says.
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

// What is looked for; usually the best plan.
struct Goal {
  std::optional<PoolId> minimize = {};  // this pool is made small first
  bool feasibility_only = false;        // any complete plan will do
  bool shares_less = false;             // what comes out becomes C: see planners::share_less
};

// How long to search, and who is told how far it is.
struct Search {
  std::optional<std::uint64_t> node_limit = {};              // >= 1, in search nodes; absent: the algorithm's default
  std::optional<std::chrono::milliseconds> time_limit = {};  // absent: none, so that every machine gives the same plan
  std::uint64_t seed = 0;                                    // of randomised algorithms
  const std::atomic<bool>* interrupted = nullptr;            // ends the search once it is true
  std::function<void(const std::string& pool, const planners::Progress&)> progress = {};
  Log log = {};
};

// Of what is wrong with a plan so many lines are told.
inline constexpr std::size_t most_lines = 10;

// What the verifier finds wrong with the plan, a line each, the first ten of many; empty if nothing.
[[nodiscard]] std::vector<std::string> violations_of(const Problem& problem, const Plan& plan);

// A plan of our own that is wrong is a bug: throws std::logic_error.
[[noreturn]] void throw_wrong_plan(const std::vector<std::string>& violations);

// The one of the table that stands first.
[[nodiscard]] ChosenAlgorithm default_algorithm();

// What `--algorithm` and the pools file's `algorithm` name: a row of the table, or a program behind "exec:"; `place` is
// where it was read. Throws Error of kind usage.
[[nodiscard]] ChosenAlgorithm algorithm_named(const std::string& name, const std::string& place = {});

// The names of the table. "exec:PROGRAM" is one, too.
[[nodiscard]] std::vector<std::string> algorithm_names();

// Plans within the limits, verifying nothing.
[[nodiscard]] PlanResult search(const Problem& problem, const planners::Planner& planner, const Goal& goal,
                                const Search& how);

// A plan that the verifier refuses never leaves this function. Of our own algorithms it is a bug (std::logic_error), of
// an external one an Error of kind usage that names the violations.
[[nodiscard]] PlanResult plan_and_verify(const ChosenAlgorithm& algorithm, const Problem& problem, const Goal& goal,
                                         const Search& how);

}  // namespace usmp::pipeline
