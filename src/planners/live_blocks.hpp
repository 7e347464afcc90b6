// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// What is live in one pool at one moment of a sweep over time: blocks in order of their offsets, and the gaps between
// them in order of their sizes. Every operation costs what one of GapIndex does.
// Tests: tests/planners/fast_test.cpp.
#pragma once

#include <cstdint>
#include <map>
#include <vector>

#include "planners/gap_index.hpp"
#include "usmp/problem/problem.hpp"

namespace usmp::planners {

class LiveBlocks {
 public:
  static constexpr std::uint32_t none = UINT32_MAX;

  struct Block {
    Bytes offset = 0;
    Bytes size = 0;
    Tick end = 0;  // when it will die
    std::uint32_t below = none;
    std::uint32_t above = none;
  };

  // Block i belongs to buffer i; `blocks` is shared by the pools, has an element for every buffer, and outlives this.
  // Nothing may start below the floor. Only with `searchable` can a block be put where no gap is known.
  LiveBlocks(std::vector<Block>& blocks, Bytes floor, bool searchable)
      : blocks_(&blocks), floor_(floor), searchable_(searchable) {}

  // Between `below` (none: the floor) and what is above that, where there is room.
  void insert_above(std::uint32_t below, std::uint32_t id, Bytes offset, Bytes size, Tick end);
  // The same, but looks for what is below. O(1) above all blocks.
  void insert(std::uint32_t id, Bytes offset, Bytes size, Tick end);
  void remove(std::uint32_t id);
  void clear();

  [[nodiscard]] const GapIndex& gaps() const { return gaps_; }
  [[nodiscard]] std::uint32_t topmost() const { return topmost_; }
  [[nodiscard]] Bytes top() const { return end_of(topmost_); }  // the floor if nothing is live

 private:
  [[nodiscard]] Block& block(std::uint32_t id) const { return (*blocks_)[id]; }
  [[nodiscard]] Bytes end_of(std::uint32_t id) const { return id == none ? floor_ : block(id).offset + block(id).size; }
  void add_gap(std::uint32_t below, std::uint32_t above);
  void remove_gap(std::uint32_t below, std::uint32_t above);

  std::vector<Block>* blocks_;
  Bytes floor_;
  bool searchable_;
  std::uint32_t lowest_ = none;
  std::uint32_t topmost_ = none;
  GapIndex gaps_;
  std::map<Bytes, std::uint32_t> by_offset_;  // empty unless searchable
};

}  // namespace usmp::planners
