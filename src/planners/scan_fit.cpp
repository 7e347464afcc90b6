// SPDX-License-Identifier: Apache-2.0
#include "planners/scan_fit.hpp"

#include <algorithm>

namespace usmp::planners {

ScanFit::ScanFit(const Problem& problem, std::span<const BufferId> buffers, PoolId pool)
    : problem_(problem), pool_(pool), offsets_(problem.buffers.size(), 0) {
  for (const BufferId id : buffers) {
    const Buffer& buffer = problem.buffer(id);
    const bool is_idle = buffer.size == 0 || buffer.live.empty();
    if (!buffer.pinned && !is_idle) {
      movable_.push_back(id);
      continue;
    }
    const Bytes offset = buffer.pinned.value_or(first_offset(buffer, problem.pool(pool)));
    offsets_[id.index()] = offset;
    pinned_peak_ = std::max(pinned_peak_, offset + buffer.size);
    if (!is_idle) pinned_.push_back(placed(problem, id, offset));
  }
  std::ranges::stable_sort(pinned_, {}, &Placed::begin);
}

ScanFit::Placed ScanFit::placed(const Problem& problem, BufferId id, Bytes offset) {
  const Buffer& buffer = problem.buffer(id);
  return {offset, offset + buffer.size, buffer.live.front().begin, buffer.live.back().end, id, buffer.live.size() == 1};
}

bool ScanFit::meets(const Placed& one, const Placed& other) const {
  if (one.first >= other.last || other.first >= one.last) return false;
  return (one.is_whole && other.is_whole) ||
         overlap(problem_.buffer(one.buffer).live, problem_.buffer(other.buffer).live);
}

std::optional<Bytes> ScanFit::run(std::span<const BufferId> order, exact::Budget& budget) {
  placed_ = pinned_;
  placed_.reserve(pinned_.size() + order.size());
  Bytes peak = pinned_peak_;
  for (const BufferId id : order) {
    const Buffer& buffer = problem_.buffer(id);
    const Bytes alignment = alignment_in(buffer, problem_.pool(pool_));
    Placed place = placed(problem_, id, first_offset(buffer, problem_.pool(pool_)));
    std::size_t looks = 0;
    for (const Placed& other : placed_) {
      ++looks;
      if (!meets(place, other)) continue;
      if (other.begin >= place.end) break;
      if (other.end <= place.begin) continue;
      place.begin = align_up(other.end, alignment);
      place.end = place.begin + buffer.size;
    }
    insert(place);
    peak = std::max(peak, place.end);
    budget.spend_work(looks);
    if (budget.exhausted()) return std::nullopt;
  }
  for (const Placed& place : placed_) offsets_[place.buffer.index()] = place.begin;
  return peak;
}

void ScanFit::insert(const Placed& placed) {
  placed_.insert(std::ranges::upper_bound(placed_, placed.begin, {}, &Placed::begin), placed);
}

}  // namespace usmp::planners
