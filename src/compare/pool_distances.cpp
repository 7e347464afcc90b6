// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// Renumbers distances by binary search, and leaves out those to buffers that were not chosen.
#include "compare/pool_distances.hpp"

#include <algorithm>
#include <optional>

namespace usmp::compare {

void add_distances(Problem& problem, const plan_file::PlanDocument& document, const std::vector<std::size_t>& buffers) {
  const auto place_of = [&](BufferId id) -> std::optional<BufferId> {
    const auto found = std::lower_bound(buffers.begin(), buffers.end(), id.index());
    if (found == buffers.end() || *found != id.index()) return std::nullopt;
    return BufferId(static_cast<std::size_t>(found - buffers.begin()));
  };
  for (const Distance& distance : document.distances) {
    const auto below = place_of(distance.below);
    const auto above = place_of(distance.above);
    if (below && above) problem.distances.push_back({*below, *above, distance.bytes});
  }
}

}  // namespace usmp::compare
