// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// A pair counts only if every tick at which both are live is in a window that says how far apart they have to be.
// Tests: tests/liveness/distances_test.cpp (addresses), sharing_conditions_test.cpp (which pairs),
// random_nests_test.cpp (replayed byte by byte), statement_distances_test.cpp, and random modules.
#include "usmp/liveness/distances.hpp"

#include <algorithm>
#include <map>
#include <set>
#include <tuple>
#include <utility>

#include "liveness/overlap.hpp"

namespace usmp::liveness {
namespace {

// What is known of two sites.
struct Pair {
  Bytes first_below = 0;         // how far above the start of the first one the second one has to start
  Bytes second_below = 0;        // and the other way round
  std::vector<LiveRange> ticks;  // for which that is right
  std::size_t function = 0;      // where they meet, the first time

  void add(const LiveRange& window, std::size_t where, Bytes first, Bytes second) {
    first_below = std::max(first_below, first);
    second_below = std::max(second_below, second);
    if (ticks.empty()) function = where;
    ticks.push_back(window);
  }

  // Whether the pair is understood at each of these ticks.
  [[nodiscard]] bool covers(const std::vector<LiveRange>& ranges) const {
    return std::ranges::all_of(ranges, [&](const LiveRange& range) {
      return std::ranges::any_of(
          ticks, [&](const LiveRange& known) { return known.begin <= range.begin && range.end <= known.end; });
    });
  }
};

using Pairs = std::map<std::pair<SiteIndex, SiteIndex>, Pair>;

void add_distances(const Site& first, const Site& second, const Pair& pair, std::vector<StorageDistance>& found) {
  if (pair.first_below < first.size) found.push_back({first.var, second.var, pair.first_below, pair.function});
  if (pair.second_below < second.size) found.push_back({second.var, first.var, pair.second_below, pair.function});
}

// The range that holds all of the run.
const LiveRange* range_around(const std::vector<LiveRange>& ranges, const LiveRange& run) {
  const auto found = std::ranges::find_if(
      ranges, [&](const LiveRange& range) { return range.begin <= run.begin && run.end <= range.end; });
  return found == ranges.end() ? nullptr : &*found;
}

// The pairs of a whole program. In each run that accesses both, the one that ends first is taken for the dying one.
class Finder {
 public:
  Finder(const Nests& nests, const Options& options) : nests_(nests), overlaps_(nests, options) {}

  std::vector<StorageDistance> run() {
    for (std::size_t run = 0; run < nests_.runs.size(); ++run) {
      for (const auto& [one, other] : overlaps_.pairs_in(run)) look_at(run, one, other);
    }
    std::vector<StorageDistance> found;
    for (const auto& [both, pair] : pairs_) {
      const Site& first = nests_.analysis.sites[both.first];
      const Site& second = nests_.analysis.sites[both.second];
      if (pair.covers(common_ticks(first.live, second.live))) add_distances(first, second, pair, found);
    }
    std::ranges::sort(found, {},
                      [](const StorageDistance& distance) { return std::pair(distance.below, distance.above); });
    return found;
  }

 private:
  void look_at(std::size_t index, SiteIndex one, SiteIndex other) {
    const NestRun& run = nests_.runs[index];
    const LiveRange* live = range_around(nests_.analysis.sites[one].live, run.ticks);
    const LiveRange* other_live = range_around(nests_.analysis.sites[other].live, run.ticks);
    if (live == nullptr || other_live == nullptr) return;
    const bool first_dies = dies_first(one, *live, other, *other_live);
    const LiveRange window =
        first_dies ? LiveRange{other_live->begin, live->end} : LiveRange{live->begin, other_live->end};
    if (!seen_.insert({one, other, window}).second) return;
    const auto offsets =
        first_dies ? overlaps_.offsets_of(one, other, window) : overlaps_.offsets_of(other, one, window);
    if (!offsets) return;
    pairs_[{one, other}].add(window, run.function, first_dies ? offsets->dying_below : offsets->born_below,
                             first_dies ? offsets->born_below : offsets->dying_below);
  }

  // Where two end together, an output goes on: the application reads it.
  [[nodiscard]] bool dies_first(SiteIndex one, const LiveRange& live, SiteIndex other,
                                const LiveRange& other_live) const {
    const auto is_output = [&](SiteIndex site) { return nests_.analysis.sites[site].kind == BufferKind::output; };
    return std::tuple(live.end, is_output(one), live.begin) <=
           std::tuple(other_live.end, is_output(other), other_live.begin);
  }

