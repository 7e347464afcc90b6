// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// Makes a planning problem of the task's phases, and asks for its load.
#include "transform/reorder_sharing.hpp"

#include <algorithm>

#include "usmp/bounds/load.hpp"
#include "usmp/problem/problem.hpp"

namespace usmp::transform {
namespace {

LiveRange phases(std::size_t begin, std::size_t end) { return {static_cast<Tick>(begin), static_cast<Tick>(end)}; }

bool is_in(TouchSet set, std::size_t touch) { return ((set >> touch) & 1U) != 0; }

}  // namespace

Bytes load_of_task(const OrderProblem& problem, std::size_t task, TouchSet before, TouchSet after) {
  const Task& looked_at = problem.tasks[task];
  const std::size_t touches = looked_at.touches.size();
  Problem buffers;
  buffers.horizon = static_cast<Tick>(looked_at.phases.size());
  const auto add = [&](Bytes size, std::size_t begin, std::size_t end) {
    Buffer& buffer = buffers.buffers.emplace_back();
    buffer.size = size;
    buffer.live = {phases(begin, end)};
  };
  for (std::size_t i = 0; i < touches; ++i) {
    const Touch& touch = looked_at.touches[i];
    add(problem.storages[touch.storage].size, is_in(before, i) ? 0 : touch.begin,
        is_in(after, i) ? looked_at.phases.size() : touch.end);
  }
  for (const InnerBuffer& inner : looked_at.inner) add(inner.size, inner.begin, inner.end);
  for (const TaskSharing& sharing : looked_at.sharing) {
    if (sharing.dying < touches && is_in(after, sharing.dying)) continue;
    buffers.distances.push_back({BufferId(sharing.below), BufferId(sharing.above), sharing.bytes});
  }
  // Where each of two may be the dying one, both distances are right, and the smaller one stands first.
  std::sort(buffers.distances.begin(), buffers.distances.end());
  const auto same_pair = [](const Distance& a, const Distance& b) { return a.below == b.below && a.above == b.above; };
  buffers.distances.erase(std::unique(buffers.distances.begin(), buffers.distances.end(), same_pair),
                          buffers.distances.end());
  std::vector<BufferId> all;
  for (std::size_t i = 0; i < buffers.buffers.size(); ++i) all.emplace_back(i);
  return bounds::load(buffers, all).bytes;
}

}  // namespace usmp::transform
