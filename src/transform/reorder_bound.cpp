// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// Collects by bit sets what ancestors and descendants of each task access, and adds up what both do.
#include "transform/reorder_bound.hpp"

#include <algorithm>
#include <bit>
#include <cstdint>
#include <vector>

#include "transform/reorder_sharing.hpp"

namespace usmp::transform {
namespace {

// A set of storages, 64 to a word: what is known of all tasks is joined along every edge.
class Row {
 public:
  explicit Row(std::size_t storages) : words_((storages + 63) / 64, 0) {}

  bool operator[](std::size_t storage) const { return (words_[storage / 64] >> (storage % 64) & 1U) != 0; }
  void add(std::size_t storage) { words_[storage / 64] |= std::uint64_t{1} << (storage % 64); }
  void add(const Row& other) {
    for (std::size_t i = 0; i < words_.size(); ++i) words_[i] |= other.words_[i];
  }
  void add(const Task& task) {
    for (const Touch& touch : task.touches) add(touch.storage);
  }

  // The sum of sizes of what is in both. O(words + what is in both).
  [[nodiscard]] Bytes common(const Row& other, const std::vector<HeldStorage>& storages) const {
    Bytes sum = 0;
    for (std::size_t i = 0; i < words_.size(); ++i) {
      for (std::uint64_t rest = words_[i] & other.words_[i]; rest != 0; rest &= rest - 1)
        sum += storages[64 * i + static_cast<std::size_t>(std::countr_zero(rest))].size;
    }
    return sum;
  }

 private:
  std::vector<std::uint64_t> words_;
};

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
    if (problem.storages[i].from_start) from_start.add(i);
    if (problem.storages[i].to_end) to_end.add(i);
  }
  std::vector<Row> before(count, from_start);
  std::vector<Row> behind(count, to_end);
  for (std::size_t i = 0; i < count; ++i) {
    for (const std::size_t earlier : problem.tasks[i].after) {
      before[i].add(before[earlier]);
      before[i].add(problem.tasks[earlier]);
    }
  }
  for (std::size_t i = count; i-- > 0;) {
    for (const std::size_t earlier : problem.tasks[i].after) {
      behind[earlier].add(behind[i]);
      behind[earlier].add(problem.tasks[i]);
    }
  }
  Bytes bound = 0;
  for (std::size_t i = 0; i < count; ++i) {
    const Task& task = problem.tasks[i];
    const Bytes held = before[i].common(behind[i], problem.storages);
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
