// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// A packing as the search sees it: flat arrays, offsets in units, only what can meet.
//
// Everything is counted in `unit` bytes from `origin`. With a the common alignment of all items, every offset is a
// multiple of a, so an item takes its size rounded up to a from whatever stands above it. In a left-justified plan (see
// propagate.cpp) offsets are sums of such sizes, so they are multiples of the sizes' greatest common divisor, too,
// where alignments and pins agree with it.
#pragma once

#include <span>
#include <vector>

#include "planners/exact/packing.hpp"

namespace usmp::planners::exact {

using Unit = std::int64_t;  // offsets and heights in units

struct Model {
  explicit Model(const Packing& packing);

  [[nodiscard]] std::size_t size() const { return height.size(); }
  [[nodiscard]] std::span<const std::int32_t> neighbours(std::size_t i) const {
    return std::span(neighbour).subspan(first_neighbour[i], first_neighbour[i + 1] - first_neighbour[i]);
  }
  [[nodiscard]] std::span<const std::int32_t> sections(std::size_t i) const {
    return std::span(section).subspan(first_section[i], first_section[i + 1] - first_section[i]);
  }
  [[nodiscard]] std::size_t section_count() const { return members.size(); }

  // The largest offset in units at which the item's end does not exceed `peak` bytes, and the end at an offset.
  [[nodiscard]] Unit highest(std::size_t i, Bytes peak) const;
  [[nodiscard]] Bytes end(std::size_t i, Unit offset) const { return origin + offset * unit + bytes[i]; }

  // Offsets in bytes of all items of the packing, those without a place in the model among them.
  [[nodiscard]] std::vector<Bytes> offsets(const Packing& packing, std::span<const Unit> units) const;

  Bytes unit = 1;
  Bytes origin = 0;
  std::vector<std::size_t> item;  // index in the packing; empty items and items that meet nobody are left out
  std::vector<Bytes> bytes;       // true size
  std::vector<Unit> height;       // units it takes from what is above, >= 1
  std::vector<Unit> alignment;    // in units, >= 1
  std::vector<Unit> base;         // the lowest offset it may have
  std::vector<Unit> pinned;       // -1: not pinned
  std::vector<std::vector<std::int32_t>> members;            // of a section: a largest set of items live at one tick
  std::vector<std::pair<std::int32_t, std::int32_t>> twins;  // equal items: the first one stays below the second
  std::vector<std::int32_t> lifetime_rank;                   // 0: the longest life; ties by size, then by index

  std::vector<std::size_t> first_neighbour;
  std::vector<std::int32_t> neighbour;
  std::vector<std::size_t> first_section;
  std::vector<std::int32_t> section;
};

}  // namespace usmp::planners::exact
