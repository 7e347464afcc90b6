// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// Fills a pool from below without leaving a hole: a search for packings that have none.
//
// Idea: the filled part is a skyline over time. What stands in one of its valleys has to begin where the valley begins
// (and something else to end where it ends), as nothing may stay empty beside it. So few items can be next. Further,
// what begins at a tick stands where something ended at that tick, and the other way round: an item that another one,
// which is placed already, contradicts is no candidate. The valley with the fewest candidates is filled first. Wrong
// choices in the beginning show late, so an attempt that took a few times as many steps as there are items is given up,
// and the next one tries candidates in another random order (Gomes, Selman and Kautz: Boosting combinatorial search
// through randomization, AAAI 1998).
// Cost: O(ticks) for a step. Guarantee: none; offsets that are found are right. Source: the skyline of Burke, Kendall
// and Whitwell (A new placement heuristic for the orthogonal stock-cutting problem, Operations Research 52, 2004), with
// exact fits alone. Tests: tests/planners/tiling_test.cpp.
#include "planners/exact/tiling.hpp"

#include <algorithm>
#include <limits>
#include <tuple>
#include <utility>

#include "usmp/support/random.hpp"

namespace usmp::planners::exact {
namespace {

constexpr std::uint64_t most_work = 200'000'000;  // sections and items looked at
constexpr std::uint64_t attempts_of_a_length = 20;

// From section `first` up to `last`, which is the next one behind.
struct Tile {
  std::size_t item = 0;
  Bytes size = 0;
  Bytes alignment = 1;
  std::size_t first = 0;
  std::size_t last = 0;
};

class Tiler {
 public:
  Tiler(const Packing& packing, Bytes height, Budget& budget)
      : packing_(packing), height_(height), budget_(budget), random_(1) {}

  std::optional<std::vector<Bytes>> run() {
    if (!make_tiles()) return std::nullopt;
    std::uint64_t steps = 4 * tiles_.size();
    for (std::uint64_t attempt = 1; work_ < most_work; ++attempt) {
      if (fill(steps, attempt > 1)) return offsets_;
      if (budget_.exhausted()) return std::nullopt;
      if (attempt % attempts_of_a_length == 0) steps += steps / 2;
    }
    return std::nullopt;
  }

 private:
  using Index = std::size_t;  // into tiles_
  static constexpr Index none = std::numeric_limits<Index>::max();

  struct Step {
    std::vector<Index> candidates;
    std::size_t next = 0;
    Index placed = none;
  };

  [[nodiscard]] bool make_tiles() {
    std::vector<Tick> ticks;
    for (const Item& item : packing_.items) {
      if (item.live.size() != 1 || item.size == 0 || item.pinned) return false;
      ticks.push_back(item.live.front().begin);
      ticks.push_back(item.live.front().end);
    }
    std::sort(ticks.begin(), ticks.end());
    ticks.erase(std::unique(ticks.begin(), ticks.end()), ticks.end());
    if (ticks.empty()) return false;
    const auto section = [&](Tick tick) {
      return static_cast<std::size_t>(std::lower_bound(ticks.begin(), ticks.end(), tick) - ticks.begin());
    };
    for (std::size_t i = 0; i < packing_.items.size(); ++i) {
      const Item& item = packing_.items[i];
      tiles_.push_back(
          {i, item.size, item.alignment, section(item.live.front().begin), section(item.live.front().end)});
    }
    // Whatever order they are given in.
    const auto key = [](const Tile& tile) { return std::tuple(-tile.size, tile.first, tile.last, tile.alignment); };
    std::stable_sort(tiles_.begin(), tiles_.end(), [&](const Tile& a, const Tile& b) { return key(a) < key(b); });
    begins_.resize(ticks.size());
    ends_.resize(ticks.size());
    std::vector<Bytes> change(ticks.size(), 0);
    for (Index i = 0; i < tiles_.size(); ++i) {
      begins_[tiles_[i].first].push_back(i);
      ends_[tiles_[i].last].push_back(i);
      change[tiles_[i].first] += tiles_[i].size;
      change[tiles_[i].last] -= tiles_[i].size;
    }
    tops_.assign(ticks.size() - 1, packing_.reserved);
    Bytes load = 0;
    for (std::size_t s = 0; s < tops_.size(); ++s) {
      load += change[s];
      if (load != height_ - packing_.reserved) return false;
    }
    offsets_.assign(packing_.items.size(), 0);
    return true;
  }

