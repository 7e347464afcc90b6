// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// Keeps ranges apart: adding one joins those that it touches, removing one cuts them.
#include "storage/byte_set.hpp"

#include <algorithm>
#include <iterator>

namespace usmp::storage {

std::optional<ByteRange> in_bytes(const std::optional<Interval>& elements, Bytes width) {
  if (!elements) return std::nullopt;
  const auto after = checked_add(elements->high, 1);
  const auto begin = checked_mul(elements->low, width);
  const auto end = after ? checked_mul(*after, width) : std::nullopt;
  if (!begin || !end) return std::nullopt;
  return ByteRange{*begin, *end};
}

ByteSet::Ranges::const_iterator ByteSet::first_behind(Bytes begin) const {
  auto at = ranges_.upper_bound(begin);
  if (at != ranges_.begin() && std::prev(at)->second > begin) --at;
  return at;
}

bool ByteSet::contains(ByteRange range) const {
  if (range.begin >= range.end) return true;
  const auto at = first_behind(range.begin);
  return at != ranges_.end() && at->first <= range.begin && range.end <= at->second;
}

void ByteSet::add(ByteRange range) {
  if (range.begin >= range.end) return;
  auto at = ranges_.upper_bound(range.begin);
  if (at != ranges_.begin() && std::prev(at)->second >= range.begin) --at;
  while (at != ranges_.end() && at->first <= range.end) {
    range = {std::min(range.begin, at->first), std::max(range.end, at->second)};
    at = ranges_.erase(at);
  }
  ranges_.emplace_hint(at, range.begin, range.end);
}

void ByteSet::add(const ByteSet& other) {
  for (const auto& [begin, end] : other.ranges_) add({begin, end});
}

void ByteSet::remove(ByteRange range) {
  for (auto at = first_behind(range.begin); at != ranges_.end() && at->first < range.end;) {
    const ByteRange own{at->first, at->second};
    at = ranges_.erase(at);
    if (own.begin < range.begin) ranges_.emplace_hint(at, own.begin, range.begin);
    if (range.end < own.end) at = ranges_.emplace_hint(at, range.end, own.end);
  }
}

void ByteSet::remove(const ByteSet& other) {
  if (other.ranges_.size() <= ranges_.size()) {
    for (const auto& [begin, end] : other.ranges_) remove({begin, end});
    return;
  }
  const Ranges own = ranges_;
  for (const auto& [begin, end] : own) {
    for (auto at = other.first_behind(begin); at != other.ranges_.end() && at->first < end; ++at) {
      remove({at->first, at->second});
    }
  }
}

}  // namespace usmp::storage
