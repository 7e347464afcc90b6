// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// Two sites that are accessed in the same loops: what the order of addresses says of how they may share bytes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "liveness/address_walk.hpp"
#include "liveness/nest_recorder.hpp"
#include "usmp/liveness/liveness.hpp"
#include "usmp/problem/problem.hpp"
#include "usmp/tir/ir.hpp"

namespace usmp::liveness {

using SiteIndex = std::uint32_t;  // into Analysis::sites

// Each byte of the one that is dying has been accessed for the last time before it is written as a byte of the one that
// is born, if they stand so far apart.
struct MinimumOffsets {
  Bytes dying_below = 0;  // how far above the start of the dying one the other one has to start
  Bytes born_below = 0;   // and the other way round
};

class OverlapFinder {
 public:
  OverlapFinder(const Nests& nests, const Options& options);

  // Pairs of sites that the run accesses, the smaller one first; none of a run that accesses more than 256.
  [[nodiscard]] std::vector<std::pair<SiteIndex, SiteIndex>> pairs_in(std::size_t run);

  // In `window`, which goes from where the one that is born begins to live to where the dying one ends; loops that
  // reach into it count whole. Nothing if one of the two is accessed there but by loads and stores of outermost loops,
  // through one variable in each that is its alone, or C keeps their types apart, or there are too many loops, or too
  // large ones, or if nothing could be shared. Looks at some millions of touches in all, then finds nothing any more.
  [[nodiscard]] std::optional<MinimumOffsets> offsets_of(SiteIndex dying, SiteIndex born, const LiveRange& window);

 private:
  using Plain = std::map<SiteIndex, tir::VarId>;
  using Footprints = NestFootprints;

  [[nodiscard]] bool is_read_afterwards(SiteIndex site) const;
  [[nodiscard]] bool is_written_before(SiteIndex site) const;
  [[nodiscard]] std::optional<std::vector<std::size_t>> runs_in(const LiveRange& window, SiteIndex one,
                                                                SiteIndex other);
  const Plain& plain_sites(std::size_t run);
  const Footprints* footprints_of(std::size_t run);  // as long as no other run's are asked for
  const Footprint* footprint_in(std::size_t run, const Footprints& footprints, SiteIndex site);
  static bool is_of_one_type(const Footprint* footprint, std::optional<tir::DataType>& type);

  const Nests* nests_;
  const Options* options_;
  std::vector<std::vector<std::size_t>> runs_of_;  // by site: those that access it
  std::vector<std::vector<Tick>> loose_;           // by site: ticks of accesses outside of such runs, sorted
  std::vector<std::optional<Plain>> plain_;        // by run: sites that it accesses through one variable each
  // Looked up only, so that the order of addresses does not matter.
  std::map<std::pair<const tir::For*, std::map<tir::VarId, Bytes>>, std::optional<Footprints>> footprints_;
  std::shared_ptr<FootprintMemo> memo_;
  std::size_t kept_ = 0;       // touches in footprints_
  std::size_t looked_at_ = 0;  // touches
};

}  // namespace usmp::liveness
