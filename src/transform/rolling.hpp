// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// Operators that run a row at a time, so that tensors between them need only the rows that are still to be read.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "usmp/tir/ir.hpp"
#include "usmp/transform/transform.hpp"

namespace usmp::transform {

// Makes consecutive calls one call of a new function where that lowers the largest estimated need of memory: its loops
// compute rows of the last operator's tensor, and before each row the rows of the tensors in front of it that it needs,
// every element once (rolling_schedule.hpp). Which calls become one is the best division of the calls into segments,
// found by dynamic programming: the smallest largest segment, then the fewest calls in new functions. With
// options.strip_percent, a segment may run in vertical strips of its last tensor: pixels that two strips need are
// computed for each, as long as the work of the module (loops/cost.hpp) grows by no more than that; of the best
// divisions one with the least work. With options.rolling_room, the division whose segments have the fewest bytes
// beyond it, added up, and no strips. Legal as rolled_segment (rolling_segment.hpp) says. Functions that nobody calls
// any more go. Returns what was done. O(10000 segments · size of their calls).
std::vector<Change> roll(tir::Module& module, const Options& options);

// In one new function, of a program of at most 156 calls; of larger ones fewer, at least 2.
inline constexpr std::size_t most_rolled_calls = 64;

// Segments that are looked at.
inline constexpr std::size_t most_segments = 10'000;

// StepResult::too_large, of a program with more calls than that: `roll` is not to be called. Nothing: it may be.
[[nodiscard]] std::optional<std::string> too_large_to_roll(const tir::Module& module);

}  // namespace usmp::transform
