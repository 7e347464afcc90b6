// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// Links each block to those below and above it, and notes the gaps that come and go with it.
#include "planners/live_blocks.hpp"

#include <cassert>
#include <iterator>

namespace usmp::planners {

void LiveBlocks::add_gap(std::uint32_t below, std::uint32_t above) {
  const Bytes begin = end_of(below);
  const Block& upper = block(above);
  assert(upper.offset >= begin);
  if (upper.offset == begin) return;
  gaps_.insert({upper.offset - begin, begin, below == none ? 0 : block(below).end, upper.end, below});
}

void LiveBlocks::remove_gap(std::uint32_t below, std::uint32_t above) {
  const Bytes begin = end_of(below);
  const Bytes size = block(above).offset - begin;
  if (size > 0) gaps_.erase(size, begin);
}

void LiveBlocks::insert_above(std::uint32_t below, std::uint32_t id, Bytes offset, Bytes size, Tick end) {
  const std::uint32_t above = below == none ? lowest_ : block(below).above;
  if (above != none) remove_gap(below, above);
  block(id) = {offset, size, end, below, above};
  (below == none ? lowest_ : block(below).above) = id;
  (above == none ? topmost_ : block(above).below) = id;
  add_gap(below, id);
  if (above != none) add_gap(id, above);
  if (searchable_) by_offset_.emplace(offset, id);
}

void LiveBlocks::insert(std::uint32_t id, Bytes offset, Bytes size, Tick end) {
  if (offset >= top()) return insert_above(topmost_, id, offset, size, end);
  assert(searchable_);
  const auto next = by_offset_.lower_bound(offset);
  insert_above(next == by_offset_.begin() ? none : std::prev(next)->second, id, offset, size, end);
}

void LiveBlocks::remove(std::uint32_t id) {
  const std::uint32_t below = block(id).below;
  const std::uint32_t above = block(id).above;
  if (searchable_) by_offset_.erase(block(id).offset);
  remove_gap(below, id);
  if (above != none) remove_gap(id, above);
  (below == none ? lowest_ : block(below).above) = above;
  (above == none ? topmost_ : block(above).below) = below;
  if (above != none) add_gap(below, above);
}

void LiveBlocks::clear() {
  lowest_ = topmost_ = none;
  gaps_.clear();
  by_offset_.clear();
}

}  // namespace usmp::planners
