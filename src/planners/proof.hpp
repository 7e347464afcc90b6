// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// What can be said for certain about a result without searching: that a plan cannot be improved, and that there can
// be none. Both rest on the load alone, so both may keep silent on something that is true.
// Tests: tests/planners/proof_test.cpp, against exhaustive search.
#pragma once

#include <span>
#include <vector>

#include "planners/first_fit.hpp"
#include "usmp/problem/problem.hpp"

namespace usmp::planners {

// What a group's plan would use if every buffer were in its home (the first candidate pool that is large enough for
// it alone) and every pool met its packing bound. No plan has a smaller score: any other choice of pools leaves more
// bytes outside preferred pools, and with this choice no pool can use less.
// Pools outside the group count 0.
[[nodiscard]] Cost ideal(const Problem& problem, const Group& group);
[[nodiscard]] bool meets(const Score& score, const Cost& ideal);

// The first candidate pool whose capacity the buffer does not exceed; invalid if there is none.
[[nodiscard]] PoolId home(const Problem& problem, BufferId id);

// Whether no plan can exist: a buffer is larger than each of its pools, or the buffers confined to a set of bounded
// pools are together larger than these at some tick. The sets tried are every list of possible pools that occurs,
// and all bounded pools at once. O(lists · n log n).
[[nodiscard]] bool proved_infeasible(const Problem& problem);

}  // namespace usmp::planners
