// Walking the TIR.
#pragma once

#include <cstddef>
#include <functional>
#include <optional>
#include <span>
#include <string>

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

// Whether somebody else provides the function's C: its target is another than the entry's ("cmsis-nn" beside "c").
// A target that the module does not say is taken for the entry's.
[[nodiscard]] bool is_opaque(const Module& module, const Function& function);

// A call of a function by its name: call_extern, call_pure_extern, tvm_call_packed, tvm_call_cpacked.
struct NamedCall {
  const std::string* name = nullptr;
  std::span<const ExprRef> arguments;  // without the name and without the resource handle of tvm_call_cpacked
};

// Nothing if the expression is no such call. Points into `expr`.
[[nodiscard]] std::optional<NamedCall> named_call(const Expr& expr);

}  // namespace usmp::tir
