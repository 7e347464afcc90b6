// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// Walks over the statements of a function, with the facts known at each place: to read them, and to replace them.
//
// All walks bind and assume alike: in the body of a loop its variable is between the bounds; in the first body of a
// branch, and in the first value of if_then_else, the condition holds, in the second it does not; after a let its
// variable has the value. Loads and variables of other kinds are not followed.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>

#include "usmp/arith/facts.hpp"
#include "usmp/tir/ir.hpp"

namespace usmp::loops {

// Binds what the statement declares for the statements after it, if it is a let.
void bind_after(const tir::Stmt& stmt, arith::Facts& facts);

// --- Reading ---------------------------------------------------------------------------------------------------------

// Gets an expression, after its operands, and the facts known there.
using VisitExpr = std::function<void(const tir::Expr& expr, const arith::Facts& facts)>;

// Any may be empty.
struct Visitor {
  std::function<void(const tir::Stmt& stmt, const arith::Facts& facts)> before;  // its expressions and blocks
  std::function<void(const tir::Stmt& stmt)> after;
  VisitExpr expr;  // that is in the statement directly, or below one that is
};

// Every expression below `root` and itself. O(nodes).
void visit(const tir::Expr& root, arith::Facts& facts, const VisitExpr& visit_expr);

// Every statement of the block, or the one, with those inside, in program order. What `root` binds is bound in `facts`
// afterwards. O(statements + nodes).
void visit(const tir::Block& root, arith::Facts& facts, const Visitor& visitor);
void visit(const tir::Stmt& root, arith::Facts& facts, const Visitor& visitor);

// A load or store: its storage, its index and the facts known there.
using VisitAccess =
    std::function<void(tir::VarId storage, const tir::Expr& index, bool is_store, const arith::Facts& facts)>;

// Every load and store, in the order of `visit` above.
void visit_accesses(const tir::Block& root, arith::Facts& facts, const VisitAccess& visit_access);
void visit_accesses(const tir::Stmt& root, arith::Facts& facts, const VisitAccess& visit_access);

// --- Rewriting -------------------------------------------------------------------------------------------------------

// Gets an expression whose operands have been rewritten, and the facts known there; returns its replacement, or null to
// keep it.
using RewriteExpr = std::function<tir::ExprRef(const tir::ExprRef& expr, const arith::Facts& facts)>;

// Operands first.
[[nodiscard]] tir::ExprRef rewritten(const tir::ExprRef& root, arith::Facts& facts, const RewriteExpr& rewrite);

// Every expression of the statement and of the blocks inside. What it binds is bound in `facts` afterwards.
void rewrite(tir::Stmt& stmt, arith::Facts& facts, const RewriteExpr& rewrite);

// Edits of the statements of a block and of the blocks inside, in program order.
enum class Next : std::uint8_t {
  enter,  // the blocks of the statement now at `at`
  skip,   // to the statement after `at`
  again,  // with the statement now at `at`, if any
};
struct BlockEdit {
  // May replace the statement at `at` by one, several (`at` is then the last of them) or none.
  std::function<Next(tir::Block& block, std::size_t& at, arith::Facts& facts)> before;
  // The same, once the blocks inside have been edited.
  std::function<void(tir::Block& block, std::size_t& at, arith::Facts& facts)> after;  // may be empty
};
void edit(tir::Block& root, arith::Facts& facts, const BlockEdit& edit);

}  // namespace usmp::loops
