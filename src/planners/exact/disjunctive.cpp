// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
#include "planners/exact/disjunctive.hpp"

#include <algorithm>
#include <optional>
#include <utility>

#include "planners/exact/pair_search.hpp"

namespace usmp::planners::exact {

std::vector<Spacing> spacings_among(const Problem& problem, std::span<const BufferId> buffers) {
  std::vector<Spacing> spacings;
  const auto place_of = [&](BufferId id) -> std::optional<std::size_t> {
    const auto found = std::ranges::lower_bound(buffers, id);
    if (found == buffers.end() || *found != id) return std::nullopt;
    return static_cast<std::size_t>(found - buffers.begin());
  };
  for (std::size_t below = 0; below < buffers.size(); ++below) {
    const Distance first{buffers[below], BufferId(0), 0};
    for (auto at = std::ranges::lower_bound(problem.distances, first);
         at != problem.distances.end() && at->below == buffers[below]; ++at) {
      if (const auto above = place_of(at->above)) spacings.push_back({below, *above, at->bytes});
    }
  }
  return spacings;
}

Minimum minimise_spaced(const Packing& packing, std::span<const Spacing> spacings, Bytes lower,
                        std::vector<Bytes> start, const Goal& goal, Budget& budget,
                        const std::function<void(const Minimum&)>& progress) {
  const Bytes peak = peak_of(packing, start);
  Minimum minimum{.lower = lower, .upper = peak, .offsets = std::move(start)};
  PairSearch search(packing, spacings, minimum.offsets);
  if (progress) search.set_progress([&] { progress(minimum); });
  while (minimum.lower < minimum.upper && minimum.upper > goal.enough && minimum.lower <= goal.hopeless) {
    const Bytes capacity = std::min(minimum.upper - 1, goal.hopeless);
    std::optional<std::vector<Bytes>> found = search.next(capacity, budget);
    if (found) {
      minimum.offsets = std::move(*found);
      minimum.upper = peak_of(packing, minimum.offsets);
    } else {
      if (!budget.exhausted()) minimum.lower = std::max(minimum.lower, capacity + 1);
      break;
    }
  }
  return minimum;
}

}  // namespace usmp::planners::exact
