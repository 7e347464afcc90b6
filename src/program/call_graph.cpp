// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// Collects named calls from all expressions, and orders functions by a depth-first search with a stack of its own.
#include "usmp/program/call_graph.hpp"

#include <algorithm>
#include <array>
#include <cstdint>
#include <numeric>
#include <optional>
#include <unordered_set>
#include <utility>

#include "usmp/support/error.hpp"
#include "usmp/support/small_stack.hpp"
#include "usmp/tir/visit.hpp"

namespace usmp::program {
namespace {

// Shared nodes that have been seen: few, in most trees, if all of the module's copies share theirs.
class Seen {
 public:
  bool insert(const tir::Expr* expr) {
    const auto end = few_.begin() + static_cast<std::ptrdiff_t>(count_);
    if (std::find(few_.begin(), end, expr) != end) return false;
    if (count_ == few_.size()) return more_.insert(expr).second;
    few_[count_++] = expr;
    return true;
  }

 private:
  std::array<const tir::Expr*, 16> few_{};
  std::size_t count_ = 0;
  std::unordered_set<const tir::Expr*> more_;
};

// Calls `visit` for each named call of an expression, a shared one once.
template <class Visit>
void for_each_call(const tir::ExprRef& root, const Visit& visit) {
  if (root->operands.empty()) return;
  Seen shared;
  SmallStack<const tir::ExprRef*> pending;
  pending.push(&root);
  while (!pending.empty()) {
    const tir::ExprRef& expr = *pending.back();
    pending.pop();
    if (expr.use_count() > 1 && !shared.insert(expr.get())) continue;
    if (const auto call = tir::named_call(*expr)) visit(*call);
    for (std::size_t i = expr->operands.size(); i-- > 0;) {
      const bool may_call = !expr->operands[i]->operands.empty();
      if (may_call) pending.push(&expr->operands[i]);
    }
  }
}

}  // namespace

CallGraph call_graph(const tir::Module& module) {
  CallGraph graph;
  graph.calls.resize(module.functions.size());
  graph.callers.resize(module.functions.size());
  for (std::size_t caller = 0; caller < module.functions.size(); ++caller) {
    std::optional<std::size_t> callee;  // of the last call: many calls of one function follow each other
    const auto add = [&](const tir::NamedCall& call) {
      if (!callee || module.functions[*callee].name != *call.name) callee = module.find(*call.name);
      if (!callee) return;
      graph.calls[caller].push_back({*callee, call.arguments});
      std::vector<std::size_t>& callers = graph.callers[*callee];
      if (callers.empty() || callers.back() != caller) callers.push_back(caller);
    };
    tir::for_each_stmt(module.functions[caller].body, [&](const tir::Stmt& stmt) {
      tir::for_each_expr_of(stmt, [&](const tir::ExprRef& root) { for_each_call(root, add); });
    });
  }
  return graph;
}

std::vector<std::size_t> callees_first(const tir::Module& module, const CallGraph& graph,
                                       const std::vector<std::size_t>& roots) {
  struct Frame {
    std::size_t function;
    std::size_t next = 0;
  };
  enum class State : std::uint8_t { unseen, open, done };
  std::vector<State> state(module.functions.size(), State::unseen);
  std::vector<std::size_t> order;
  std::vector<Frame> stack;  // of its own: a file controls the depth of the graph
  const auto enter = [&](std::size_t function) {
    if (state[function] == State::open) fail_recursion(module.functions[function]);
    if (state[function] == State::done || tir::is_opaque(module, module.functions[function])) return;
    state[function] = State::open;
    stack.push_back({function});
  };
  for (const std::size_t root : roots) {
    enter(root);
    while (!stack.empty()) {
      Frame& frame = stack.back();
      if (frame.next < graph.calls[frame.function].size()) {
        enter(graph.calls[frame.function][frame.next++].callee);
        continue;
      }
      state[frame.function] = State::done;
      order.push_back(frame.function);
      stack.pop_back();
    }
  }
  return order;
}

std::vector<std::size_t> callees_first(const tir::Module& module, const CallGraph& graph) {
  std::vector<std::size_t> all(module.functions.size());
  std::iota(all.begin(), all.end(), std::size_t{0});
  return callees_first(module, graph, all);
}

void fail_in(const tir::Function& function, std::string message) {
  throw Error(ErrorKind::archive, {.file = {}, .member = {}, .place = function.name}, std::move(message));
}

void fail_recursion(const tir::Function& function) {
  fail_in(function, "function '" + function.name + "' calls itself, directly or through others");
}

}  // namespace usmp::program
