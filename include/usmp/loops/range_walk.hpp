// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// Walks the statements of a function with the ranges of its variables and the number of runs of each statement, for
// estimates of work and ranges of values. Where affine forms and conditions matter, use loops/walk.hpp.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>

#include "usmp/arith/ranges.hpp"
#include "usmp/tir/ir.hpp"

namespace usmp::loops {

// What is known where a statement stands.
struct RangeContext {
  arith::Ranges& ranges;             // of the variables in scope
  std::optional<std::int64_t> runs;  // at most, in one call of the function; nothing: not known
};

using VisitStmt = std::function<void(const tir::Stmt& stmt, const RangeContext& context)>;

// Every statement of the function, in program order, each before those in its blocks. `ranges`: what is known at the
// start. O(statements · log variables), and what ranges of bounds and lets cost.
void visit_with_ranges(const tir::Function& function, arith::Ranges ranges, const VisitStmt& visit_stmt);

}  // namespace usmp::loops
