// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// Names kinds of pools and buffers, and merges sorted live ranges to find the ticks they have in common.
#include "usmp/problem/storage.hpp"

#include <algorithm>

namespace usmp {

const char* to_string(PoolKind kind) { return kind == PoolKind::workspace ? "workspace" : "parameter"; }

const char* to_string(BufferKind kind) {
  switch (kind) {
    case BufferKind::tensor:
      return "tensor";
    case BufferKind::scratch:
      return "scratch";
    case BufferKind::input:
      return "input";
    case BufferKind::output:
      return "output";
    case BufferKind::constant:
      return "constant";
  }
  return "?";
}

std::string to_string(const RowsHeld& held) {
  return std::to_string(held.rows) + " of " + std::to_string(held.of) + (held.of_pixels ? " pixels, " : " rows, ") +
         std::to_string(held.row_bytes) + (held.row_bytes == 1 ? " byte each" : " bytes each");
}

bool overlap(const std::vector<LiveRange>& a, const std::vector<LiveRange>& b) {
  auto i = a.begin();
  auto j = b.begin();
  while (i != a.end() && j != b.end()) {
    if (i->end <= j->begin) {
      ++i;
    } else if (j->end <= i->begin) {
      ++j;
    } else {
      return true;
    }
  }
  return false;
}

std::vector<LiveRange> common_ticks(const std::vector<LiveRange>& a, const std::vector<LiveRange>& b) {
  std::vector<LiveRange> common;
  auto one = a.begin();
  auto other = b.begin();
  while (one != a.end() && other != b.end()) {
    const LiveRange both = {std::max(one->begin, other->begin), std::min(one->end, other->end)};
    if (both.begin < both.end) common.push_back(both);
    ++(one->end < other->end ? one : other);
  }
  return common;
}

}  // namespace usmp
