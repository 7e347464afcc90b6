// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// Peak live bytes, and the room that buffers therefore need together. Used by lower bounds and by planners, which stop
// when they meet one.
#pragma once

#include <span>
#include <vector>

#include "usmp/problem/problem.hpp"

namespace usmp::bounds {

// The largest sum of sizes that are live at one tick, and the first such tick. Buffers that may share bytes (see
// Problem::distances) count as much as is proved that they need together in any plan: the closest two of them with all
// that shares with neither, or of each what it shares with none (src/bounds/sharing.hpp); less where so many share with
// each other that computing it would take too long.
struct Load {
  Bytes bytes = 0;
  Tick at = 0;

  friend bool operator==(const Load&, const Load&) = default;
};

// Load over the chosen buffers, every size rounded up to a multiple of `granule` (>= 1, and a divisor of an alignment
// that each of them obeys, so that the sum stays below Problem::max_total_bytes). 0 if nothing is live. O(n log n).
[[nodiscard]] Load load(const Problem& problem, std::span<const BufferId> buffers, Bytes granule = 1);

// Live bytes over time, as `load` counts them: at tick 0 and at each tick where they change. O(n log n).
[[nodiscard]] std::vector<Load> load_over_time(const Problem& problem, std::span<const BufferId> buffers);

// The greatest common divisor of the alignments that the chosen buffers obey in `pool`: all their offsets there are
// multiples of it. Empty buffers do not count; 1 if there are no others.
[[nodiscard]] Bytes common_alignment(const Problem& problem, std::span<const BufferId> buffers, const Pool& pool);

// Bytes that the pool must have if all the chosen buffers are placed in it: no plan of them uses less.
//
// With g the common alignment, sort the buffers live at one tick by offset. Each offset is a multiple of g, so a buffer
// takes its size rounded up to g before the next one can start; only the topmost one may end unrounded. The end of the
// topmost is therefore at least the sum of the rounded sizes less the largest rounding of one of them (and less what
// may be shared: distances, too, are rounded up). All of it stands above what the pool reserves, rounded up to g. A
// buffer that is never live must still fit on its own, and a pinned one has a fixed end. A plan of all is a plan of
// some: for each of the coarsest alignments, of eight at most, the same holds of the buffers that obey it, without
// those that fit into what these lose.
//
// And together with the finer ones, where none may share bytes: let k coarse and m finer buffers be live, sorted by
// offset. A coarse one that is directly below a coarse one loses what it is rounded up by to the coarse alignment; only
// m of them are below a finer one, and one is the topmost coarse one. So at least the k - m - 1 smallest such roundings
// are lost, beside the sizes of all. O(n log n).
[[nodiscard]] Load packing_bound(const Problem& problem, std::span<const BufferId> buffers, const Pool& pool);

// What a pool can hold at most: its capacity less what is reserved, both rounded up to `granule`, which divides the
// alignment of everything considered; at most Problem::max_total_bytes, which nothing exceeds.
[[nodiscard]] Bytes room_in(const Pool& pool, Bytes granule = 1);

// The candidate pools that have room for the buffer alone, best first: no complete plan places it elsewhere.
[[nodiscard]] std::vector<PoolId> possible_pools(const Problem& problem, BufferId id);

}  // namespace usmp::bounds
