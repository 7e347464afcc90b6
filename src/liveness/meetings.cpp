#include "liveness/meetings.hpp"

#include <algorithm>
#include <set>

#include "usmp/liveness/distances.hpp"

namespace usmp::liveness {
namespace {

// Adds the touches of a later run. Whether the elements are of one type.
bool append(Footprint& all, const Footprint& next, std::size_t first_group) {
  if (!next.type || (all.type && *all.type != *next.type)) return false;
  all.type = next.type;
  for (Touch touch : next.touches) {
    touch.group += first_group;
    all.touches.push_back(touch);
  }
  return true;
}

std::size_t groups_of(const Footprint& footprint) {
  return footprint.touches.empty() ? 0 : footprint.touches.back().group + 1;
}

}  // namespace

Meetings::Meetings(const Nests& nests, const Options& options)
    : nests_(&nests),
      options_(&options),
      runs_of_(nests.analysis.sites.size()),
      loose_(nests.analysis.sites.size()),
      plain_(nests.runs.size()) {
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

std::vector<std::pair<SiteIndex, SiteIndex>> Meetings::pairs_in(std::size_t run) {
  std::vector<std::pair<SiteIndex, SiteIndex>> pairs;
  const Plain& plain = plain_sites(run);
  for (auto one = plain.begin(); one != plain.end(); ++one) {
    for (auto other = std::next(one); other != plain.end(); ++other) pairs.emplace_back(one->first, other->first);
  }
  return pairs;
}

std::optional<Meeting> Meetings::meet(SiteIndex dying, SiteIndex born, const LiveRange& window) {
  if (is_read_afterwards(dying) || is_written_before(born)) return std::nullopt;
  const auto runs = runs_in(window, dying, born);
  if (!runs) return std::nullopt;
  Footprint old_one;
  Footprint new_one;
  std::size_t groups = 0;
  for (const std::size_t run : *runs) {
    const Footprints* footprints = footprints_of(run);
    if (footprints == nullptr) return std::nullopt;
    std::size_t of_run = 0;
    for (const auto& [site, all] : {std::pair(dying, &old_one), std::pair(born, &new_one)}) {
      if (!std::ranges::binary_search(runs_of_[site], run)) continue;
      const auto var = plain_sites(run).find(site);
      if (var == plain_sites(run).end()) return std::nullopt;
      const Footprint& footprint = footprints->at(var->second);
      if (!append(*all, footprint, groups)) return std::nullopt;
      of_run = std::max(of_run, groups_of(footprint));
    }
    groups += of_run;
  }
  if (!old_one.type || !new_one.type || !tir::may_alias(*old_one.type, *new_one.type)) return std::nullopt;
  return Meeting{distance_above(new_one, old_one), distance_below(new_one, old_one)};
}

// By the application.
bool Meetings::is_read_afterwards(SiteIndex site) const {
  return nests_->analysis.sites[site].kind == BufferKind::output;
}
bool Meetings::is_written_before(SiteIndex site) const {
  const Site& parameter = nests_->analysis.sites[site];
  return parameter.kind == BufferKind::input || std::ranges::count(options_->inputs, parameter.var) > 0;
}

// Those that access one of the two, in order. Nothing if there are other accesses.
std::optional<std::vector<std::size_t>> Meetings::runs_in(const LiveRange& window, SiteIndex one,
                                                          SiteIndex other) const {
  constexpr std::size_t most_runs = 32;
  std::set<std::size_t> runs;
  for (const SiteIndex site : {one, other}) {
    const auto loose = std::ranges::lower_bound(loose_[site], window.begin);
    if (loose != loose_[site].end() && *loose < window.end) return std::nullopt;
    const auto behind = [&](std::size_t run) { return nests_->runs[run].ticks.end <= window.begin; };
    for (auto run = std::ranges::partition_point(runs_of_[site], behind);
         run != runs_of_[site].end() && nests_->runs[*run].ticks.begin < window.end; ++run) {
      runs.insert(*run);
      if (runs.size() > most_runs) return std::nullopt;
    }
  }
  return std::vector<std::size_t>(runs.begin(), runs.end());
}

const Meetings::Plain& Meetings::plain_sites(std::size_t index) {
  std::optional<Plain>& plain = plain_[index];
  if (plain) return *plain;
  plain.emplace();
  std::set<SiteIndex> others;
  for (const NestRun::Access& access : nests_->runs[index].accesses) {
    if (access.site >= nests_->analysis.sites.size()) continue;
    const bool is_new = plain->emplace(access.site, access.var).second;
    const bool is_constant = nests_->analysis.sites[access.site].kind == BufferKind::constant;
    if (!is_new || !access.is_base || is_constant || nests_->escaped[access.site]) others.insert(access.site);
  }
  for (const SiteIndex site : others) plain->erase(site);
  return *plain;
}

// Of the run's variables; null if the loop is not followed.
const Meetings::Footprints* Meetings::footprints_of(std::size_t index) {
  const NestRun& run = nests_->runs[index];
  std::map<tir::VarId, Bytes> sizes;
  for (const auto& [site, var] : plain_sites(index)) sizes[var] = nests_->analysis.sites[site].size;
  const auto [place, is_new] = footprints_.try_emplace(std::pair(run.loop, sizes));
  if (is_new) {
    place->second = walk_addresses(*run.loop, sizes, most_groups);
    // A variable that the walk over the program did not see stands for another one.
    const bool is_known = place->second && std::ranges::all_of(*place->second, [&](const auto& footprint) {
                            return std::ranges::binary_search(run.vars, footprint.first);
                          });
    if (!is_known) place->second.reset();
  }
  return place->second ? &*place->second : nullptr;
}

}  // namespace usmp::liveness
