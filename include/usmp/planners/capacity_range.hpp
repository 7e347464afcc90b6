// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// How large one pool has to be for a plan to exist at all.
#pragma once

#include <optional>
#include <vector>

#include "usmp/planners/planner.hpp"
#include "usmp/problem/problem.hpp"

namespace usmp::planners {

// Bounds of the least capacity of a pool. They are equal unless the search met its limit.
struct CapacityRange {
  Bytes lower = 0;                  // proved: there is no plan with less
  std::optional<Bytes> upper = {};  // there is a plan with so much; nothing: none was found
  bool impossible = false;          // proved: no capacity is enough
};

// The least capacity of `pool` with which the buffers of its group have a plan, the group's other pools as the problem
// says. A group is the pools that buffers choose among, directly or by way of other pools; buffers of other groups do
// not matter. The present capacity of `pool` does not matter either.
//
// Exact search (`optimal`), of several pools by bisection (`minimize_pool`), within the limits of `options`:
// node_limit holds for each of its O(log) searches, the time limit for all together. Deterministic without a time
// limit.
[[nodiscard]] CapacityRange capacity_range(const Problem& problem, PoolId pool, const Options& options);

// The pools of each group, both ascending. Pools that no buffer may use are in none.
[[nodiscard]] std::vector<std::vector<PoolId>> pool_groups(const Problem& problem);

}  // namespace usmp::planners
