// A search as the user asked for it: limits, Ctrl-C, progress.
#pragma once

#include <iosfwd>
#include <optional>

#include "interrupt.hpp"
#include "progress.hpp"
#include "usmp/driver/driver.hpp"
#include "usmp/planners/minimize_pool.hpp"
#include "usmp/planners/planner.hpp"
#include "usmp/problem/problem.hpp"

namespace usmp::driver {

// Plans with the limits of `options`, or makes the pool `minimize` small first. `interrupt` lives as long as Ctrl-C is
// to end searches: after it, those of further modules end at once too. Progress is shown on `terminal`, which may be
// null.
[[nodiscard]] PlanResult search(const Problem& problem, const planners::Planner& planner,
                                std::optional<PoolId> minimize, const SearchOptions& options,
                                const Interrupt& interrupt, std::ostream* terminal);

}  // namespace usmp::driver
