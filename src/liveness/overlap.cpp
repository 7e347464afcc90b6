// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// Walks the addresses of all runs in the window that access one of the two, until nothing is left to share.
#include "liveness/overlap.hpp"

#include <algorithm>
#include <set>

#include "usmp/liveness/distances.hpp"

namespace usmp::liveness {
namespace {

constexpr std::size_t most_sites = 256;           // of one loop
constexpr std::size_t most_touches = 20'000'000;  // that are looked at in all, some nanoseconds each
constexpr std::size_t most_kept = 1'000'000;      // touches of loops that may be asked for again

}  // namespace

OverlapFinder::OverlapFinder(const Nests& nests, const Options& options)
    : nests_(&nests),
      options_(&options),
      runs_of_(nests.analysis.sites.size()),
      loose_(nests.analysis.sites.size()),
      plain_(nests.runs.size()),
      memo_(options.memo ? options.memo : make_footprint_memo()) {
  for (std::size_t run = 0; run < nests.runs.size(); ++run) {
    for (const NestRun::Access& access : nests.runs[run].accesses) {
      if (access.site >= runs_of_.size()) continue;
      std::vector<std::size_t>& runs = runs_of_[access.site];
      if (runs.empty() || runs.back() != run) runs.push_back(run);
    }
  }
  for (const LooseAccess& access : nests.loose) {
    if (access.site < loose_.size()) loose_[access.site].push_back(access.tick);
  }
  for (std::vector<Tick>& ticks : loose_) std::ranges::sort(ticks);
}

std::vector<std::pair<SiteIndex, SiteIndex>> OverlapFinder::pairs_in(std::size_t run) {
  std::vector<std::pair<SiteIndex, SiteIndex>> pairs;
  const Plain& plain = plain_sites(run);
  if (plain.size() > most_sites) return pairs;
  for (auto one = plain.begin(); one != plain.end(); ++one) {
    for (auto other = std::next(one); other != plain.end(); ++other) pairs.emplace_back(one->first, other->first);
  }
  return pairs;
}

std::optional<MinimumOffsets> OverlapFinder::offsets_of(SiteIndex dying, SiteIndex born, const LiveRange& window) {
  if (is_read_afterwards(dying) || is_written_before(born)) return std::nullopt;
  const auto runs = runs_in(window, dying, born);
  if (!runs) return std::nullopt;
  const std::vector<Site>& sites = nests_->analysis.sites;
  OffsetBounds closest;
  std::optional<tir::DataType> old_type;
  std::optional<tir::DataType> new_type;
  for (const std::size_t run : *runs) {
    const Footprints* footprints = footprints_of(run);
    if (footprints == nullptr) return std::nullopt;
    const Footprint* old_one = footprint_in(run, *footprints, dying);
    const Footprint* new_one = footprint_in(run, *footprints, born);
    if (!is_of_one_type(old_one, old_type) || !is_of_one_type(new_one, new_type)) return std::nullopt;
    closest.add(new_one, old_one);
    // Sooner or later nothing is left to share: most pairs end here.
    if (closest.born_above() >= sites[dying].size && closest.dying_above() >= sites[born].size) return std::nullopt;
    if (looked_at_ > most_touches) return std::nullopt;
  }
  if (!old_type || !new_type || !tir::may_alias(*old_type, *new_type)) return std::nullopt;
  return MinimumOffsets{closest.born_above(), closest.dying_above()};
}

// Null: the run does not access the site.
const Footprint* OverlapFinder::footprint_in(std::size_t run, const Footprints& footprints, SiteIndex site) {
  const auto var = plain_sites(run).find(site);
  if (var == plain_sites(run).end()) return nullptr;
  const Footprint& footprint = footprints.of(var->second);
  looked_at_ += footprint.touches.size();
  return &footprint;
}

bool OverlapFinder::is_of_one_type(const Footprint* footprint, std::optional<tir::DataType>& type) {
  if (footprint == nullptr) return true;
  if (!footprint->type || (type && *type != *footprint->type)) return false;
  type = footprint->type;
  return true;
}

// By the application.
bool OverlapFinder::is_read_afterwards(SiteIndex site) const {
  return nests_->analysis.sites[site].kind == BufferKind::output;
}
bool OverlapFinder::is_written_before(SiteIndex site) const {
  const Site& parameter = nests_->analysis.sites[site];
  return parameter.kind == BufferKind::input || std::ranges::count(options_->inputs, parameter.var) > 0;
}

// Those that access one of the two, in order. Nothing if there are other accesses.
std::optional<std::vector<std::size_t>> OverlapFinder::runs_in(const LiveRange& window, SiteIndex one,
                                                               SiteIndex other) {
  constexpr std::size_t most_runs = 32;
  std::set<std::size_t> runs;
  for (const SiteIndex site : {one, other}) {
    const auto loose = std::ranges::lower_bound(loose_[site], window.begin);
    if (loose != loose_[site].end() && *loose < window.end) return std::nullopt;
    const auto behind = [&](std::size_t run) { return nests_->runs[run].ticks.end <= window.begin; };
    for (auto run = std::ranges::partition_point(runs_of_[site], behind);
         run != runs_of_[site].end() && nests_->runs[*run].ticks.begin < window.end; ++run) {
      runs.insert(*run);
      if (runs.size() > most_runs || !plain_sites(*run).contains(site)) return std::nullopt;
    }
  }
  return std::vector<std::size_t>(runs.begin(), runs.end());
}

const OverlapFinder::Plain& OverlapFinder::plain_sites(std::size_t index) {
  std::optional<Plain>& plain = plain_[index];
  if (plain) return *plain;
  plain.emplace();
  std::set<SiteIndex> others;
  for (const NestRun::Access& access : nests_->runs[index].accesses) {
    if (access.site >= nests_->analysis.sites.size()) continue;
    const bool is_new = plain->emplace(access.site, access.var).second;
    const bool is_constant = nests_->analysis.sites[access.site].kind == BufferKind::constant;
    // Addresses in a ring are not those of the elements that accesses name.
    const bool is_ring = nests_->analysis.sites[access.site].ring.has_value();
    if (!is_new || !access.is_base || is_constant || is_ring || nests_->escaped[access.site])
      others.insert(access.site);
  }
  for (const SiteIndex site : others) plain->erase(site);
  return *plain;
}

// What the run does to its variables; null if the loop is not followed.
const OverlapFinder::Footprints* OverlapFinder::footprints_of(std::size_t index) {
  const NestRun& run = nests_->runs[index];
  std::map<tir::VarId, Bytes> sizes;
  for (const auto& [site, var] : plain_sites(index)) sizes[var] = nests_->analysis.sites[site].size;
  if (kept_ > most_kept) {
    footprints_.clear();
    kept_ = 0;
  }
  const auto [place, is_new] = footprints_.try_emplace(std::pair(run.loop, sizes));
  if (is_new) {
    place->second = walk_addresses(*run.loop, sizes, most_groups, *memo_);
    if (place->second) {
      kept_ += place->second->touches();
      looked_at_ += place->second->touches();
    }
    // A variable that the walk over the program did not see stands for another one.
    const bool is_known = place->second && std::ranges::all_of(place->second->vars, [&](tir::VarId var) {
                            return std::ranges::binary_search(run.vars, var);
                          });
    if (!is_known) place->second.reset();
  }
  return place->second ? &*place->second : nullptr;
}

}  // namespace usmp::liveness
