// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// A sweep over time that keeps the live buffers of a pool ordered by offset, and looks at each pair of neighbours.
#include "report/alignment_gaps.hpp"

#include <algorithm>
#include <cstddef>
#include <iterator>
#include <map>
#include <set>
#include <tuple>
#include <utility>

namespace usmp::report {
namespace {

using plan_file::PlanDocument;

class Sweep {
 public:
  explicit Sweep(const PlanDocument& document) : document_(document) {}

  void insert(std::size_t buffer, Tick at) {
    const auto place = live_.emplace(document_.buffers[buffer].offset, buffer).first;
    const auto next = std::next(place);
    if (place != live_.begin()) {
      if (next != live_.end()) end_pair(std::prev(place)->second, next->second, at);
      begin_pair(std::prev(place)->second, buffer, at);
    }
    if (next != live_.end()) begin_pair(buffer, next->second, at);
  }

  void erase(std::size_t buffer, Tick at) {
    const auto place = live_.find({document_.buffers[buffer].offset, buffer});
    const auto next = std::next(place);
    if (place != live_.begin()) end_pair(std::prev(place)->second, buffer, at);
    if (next != live_.end()) end_pair(buffer, next->second, at);
    if (place != live_.begin() && next != live_.end()) begin_pair(std::prev(place)->second, next->second, at);
    live_.erase(place);
  }

  std::vector<AlignmentGap> gaps() && {
    std::ranges::sort(gaps_, {},
                      [](const AlignmentGap& gap) { return std::tuple(gap.ticks.begin, gap.low, gap.high); });
    return std::move(gaps_);
  }

 private:
  void begin_pair(std::size_t below, std::size_t above, Tick at) { since_[{below, above}] = at; }

  void end_pair(std::size_t below, std::size_t above, Tick at) {
    const auto pair = since_.find({below, above});
    const Tick since = pair->second;
    since_.erase(pair);
    const PlanDocument::Buffer& upper = document_.buffers[above];
    const Bytes low = document_.buffers[below].offset + document_.buffers[below].size;
    const Bytes gap = upper.offset - low;
    if (since < at && gap > 0 && gap < upper.alignment) gaps_.push_back({{since, at}, low, upper.offset});
  }

  const PlanDocument& document_;
  std::set<std::pair<Bytes, std::size_t>> live_;  // offset, index
  std::map<std::pair<std::size_t, std::size_t>, Tick> since_;
  std::vector<AlignmentGap> gaps_;
};

}  // namespace

std::vector<AlignmentGap> alignment_gaps(const PlanDocument& document, const compare::PoolFigures& figures) {
  std::vector<std::tuple<Tick, bool, std::size_t>> events;  // when, whether it begins, buffer
  for (const std::size_t buffer : figures.buffers) {
    if (document.buffers[buffer].size == 0) continue;
    for (const LiveRange& range : *document.buffers[buffer].live) {
      if (range.begin >= range.end) continue;
      events.emplace_back(range.begin, true, buffer);
      events.emplace_back(range.end, false, buffer);
    }
  }
  std::ranges::sort(events);
  Sweep sweep(document);
  for (const auto& [at, begins, buffer] : events) {
    if (begins) {
      sweep.insert(buffer, at);
    } else {
      sweep.erase(buffer, at);
    }
  }
  return std::move(sweep).gaps();
}

}  // namespace usmp::report
