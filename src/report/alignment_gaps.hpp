// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// Bytes that alignment costs, for pictures.
#pragma once

#include <vector>

#include "usmp/compare/figures.hpp"

namespace usmp::report {

// Bytes [low, high) of a pool that lie free between two neighbours because the upper one begins at the next multiple of
// its alignment.
struct AlignmentGap {
  LiveRange ticks;
  Bytes low = 0;
  Bytes high = 0;

  friend bool operator==(const AlignmentGap&, const AlignmentGap&) = default;
};

// While both neighbours are live, by time and address. Neighbours are so by their offsets: a third buffer that shares
// bytes with the lower one may lie over a gap. At most two for each live range. O(n log n).
[[nodiscard]] std::vector<AlignmentGap> alignment_gaps(const plan_file::PlanDocument& document,
                                                       const compare::PoolFigures& figures);

}  // namespace usmp::report
