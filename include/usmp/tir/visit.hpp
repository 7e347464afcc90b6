// Walking the TIR.
#pragma once

#include <functional>

#include "usmp/tir/ir.hpp"

namespace usmp::tir {

// Helper for std::visit with a lambda a kind.
template <class... Fs>
struct Overloaded : Fs... {
  using Fs::operator()...;
};
template <class... Fs>
Overloaded(Fs...) -> Overloaded<Fs...>;

// Calls `visit` for the expression and everything below it, parents first, a shared node once a use.
void for_each_expr(const Expr& root, const std::function<void(const Expr&)>& visit);

// Calls `visit` for every expression that stands directly in the statement (not in nested blocks), in the order of
// evaluation: of a Store index, value, predicate.
void for_each_expr_of(const Stmt& stmt, const std::function<void(const ExprRef&)>& visit);

// Calls `visit` for every statement of the block and of the blocks inside, parents first, in program order.
void for_each_stmt(const Block& block, const std::function<void(const Stmt&)>& visit);

// The blocks directly inside a statement (bodies of loops, branches and scopes).
[[nodiscard]] std::vector<const Block*> blocks_of(const Stmt& stmt);

}  // namespace usmp::tir
