// SPDX-License-Identifier: Apache-2.0
#include "storage/byte_set.hpp"

#include <algorithm>

namespace usmp::storage {

std::optional<ByteRange> in_bytes(const std::optional<Interval>& elements, Bytes width) {
  if (!elements) return std::nullopt;
  const auto after = checked_add(elements->high, 1);
  const auto begin = checked_mul(elements->low, width);
  const auto end = after ? checked_mul(*after, width) : std::nullopt;
  if (!begin || !end) return std::nullopt;
  return ByteRange{*begin, *end};
}

bool ByteSet::contains(ByteRange range) const {
  if (range.begin >= range.end) return true;
  return std::any_of(ranges_.begin(), ranges_.end(),
                     [&](const ByteRange& own) { return own.begin <= range.begin && range.end <= own.end; });
}

void ByteSet::add(ByteRange range) {
  if (range.begin >= range.end) return;
  std::vector<ByteRange> merged;
  for (const ByteRange& own : ranges_) {
    if (own.end < range.begin || range.end < own.begin) {
      merged.push_back(own);
    } else {
      range = {std::min(own.begin, range.begin), std::max(own.end, range.end)};
    }
  }
  merged.push_back(range);
  std::sort(merged.begin(), merged.end(), [](const ByteRange& a, const ByteRange& b) { return a.begin < b.begin; });
  ranges_ = std::move(merged);
}

void ByteSet::add(const ByteSet& other) {
  for (const ByteRange& range : other.ranges_) add(range);
}

void ByteSet::remove(const ByteSet& other) {
  for (const ByteRange& gone : other.ranges_) {
    std::vector<ByteRange> left;
    for (const ByteRange& own : ranges_) {
      if (own.begin < gone.begin) left.push_back({own.begin, std::min(own.end, gone.begin)});
      if (gone.end < own.end) left.push_back({std::max(own.begin, gone.end), own.end});
    }
    std::erase_if(left, [](const ByteRange& range) { return range.begin >= range.end; });
    ranges_ = std::move(left);
  }
}

}  // namespace usmp::storage
