// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// The exact search in one pool whose items may partly share bytes.
//
// Idea: memory planning as job shop scheduling, by pairs: of two items that meet, one is below the other, by at least a
// distance that depends on which. Every item has a lowest and a highest offset; a pair that cannot stand one way has to
// stand the other way, which moves these bounds, and so on. A pair that is violated with all items at their lowest
// offsets is decided; if there is none, these offsets are a plan, and the search goes on for a lower one.
// A failure is traced back to orders that do not go together, whatever else is decided. Such a clause is kept, until
// there are thousands, and holds for all lower capacities, too. The search begins anew after some failures, with what
// they have taught: pairs that had part in many, the later ones above all, are decided first, and every second run
// orders pairs as the best placement so far does.
// Cost: exponential in the worst case, bounded by the budget, a node a decision; a node costs up to the number of pairs
// times the bounds that move, and the clauses that watch an order.
// Source: Carlier and Pinson, An algorithm for solving the job-shop problem, 1989, without its edge finding: sizes do
// not add up where items share bytes. Clauses of orders alone: Siala, Artigues and Hebrard, Two clause learning
// approaches for disjunctive scheduling, 2015. Weights, restarts and the guide: Grimes and Hebrard, Solving variants of
// the job shop scheduling problem through conflict-directed search, 2015.
// Tests: tests/planners/disjunctive_test.cpp, against exhaustive search.
#pragma once

#include <cstddef>
#include <functional>
#include <span>
#include <vector>

#include "planners/exact/packing.hpp"

namespace usmp::planners::exact {

// How far above the start of one item another one that it meets has to start; else it is the size of the one below.
struct Spacing {
  std::size_t below = 0;
  std::size_t above = 0;
  Bytes bytes = 0;
};

// Problem::distances among the buffers (ascending), which are the items in this order. O(n log n) and for
// each distance of one of these O(log n).
[[nodiscard]] std::vector<Spacing> spacings_among(const Problem& problem, std::span<const BufferId> buffers);

// As `minimise`, from a right placement `start`.
[[nodiscard]] Minimum minimise_spaced(const Packing& packing, std::span<const Spacing> spacings, Bytes lower,
                                      std::vector<Bytes> start, const Goal& goal, Budget& budget,
                                      const std::function<void(const Minimum&)>& progress = {});

}  // namespace usmp::planners::exact
