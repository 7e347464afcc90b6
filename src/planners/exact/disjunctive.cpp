// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// Raises the lower bound in steps that grow with success, then searches below the best plan.
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

namespace {

// Nodes for an attempt to raise the lower bound.
constexpr std::uint64_t share_of_attempt = 8;
constexpr std::uint64_t most_of_attempt = 20'000;
constexpr std::uint64_t least_of_attempt = 400;  // with less there is nothing to win
// Shares of the lower bound: the first step up, and where smaller ones are not worth it.
constexpr Bytes first_step = 100;
constexpr Bytes last_step = 200;

// Sizes far below the best plan are refuted, or met, in a fraction of the nodes that the last byte takes. A step twice
// as large follows a success, one half as large a failure.
void raise_lower(const Packing& packing, std::span<const Spacing> spacings, const Goal& goal, Budget& budget,
                 Minimum& minimum, const std::function<void(const Minimum&)>& progress) {
  const std::uint64_t nodes = std::min(budget.left() / share_of_attempt, most_of_attempt);
  if (nodes < least_of_attempt) return;
  std::uint64_t attempts = share_of_attempt / 2;
  Bytes step = minimum.lower / first_step;
  while (step > minimum.lower / last_step && attempts > 0 && budget.left() > nodes && !budget.exhausted() &&
         minimum.upper > goal.enough && minimum.lower <= goal.hopeless && minimum.lower + step < minimum.upper) {
    const Bytes target = std::max(std::min(minimum.lower + step, goal.hopeless), goal.enough);
    Budget part = budget.share(nodes);
    PairSearch search(packing, spacings, minimum.offsets);
    if (progress) search.set_progress([&] { progress(minimum); });
    std::optional<std::vector<Bytes>> found = search.next(target, part);
    budget.charge(part);
    if (found) {
      minimum.offsets = std::move(*found);
      minimum.upper = peak_of(packing, minimum.offsets);
      step /= 2;
    } else if (!part.exhausted()) {
      minimum.lower = target + 1;
      step *= 2;
      continue;  // it was cheap
    } else {
      step /= 2;
    }
    --attempts;
  }
}

}  // namespace

Minimum minimise_spaced(const Packing& packing, std::span<const Spacing> spacings, Bytes lower,
                        std::vector<Bytes> start, const Goal& goal, Budget& budget,
                        const std::function<void(const Minimum&)>& progress) {
  const Bytes peak = peak_of(packing, start);
  Minimum minimum{.lower = lower, .upper = peak, .offsets = std::move(start)};
  raise_lower(packing, spacings, goal, budget, minimum, progress);
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
