// What is proved of a plan's figures, for every report.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "usmp/bounds/bounds.hpp"
#include "usmp/problem/problem.hpp"

namespace usmp::report {

// Lower bounds of the figures of usmp::Cost.
struct ProvedBounds {
  std::vector<Bytes> spilled;            // empty if nothing is proved
  std::vector<bounds::PoolBound> pools;  // by PoolId
};

// Each is the larger one of what the algorithm has proved (named so) and of what holds without it (`loads`).
[[nodiscard]] ProvedBounds proved_bounds(const Problem& problem, const PlanResult& result, const std::string& algorithm,
                                         std::vector<bounds::PoolBound> loads);

// "optimal, equal to the lower bound 160 (load)", or how much the value may be above the least; `reason` may be empty.
[[nodiscard]] std::string proved_text(Bytes value, Bytes bound, const std::string& reason, bool color);

// A line for each number of first choices that bytes had to leave. `spilled` as in usmp::Cost, its bounds as long.
[[nodiscard]] std::string spilled_text(const std::vector<Bytes>& spilled, const std::vector<Bytes>& spilled_bounds,
                                       bool color);

// A line that says why a search that was not finished ended; empty for a finished one.
[[nodiscard]] std::string search_text(StopReason stopped, std::uint64_t iterations);

}  // namespace usmp::report
