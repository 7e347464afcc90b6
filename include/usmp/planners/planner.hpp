// The planning algorithms and the table that names them. A planner knows nothing of the IR.
//
// What they minimise, in this order: bytes without a place; bytes outside preferred pools (sum of size times the rank
// of the pool among the buffer's candidates); the used bytes of the pools, in their order. "Optimal" and "none uses
// less" mean this order.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "usmp/problem/problem.hpp"

namespace usmp::planners {

struct Options {
  std::uint64_t seed = 0;        // of randomised algorithms; the same seed gives the same plan everywhere
  std::uint64_t iterations = 0;  // limit of search algorithms; 0: the algorithm's default
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
[[nodiscard]] PlanResult greedy_by_size(const Problem& problem, const Options& options);
[[nodiscard]] PlanResult greedy_by_conflicts(const Problem& problem, const Options& options);
[[nodiscard]] PlanResult hill_climb(const Problem& problem, const Options& options);
[[nodiscard]] PlanResult none(const Problem& problem, const Options& options);  // no sharing: the reference

}  // namespace usmp::planners
