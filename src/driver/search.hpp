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

// What is looked for; usually the best plan.
struct Goal {
  std::optional<PoolId> minimize = {};  // this pool is made small first
  bool feasibility_only = false;        // any complete plan will do
  bool shares_less = false;             // what comes out becomes C: see planners::share_less
};

// Plans with the limits of `options`. `interrupt` lives as long as Ctrl-C is to end searches: after it, those of
// further modules end at once too. Progress is shown on `terminal`, which may be null.
[[nodiscard]] PlanResult search(const Problem& problem, const planners::Planner& planner, const Goal& goal,
                                const SearchOptions& options, const Interrupt& interrupt, std::ostream* terminal);

}  // namespace usmp::driver
