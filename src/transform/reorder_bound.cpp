#include "transform/reorder_bound.hpp"

#include <algorithm>

#include "transform/reorder_sharing.hpp"

namespace usmp::transform {
namespace {

using Row = std::vector<bool>;  // by storage

void add(Row& to, const Row& from) {
  for (std::size_t i = 0; i < to.size(); ++i) {
    if (from[i]) to[i] = true;
  }
}

void add(Row& to, const Task& task) {
  for (const Touch& touch : task.touches) to[touch.storage] = true;
}

// What a task with sharing accesses, without what is held before and behind it in any case.
Bytes load_besides(const OrderProblem& problem, std::size_t task, const Row& before, const Row& behind) {
  TouchSet held_before = 0;
  TouchSet held_behind = 0;
  Bytes counted = 0;
  const std::vector<Touch>& touches = problem.tasks[task].touches;
  for (std::size_t i = 0; i < touches.size(); ++i) {
    const std::size_t storage = touches[i].storage;
    if (before[storage]) held_before |= TouchSet{1} << i;
    if (behind[storage]) held_behind |= TouchSet{1} << i;
    if (before[storage] && behind[storage]) counted += problem.storages[storage].size;
  }
  return load_of_task(problem, task, held_before, held_behind) - counted;
}

}  // namespace

Bytes order_bound(const OrderProblem& problem) {
  const std::size_t count = problem.tasks.size();
  Row from_start(problem.storages.size());
  Row to_end(problem.storages.size());
  for (std::size_t i = 0; i < problem.storages.size(); ++i) {
    from_start[i] = problem.storages[i].from_start;
    to_end[i] = problem.storages[i].to_end;
  }
  std::vector<Row> before(count, from_start);
  std::vector<Row> behind(count, to_end);
  for (std::size_t i = 0; i < count; ++i) {
    for (const std::size_t earlier : problem.tasks[i].after) {
      add(before[i], before[earlier]);
      add(before[i], problem.tasks[earlier]);
    }
  }
  for (std::size_t i = count; i-- > 0;) {
    for (const std::size_t earlier : problem.tasks[i].after) {
      add(behind[earlier], behind[i]);
      add(behind[earlier], problem.tasks[i]);
    }
  }
  Bytes bound = 0;
  for (std::size_t i = 0; i < count; ++i) {
    const Task& task = problem.tasks[i];
    Bytes held = 0;
    for (std::size_t storage = 0; storage < problem.storages.size(); ++storage) {
      if (before[i][storage] && behind[i][storage]) held += problem.storages[storage].size;
    }
    if (!task.sharing.empty()) {
      bound = std::max(bound, held + load_besides(problem, i, before[i], behind[i]));
      continue;
    }
    std::vector<Bytes> load = task.phases;
    for (const Touch& touch : task.touches) {
      const bool was = before[i][touch.storage];
      const bool will_be = behind[i][touch.storage];
      if (was && will_be) continue;
      const std::size_t end = will_be ? load.size() : touch.end;
      for (std::size_t phase = was ? 0 : touch.begin; phase < end; ++phase)
        load[phase] += problem.storages[touch.storage].size;
    }
    for (const Bytes bytes : load) bound = std::max(bound, held + bytes);
  }
  return bound;
}

}  // namespace usmp::transform
