// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// Whether chosen buffers of one pool can be packed, and which of them are the reason if not. Remembers answers, since
// the search over pools asks for the same sets again and again.
#pragma once

#include <cstdint>
#include <map>
#include <utility>
#include <vector>

#include "planners/exact/disjunctive.hpp"
#include "planners/exact/packing.hpp"
#include "usmp/problem/problem.hpp"

namespace usmp::planners::exact {

class PoolPacker {
 public:
  // Both must outlive this object.
  PoolPacker(const Problem& problem, Budget& budget, std::uint64_t share)
      : problem_(problem), budget_(budget), share_(share) {}

  // Whether the buffers (ascending, neither empty nor never live) fit into the pool below `height`; if so, their
  // offsets in the same order.
  Verdict fit(PoolId pool, const std::vector<BufferId>& buffers, Bytes height, std::vector<Bytes>& offsets);

  // Their least height, or what is known of it.
  const Minimum& minimise(PoolId pool, const std::vector<BufferId>& buffers);

  // Search nodes that one question may cost. What is harder is left open, so that others can be asked first.
  [[nodiscard]] std::uint64_t share() const { return share_; }
  void raise_share() { share_ = 8 * share_ + 1; }

 private:
  struct Known {
    Minimum height;                // upper and offsets only if there are offsets
    std::uint64_t tried_with = 0;  // the share with which minimise was called
  };

  // Asks the search; what it finds out goes into `minimum`.
  static Verdict fit(const Packing& packing, const std::vector<Spacing>& spacings, Bytes height, Minimum& minimum,
                     Budget& share);
  Known& known(PoolId pool, const std::vector<BufferId>& buffers);

  const Problem& problem_;
  Budget& budget_;
  std::uint64_t share_;
  std::map<std::pair<PoolId, std::vector<BufferId>>, Known> known_;
};

}  // namespace usmp::planners::exact
