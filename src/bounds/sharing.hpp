// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// What is live at one moment and may share bytes: how much less it needs than the sum of its sizes.
//
// Buffers that stand apart add up. Of two that may share, the bytes of both together are as many as if they were as
// close as they may be, at least. So in each connected part of the graph of those that may share, the pair that needs
// most counts, or the largest buffer, and beside it others that share with none of what counts. Or all of the part
// count, each with its core: the bytes that stay its own however close the others come, from its start on (or up to its
// end). Cores of two buffers never meet, whichever stands above. A concatenation of many small tensors is such a part.
//
// A part is computed anew only when one of its buffers has begun or ended. Where parts are so large that this takes too
// many steps over all, the rest of the time is passed with less of an answer: of all that share, only the largest
// counts. Such a bound is lower, and as true.
// Tests: tests/bounds/load_test.cpp.
#pragma once

#include <cstdint>
#include <set>
#include <span>
#include <vector>

#include "usmp/problem/problem.hpp"

namespace usmp::bounds {

class Sharing {
 public:
  // Sizes and distances count rounded up to multiples of `granule`. Without distances it holds nothing and costs
  // nothing; else O((n + distances) log), and no more than a fixed number of steps.
  Sharing(const Problem& problem, Bytes granule);

  void begin(BufferId id);
  void end(BufferId id);
  [[nodiscard]] Bytes saved();

 private:
  using Index = std::uint32_t;
  static constexpr Index none = ~Index{0};

  struct Part {
    Bytes saved = 0;
    bool is_current = true;
  };

  [[nodiscard]] std::span<const BufferId> partners(BufferId id) const;
  [[nodiscard]] Bytes rounded(BufferId id) const { return align_up(problem_.buffer(id).size, granule_); }
  [[nodiscard]] Bytes together(BufferId a, BufferId b) const;
  void count_partner(BufferId id, bool begins);
  void forget_part_of(BufferId id);
  void compute_part_of(BufferId id);
  [[nodiscard]] Bytes needed(std::vector<BufferId> part);
  [[nodiscard]] Bytes bytes_of_cores(const std::vector<BufferId>& part, bool at_starts);
  [[nodiscard]] Bytes needed_of_few(const std::vector<BufferId>& part);
  [[nodiscard]] Bytes needed_of_many(const std::vector<BufferId>& part);

  const Problem& problem_;
  Bytes granule_;
  std::vector<std::size_t> first_;  // by BufferId, into partners_; empty without distances
  std::vector<BufferId> partners_;
  std::vector<bool> live_;
  std::vector<Index> live_partners_;  // by BufferId
  std::multiset<Bytes> sizes_;        // of what is live and has partners that are
  Bytes sum_ = 0;                     // of these
  std::vector<Part> parts_;
  std::vector<Index> part_of_;      // by BufferId
  std::vector<BufferId> changed_;   // in each part that is to be computed is one of these
  std::vector<std::size_t> marks_;  // by BufferId, for needed_of_many
  std::size_t mark_ = 0;
  Bytes saved_ = 0;  // of the parts that are current
  std::uint64_t steps_ = 0;
};

}  // namespace usmp::bounds
