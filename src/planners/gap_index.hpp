// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// The gaps of a pool in order of their sizes, then of their places. A sorted list cut into short sorted arrays: with
// hundreds of thousands of gaps it is several times faster than a tree of nodes, which misses the cache at every step.
// Tests: tests/planners/fast_test.cpp.
#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "usmp/problem/problem.hpp"

namespace usmp::planners {

// Free bytes with a block above them. What its neighbours are never changes while the gap exists.
struct Gap {
  Bytes size = 0;
  Bytes begin = 0;
  Tick below_ends = 0;  // 0 if the gap stands on the floor
  Tick above_ends = 0;
  std::uint32_t below = UINT32_MAX;  // the block that it stands on; UINT32_MAX: the floor

  [[nodiscard]] std::pair<Bytes, Bytes> key() const { return {size, begin}; }
};

class GapIndex {
 public:
  // A place in the order; invalid after any change.
  struct Position {
    std::size_t chunk = 0;
    std::size_t index = 0;
  };

  // O(log n + longest chunk), and now and then O(n / longest chunk).
  void insert(const Gap& gap);
  void erase(Bytes size, Bytes begin);
  void clear();

  // The first gap of at least this size. O(log n).
  [[nodiscard]] Position at_least(Bytes size) const;
  // nullptr behind the last one.
  [[nodiscard]] const Gap* get(const Position& position) const {
    return position.chunk == chunks_.size() ? nullptr : &chunks_[position.chunk][position.index];
  }
  void advance(Position& position) const {
    if (++position.index < chunks_[position.chunk].size()) return;
    position = {position.chunk + 1, 0};
  }

 private:
  using Chunk = std::vector<Gap>;  // never empty
  static constexpr std::size_t longest_chunk = 128;

  [[nodiscard]] std::size_t chunk_of(const std::pair<Bytes, Bytes>& key) const;
  [[nodiscard]] static Chunk::const_iterator first_not_below(const Chunk& chunk, const std::pair<Bytes, Bytes>& key);

  std::vector<Chunk> chunks_;
  std::vector<std::pair<Bytes, Bytes>> starts_;  // no gap of the chunk is below; the first chunk takes all below it
};

}  // namespace usmp::planners
