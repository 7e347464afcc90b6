// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// The MEMORY commands of a GNU ld script: how large the memories of a board are.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "usmp/support/checked.hpp"

namespace usmp::config {

struct MemoryRegion {
  std::string name;  // also of a REGION_ALIAS
  std::uint64_t origin = 0;
  Bytes length = 0;                      // 1 … 2^48
  std::optional<bool> is_writable = {};  // by its attributes, such as (rwx); nothing: it has none
  std::string alias_of = {};             // an earlier region, of which this is another name; empty: none
};

// The regions, in the script's order. Everything else in the script is skipped, except assignments outside of braces,
// whose symbols the expressions may use, with + - * / % << >> & | ~, brackets, numbers (decimal, 0x…, 0…; K, M),
// ORIGIN(region) and LENGTH(region) of earlier regions. Files that the script includes are not read.
//
// Throws Error of kind usage, its place "line L, column C", for the first mistake: a script of more than 1 MiB, without
// MEMORY, with more than 1000 regions; two regions of one name; a region without ORIGIN or LENGTH, or of a length out
// of range; an expression with something else in it or with a value that is negative or above 2^64. O(text · log).
[[nodiscard]] std::vector<MemoryRegion> parse_memory(std::string_view script);

// Bytes that lie in both.
[[nodiscard]] Bytes overlap_of(const MemoryRegion& one, const MemoryRegion& other);

}  // namespace usmp::config
