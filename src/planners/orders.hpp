// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// The orders in which the greedy algorithms and the starts of the hill climb place buffers. Ties break by id.
#pragma once

#include <span>
#include <vector>

#include "planners/first_fit.hpp"

namespace usmp::planners {

// What TVM's algorithms of these names sort by.
[[nodiscard]] std::vector<BufferId> order_by_size(const Problem& problem, const Conflicts& conflicts,
                                                  const Group& group);  // then by conflicts
[[nodiscard]] std::vector<BufferId> order_by_conflicts(const Problem& problem, const Conflicts& conflicts,
                                                       const Group& group);  // then by size

// Those two first, and others that are each best on some instance.
[[nodiscard]] std::vector<std::vector<BufferId>> order_portfolio(const Problem& problem, const Conflicts& conflicts,
                                                                 const Group& group);

// Runs the attempts, stops at one that meets the ideal, and returns the best (the first of equals).
[[nodiscard]] Attempt best_attempt(FirstFit& placer, const Group& group, std::span<const Attempt> attempts);

using Order = std::vector<BufferId> (*)(const Problem&, const Conflicts&, const Group&);

// Plans every group in the order, with each kind of fit, and keeps the best.
[[nodiscard]] PlanResult plan_greedily(const Problem& problem, Order order);

// Runs the winning attempts of all groups and says what is known about the outcome.
[[nodiscard]] PlanResult conclude(FirstFit& placer, std::span<const Group> groups, std::span<const Attempt> winners,
                                  std::uint64_t iterations);

}  // namespace usmp::planners
