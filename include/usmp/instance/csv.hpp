// Bare instances as CSV: a row a live range, one pool (docs/instances.md).
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
  Problem problem;             // one pool, "pool", without bound; a buffer an id, in order of first appearance
  std::vector<BufferId> rows;  // whose live range each row is
};

// The first row names the columns, in any order: id, lower, upper, size, and where wanted alignment and offset. Life
// times are half-open, [lower, upper); with a column `end` instead of `upper` they end with that tick. An offset that
// is not empty pins the buffer. Rows of one id are live ranges of one buffer.
//
// Throws Error of kind usage, its place "line L", "line L, column C" (from 1, columns in bytes) or "line L, column
// 'size'", for the first mistake in the file; then for live ranges of one buffer that overlap, and what makes a problem
// invalid (see invalid_reason). O(n log n).
[[nodiscard]] CsvInstance parse_csv(std::string_view text);

// `text`, which parse_csv read as `instance`, with the offsets of a complete plan in its column `offset`, which is
// added behind the others if there is none. Rows and all other fields stay as they are, empty lines are left out.
[[nodiscard]] std::string csv_with_offsets(std::string_view text, const CsvInstance& instance, const Plan& plan);

}  // namespace usmp::instance
