// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// Tasks, what they must wait for, and what they hold: which order needs the least memory at its worst moment? The
// question without the program that it comes from.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "usmp/support/checked.hpp"

namespace usmp::transform {

// A storage is held from its first access to its last.
struct HeldStorage {
  Bytes size = 0;
  bool from_start = false;  // held before its first access, too
  bool to_end = false;      // held after its last access, too
};

// A task passes through phases, numbered from 0.
struct Touch {
  std::size_t storage = 0;
  std::size_t begin = 0;  // the phase of the first access
  std::size_t end = 0;    // the phase behind that of the last access; begin < end
};

// Memory that exists during the task only.
struct InnerBuffer {
  Bytes size = 0;
  std::size_t begin = 0;  // phases, as above
  std::size_t end = 0;
};

// Two buffers of a task that may share bytes although both are held in some phase: `above` may start so many bytes
// above the start of `below`, if `dying` is not held after the task. Buffers are numbered: the touches, then `inner`.
struct TaskSharing {
  std::size_t below = 0;
  std::size_t above = 0;
  Bytes bytes = 0;
  std::size_t dying = 0;  // one of the two. The other one, if it is a storage, is accessed by no earlier task
};

struct Task {
  std::vector<std::size_t> after;         // tasks that must be done before: all below its own number
  std::vector<Touch> touches;             // by storage, each once
  std::vector<Bytes> phases;              // of each, bytes that the task itself needs; at least one
  std::vector<TaskSharing> sharing = {};  // in any order; only of tasks with at most max_sharing_touches
  std::vector<InnerBuffer> inner = {};    // of tasks with `sharing`: what `phases` adds up
};

inline constexpr std::size_t max_sharing_touches = 32;

struct OrderProblem {
  std::vector<HeldStorage> storages;
  std::vector<Task> tasks;
};

struct OrderResult {
  std::vector<std::size_t> order;  // of the tasks
  Bytes given_peak = 0;            // of the order 0, 1, 2, …
  Bytes peak = 0;                  // of `order`
  // No order needs less; equal to `peak` if that was proved to be the least. With TaskSharing both rest on
  // bounds::load, which may count less although more is held, where many buffers share with each other: then it is an
  // estimate.
  Bytes bound = 0;
};

// The largest load while the tasks are done in that order, which must keep what `after` says. Of buffers that may share
// bytes no more counts than bounds::load counts. O(touches + phases), and bounds::load of each task with sharing.
[[nodiscard]] Bytes peak_of(const OrderProblem& problem, const std::vector<std::size_t>& order);

inline constexpr std::size_t default_order_effort = 10'000'000;

// Looks for the order of the least peak; gives 0, 1, 2, … if it finds none below the peak of that. `effort` bounds the
// work, in steps of some nanoseconds, and with it the memory (a few bytes a step); at most twice that is spent. No
// clock is asked, so the result is the same everywhere. `spent`: gets the effort of the searches. See
// reorder_search.cpp.
[[nodiscard]] OrderResult best_order(const OrderProblem& problem, std::size_t effort = default_order_effort,
                                     std::size_t* spent = nullptr);

}  // namespace usmp::transform
