// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// Edits of expressions and statements: replacing variables, renaming declarations, splitting and joining loops.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>

#include "usmp/arith/facts.hpp"
#include "usmp/tir/ir.hpp"

namespace usmp::loops {

using Substitution = std::map<tir::VarId, tir::ExprRef>;

// Replaces variables, then simplifies indices, and folds comparisons and if_then_else that the facts decide.
[[nodiscard]] tir::ExprRef substituted(const tir::ExprRef& root, arith::Facts& facts, const Substitution& values);

// Replaces variables, nothing else.
[[nodiscard]] tir::ExprRef renamed(const tir::ExprRef& root, const Substitution& values);
void rename(tir::Stmt& stmt, const Substitution& values);
void rename(tir::Block& block, const Substitution& values);

// Replaces every expression by the result of `change`, operands first: `change` gets the expression with its new
// operands, and returns null to keep it. Shared nodes stay shared. O(nodes).
void rewrite_expressions(tir::Block& block, const std::function<tir::ExprRef(const tir::ExprRef&)>& change);

// Replaces the index of every load and store of the storage.
void rewrite_indices(tir::Stmt& stmt, tir::VarId storage, arith::Facts& facts,
                     const std::function<tir::ExprRef(const tir::ExprRef& index, const arith::Facts& facts)>& change);

// Replaces lets of index arithmetic by their values; `known`: those from outside. Lets that read memory stay. False:
// the result would be too large (max_expression_nodes), or it is not possible (as_stored); the block is then unusable.
[[nodiscard]] bool expand_lets(tir::Block& block, Substitution known);

// The value truncated to its type, as a variable or an element would hold it, for use in place of that variable or
// element. C computes int8 and int16 as int and truncates only on stores. Null: a bool that may be other than 0 and 1.
[[nodiscard]] tir::ExprRef as_stored(tir::ExprRef value);

// Limit for the sake of C compilers and readers, as a tree. Each expanded let or buffer can double an expression.
inline constexpr std::size_t max_expression_nodes = 600;
// At most max_expression_nodes + 1.
[[nodiscard]] std::size_t tree_size(const tir::Expr& root);

// A variable of the module that nothing uses yet.
[[nodiscard]] tir::VarId fresh_var(tir::Module& module, std::string name, tir::DataType type);

// Gives the loops and lets of a copied statement new variables.
void freshen(tir::Stmt& stmt, tir::Module& module);

// A loop over [0, outer · inner) as a loop over [0, outer) around one over [0, inner).
[[nodiscard]] tir::For split(tir::Module& module, const tir::For& loop, std::int64_t outer);

// Two loops, one directly inside of the other, both over [0, constant) of int32, as one without a body: and what their
// variables are in it. Nothing: it would run more often than int32 counts.
struct JoinedLoops {
  tir::For loop;
  Substitution values;
};
[[nodiscard]] std::optional<JoinedLoops> joined(tir::Module& module, const tir::For& outer, const tir::For& inner,
                                                std::string name);

// Removes the allocates of the variables, at any depth.
void erase_allocates(tir::Block& root, const std::set<tir::VarId>& vars);

}  // namespace usmp::loops
