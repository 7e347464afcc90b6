// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// Keeps placed buffers in blocks of at most 64, and splits a block that is full.
#include "planners/scan_fit.hpp"

#include <algorithm>
#include <utility>

namespace usmp::planners {
namespace {

constexpr std::size_t most_in_block = 64;

}  // namespace

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

void ScanFit::Block::measure() {
  const Placed& lowest = placed.front();
  first = common_first = lowest.first;
  last = common_last = lowest.last;
  widest = 0;
  end = lowest.begin;
  for (const Placed& one : placed) {
    first = std::min(first, one.first);
    last = std::max(last, one.last);
    common_first = std::max(common_first, one.first);
    common_last = std::min(common_last, one.is_whole ? one.last : one.first);
    widest = std::max(widest, one.begin - end);
    end = std::max(end, one.end);
  }
}

void ScanFit::Search::rise_above(Bytes end) {
  if (end <= place.begin) return;
  const Bytes size = place.end - place.begin;
  place.begin = align_up(end, alignment);
  place.end = place.begin + size;
}

bool ScanFit::pass(const Block& block, Search& search) const {
  Placed& place = search.place;
  const bool meets_none = place.first >= block.last || block.first >= place.last;
  const bool meets_all =
      place.is_whole && std::max(place.first, block.common_first) < std::min(place.last, block.common_last);
  const Bytes size = place.end - place.begin;
  if (meets_none || (meets_all && block.placed.front().begin < place.end && block.widest < size)) {
    search.looks += block.placed.size();
    if (meets_all) search.rise_above(block.end);
    return false;
  }
  for (const Placed& other : block.placed) {
    ++search.looks;
    if (!meets(place, other)) continue;
    if (other.begin >= place.end) return true;
    search.rise_above(other.end);
  }
  return false;
}

std::optional<Bytes> ScanFit::run(std::span<const BufferId> order, exact::Budget& budget) {
  blocks_ = blocks_of_pinned();
  Bytes peak = pinned_peak_;
  for (const BufferId id : order) {
    const Bytes lowest = first_offset(problem_.buffer(id), problem_.pool(pool_));
    Search search{placed(problem_, id, lowest), alignment_in(problem_.buffer(id), problem_.pool(pool_))};
    for (const Block& block : blocks_) {
      if (pass(block, search)) break;
    }
    insert(search.place);
    peak = std::max(peak, search.place.end);
    budget.spend_work(search.looks);
    if (budget.exhausted()) return std::nullopt;
  }
  for (const Block& block : blocks_) {
    for (const Placed& place : block.placed) offsets_[place.buffer.index()] = place.begin;
  }
  return peak;
}

std::vector<ScanFit::Block> ScanFit::blocks_of_pinned() const {
  std::vector<Block> blocks;
  for (const Placed& one : pinned_) {
    if (blocks.empty() || blocks.back().placed.size() == most_in_block) blocks.emplace_back();
    blocks.back().placed.push_back(one);
  }
  for (Block& block : blocks) block.measure();
  return blocks;
}

void ScanFit::insert(const Placed& placed) {
  if (blocks_.empty()) blocks_.emplace_back();
  // The last block that begins at its offset or below, or the first one.
  auto block = std::ranges::upper_bound(
      blocks_, placed.begin, {}, [](const Block& one) { return one.placed.empty() ? 0 : one.placed.front().begin; });
  if (block != blocks_.begin()) --block;
  block->placed.insert(std::ranges::upper_bound(block->placed, placed.begin, {}, &Placed::begin), placed);
  if (block->placed.size() > most_in_block) {
    const auto half = block->placed.begin() + most_in_block / 2;
    Block upper;
    upper.placed.assign(half, block->placed.end());
    block->placed.erase(half, block->placed.end());
    upper.measure();
    block = blocks_.insert(block + 1, std::move(upper)) - 1;
  }
  block->measure();
}

}  // namespace usmp::planners
