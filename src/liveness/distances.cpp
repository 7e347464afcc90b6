// Runs of outermost loops in which one site dies and another is born, and what the addresses in the loop say of the
// two. A pair counts only if every tick at which both are live is one of such a run.
// Tests: tests/liveness/distances_test.cpp (addresses), sharing_conditions_test.cpp (which pairs),
// random_nests_test.cpp (replayed byte by byte), and random modules.
#include "usmp/liveness/distances.hpp"

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <tuple>
#include <utility>

#include "liveness/address_walk.hpp"
#include "liveness/nest_recorder.hpp"

namespace usmp::liveness {
namespace {

// What is known of two sites, the first with the smaller index.
struct Pair {
  Bytes first_below = 0;         // how far above the start of the first one the second one has to start
  Bytes second_below = 0;        // and the other way round
  std::vector<LiveRange> ticks;  // of the runs that say so
  std::size_t function = 0;      // of the first of them
};

std::vector<LiveRange> common_ticks(const std::vector<LiveRange>& a, const std::vector<LiveRange>& b) {
  std::vector<LiveRange> common;
  for (auto i = a.begin(), j = b.begin(); i != a.end() && j != b.end();) {
    const LiveRange both{std::max(i->begin, j->begin), std::min(i->end, j->end)};
    if (both.begin < both.end) common.push_back(both);
    ++(i->end < j->end ? i : j);
  }
  return common;
}

// Whether each range lies within one of the runs.
bool covers(const std::vector<LiveRange>& runs, const std::vector<LiveRange>& ranges) {
  return std::all_of(ranges.begin(), ranges.end(), [&](const LiveRange& range) {
    return std::any_of(runs.begin(), runs.end(),
                       [&](const LiveRange& ticks) { return ticks.begin <= range.begin && range.end <= ticks.end; });
  });
}

class Finder {
 public:
  Finder(const Nests& nests, const Options& options) : nests_(nests), options_(options) {}

  std::vector<StorageDistance> run() {
    for (const NestRun& run : nests_.runs) look_at(run);
    std::vector<StorageDistance> found;
    for (const auto& [sites, pair] : pairs_) {
      const Site& first = nests_.analysis.sites[sites.first];
      const Site& second = nests_.analysis.sites[sites.second];
      if (!covers(pair.ticks, common_ticks(first.live, second.live))) continue;
      if (pair.first_below < first.size) found.push_back({first.var, second.var, pair.first_below, pair.function});
      if (pair.second_below < second.size) found.push_back({second.var, first.var, pair.second_below, pair.function});
    }
    std::sort(found.begin(), found.end(), [](const StorageDistance& a, const StorageDistance& b) {
      return std::tuple(a.below, a.above) < std::tuple(b.below, b.above);
    });
    return found;
  }

 private:
  // Sites that the run accesses through one variable that is theirs alone.
  std::map<std::uint32_t, tir::VarId> plain_sites(const NestRun& run) const {
    std::map<std::uint32_t, tir::VarId> plain;
    std::set<std::uint32_t> others;
    for (const NestRun::Access& access : run.accesses) {
      if (access.site >= nests_.analysis.sites.size()) continue;
      const bool is_new = plain.emplace(access.site, access.var).second;
      const bool is_constant = nests_.analysis.sites[access.site].kind == BufferKind::constant;
      if (!is_new || !access.is_base || is_constant || nests_.escaped[access.site]) others.insert(access.site);
    }
    for (const std::uint32_t site : others) plain.erase(site);
    return plain;
  }

  // By the application.
  [[nodiscard]] bool is_read_afterwards(std::uint32_t site) const {
    return nests_.analysis.sites[site].kind == BufferKind::output;
  }
  [[nodiscard]] bool is_written_before(std::uint32_t site) const {
    const Site& parameter = nests_.analysis.sites[site];
    return parameter.kind == BufferKind::input || std::ranges::count(options_.inputs, parameter.var) > 0;
  }

  void look_at(const NestRun& run) {
    const std::map<std::uint32_t, tir::VarId> plain = plain_sites(run);
    std::vector<std::uint32_t> dying;
    std::vector<std::uint32_t> born;
    for (const auto& [site, var] : plain) {
      for (const LiveRange& range : nests_.analysis.sites[site].live) {
        const bool dies = range.begin <= run.ticks.begin && range.end == run.ticks.end;
        const bool is_born = range.begin == run.ticks.begin && range.end >= run.ticks.end;
        if (dies && !is_read_afterwards(site)) dying.push_back(site);
        if (is_born && !is_written_before(site)) born.push_back(site);
      }
    }
    for (const std::uint32_t one : dying) {
      for (const std::uint32_t other : born) {
        // Of two that live in this run only, one is taken for the dying one.
        const bool is_both_ways = std::ranges::count(born, one) > 0 && std::ranges::count(dying, other) > 0;
        if (one == other || (is_both_ways && one > other)) continue;
        meet(run, plain, one, other);
      }
    }
  }

  void meet(const NestRun& run, const std::map<std::uint32_t, tir::VarId>& plain, std::uint32_t dying,
            std::uint32_t born) {
    const auto* footprints = footprints_of(run, plain);
    if (footprints == nullptr) return;
    const Footprint& old_one = footprints->at(plain.at(dying));
    const Footprint& new_one = footprints->at(plain.at(born));
    if (!old_one.type || !new_one.type || !tir::may_alias(*old_one.type, *new_one.type)) return;
    Pair& pair = pairs_[std::minmax(dying, born)];
    const Bytes born_below = distance_below(new_one, old_one);
    const Bytes dying_below = distance_above(new_one, old_one);
    pair.first_below = std::max(pair.first_below, dying < born ? dying_below : born_below);
    pair.second_below = std::max(pair.second_below, dying < born ? born_below : dying_below);
    if (pair.ticks.empty()) pair.function = run.function;
    pair.ticks.push_back(run.ticks);
  }

  // Of the run's variables; null if the loop is not followed.
  const std::map<tir::VarId, Footprint>* footprints_of(const NestRun& run,
                                                       const std::map<std::uint32_t, tir::VarId>& plain) {
    std::map<tir::VarId, Bytes> sizes;
    for (const auto& [site, var] : plain) sizes[var] = nests_.analysis.sites[site].size;
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

  const Nests& nests_;
  const Options& options_;
  std::map<std::pair<std::uint32_t, std::uint32_t>, Pair> pairs_;
  // Looked up only, so that the order of addresses does not matter.
  std::map<std::pair<const tir::For*, std::map<tir::VarId, Bytes>>, std::optional<std::map<tir::VarId, Footprint>>>
      footprints_;
};

}  // namespace

std::vector<StorageDistance> find_distances(const tir::Module& module, const Options& options) {
  const Nests nests = analyse_nests(module, options);
  return Finder(nests, options).run();
}

}  // namespace usmp::liveness