  // One attempt of so many steps. `shuffled`: candidates in random order, else the largest first.
  bool fill(std::uint64_t steps, bool shuffled) {
    std::fill(tops_.begin(), tops_.end(), packing_.reserved);
    is_placed_.assign(tiles_.size(), false);
    std::size_t placed = 0;
    std::vector<Step> path;
    path.push_back({next_candidates(shuffled)});
    while (!path.empty()) {
      Step& step = path.back();
      if (step.placed != none) {
        take_away(step.placed);
        --placed;
        step.placed = none;
      }
      if (step.next == step.candidates.size()) {
        path.pop_back();
        continue;
      }
      if (steps-- == 0 || work_ >= most_work || !budget_.spend()) return false;
      step.placed = step.candidates[step.next++];
      put(step.placed);
      if (++placed == tiles_.size()) return true;
      path.push_back({next_candidates(shuffled)});
    }
    return false;
  }

  void put(Index index) {
    const Tile& tile = tiles_[index];
    offset(index) = tops_[tile.first];
    is_placed_[index] = true;
    for (std::size_t s = tile.first; s < tile.last; ++s) tops_[s] += tile.size;
    work_ += tile.last - tile.first;
  }

  void take_away(Index index) {
    const Tile& tile = tiles_[index];
    is_placed_[index] = false;
    for (std::size_t s = tile.first; s < tile.last; ++s) tops_[s] -= tile.size;
    work_ += tile.last - tile.first;
  }

  Bytes& offset(Index index) { return offsets_[tiles_[index].item]; }
  [[nodiscard]] Bytes offset(Index index) const { return offsets_[tiles_[index].item]; }

  // What may stand in the valley that leaves the least choice; nothing if one leaves none.
  std::vector<Index> next_candidates(bool shuffled) {
    std::vector<Index> best;
    std::size_t fewest = none;
    for (std::size_t begin = 0; begin < tops_.size() && fewest > 0;) {
      std::size_t end = begin + 1;
      while (end < tops_.size() && tops_[end] == tops_[begin]) ++end;
      work_ += end - begin;
      const bool is_valley = tops_[begin] < height_ && (begin == 0 || tops_[begin - 1] > tops_[begin]) &&
                             (end == tops_.size() || tops_[end] > tops_[begin]);
      for (const bool at_begin : {true, false}) {
        if (!is_valley) break;
        std::vector<Index> found = candidates(begin, end, at_begin);
        if (found.size() >= fewest) continue;
        fewest = found.size();
        best = std::move(found);
      }
      begin = end;
    }
    for (std::size_t i = shuffled ? best.size() : 0; i > 1; --i) std::swap(best[i - 1], best[random_.below(i)]);
    return best;
  }

  // Those that begin where the valley begins, or end where it ends.
  std::vector<Index> candidates(std::size_t begin, std::size_t end, bool at_begin) {
    std::vector<Index> found;
    for (const Index index : at_begin ? begins_[begin] : ends_[end]) {
      const Tile& tile = tiles_[index];
      ++work_;
      if (is_placed_[index] || tile.first < begin || tile.last > end) continue;
      const Bytes at = tops_[begin];
      if (at + tile.size > height_ || at % tile.alignment != 0) continue;
      const bool fits = (tile.first == 0 || may_touch(at, at + tile.size, ends_[tile.first])) &&
                        (tile.last == tops_.size() || may_touch(at, at + tile.size, begins_[tile.last]));
      if (fits) found.push_back(index);
    }
    return found;
  }

  // Whether those on the other side of a tick can cover these bytes: as many as are not placed there are still to come.
  bool may_touch(Bytes begin, Bytes end, const std::vector<Index>& others) {
    Bytes missing = end - begin;
    Bytes to_come = 0;
    for (const Index index : others) {
      ++work_;
      if (!is_placed_[index]) {
        to_come += tiles_[index].size;
        continue;
      }
      const Bytes low = std::max(begin, offset(index));
      const Bytes high = std::min(end, offset(index) + tiles_[index].size);
      missing -= std::max<Bytes>(0, high - low);
    }
    return missing <= to_come;
  }

  const Packing& packing_;
  Bytes height_;
  Budget& budget_;
  Random random_;
  std::vector<Tile> tiles_;
  std::vector<std::vector<Index>> begins_;  // by tick
  std::vector<std::vector<Index>> ends_;
  std::vector<Bytes> tops_;  // of each section, the first free byte
  std::vector<bool> is_placed_;
  std::vector<Bytes> offsets_;  // by item
  std::uint64_t work_ = 0;
};

}  // namespace

std::optional<std::vector<Bytes>> tile(const Packing& packing, Bytes height, Budget& budget) {
  return Tiler(packing, height, budget).run();
}

}  // namespace usmp::planners::exact
