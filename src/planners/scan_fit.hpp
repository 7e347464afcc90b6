// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// First fit in one pool without a list of conflicts: what is placed is kept in the order of offsets, and a buffer goes
// through it from the bottom up to the first gap that holds it. Each look is a comparison of two intervals, so that
// 10^8 conflicts take some tenths of a second and no memory. What is placed stands in blocks: one is passed in one step
// where none of its buffers is live with the new one, and where all are and no gap between them is large enough.
// Tests: tests/planners/large_test.cpp.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "planners/exact/packing.hpp"
#include "usmp/problem/problem.hpp"

namespace usmp::planners {

class ScanFit {
 public:
  // All of the buffers go to the pool. Keeps references to the problem.
  ScanFit(const Problem& problem, std::span<const BufferId> buffers, PoolId pool);

  // Those that an order is made of: neither pinned nor empty nor never live.
  [[nodiscard]] const std::vector<BufferId>& movable() const { return movable_; }

  // Places all `movable`, in this order, each at the lowest offset where it fits. The highest end of all buffers;
  // nothing if the budget was exhausted before: a look counts as a unit of work, also one in a block
  // that is passed in one step. O(n²) looks at most.
  [[nodiscard]] std::optional<Bytes> run(std::span<const BufferId> order, exact::Budget& budget);

  // By BufferId, from the last run that was completed; those of pinned and empty buffers always.
  [[nodiscard]] const std::vector<Bytes>& offsets() const { return offsets_; }
  [[nodiscard]] Bytes offset(BufferId id) const { return offsets_[id.index()]; }
  [[nodiscard]] Bytes end(BufferId id) const { return offset(id) + problem_.buffer(id).size; }

 private:
  struct Placed {
    Bytes begin = 0;
    Bytes end = 0;
    Tick first = 0;  // ticks, from the first live one to behind the last
    Tick last = 0;
    BufferId buffer;
    bool is_whole = true;  // live all the time between
  };

  struct Block {
    std::vector<Placed> placed;  // by offset
    Tick first = 0;              // of the ticks of any
    Tick last = 0;
    Tick common_first = 0;  // in these ticks all are live; none if the first is not below the last
    Tick common_last = 0;
    Bytes widest = 0;  // gap between two
    Bytes end = 0;     // of all

    void measure();
  };
  // What is looked for, on its way up.
  struct Search {
    Placed place;
    Bytes alignment = 1;
    std::uint64_t looks = 0;

    // Above what ends at this offset.
    void rise_above(Bytes end);
  };

  [[nodiscard]] static Placed placed(const Problem& problem, BufferId id, Bytes offset);
  [[nodiscard]] bool meets(const Placed& one, const Placed& other) const;
  [[nodiscard]] std::vector<Block> blocks_of_pinned() const;
  // Whether it fits below something in the block.
  [[nodiscard]] bool pass(const Block& block, Search& search) const;
  void insert(const Placed& placed);

  const Problem& problem_;
  PoolId pool_;
  std::vector<BufferId> movable_;
  std::vector<Placed> pinned_;  // by offset
  Bytes pinned_peak_ = 0;       // and of empty buffers
  std::vector<Block> blocks_;   // by offset
  std::vector<Bytes> offsets_;  // by BufferId
};

}  // namespace usmp::planners
