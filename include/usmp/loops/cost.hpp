// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// Estimate of a program's work.
//
// The unit is one scalar operation: a load, a store, an addition, a comparison, a choice between two values; a division
// counts as 4, a fixed-point product as 4, a function of the C library as 20. Both sides of a choice count. Indices
// count only by their divisions and remainders, as often as these change: compilers turn sums of loop variables into
// increments and hoist loop invariants.
#pragma once

#include <functional>
#include <optional>
#include <vector>

#include "usmp/arith/facts.hpp"
#include "usmp/tir/ir.hpp"

namespace usmp::loops {

// Work of one evaluation; a load counts as one operation whatever its index, a choice as none.
[[nodiscard]] double work(const tir::Expr& root);

// Work of one call of the function, without the functions that it calls. Nothing: how often a statement runs is not
// known, or is read from memory. O(size).
[[nodiscard]] std::optional<double> work_of(const tir::Function& function);

// Work of one run of the entry and the functions that it calls. Functions of unknown work and opaque functions count as
// 0. O(size).
[[nodiscard]] double work_of(const tir::Module& module);

// How often the statement at a place of a walk runs at most: the product of the extents of the loops around it. An
// unknown extent counts as 10^6.
class Trips {
 public:
  explicit Trips(double outside = 1) : counts_{outside} {}

  [[nodiscard]] double count() const { return counts_.back(); }
  // Around what is walked inside the statement. `facts`: at the statement.
  void enter(const tir::Stmt& stmt, const arith::Facts& facts);
  void leave(const tir::Stmt& stmt);

 private:
  std::vector<double> counts_;  // outside, and inside each open loop
};

// Calls `visit` for each statement, before those inside it, with how often it runs at most.
void visit_with_trips(const tir::Block& root, arith::Facts& facts,
                      const std::function<void(const tir::Stmt& stmt, double trips)>& visit);

}  // namespace usmp::loops