  const Nests& nests_;
  OverlapFinder overlaps_;
  Pairs pairs_;  // the smaller index first
  std::set<std::tuple<SiteIndex, SiteIndex, LiveRange>> seen_;
};

// The pairs of each statement of the entry, as if it were the whole program.
class StatementFinder {
 public:
  StatementFinder(const StatementNests& program, const Options& options)
      : uses_(program.uses), nests_(program.nests), overlaps_(program.nests, options) {
    for (std::size_t i = 0; i < uses_.storages.size(); ++i) storage_of_.emplace(uses_.storages[i].var, i);
  }

  std::vector<std::vector<DyingDistance>> run() {
    std::vector<std::vector<DyingDistance>> found;
    Tick begin = 0;
    for (const StatementUses& statement : uses_.statements) {
      found.push_back(distances_in(statement, {begin, begin + statement.ticks}));
      begin += statement.ticks;
    }
    return found;
  }

 private:
  std::vector<DyingDistance> distances_in(const StatementUses& statement, const LiveRange& ticks) {
    Pairs pairs;  // the dying one first
    std::map<SiteIndex, std::vector<LiveRange>> lives;
    std::set<std::tuple<SiteIndex, SiteIndex, LiveRange>> seen;
    const auto live = [&](SiteIndex site) -> const std::vector<LiveRange>& {
      const auto [entry, is_new] = lives.try_emplace(site);
      if (is_new) entry->second = live_in(statement, ticks, site);
      return entry->second;
    };
    const auto look_at = [&](const NestRun& run, SiteIndex dying, SiteIndex born) {
      const LiveRange* old_one = range_around(live(dying), run.ticks);
      const LiveRange* new_one = range_around(live(born), run.ticks);
      if (old_one == nullptr || new_one == nullptr) return;
      const LiveRange window{new_one->begin, old_one->end};
      if (!seen.insert({dying, born, window}).second) return;
      const auto offsets = overlaps_.offsets_of(dying, born, window);
      if (offsets) pairs[{dying, born}].add(window, run.function, offsets->dying_below, offsets->born_below);
    };
    for (; next_ < nests_.runs.size() && nests_.runs[next_].ticks.begin < ticks.end; ++next_) {
      for (const auto& [one, other] : overlaps_.pairs_in(next_)) {
        look_at(nests_.runs[next_], one, other);
        look_at(nests_.runs[next_], other, one);
      }
    }
    std::vector<DyingDistance> found;
    for (const auto& [both, pair] : pairs) {
      if (!pair.covers(common_ticks(live(both.first), live(both.second)))) continue;
      const Site& dying = nests_.analysis.sites[both.first];
      std::vector<StorageDistance> distances;
      add_distances(dying, nests_.analysis.sites[both.second], pair, distances);
      for (const StorageDistance& distance : distances) found.push_back({distance, dying.var});
    }
    return found;
  }

  // Storage of the entry is live from its first access in the statement to its last.
  [[nodiscard]] std::vector<LiveRange> live_in(const StatementUses& statement, const LiveRange& ticks,
                                               SiteIndex site) const {
    const auto storage = storage_of_.find(nests_.analysis.sites[site].var);
    if (storage == storage_of_.end()) return common_ticks({ticks}, nests_.analysis.sites[site].live);
    const auto use = std::ranges::find(statement.uses, storage->second, &Use::storage);
    if (use == statement.uses.end()) return {};
    return {{ticks.begin + use->ticks.begin, ticks.begin + use->ticks.end}};
  }

  const EntryUses& uses_;
  const Nests& nests_;
  OverlapFinder overlaps_;
  std::map<tir::VarId, std::size_t> storage_of_;
  std::size_t next_ = 0;  // run
};

}  // namespace

std::vector<StorageDistance> find_distances(const tir::Module& module, const Options& options) {
  return analyse_distances(module, options).distances;
}

AnalysedDistances analyse_distances(const tir::Module& module, const Options& options) {
  Nests nests = analyse_nests(module, options);
  std::vector<StorageDistance> distances = Finder(nests, options).run();
  return {std::move(distances), std::move(nests.analysis)};
}

std::vector<std::vector<DyingDistance>> find_statement_distances(const tir::Module& module, const Options& options) {
  const StatementNests program = analyse_statement_nests(module, options);
  return StatementFinder(program, options).run();
}

}  // namespace usmp::liveness
