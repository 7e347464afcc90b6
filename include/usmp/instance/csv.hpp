// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// Bare instances as CSV: one row per live range, one pool (docs/instances.md).
//
//   id,lower,upper,size,alignment,offset
//   a,0,2,32,1,
//   b,1,4,16,16,32
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "usmp/problem/problem.hpp"

namespace usmp::instance {

struct CsvInstance {
  Problem problem;             // one unbounded pool, "pool"; one buffer per id, in order of first appearance
  std::vector<BufferId> rows;  // whose live range each row is
};

// The first row names the columns, in any order: id, lower, upper, size, and optionally alignment and offset. Live
// ranges are half-open, [lower, upper); with a column `end` instead of `upper` they include that tick. A non-empty
// offset pins the buffer. Rows with the same id are live ranges of one buffer.
//
// Throws Error of kind usage, its place "line L", "line L, column C" (from 1, columns in bytes) or "line L, column
// 'size'", for the first mistake in the file; then for overlapping live ranges of one buffer, and for an invalid
// problem (see invalid_reason). O(n log n).
[[nodiscard]] CsvInstance parse_csv(std::string_view text);

// `text`, which parse_csv read as `instance`, with the offsets of a complete plan in its column `offset`, which is
// appended if missing. Rows and all other fields do not change; empty lines are dropped.
[[nodiscard]] std::string csv_with_offsets(std::string_view text, const CsvInstance& instance, const Plan& plan);

}  // namespace usmp::instance
