// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// Chooses origin and unit, sweeps over time for sections, and lists what each item meets.
#include "planners/exact/model.hpp"

#include <algorithm>
#include <map>
#include <numeric>
#include <set>

namespace usmp::planners::exact {
namespace {

struct RangeEvent {
  Tick tick;
  bool begins;
  std::int32_t item;
};

using Lists = std::vector<std::vector<std::int32_t>>;

// The sets of items live together that are in no other set beside them; and by item, what it meets. Ends come before
// begins: ranges are half-open.
Lists sections_of(const Packing& packing, const std::vector<std::size_t>& items, Lists& met) {
  std::vector<RangeEvent> events;
  for (std::size_t i = 0; i < items.size(); ++i) {
    for (const LiveRange& range : packing.items[items[i]].live) {
      events.push_back({range.begin, true, static_cast<std::int32_t>(i)});
      events.push_back({range.end, false, static_cast<std::int32_t>(i)});
    }
  }
  std::sort(events.begin(), events.end(), [](const RangeEvent& a, const RangeEvent& b) {
    if (a.tick != b.tick) return a.tick < b.tick;
    if (a.begins != b.begins) return !a.begins;
    return a.item < b.item;
  });
  met.resize(items.size());
  Lists sections;
  std::set<std::int32_t> live;
  bool grew = false;
  for (const RangeEvent& event : events) {
    if (event.begins) {
      for (const std::int32_t other : live) {
        met[static_cast<std::size_t>(event.item)].push_back(other);
        met[static_cast<std::size_t>(other)].push_back(event.item);
      }
      live.insert(event.item);
      grew = true;
      continue;
    }
    if (grew) sections.emplace_back(live.begin(), live.end());  // what is live shrinks after having grown: a peak
    grew = false;
    live.erase(event.item);
  }
  std::sort(sections.begin(), sections.end());
  sections.erase(std::unique(sections.begin(), sections.end()), sections.end());
  return sections;
}

Tick lifetime(const Item& item) {
  Tick sum = 0;
  for (const LiveRange& range : item.live) sum += range.end - range.begin;
  return sum;
}

}  // namespace

Model::Model(const Packing& packing) {
  for (std::size_t i = 0; i < packing.items.size(); ++i) {
    if (packing.items[i].size > 0 && !packing.items[i].live.empty()) item.push_back(i);
  }
  const std::size_t n = item.size();
  Bytes common = 0;
  Bytes least = 0;
  for (const std::size_t i : item) {
    common = std::gcd(common, packing.items[i].alignment);
    least = std::max(least, packing.items[i].alignment);
  }
  common = std::max<Bytes>(common, 1);
  // With one alignment for all, everything may be counted from the first aligned byte behind the reserved ones.
  if (common == std::max<Bytes>(least, 1)) origin = align_up(packing.reserved, common);
  Bytes step = 0;
  for (const std::size_t i : item) step = std::gcd(step, align_up(packing.items[i].size, common));
  unit = std::max<Bytes>(step, 1);
  for (const std::size_t i : item) {
    const Item& one = packing.items[i];
    unit = std::gcd(unit, align_up(packing.reserved, one.alignment) - origin);
    if (one.pinned) unit = std::gcd(unit, *one.pinned - origin);
  }
  // An alignment either divides the unit, and says nothing any more, or is a multiple of it.
  for (bool changed = true; changed;) {
    changed = false;
    for (const std::size_t i : item) {
      const Bytes align = packing.items[i].alignment;
      if (unit % align == 0 || align % unit == 0) continue;
      unit = std::gcd(unit, align);
      changed = true;
    }
  }
  for (const std::size_t i : item) {
    const Item& one = packing.items[i];
    bytes.push_back(one.size);
    height.push_back(align_up(one.size, common) / unit);
    alignment.push_back(std::max<Unit>(1, one.alignment / unit));
    base.push_back((align_up(packing.reserved, one.alignment) - origin) / unit);
    pinned.push_back(one.pinned ? (*one.pinned - origin) / unit : -1);
  }

  Lists near;
  members = sections_of(packing, item, near);
  std::vector<std::vector<std::int32_t>> of(n);
  for (std::size_t s = 0; s < members.size(); ++s) {
    for (const std::int32_t i : members[s]) {
      of[static_cast<std::size_t>(i)].push_back(static_cast<std::int32_t>(s));
    }
  }
  first_neighbour.push_back(0);
  first_section.push_back(0);
  for (std::size_t i = 0; i < n; ++i) {
    std::sort(near[i].begin(), near[i].end());
    near[i].erase(std::unique(near[i].begin(), near[i].end()), near[i].end());
    neighbour.insert(neighbour.end(), near[i].begin(), near[i].end());
    first_neighbour.push_back(neighbour.size());
    section.insert(section.end(), of[i].begin(), of[i].end());
    first_section.push_back(section.size());
  }

  std::map<std::pair<std::vector<LiveRange>, std::pair<Bytes, Bytes>>, std::int32_t> latest;
  for (std::size_t i = 0; i < n; ++i) {
    const Item& one = packing.items[item[i]];
    if (one.pinned) continue;
    const auto [found, fresh] = latest.try_emplace({one.live, {one.size, one.alignment}}, static_cast<std::int32_t>(i));
    if (fresh) continue;
    twins.emplace_back(found->second, static_cast<std::int32_t>(i));
    found->second = static_cast<std::int32_t>(i);
  }

  std::vector<std::size_t> order(n);
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
    const Tick one = lifetime(packing.items[item[a]]);
    const Tick other = lifetime(packing.items[item[b]]);
    if (one != other) return one > other;
    return bytes[a] != bytes[b] ? bytes[a] > bytes[b] : a < b;
  });
  lifetime_rank.resize(n);
  for (std::size_t k = 0; k < n; ++k) lifetime_rank[order[k]] = static_cast<std::int32_t>(k);
}

Unit Model::highest(std::size_t i, Bytes peak) const {
  const Bytes room = peak - origin - bytes[i];
  if (room < 0) return -1;
  const Unit offset = room / unit;
  return offset - offset % alignment[i];
}

std::vector<Bytes> Model::offsets(const Packing& packing, std::span<const Unit> units) const {
  std::vector<Bytes> result;
  for (const Item& one : packing.items) {
    result.push_back(one.pinned.value_or(one.size == 0 ? 0 : align_up(packing.reserved, one.alignment)));
  }
  for (std::size_t i = 0; i < size(); ++i) result[item[i]] = origin + units[i] * unit;
  return result;
}

}  // namespace usmp::planners::exact
