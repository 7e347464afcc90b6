// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// Several bounded pools, exactly: which pool each buffer goes to, and where in it.
//
// Idea: the cheapest assignment of buffers to pools by load alone (assignment.hpp) bounds what every plan costs. If
// each pool's share of it can be packed, it is the optimum. If not, a smallest set of buffers that cannot be together
// in its pool at that height becomes a cut, and the next cheapest assignment is looked for. The entries of Cost are
// settled one after another: the spilled bytes together with the first pool's height, then the next pool's with all of
// these fixed, and so on. Cost: few assignments on networks, since the load nearly always can be packed; exponential in
// the worst case. Guarantee: `optimal` and `infeasible` are proofs, and so is every entry of `bound`. The number of
// search nodes, not time, ends the search, unless the budget says otherwise. Source: logic-based Benders decomposition
// (Hooker, Ottosson 2003), with a frontier dynamic programme as the master. Tests: tests/planners/exact_pools_test.cpp,
// against exhaustive search; tests/driver/exact_pools_archives_test.cpp.
#pragma once

#include <cstdint>
#include <functional>
#include <span>

#include "planners/exact/packing.hpp"
#include "planners/first_fit.hpp"
#include "usmp/problem/problem.hpp"

namespace usmp::planners::exact {

// How the effort is divided. It changes what is found within a budget, never what is claimed.
struct Effort {
  std::uint64_t patience = 2'000;  // nodes for the first try of one packing; eight times as many for the next
  std::size_t states = std::size_t{1} << 16U;  // that the assignment keeps at most
  bool any_plan = false;                       // end with the first complete plan, whatever it costs
  // Told of the pool at hand: no plan within what is settled uses less, and what the best one uses. May be empty.
  std::function<void(PoolId, Bytes lower, Bytes upper)> progress = {};
};

// Plans one group. `start`, if given, is a right plan of the problem; if it is complete for the group, the result is no
// worse. The result's plan places the group's buffers only, and its bound is that of the group, other pools and
// buffers counting 0. No shortage is set.
[[nodiscard]] PlanResult plan_pools(const Problem& problem, const Group& group, const Plan* start, Budget& budget,
                                    const Effort& effort = {});

// What the groups' bounds, summed up, say of plans of all groups together; `cost` is the sum of their costs. A bound of
// a group's later entries presumes that its earlier ones are no worse. Where a sum is not settled, one group may be
// worse for the sake of another: from there on, only what holds for every plan is left.
[[nodiscard]] Cost bound_of_all(const Problem& problem, std::span<const Group> groups, Cost sum, const Cost& cost);

// Entry by entry.
void add(Cost& sum, const Cost& part);

// Plans all groups one after another and puts the results together. No shortage is set.
[[nodiscard]] PlanResult plan_all_pools(const Problem& problem, const Plan* start, Budget& budget,
                                        const Effort& effort = {});

}  // namespace usmp::planners::exact
