// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// Intersects bytes and ticks of pairs with a distance; merged intervals tell which bytes count for the first time.
#include "compare/shared_bytes.hpp"

#include <algorithm>
#include <set>
#include <utility>

namespace usmp::compare {
namespace {

using plan_file::PlanDocument;

// Offsets that are taken: intervals that neither overlap nor touch, begin to end.
class Taken {
 public:
  // How many bytes of the interval are taken for the first time.
  Bytes add(Bytes begin, Bytes end) {
    if (begin >= end) return 0;
    Bytes fresh = end - begin;
    const Bytes asked_begin = begin;
    const Bytes asked_end = end;
    auto at = intervals_.upper_bound(begin);
    if (at != intervals_.begin() && std::prev(at)->second >= begin) --at;
    while (at != intervals_.end() && at->first <= end) {
      fresh -= std::max<Bytes>(0, std::min(at->second, asked_end) - std::max(at->first, asked_begin));
      begin = std::min(begin, at->first);
      end = std::max(end, at->second);
      at = intervals_.erase(at);
    }
    intervals_.emplace(begin, end);
    return fresh;
  }

 private:
  std::map<Bytes, Bytes> intervals_;
};

}  // namespace

std::map<std::string, std::vector<PoolFigures::SharedBytes>> shared_bytes_of(const PlanDocument& document) {
  std::set<std::pair<std::size_t, std::size_t>> pairs;
  for (const Distance& distance : document.distances) {
    pairs.insert(std::minmax({distance.below.index(), distance.above.index()}));
  }
  std::map<std::string, std::vector<PoolFigures::SharedBytes>> result;
  for (const auto& [first, second] : pairs) {
    const PlanDocument::Buffer& a = document.buffers[first];
    const PlanDocument::Buffer& b = document.buffers[second];
    if (first == second || !a.placed() || a.pool != b.pool) continue;
    const Bytes begin = std::max(a.offset, b.offset);
    const Bytes end = std::min(a.offset + a.size, b.offset + b.size);
    if (begin >= end) continue;
    std::vector<LiveRange> ticks = common_ticks(*a.live, *b.live);
    if (!ticks.empty()) result[a.pool].push_back({first, second, begin, end, std::move(ticks)});
  }
  return result;
}

std::vector<std::size_t> live_at(const PlanDocument& document, const std::vector<std::size_t>& buffers, Tick tick) {
  const std::vector<LiveRange> ticks = {{tick, tick + 1}};
  std::vector<std::size_t> live;
  for (const std::size_t index : buffers) {
    if (overlap(*document.buffers[index].live, ticks)) live.push_back(index);
  }
  std::stable_sort(live.begin(), live.end(),
                   [&](std::size_t a, std::size_t b) { return document.buffers[a].size > document.buffers[b].size; });
  return live;
}

std::vector<Bytes> bytes_counted_once(const PlanDocument& document, const std::vector<std::size_t>& chosen) {
  Taken taken;
  std::vector<Bytes> counted;
  counted.reserve(chosen.size());
  for (const std::size_t index : chosen) {
    const PlanDocument::Buffer& buffer = document.buffers[index];
    counted.push_back(taken.add(buffer.offset, buffer.offset + buffer.size));
  }
  return counted;
}

}  // namespace usmp::compare
