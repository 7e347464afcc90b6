// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// Makes tasks of the entry's statements, searches for an order of them, and moves the statements.
#include "transform/reorder.hpp"

#include <algorithm>
#include <string>
#include <utility>

#include "transform/reorder_problem.hpp"
#include "transform/reorder_tasks.hpp"
#include "usmp/liveness/distances.hpp"
#include "usmp/liveness/uses.hpp"

namespace usmp::transform {
namespace {

// Declarations that stood behind the first statement that moves now stand before it.
tir::Block reordered(const tir::Block& body, const EntryTasks& tasks, const std::vector<std::size_t>& order) {
  std::vector<bool> is_task(body.size(), false);
  for (const std::size_t statement : tasks.statements) is_task[statement] = true;
  std::size_t same = 0;  // tasks that stay where they are
  while (same < order.size() && order[same] == same) ++same;
  tir::Block result(body.begin(), body.begin() + static_cast<std::ptrdiff_t>(tasks.statements[same]));
  for (std::size_t i = tasks.statements[same]; i < body.size(); ++i) {
    if (!is_task[i]) result.push_back(body[i]);
  }
  for (std::size_t i = same; i < order.size(); ++i) result.push_back(body[tasks.statements[order[i]]]);
  return result;
}

// Each task waits for the one before it.
bool has_one_order(const OrderProblem& problem) {
  for (std::size_t i = 1; i < problem.tasks.size(); ++i) {
    if (!std::ranges::binary_search(problem.tasks[i].after, i - 1)) return false;
  }
  return true;
}

bool shares(const OrderProblem& problem) {
  return std::ranges::any_of(problem.tasks, [](const Task& task) { return !task.sharing.empty(); });
}

// What is counted of shared bytes is an estimate, of which nothing is proved.
std::string description(const OrderResult& best, const OrderProblem& problem) {
  const std::string peaks =
      "calls reordered: peak live bytes " + std::to_string(best.given_peak) + " -> " + std::to_string(best.peak);
  if (shares(problem)) return peaks + " with shared bytes";
  if (best.bound == best.peak) return peaks + ", proved optimal";
  return peaks + ", no order has less than " + std::to_string(best.bound);
}

}  // namespace

std::optional<std::string> too_large_to_reorder(const tir::Module& module) {
  if (!has_too_many_tasks(module)) return std::nullopt;
  return "more than " + std::to_string(max_order_tasks) + " statements";
}

std::vector<Change> reorder(tir::Module& module, const Options& options) {
  const liveness::EntryUses uses = liveness::entry_uses(module, options.liveness);
  StatementSharing sharing;
  std::optional<EntryTasks> tasks = entry_tasks(module, uses, sharing, options.liveness);
  if (!tasks || has_one_order(tasks->problem)) return {};
  if (options.asks_for(Step::inplace)) {
    sharing = liveness::find_statement_distances(module, options.liveness);
    tasks = entry_tasks(module, uses, sharing, options.liveness);
  }
  const OrderResult best = best_order(tasks->problem);
  if (best.peak >= best.given_peak) return {};
  tir::Function& entry = module.functions[module.entry];
  entry.body = reordered(entry.body, *tasks, best.order);
  return {{.step = Step::reorder, .function = entry.name, .text = description(best, tasks->problem)}};
}

}  // namespace usmp::transform
