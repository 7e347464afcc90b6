// Edits of expressions and statements: variables replaced, names made anew, loops split.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <set>
#include <string>

#include "usmp/arith/facts.hpp"
#include "usmp/tir/ir.hpp"

namespace usmp::loops {

using Substitution = std::map<tir::VarId, tir::ExprRef>;

// Variables replaced; then indices simplified, and comparisons and if_then_else decided where the facts tell them.
[[nodiscard]] tir::ExprRef substituted(const tir::ExprRef& root, arith::Facts& facts, const Substitution& values);

// Variables replaced, nothing else.
[[nodiscard]] tir::ExprRef renamed(const tir::ExprRef& root, const Substitution& values);
void rename(tir::Stmt& stmt, const Substitution& values);
void rename(tir::Block& block, const Substitution& values);

// Every expression replaced by what `change` makes of it, operands first: `change` gets the expression with its new
// operands, and null of it means that it stays. Shared nodes stay shared. O(nodes).
void rewrite_expressions(tir::Block& block, const std::function<tir::ExprRef(const tir::ExprRef&)>& change);

// The index of every load and store of the storage.
void rewrite_indices(tir::Stmt& stmt, tir::VarId storage, arith::Facts& facts,
                     const std::function<tir::ExprRef(const tir::ExprRef& index, const arith::Facts& facts)>& change);

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

// A variable of the module that nothing uses yet.
[[nodiscard]] tir::VarId fresh_var(tir::Module& module, std::string name, tir::DataType type);

// Variables of its own for the loops and lets of a copied statement.
void freshen(tir::Stmt& stmt, tir::Module& module);

// A loop over [0, outer · inner) as a loop over [0, outer) around one over [0, inner).
[[nodiscard]] tir::For split(tir::Module& module, const tir::For& loop, std::int64_t outer);

// The allocates of the variables go, wherever they stand.
void erase_allocates(tir::Block& root, const std::set<tir::VarId>& vars);

}  // namespace usmp::loops
