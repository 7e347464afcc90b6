// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// Which tasks are done, and what is held then.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <tuple>
#include <vector>

#include "transform/reorder_problem.hpp"
#include "transform/reorder_sharing.hpp"

namespace usmp::transform {

class OrderState {
 public:
  explicit OrderState(const OrderProblem& problem);

  [[nodiscard]] Bytes load() const { return load_; }
  // How many tasks are done.
  [[nodiscard]] std::size_t count() const { return count_; }
  // Those that are not done while all that they wait for is, in order.
  [[nodiscard]] const std::vector<std::size_t>& ready() const { return ready_; }
  // Those that the end of the task, which was run last, has made ready, in order.
  [[nodiscard]] std::vector<std::size_t> made_ready_by(std::size_t task) const;

  // The largest load while the task is done next. O(touches + phases of the task); where buffers share bytes, what
  // load_of_task takes the first time that the same storages are held.
  [[nodiscard]] Bytes peak_of(std::size_t task) const;

  // Each counts as steps(task) of effort.
  void run(std::size_t task);
  void undo(std::size_t task);  // the task that was run last
  [[nodiscard]] std::size_t steps(std::size_t task) const {
    return 4 + 4 * problem_->tasks[task].touches.size() + problem_->tasks[task].phases.size() +
           successors_[task].size() + ready_.size() / 64;
  }

 private:
  [[nodiscard]] Bytes peak_with_sharing(std::size_t task) const;

  const OrderProblem* problem_;
  std::vector<std::vector<std::size_t>> successors_;  // by task
  std::vector<std::uint32_t> touches_;  // by storage: of tasks, and one for `from_start` and `to_end` each
  std::vector<std::uint32_t> touched_;  // by storage: how many of these are past
  std::vector<std::uint32_t> waits_;    // by task: for how many
  std::vector<std::size_t> ready_;
  std::size_t count_ = 0;
  Bytes load_ = 0;
  mutable std::vector<Bytes> change_;  // by phase, of the task that is looked at
  // By task with sharing, and what is held before and after it: load_of_task.
  mutable std::map<std::tuple<std::size_t, TouchSet, TouchSet>, Bytes> loads_;
};

}  // namespace usmp::transform
