// SPDX-License-Identifier: Apache-2.0
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

std::string fitted_label(const std::string& label, std::size_t letters) {
  constexpr std::size_t fewest = 6;
  const bool is_ascii =
      std::all_of(label.begin(), label.end(), [](char c) { return static_cast<unsigned char>(c) < 0x80; });
  const std::size_t number = label.starts_with('#') && is_ascii ? label.find(' ') : std::string::npos;
  if (number == std::string::npos) {
    return letters < std::min(fewest, label.size()) ? std::string() : shortened(label, letters);
  }
  if (letters >= label.size()) return label;
  if (letters >= number + 4) return label.substr(0, letters - 1) + "…";
  return letters >= number ? label.substr(0, number) : std::string();
}

}  // namespace usmp::report
