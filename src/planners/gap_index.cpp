// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// Finds a gap's chunk, then its place in it, by binary search; splits full chunks and drops empty ones.
#include "planners/gap_index.hpp"

#include <algorithm>
#include <cassert>

namespace usmp::planners {

std::size_t GapIndex::chunk_of(const std::pair<Bytes, Bytes>& key) const {
  const auto next = std::upper_bound(starts_.begin(), starts_.end(), key);
  return next == starts_.begin() ? 0 : static_cast<std::size_t>(next - starts_.begin()) - 1;
}

GapIndex::Chunk::const_iterator GapIndex::first_not_below(const Chunk& chunk, const std::pair<Bytes, Bytes>& key) {
  return std::partition_point(chunk.begin(), chunk.end(), [&](const Gap& gap) { return gap.key() < key; });
}

void GapIndex::insert(const Gap& gap) {
  if (chunks_.empty()) {
    chunks_.emplace_back();
    starts_.push_back(gap.key());
  }
  const std::size_t c = chunk_of(gap.key());
  Chunk& chunk = chunks_[c];
  chunk.insert(first_not_below(chunk, gap.key()), gap);
  if (chunk.size() <= longest_chunk) return;
  const auto middle = chunk.begin() + longest_chunk / 2;
  Chunk upper;
  upper.reserve(longest_chunk + 1);
  upper.assign(middle, chunk.end());
  chunk.erase(middle, chunk.end());
  const auto at = static_cast<std::ptrdiff_t>(c) + 1;
  starts_.insert(starts_.begin() + at, upper.front().key());
  chunks_.insert(chunks_.begin() + at, std::move(upper));
}

void GapIndex::erase(Bytes size, Bytes begin) {
  const std::size_t c = chunk_of({size, begin});
  Chunk& chunk = chunks_[c];
  const auto found = first_not_below(chunk, {size, begin});
  assert(found != chunk.end() && found->key() == std::pair(size, begin));
  chunk.erase(found);
  if (!chunk.empty()) return;
  chunks_.erase(chunks_.begin() + static_cast<std::ptrdiff_t>(c));
  starts_.erase(starts_.begin() + static_cast<std::ptrdiff_t>(c));
}

void GapIndex::clear() {
  chunks_.clear();
  starts_.clear();
}

GapIndex::Position GapIndex::at_least(Bytes size) const {
  if (chunks_.empty()) return {};
  const std::pair<Bytes, Bytes> key{size, -1};
  const std::size_t c = chunk_of(key);
  const auto found = first_not_below(chunks_[c], key);
  if (found == chunks_[c].end()) return {c + 1, 0};
  return {c, static_cast<std::size_t>(found - chunks_[c].begin())};
}

}  // namespace usmp::planners
