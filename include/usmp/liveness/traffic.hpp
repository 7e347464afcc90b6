// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// How often storage is accessed in one run of a module: loads and stores times the extents of the loops around them.
#pragma once

#include <vector>

#include "usmp/liveness/liveness.hpp"
#include "usmp/tir/ir.hpp"

namespace usmp::liveness {

// Counts of scalars; doubles, since trips of nested loops multiply. Of the program as it stands: what the compiler
// keeps in registers counts.
struct Traffic {
  double loads = 0;
  double stores = 0;
  double bytes_loaded = 0;
  double bytes_stored = 0;

  [[nodiscard]] double accesses() const { return loads + stores; }
  friend bool operator==(const Traffic&, const Traffic&) = default;
};

// By SiteId: all accesses through the site's variable and pointers that are based on it, in all functions that the
// entry calls; a constant's twins are part of it. Both sides of a branch count; a statement of which nothing bounds how
// often it runs counts 10^6 times.
// A pointer that may be based on several sites counts for each. Where a function that is not analysed gets a pointer,
// it loads each byte of a constant, and loads and stores each byte of other storage, once. The analysis must be of this
// module. Throws as `analyse` does. O(size of the module · pointers of a function).
[[nodiscard]] std::vector<Traffic> traffic_of(const tir::Module& module, const Analysis& analysis);

}  // namespace usmp::liveness
