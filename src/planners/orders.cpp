// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// Sorts buffers by size, conflicts, company, area, rounding and charge, and keeps the best attempt.
#include "planners/orders.hpp"

#include <algorithm>
#include <limits>
#include <numeric>

#include "planners/proof.hpp"

namespace usmp::planners {
namespace {

using Key = std::vector<Bytes>;  // by BufferId

Bytes lifetime(const Buffer& buffer) {
  Bytes ticks = 0;
  for (const LiveRange& range : buffer.live) ticks += range.end - range.begin;
  return ticks;
}

template <class Function>
Key key_of(const Problem& problem, Function function) {
  Key key(problem.buffers.size());
  for (std::size_t i = 0; i < key.size(); ++i) key[i] = function(BufferId(i));
  return key;
}

// Largest first by `major`, equals by `minor`, then by id.
std::vector<BufferId> descending(const Group& group, const Key& major, const Key& minor) {
  std::vector<BufferId> order = group.buffers;
  std::sort(order.begin(), order.end(), [&](BufferId a, BufferId b) {
    if (major[a.index()] != major[b.index()]) return major[a.index()] > major[b.index()];
    if (minor[a.index()] != minor[b.index()]) return minor[a.index()] > minor[b.index()];
    return a < b;
  });
  return order;
}

Key sizes(const Problem& problem) {
  return key_of(problem, [&](BufferId id) { return problem.buffer(id).size; });
}

Key conflict_counts(const Problem& problem, const Conflicts& conflicts) {
  return key_of(problem, [&](BufferId id) { return static_cast<Bytes>(conflicts.of(id).size()); });
}

// Bytes that are live together with a buffer, itself among them, over its whole life.
Key company(const Problem& problem, const Conflicts& conflicts) {
  return key_of(problem, [&](BufferId id) {
    Bytes sum = problem.buffer(id).size;
    for (const BufferId other : conflicts.of(id)) sum += problem.buffer(other).size;
    return sum;
  });
}

Key areas(const Problem& problem) {
  return key_of(problem, [&](BufferId id) {
    const Buffer& buffer = problem.buffer(id);
    return checked_mul(buffer.size, lifetime(buffer)).value_or(std::numeric_limits<Bytes>::max());
  });
}

// Nothing to round up comes first: the topmost buffer is the one whose rounding costs nothing.
Key negative_roundings(const Problem& problem) {
  return key_of(problem, [&](BufferId id) {
    const Buffer& buffer = problem.buffer(id);
    const Bytes alignment = alignment_in(buffer, problem.pool(buffer.candidates.front()));
    return buffer.size - align_up(buffer.size, alignment);
  });
}

// What a thousandth of a byte saves in the first choice.
Key charges_per_byte(const Problem& problem) {
  return key_of(problem, [&](BufferId id) {
    const Buffer& buffer = problem.buffer(id);
    const Bytes saved = buffer.charges.back() - buffer.charges.front();
    return static_cast<Bytes>(1000.0 * static_cast<double>(saved) /
                              static_cast<double>(std::max<Bytes>(buffer.size, 1)));
  });
}

}  // namespace

std::vector<BufferId> order_by_size(const Problem& problem, const Conflicts& conflicts, const Group& group) {
  return descending(group, sizes(problem), conflict_counts(problem, conflicts));
}

std::vector<BufferId> order_by_conflicts(const Problem& problem, const Conflicts& conflicts, const Group& group) {
  return descending(group, conflict_counts(problem, conflicts), sizes(problem));
}

std::vector<std::vector<BufferId>> order_portfolio(const Problem& problem, const Conflicts& conflicts,
                                                   const Group& group) {
  const Key size = sizes(problem);
  const Key count = conflict_counts(problem, conflicts);
  const Key lives = key_of(problem, [&](BufferId id) { return lifetime(problem.buffer(id)); });
  const Key starts = key_of(problem, [&](BufferId id) {
    const auto& live = problem.buffer(id).live;
    return live.empty() ? problem.horizon : live.front().begin;
  });
  const Key negative_starts = key_of(problem, [&](BufferId id) { return -starts[id.index()]; });
  std::vector<std::vector<BufferId>> charged;
  if (problem.charged) charged = {descending(group, charges_per_byte(problem), size)};
  std::vector<std::vector<BufferId>> orders = {
      descending(group, size, count),
      descending(group, count, size),
      descending(group, size, lives),
      descending(group, areas(problem), size),
      descending(group, lives, size),
      descending(group, company(problem, conflicts), size),
      descending(group, negative_starts, size),
      descending(group, starts, size),
      descending(group, negative_roundings(problem), size),
  };
  orders.insert(orders.begin(), charged.begin(), charged.end());
  return orders;
}

Attempt best_attempt(FirstFit& placer, const Group& group, std::span<const Attempt> attempts) {
  const Cost goal = ideal(placer.problem(), group);
  const Attempt* best = &attempts.front();
  Score best_score;
  for (const Attempt& attempt : attempts) {
    Score score = placer.run(attempt);
    if (&attempt == attempts.data() || score < best_score) {
      best = &attempt;
      best_score = std::move(score);
    }
    if (meets(best_score, goal)) break;
  }
  return *best;
}

PlanResult plan_greedily(const Problem& problem, Order order) {
  const Conflicts conflicts(problem);
  const std::vector<Group> groups = split_by_pools(problem);
  FirstFit placer(problem, conflicts, groups);
  std::vector<Attempt> winners;
  for (const Group& group : groups) {
    std::vector<Attempt> attempts;
    for (const Fit fit : {Fit::lowest_gap, Fit::tightest_gap, Fit::above_all}) {
      attempts.push_back({order(problem, conflicts, group), fit});
    }
    winners.push_back(best_attempt(placer, group, attempts));
  }
  return conclude(placer, groups, winners, problem.buffers.size());
}

PlanResult conclude(FirstFit& placer, std::span<const Group> groups, std::span<const Attempt> winners,
                    std::uint64_t iterations) {
  PlanResult result{.status = PlanStatus::optimal, .plan = {}, .shortage = {}, .iterations = iterations};
  for (std::size_t g = 0; g < groups.size(); ++g) {
    const Score score = placer.run(winners[g]);
    if (!meets(score, ideal(placer.problem(), groups[g]))) result.status = PlanStatus::feasible;
    if (score.unplaced == 0) continue;  // an empty buffer always finds room
    result.shortage = placer.shortage(winners[g]);
    result.status = proved_infeasible(placer.problem()) ? PlanStatus::infeasible : PlanStatus::not_found;
    return result;
  }
  result.plan = placer.plan();
  return result;
}

}  // namespace usmp::planners
