// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// Irregularly wired networks as ordering problems, and all orders of a small one.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <set>
#include <vector>

#include "transform/reorder_problem.hpp"
#include "usmp/bounds/load.hpp"
#include "usmp/problem/problem.hpp"
#include "usmp/support/random.hpp"

namespace usmp::transform::testing {

struct NetworkShape {
  std::size_t tasks = 8;
  std::size_t reach = 6;        // a task reads what some of the last so many have made, rarely something older
  std::size_t most_inputs = 3;  // of a task
  std::size_t channels = 16;    // sizes are 1 … so many times 64 bytes
  bool shares = false;          // what a task reads may share bytes with what it makes and with memory of its own
};

// Inputs that may die where the output, the last of the touches, is born, or one inner buffer is; and that buffer,
// where the output is.
inline void add_sharing(const OrderProblem& problem, Task& task, Random& random) {
  const std::size_t output = task.touches.size() - 1;
  std::fill(task.phases.begin(), task.phases.end(), 0);
  if (random.below(2) == 0) {
    const std::size_t begin = random.below(task.phases.size());
    task.inner.push_back({static_cast<Bytes>(64 * (1 + random.below(16))), begin, task.phases.size()});
    for (std::size_t i = begin; i < task.phases.size(); ++i) task.phases[i] = task.inner.back().size;
  }
  for (std::size_t input = 0; input < output; ++input) {
    const std::size_t born = task.inner.empty() || random.below(2) == 0 ? output : output + 1;
    const auto size_of = [&](std::size_t buffer) {
      return buffer > output ? task.inner.front().size : problem.storages[task.touches[buffer].storage].size;
    };
    if (random.below(4) == 0) continue;
    task.sharing.push_back(
        {input, born, static_cast<Bytes>(random.below(static_cast<std::uint64_t>(size_of(input)))), input});
    if (random.below(2) == 0) continue;
    task.sharing.push_back(
        {born, input, static_cast<Bytes>(random.below(static_cast<std::uint64_t>(size_of(born)))), input});
  }
  if (task.inner.empty() || random.below(2) == 0) return;
  const auto inner_size = static_cast<std::uint64_t>(task.inner.front().size);
  task.sharing.push_back({output + 1, output, static_cast<Bytes>(random.below(inner_size)), output + 1});
}

// A network as of neural architecture search: every task makes one tensor of some that were made before. A tensor is
// read at least once. A task needs memory of its own now and then, and is done with an input early or begins an output
// late.
inline OrderProblem random_network(std::uint64_t seed, const NetworkShape& shape) {
  Random random(seed);
  OrderProblem problem;
  std::vector<bool> is_read(shape.tasks, false);
  for (std::size_t i = 0; i < shape.tasks; ++i) {
    problem.storages.push_back({.size = static_cast<Bytes>(64 * (1 + random.below(shape.channels)))});
    Task task{.after = {}, .touches = {}, .phases = std::vector<Bytes>(1 + random.below(3), 0)};
    std::set<std::size_t> inputs;
    for (std::size_t k = 1 + random.below(shape.most_inputs); i > 0 && k-- > 0;) {
      const bool is_far = random.below(8) == 0;
      inputs.insert(i - 1 - random.below(std::min(i, is_far ? 4 * shape.reach : shape.reach)));
    }
    if (i >= shape.reach && !is_read[i - shape.reach]) inputs.insert(i - shape.reach);
    if (i + 1 == shape.tasks) {
      for (std::size_t k = 0; k < i; ++k) {
        if (!is_read[k]) inputs.insert(k);
      }
    }
    for (const std::size_t input : inputs) {
      is_read[input] = true;
      task.after.push_back(input);
      task.touches.push_back({input, 0, 1 + random.below(task.phases.size())});
    }
    task.touches.push_back({i, random.below(task.phases.size()), task.phases.size()});
    if (random.below(4) == 0) task.phases[random.below(task.phases.size())] = static_cast<Bytes>(64 * random.below(16));
    if (shape.shares) add_sharing(problem, task, random);
    problem.tasks.push_back(std::move(task));
  }
  problem.storages.front().from_start = random.below(2) == 0;
  problem.storages.back().to_end = random.below(2) == 0;
  return problem;
}

// The load while a task runs, counted from what is done before: no state that is kept, nothing that is shared with
// the search but what bounds::load says of buffers.
inline Bytes load_of_step(const OrderProblem& problem, std::uint32_t done, std::size_t task) {
  const Task& runs = problem.tasks[task];
  Problem held;
  std::map<std::size_t, BufferId> ids;  // by touch of the task
  std::set<std::size_t> needed_later;   // storages
  const auto add = [&](Bytes size, const std::vector<bool>& is_held) {
    held.buffers.push_back({.name = {}, .function = {}, .size = size, .candidates = {}, .live = {}});
    for (std::size_t phase = 0; phase < is_held.size(); ++phase) {
      if (is_held[phase]) held.buffers.back().live.push_back({static_cast<Tick>(phase), static_cast<Tick>(phase) + 1});
    }
  };
  for (std::size_t storage = 0; storage < problem.storages.size(); ++storage) {
    std::vector<bool> is_held(runs.phases.size());
    for (std::size_t phase = 0; phase < runs.phases.size(); ++phase) {
      bool begun = problem.storages[storage].from_start;
      bool goes_on = problem.storages[storage].to_end;
      bool is_used = false;
      for (std::size_t i = 0; i < problem.tasks.size(); ++i) {
        for (const Touch& touch : problem.tasks[i].touches) {
          if (touch.storage != storage) continue;
          is_used = true;
          if (i == task) {
            begun = begun || touch.begin <= phase;
            goes_on = goes_on || phase < touch.end;
          } else if ((done >> i & 1U) != 0) {
            begun = true;
          } else {
            goes_on = true;
            needed_later.insert(storage);
          }
        }
      }
      is_held[phase] = is_used && begun && goes_on;
    }
    if (problem.storages[storage].to_end) needed_later.insert(storage);
    for (std::size_t i = 0; i < runs.touches.size(); ++i) {
      if (runs.touches[i].storage == storage) ids[i] = BufferId(held.buffers.size());
    }
    add(problem.storages[storage].size, is_held);
  }
  if (runs.sharing.empty()) {
    for (std::size_t phase = 0; phase < runs.phases.size(); ++phase) {
      std::vector<bool> only(runs.phases.size());
      only[phase] = true;
      add(runs.phases[phase], only);
    }
  }
  for (const InnerBuffer& inner : runs.sharing.empty() ? std::vector<InnerBuffer>() : runs.inner) {
    std::vector<bool> is_held(runs.phases.size());
    for (std::size_t phase = inner.begin; phase < inner.end; ++phase) is_held[phase] = true;
    ids[ids.size()] = BufferId(held.buffers.size());
    add(inner.size, is_held);
  }
  for (const TaskSharing& sharing : runs.sharing) {
    const bool is_storage = sharing.dying < runs.touches.size();
    if (is_storage && needed_later.contains(runs.touches[sharing.dying].storage)) continue;
    held.distances.push_back({ids.at(sharing.below), ids.at(sharing.above), sharing.bytes});
  }
  std::ranges::sort(held.distances);
  std::vector<BufferId> all;
  for (std::size_t i = 0; i < held.buffers.size(); ++i) all.emplace_back(i);
  return bounds::load(held, all).bytes;
}

// The least peak of all orders, which are walked one by one up to the sets of tasks that they have done: at most
// 2^tasks.
inline Bytes least_peak(const OrderProblem& problem) {
  std::map<std::uint32_t, Bytes> peaks = {{0, 0}};  // by set of done tasks, the least peak of getting there
  for (std::size_t count = 0; count < problem.tasks.size(); ++count) {
    std::map<std::uint32_t, Bytes> next;
    for (const auto& [done, peak] : peaks) {
      for (std::size_t i = 0; i < problem.tasks.size(); ++i) {
        const std::vector<std::size_t>& after = problem.tasks[i].after;
        const bool is_ready =
            std::all_of(after.begin(), after.end(), [d = done](std::size_t k) { return (d >> k & 1U) != 0; });
        if ((done >> i & 1U) != 0 || !is_ready) continue;
        const Bytes reached = std::max(peak, load_of_step(problem, done, i));
        const auto [entry, is_new] = next.try_emplace(done | 1U << i, reached);
        if (!is_new) entry->second = std::min(entry->second, reached);
      }
    }
    peaks = std::move(next);
  }
  return peaks.begin()->second;
}

}  // namespace usmp::transform::testing
