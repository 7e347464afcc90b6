// From what the user asked for to the planners' options.
#pragma once

#include <atomic>

#include "progress.hpp"
#include "usmp/driver/driver.hpp"
#include "usmp/planners/planner.hpp"
#include "usmp/problem/problem.hpp"

namespace usmp::driver {

// The problem and the line, which may be null, must outlive the options.
[[nodiscard]] planners::Options planner_options(const SearchOptions& search, const Problem& problem,
                                                const std::atomic<bool>& interrupted, ProgressLine* line);

}  // namespace usmp::driver
