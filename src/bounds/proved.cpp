// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// Takes the algorithm's bound of each pool where it exceeds the load's; an optimal plan bounds itself.
#include "usmp/bounds/proved.hpp"

#include <optional>
#include <utility>

namespace usmp::bounds {

ProvedBounds proved_bounds(const Problem& problem, const PlanResult& result, const std::string& algorithm,
                           std::vector<PoolBound> loads) {
  std::optional<Cost> proved = result.bound;
  if (result.status == PlanStatus::optimal) proved = cost_of(problem, result.plan);
  if (!proved) return {.spilled = {}, .pools = std::move(loads)};
  for (std::size_t i = 0; i < loads.size(); ++i) {
    if (proved->used[i] > loads[i].bytes) loads[i] = {proved->used[i], "proved by " + algorithm};
  }
  return {.spilled = std::move(proved->spilled), .pools = std::move(loads)};
}

}  // namespace usmp::bounds
