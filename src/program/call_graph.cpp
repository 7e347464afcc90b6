// SPDX-License-Identifier: Apache-2.0
#include "usmp/program/call_graph.hpp"

#include <cstdint>
#include <numeric>
#include <unordered_set>
#include <utility>

#include "usmp/support/error.hpp"
#include "usmp/tir/visit.hpp"

namespace usmp::program {
namespace {

// Calls `visit` for each named call of an expression, a shared one once.
template <class Visit>
void for_each_call(const tir::ExprRef& root, const Visit& visit) {
  if (root->operands.empty()) return;
  std::unordered_set<const tir::Expr*> shared;
  std::vector<const tir::ExprRef*> pending = {&root};
  while (!pending.empty()) {
    const tir::ExprRef& expr = *pending.back();
    pending.pop_back();
    if (expr.use_count() > 1 && !shared.insert(expr.get()).second) continue;
    if (const auto call = tir::named_call(*expr)) visit(*call);
    for (std::size_t i = expr->operands.size(); i-- > 0;) {
      const bool may_call = !expr->operands[i]->operands.empty();
      if (may_call) pending.push_back(&expr->operands[i]);
    }
  }
}

}  // namespace

CallGraph call_graph(const tir::Module& module) {
  CallGraph graph;
  graph.calls.resize(module.functions.size());
  graph.callers.resize(module.functions.size());
  for (std::size_t caller = 0; caller < module.functions.size(); ++caller) {
    const auto add = [&](const tir::NamedCall& call) {
      const auto callee = module.find(*call.name);
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
