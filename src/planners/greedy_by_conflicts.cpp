// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// The buffer with the most conflicts first, each at the lowest offset where it fits.
//
// Idea: what is live together with many others has the fewest places to go, so it chooses first. Equal numbers go by
// size, largest first, then by id. As with greedy_by_size, gap filling and TVM's placement are tried in this order,
// and the best is kept.
// Cost, guarantee: as greedy_by_size.
// Source: TVM's src/tir/usmp/algo/greedy.cc for the order.
// Tests: tests/planners, tests/driver/algorithms_vs_tvm_test.cpp.
#include "planners/orders.hpp"
#include "usmp/planners/planner.hpp"

namespace usmp::planners {

PlanResult greedy_by_conflicts(const Problem& problem, const Options&) {
  return plan_greedily(problem, order_by_conflicts);
}

}  // namespace usmp::planners
