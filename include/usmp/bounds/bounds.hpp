// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// Lower bounds on what any plan needs.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "usmp/bounds/load.hpp"
#include "usmp/problem/problem.hpp"

namespace usmp::bounds {

// The heights that a pool can have at all.
//
// Any plan can be compacted: place its buffers again in the order of their offsets, each as low as possible. None ends
// up higher, and each then rests on the pool's first offset, on another buffer or on a pin, with no larger gap than its
// alignment requires. So the pool's height is that of a stack of buffers, the lowest on the first offset or on a pin.
//   - All sizes and alignments are multiples of some unit: so are all heights.
//   - One alignment for all: the height is the first offset, or a pin's end, plus some of the sizes, all but the
//   topmost
//     rounded up. These sums are listed if there are not too many of them, else only the unit counts; nor are they if
//     buffers may share bytes.
// Rounding a bound up to the next height, and a capacity down to the last, changes no answer.
class Heights {
 public:
  // For any plan that puts a subset of the buffers into the pool, and no others. Pinned ones are always there. O(n ·
  // sums / 64), and no more than a fixed number of steps.
  Heights(const Problem& problem, std::span<const BufferId> buffers, const Pool& pool);

  [[nodiscard]] Bytes at_least(Bytes height) const;  // the lowest possible height that is not below it; >= height
  [[nodiscard]] Bytes at_most(Bytes height) const;  // the largest possible one that is not above it; 0 if there is none

 private:
  [[nodiscard]] bool has(Bytes step) const;

  Bytes unit_ = 1;                   // of every height
  Bytes alignment_ = 0;              // of all sums; 0: they are not listed
  std::vector<std::uint64_t> sums_;  // bit i: i times the alignment is where a pile may end, rounded up
  std::vector<Bytes> topmost_;       // sizes that may stand on such a pile; 0 if nothing is rounded
  std::vector<Bytes> ends_;          // of pins
};

// Bytes that the pool must have because an odd ring of buffers is in it, each live together with the next and not
// allowed to share bytes with it: three times the smallest of them (and what is reserved below). 0 if there is no such
// ring among the largest buffers.
//
// Proof: say each has w bytes or more and the pool less than 3w behind what is reserved; look at the first w of each.
// Two that both start in the first w bytes overlap, and so do two that both start later, within the next w. So of two
// neighbours one starts in the first w bytes and the other does not: neighbours alternate, and the ring is even.
// Buffers of one live range each make no ring without three that are live together, so the load gives the same bound
// for them. O(k² · ranges) for the k largest, k a constant; O(n log n) else.
[[nodiscard]] Bytes odd_ring_bound(const Problem& problem, std::span<const BufferId> buffers, const Pool& pool);

// A lower bound of a pool's used bytes over all complete plans, and its reason in a few words. It counts buffers that
// have no other candidate pool large enough for them, and what other, bounded candidates cannot take.
struct PoolBound {
  Bytes bytes = 0;
  // "load", "aligned load", "all constants are live", "largest buffer", "end of a pinned buffer", "odd ring of
  // buffers", "live bytes beyond the bounded pools", "sums of sizes", or "each buffer may be elsewhere"
  std::string reason;
};
[[nodiscard]] std::vector<PoolBound> pool_bounds(const Problem& problem);  // by PoolId

}  // namespace usmp::bounds
