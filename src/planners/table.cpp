// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// The table of algorithms: names, summaries and functions.
#include <algorithm>
#include <array>

#include "usmp/planners/planner.hpp"

namespace usmp::planners {
namespace {

constexpr auto table = std::to_array<Algorithm>({
    {"optimal", "heuristics, then exact search for the best plan and its proof", optimal},
    {"hill_climb", "best of many first-fit orders, then seeded swaps around the bottleneck", hill_climb},
    {"greedy_by_size", "largest buffer first, into the lowest gap", greedy_by_size},
    {"greedy_by_conflicts", "buffer with the most conflicts first, into the lowest gap", greedy_by_conflicts},
    {"fast", "best fit in a sweep outwards from the peak: for up to a million buffers", fast},
    {"greedy_by_breadth", "buffers of the step with the most live bytes first, largest first, into the lowest gap",
     greedy_by_breadth},
    {"shared_objects", "TFLite's: objects side by side, each used by one buffer after another", shared_objects},
    {"gmem", "TPU-MLIR's: constants first, then dead blocks in execution order", gmem},
    {"none", "no sharing, for reference", none},
});

}  // namespace

std::span<const Algorithm> algorithms() { return table; }

const Algorithm* find_algorithm(std::string_view name) {
  const auto found = std::find_if(table.begin(), table.end(), [&](const Algorithm& a) { return a.name == name; });
  return found == table.end() ? nullptr : &*found;
}

}  // namespace usmp::planners
