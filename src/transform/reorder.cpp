#include "transform/reorder.hpp"

#include <algorithm>
#include <string>
#include <utility>

#include "transform/reorder_problem.hpp"
#include "transform/reorder_tasks.hpp"
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

std::string description(const OrderResult& best) {
  std::string text = "calls in another order: peak load " + std::to_string(best.given_peak) + " -> " +
                     std::to_string(best.peak) + " bytes, ";
  if (best.bound == best.peak) return text + "best order proved";
  return text + "no order has less than " + std::to_string(best.bound);
}

}  // namespace

std::vector<Change> reorder(tir::Module& module, const Options& options) {
  const liveness::EntryUses uses = liveness::entry_uses(module, options.liveness);
  const std::optional<EntryTasks> tasks = entry_tasks(module, uses, options.liveness);
  if (!tasks) return {};
  const OrderResult best = best_order(tasks->problem);
  if (best.peak >= best.given_peak) return {};
  tir::Function& entry = module.functions[module.entry];
  entry.body = reordered(entry.body, *tasks, best.order);
  return {{.step = Step::reorder, .function = entry.name, .text = description(best)}};
}

}  // namespace usmp::transform
