// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// Largest buffer first, each at the lowest offset where it fits.
//
// Idea: small buffers fill the gaps that large ones leave. Equal sizes go by number of conflicts, the most entangled
// first, then by id. This is the order of TVM's algorithm of the same name; TVM however places each buffer above
// everything it conflicts with. Gap filling is the better placement nearly always, but not by a law (first fit has
// anomalies), so both placements and the tightest gap are tried and the best is kept: the result is never worse than
// that of TVM's placement in the same order.
// Cost: O(n log n + sum over buffers of d log d), d the number of conflicts.
// Guarantee: none on the distance from the optimum; a result that meets the lower bound is called optimal.
// Source: first-fit-decreasing; TVM's src/tir/usmp/algo/greedy.cc for the order.
// Tests: tests/planners, tests/driver/algorithms_vs_tvm_test.cpp.
#include "planners/orders.hpp"
#include "usmp/planners/planner.hpp"

namespace usmp::planners {

PlanResult greedy_by_size(const Problem& problem, const Options&) { return plan_greedily(problem, order_by_size); }

}  // namespace usmp::planners
