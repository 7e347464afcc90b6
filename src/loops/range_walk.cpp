// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// Multiplies runs by the extent of each loop that opens, and binds loops and lets as they come.
#include "usmp/loops/range_walk.hpp"

#include <utility>
#include <variant>
#include <vector>

#include "usmp/support/checked.hpp"
#include "usmp/tir/visit.hpp"

namespace usmp::loops {
namespace {

class RangeWalker {
 public:
  RangeWalker(arith::Ranges ranges, const VisitStmt& visit_stmt)
      : ranges_(std::move(ranges)), visit_stmt_(visit_stmt) {}

  void open(const tir::Block& /*block*/, const tir::Stmt* owner) {
    std::optional<std::int64_t> runs = runs_.empty() ? std::optional<std::int64_t>(1) : runs_.back();
    if (owner != nullptr && std::holds_alternative<tir::While>(owner->node)) runs = std::nullopt;
    if (const auto* loop = owner == nullptr ? nullptr : std::get_if<tir::For>(&owner->node)) {
      const auto extent = ranges_.of(*loop->extent);
      runs = loop->row_runs > 0                    ? std::optional(loop->row_runs)
             : runs && extent && extent->high >= 0 ? checked_mul(*runs, extent->high)
                                                   : std::nullopt;
    }
    runs_.push_back(runs);
  }

  void close(const tir::Block& /*block*/, const tir::Stmt* /*owner*/) { runs_.pop_back(); }

  void statement(const tir::Stmt& stmt) {
    visit_stmt_(stmt, {ranges_, runs_.back()});
    if (const auto* loop = std::get_if<tir::For>(&stmt.node)) ranges_.bind_loop(loop->var, *loop->min, *loop->extent);
    if (const auto* let = std::get_if<tir::Let>(&stmt.node)) ranges_.bind_let(let->var, *let->value);
  }

 private:
  arith::Ranges ranges_;
  const VisitStmt& visit_stmt_;
  std::vector<std::optional<std::int64_t>> runs_;  // of the open blocks
};

}  // namespace

void visit_with_ranges(const tir::Function& function, arith::Ranges ranges, const VisitStmt& visit_stmt) {
  RangeWalker walker(std::move(ranges), visit_stmt);
  tir::walk(function.body, walker);
}

}  // namespace usmp::loops
