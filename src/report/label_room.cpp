// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// Finds the longest free stretch of time and of addresses, and shortens labels until they fit.
#include "report/label_room.hpp"

#include <algorithm>
#include <cstdint>
#include <utility>

#include "report/layout.hpp"

namespace usmp::report {
namespace {

using Stretch = std::pair<std::int64_t, std::int64_t>;  // begin, end

// The longest part of the whole without the others; empty if there is none.
Stretch longest_free(const Stretch& whole, std::vector<Stretch> others) {
  std::sort(others.begin(), others.end());
  Stretch best = {whole.first, whole.first};
  std::int64_t free = whole.first;
  others.emplace_back(whole.second, whole.second);
  for (const Stretch& other : others) {
    const std::int64_t end = std::min(other.first, whole.second);
    if (end - free > best.second - best.first) best = {free, end};
    free = std::max(free, other.second);
  }
  return best;
}

}  // namespace

std::vector<Room> label_rooms(const plan_file::PlanDocument::Buffer& buffer, const LiveRange& range,
                              const std::vector<const compare::PoolFigures::SharedBytes*>& shared) {
  std::vector<Stretch> times;
  std::vector<Stretch> addresses;
  for (const compare::PoolFigures::SharedBytes* one : shared) {
    const std::size_t before = times.size();
    for (const LiveRange& ticks : one->ticks) {
      if (ticks.begin < range.end && range.begin < ticks.end) times.emplace_back(ticks.begin, ticks.end);
    }
    if (times.size() > before) addresses.emplace_back(one->begin, one->end);
  }
  const Bytes end = buffer.offset + buffer.size;
  if (times.empty()) return {{range, buffer.offset, end}};
  std::vector<Room> rooms;
  const Stretch time = longest_free({range.begin, range.end}, std::move(times));
  if (time.first < time.second) rooms.push_back({{time.first, time.second}, buffer.offset, end});
  const Stretch run = longest_free({buffer.offset, end}, std::move(addresses));
  if (run.first < run.second) rooms.push_back({range, run.first, run.second});
  return rooms;
}

std::string fitted_label(const std::string& name, const std::string& operator_name, Tenths room) {
  constexpr std::size_t fewest = 6;
  constexpr Tenths least_letter = 46;
  if (name.empty() || room < least_letter) return {};
  std::string both = operator_name.empty() ? name : name + " " + operator_name;
  if (width_of_text(both) <= room) return both;
  const std::size_t most = std::min(name.size(), static_cast<std::size_t>(room / least_letter));
  for (std::size_t letters = most; letters >= std::min(fewest, name.size()); --letters) {
    std::string text = shortened(name, letters);
    if (width_of_text(text) <= room) return text;
  }
  return {};
}

}  // namespace usmp::report
