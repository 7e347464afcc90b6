// Rewriting expressions and statements, with what is known at each place.
#pragma once

#include <functional>
#include <map>

#include "usmp/arith/facts.hpp"
#include "usmp/tir/ir.hpp"

namespace usmp::transform {

[[nodiscard]] bool is_if_then_else(const tir::Expr& expr);

// Gets an expression whose operands have been rewritten, and what is known where it stands; gives the expression to put
// there, or null to leave it.
using RewriteExpr = std::function<tir::ExprRef(const tir::ExprRef& expr, const arith::Facts& facts)>;

// Operands first. Inside if_then_else the condition is assumed for its first value.
[[nodiscard]] tir::ExprRef rewritten(const tir::ExprRef& root, arith::Facts& facts, const RewriteExpr& rewrite);

// Every expression of the statement and of the blocks inside. What the statement binds for those that follow it is
// bound in `scope` afterwards.
void rewrite(tir::Stmt& stmt, arith::Facts& facts, const RewriteExpr& rewrite);

// Binds what a Let declares for the statements after it.
void bind_after(const tir::Stmt& stmt, arith::Facts& facts);

// Variables replaced; then indices simplified, and comparisons and if_then_else decided where the scope tells them.
using Substitution = std::map<tir::VarId, tir::ExprRef>;
[[nodiscard]] tir::ExprRef substituted(const tir::ExprRef& root, arith::Facts& facts, const Substitution& values);

// Variables replaced, nothing else.
[[nodiscard]] tir::ExprRef renamed(const tir::ExprRef& root, const Substitution& values);
void rename(tir::Stmt& stmt, const Substitution& values);
void rename(tir::Block& block, const Substitution& values);

// Lets of index arithmetic replaced by what they stand for; `known`: those from outside. Lets that read memory stay.
// False: that would be too much (max_expression_nodes), or is not possible (as_stored); the block is then useless.
[[nodiscard]] bool expand_lets(tir::Block& block, Substitution known);

// The value as a variable or an element of its type holds it, where the value itself stands in its place. C computes
// with int8 and int16 as int, and only stores cut to the type. Null: a bool that may be another number than 0 and 1.
[[nodiscard]] tir::ExprRef as_stored(tir::ExprRef value);

// What C compilers and readers can take, as a tree. Lets and buffers that are written out can double at each step.
inline constexpr std::size_t max_expression_nodes = 600;
// At most max_expression_nodes + 1.
[[nodiscard]] std::size_t tree_size(const tir::Expr& root);

// Variables of its own for the loops and lets of a copied statement.
void freshen(tir::Stmt& stmt, tir::Module& module);

// How often the statement at a place runs, at most: products of the extents of loops.
[[nodiscard]] double trips(const tir::For& loop, const arith::Facts& facts);

}  // namespace usmp::transform
