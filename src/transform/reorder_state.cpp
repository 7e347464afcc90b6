// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// Counts the touches of each storage: it is held from the first one to the last.
#include "transform/reorder_state.hpp"

#include <algorithm>

namespace usmp::transform {

OrderState::OrderState(const OrderProblem& problem)
    : problem_(&problem),
      successors_(problem.tasks.size()),
      touches_(problem.storages.size(), 0),
      touched_(problem.storages.size(), 0),
      waits_(problem.tasks.size(), 0) {
  for (std::size_t i = 0; i < problem.tasks.size(); ++i) {
    for (const Touch& touch : problem.tasks[i].touches) ++touches_[touch.storage];
    for (const std::size_t earlier : problem.tasks[i].after) successors_[earlier].push_back(i);
    waits_[i] = static_cast<std::uint32_t>(problem.tasks[i].after.size());
    if (waits_[i] == 0) ready_.push_back(i);
  }
  for (std::size_t i = 0; i < problem.storages.size(); ++i) {
    const HeldStorage& storage = problem.storages[i];
    if (storage.to_end) ++touches_[i];
    if (!storage.from_start) continue;
    ++touches_[i];
    touched_[i] = 1;
    if (touches_[i] > 1) load_ += storage.size;
  }
}

Bytes OrderState::peak_of(std::size_t task) const {
  const Task& looked_at = problem_->tasks[task];
  if (!looked_at.sharing.empty()) return peak_with_sharing(task);
  change_.assign(looked_at.phases.size() + 1, 0);
  for (const Touch& touch : looked_at.touches) {
    const Bytes size = problem_->storages[touch.storage].size;
    const std::uint32_t past = touched_[touch.storage];
    if (past == 0) change_[touch.begin] += size;
    if (past + 1 == touches_[touch.storage]) change_[touch.end] -= size;
  }
  Bytes load = load_;
  Bytes peak = 0;
  for (std::size_t i = 0; i < looked_at.phases.size(); ++i) {
    load += change_[i];
    peak = std::max(peak, load + looked_at.phases[i]);
  }
  return peak;
}

Bytes OrderState::peak_with_sharing(std::size_t task) const {
  const std::vector<Touch>& touches = problem_->tasks[task].touches;
  Bytes beside = load_;  // of storages that the task does not access
  TouchSet before = 0;
  TouchSet after = 0;
  for (std::size_t i = 0; i < touches.size(); ++i) {
    const std::size_t storage = touches[i].storage;
    const std::uint32_t past = touched_[storage];
    if (past > 0) {
      before |= TouchSet{1} << i;
      beside -= problem_->storages[storage].size;
    }
    if (past + 1 < touches_[storage]) after |= TouchSet{1} << i;
  }
  const auto [load, is_new] = loads_.try_emplace({task, before, after}, 0);
  if (is_new) load->second = load_of_task(*problem_, task, before, after);
  return beside + load->second;
}

std::vector<std::size_t> OrderState::made_ready_by(std::size_t task) const {
  std::vector<std::size_t> ready;
  for (const std::size_t later : successors_[task]) {
    if (waits_[later] == 0) ready.push_back(later);
  }
  return ready;
}

void OrderState::run(std::size_t task) {
  for (const Touch& touch : problem_->tasks[task].touches) {
    const Bytes size = problem_->storages[touch.storage].size;
    if (touched_[touch.storage]++ == 0) load_ += size;
    if (touched_[touch.storage] == touches_[touch.storage]) load_ -= size;
  }
  ready_.erase(std::lower_bound(ready_.begin(), ready_.end(), task));
  for (const std::size_t later : successors_[task]) {
    if (--waits_[later] == 0) ready_.insert(std::lower_bound(ready_.begin(), ready_.end(), later), later);
  }
  ++count_;
}

void OrderState::undo(std::size_t task) {
  for (const Touch& touch : problem_->tasks[task].touches) {
    const Bytes size = problem_->storages[touch.storage].size;
    if (touched_[touch.storage] == touches_[touch.storage]) load_ += size;
    if (--touched_[touch.storage] == 0) load_ -= size;
  }
  for (const std::size_t later : successors_[task]) {
    if (waits_[later]++ == 0) ready_.erase(std::lower_bound(ready_.begin(), ready_.end(), later));
  }
  ready_.insert(std::lower_bound(ready_.begin(), ready_.end(), task), task);
  --count_;
}

}  // namespace usmp::transform
