// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// The buffers of the busiest tick first, the largest of them first, each at the lowest offset where it fits.
//
// Idea: an operator's breadth is the sum of the sizes that are live while it runs; here each tick is an operator. The
// operator of the largest breadth needs the most room, so its buffers choose first, in order of their sizes; those
// that are left then go by the next operator, and so on. Ties go to the earlier tick, then to the smaller id. As
// with greedy_by_size, gap filling, the tightest gap and TVM's placement are tried in this order, and the best is kept.
// Cost: O(n log n + sum over buffers of d log d), d the number of conflicts.
// Guarantee: none on the distance from the optimum; a result that meets the lower bound is called optimal.
// Source: Pisarchyk and Lee, "Efficient Memory Management for Deep Neural Net Inference" (2020), greedy by breadth for
// offset calculation; the same order places into shared objects in TFLite's GPU delegate.
// Tests: tests/planners/peers_test.cpp, tests/planners/planners_test.cpp.
#include <algorithm>
#include <vector>

#include "planners/orders.hpp"
#include "usmp/planners/planner.hpp"

namespace usmp::planners {
namespace {

struct Operator {
  Tick tick = 0;
  Bytes breadth = 0;
};

// The ticks at which something begins, in order. What is live at any other tick is live at the one of these before it.
std::vector<Operator> operators(const Problem& problem, const Group& group) {
  std::vector<std::pair<Tick, Bytes>> changes;
  std::vector<Operator> result;
  for (const BufferId id : group.buffers) {
    for (const LiveRange& range : problem.buffer(id).live) {
      changes.emplace_back(range.begin, problem.buffer(id).size);
      changes.emplace_back(range.end, -problem.buffer(id).size);
      result.push_back({range.begin, 0});
    }
  }
  std::sort(changes.begin(), changes.end());
  std::sort(result.begin(), result.end(), [](const Operator& a, const Operator& b) { return a.tick < b.tick; });
  const auto same = [](const Operator& a, const Operator& b) { return a.tick == b.tick; };
  result.erase(std::unique(result.begin(), result.end(), same), result.end());
  Bytes sum = 0;
  auto change = changes.begin();
  for (Operator& at : result) {
    for (; change != changes.end() && change->first <= at.tick; ++change) sum += change->second;
    at.breadth = sum;
  }
  return result;
}

std::vector<BufferId> order_by_breadth(const Problem& problem, const Conflicts&, const Group& group) {
  std::vector<Operator> all = operators(problem, group);
  std::vector<std::size_t> ranks(all.size());  // in order of the breadth, by index of the operator
  std::vector<std::size_t> by_breadth(all.size());
  for (std::size_t i = 0; i < all.size(); ++i) by_breadth[i] = i;
  std::stable_sort(by_breadth.begin(), by_breadth.end(),
                   [&](std::size_t a, std::size_t b) { return all[a].breadth > all[b].breadth; });
  for (std::size_t rank = 0; rank < all.size(); ++rank) ranks[by_breadth[rank]] = rank;
  const auto first_rank = [&](BufferId id) {
    std::size_t best = all.size();
    for (const LiveRange& range : problem.buffer(id).live) {
      auto at = std::partition_point(all.begin(), all.end(), [&](const Operator& o) { return o.tick < range.begin; });
      for (; at != all.end() && at->tick < range.end; ++at) {
        best = std::min(best, ranks[static_cast<std::size_t>(at - all.begin())]);
      }
    }
    return best;
  };
  std::vector<std::size_t> keys(problem.buffers.size());
  for (const BufferId id : group.buffers) keys[id.index()] = first_rank(id);
  std::vector<BufferId> order = group.buffers;
  std::sort(order.begin(), order.end(), [&](BufferId a, BufferId b) {
    if (keys[a.index()] != keys[b.index()]) return keys[a.index()] < keys[b.index()];
    if (problem.buffer(a).size != problem.buffer(b).size) return problem.buffer(a).size > problem.buffer(b).size;
    return a < b;
  });
  return order;
}

}  // namespace

PlanResult greedy_by_breadth(const Problem& problem, const Options&) {
  return plan_greedily(problem, order_by_breadth);
}

}  // namespace usmp::planners
