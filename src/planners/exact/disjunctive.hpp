// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// The exact search in one pool whose items may partly share bytes.
//
// The search is explained in pair_search.hpp.
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
