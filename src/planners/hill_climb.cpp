// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// Search over first-fit orders: start from the best of a portfolio, then change the order around the bottleneck.
//
// Idea: first fit reaches an optimal plan from some order. A buffer whose end is a pool's peak stands on others that
// stand on others, down to offset 0; only moving one of these earlier or later in the order can lower the peak, so
// moves pick from this stack and its neighbours. Buffers outside their preferred pool, or without a place, are moved
// before one that takes room there. A change that is not worse is kept; after many fruitless ones the search goes on
// from the best order, shaken. It ends when the score meets the lower bound (the plan is then optimal).
// Pools that share no buffer are searched one by one.
// Cost: an iteration places the buffers behind the first changed one, O(sum of d log d), d the number of conflicts;
// the default limit keeps the whole below a fixed number of looks at neighbours.
// Guarantee: never worse than the greedy algorithms; the same seed gives the same plan on every machine.
// Source: TVM's src/tir/usmp/algo/hill_climb.cc and Arm Vela's hillclimb_allocation for the moves at the bottleneck.
// Tests: tests/planners, tests/driver/algorithms_vs_tvm_test.cpp.
#include "planners/hill_climb.hpp"

#include <algorithm>
#include <utility>

#include "planners/orders.hpp"
#include "planners/proof.hpp"
#include "usmp/planners/planner.hpp"

namespace usmp::planners {
namespace {

constexpr std::uint64_t most_looks = 8'000'000;   // looks at neighbours that the default limit allows
constexpr std::uint64_t most_iterations = 5'000;  // of the default limit

// Fruitless iterations before the best order is shaken: enough to try the moves around a bottleneck.
std::uint64_t patience_for(std::size_t buffers) { return std::min<std::uint64_t>(1000, 20 + 15 * buffers); }

class Climb {
 public:
  Climb(FirstFit& placer, const Group& group, Attempt start, Random& random)
      : placer_(placer),
        group_(group),
        random_(random),
        goal_(ideal(placer.problem(), group)),
        current_{std::move(start)},
        position_(placer.problem().buffers.size()),
        homes_(placer.problem().buffers.size()) {
    for (const BufferId id : group.buffers) homes_[id.index()] = home(placer.problem(), id);
    current_.fit = Fit::lowest_gap;
    score_ = placer_.run(current_);
    best_ = current_;
    best_score_ = score_;
    index_positions(0, current_.order.size());
  }

  std::uint64_t run(std::uint64_t limit, const std::function<bool()>& is_over) {
    std::uint64_t done = 0;
    std::uint64_t fruitless = 0;
    const std::uint64_t patience = patience_for(group_.buffers.size());
    for (; done < limit && !meets(best_score_, goal_) && !(is_over && is_over()); ++done) {
      step();
      if (score_ < best_score_) {
        best_ = current_;
        best_score_ = score_;
        fruitless = 0;
      } else if (++fruitless % patience == 0) {
        shake();
      }
    }
    return done;
  }

  [[nodiscard]] const Attempt& best() const { return best_; }
  [[nodiscard]] const Score& best_score() const { return best_score_; }

 private:
  void index_positions(std::size_t first, std::size_t last) {
    for (std::size_t k = first; k < last; ++k) position_[current_.order[k].index()] = k;
  }

  // Buffers that keep the score up: those without a place, or those that are not at home and those at a peak.
  void find_critical() {
    critical_.clear();
    for (const BufferId id : group_.buffers) {
      if (!placer_.of(id).placed() && homes_[id.index()].valid()) critical_.push_back(id);
    }
    if (!critical_.empty()) return;
    const bool look_at_homes = score_.cost.spilled > goal_.spilled && random_.below(2) == 0;
    for (const BufferId id : group_.buffers) {
      const Allocation& at = placer_.of(id);
      if (!at.placed()) continue;
      const Bytes used = score_.cost.used[at.pool.index()];
      const bool at_peak = at.offset + placer_.problem().buffer(id).size == used && used > goal_.used[at.pool.index()];
      const bool astray = at.pool != homes_[id.index()];
      if (look_at_homes ? astray : at_peak) critical_.push_back(id);
    }
  }

  // The buffers that `id` stands on, down to the bottom of the pool, itself first.
  void find_stack(BufferId id) {
    stack_.assign(1, id);
    const Problem& problem = placer_.problem();
    for (BufferId top = id; placer_.of(top).offset > 0;) {
      const Allocation& at = placer_.of(top);
      const Bytes alignment = alignment_in(problem.buffer(top), problem.pool(at.pool));
      BufferId below;
      std::size_t seen = 0;
      const std::span<const BufferId> others = placer_.neighbours(top);
      for (std::size_t k = 0; k < others.size(); ++k) {
        const Allocation& under = placer_.of(others[k]);
        const bool supports = under.pool == at.pool && under.offset < at.offset &&
                              align_up(under.offset + placer_.distance_from(top, k), alignment) == at.offset;
        if (supports && random_.below(++seen) == 0) below = others[k];
      }
      if (!below.valid()) return;
      stack_.push_back(below);
      top = below;
    }
  }

  // Two buffers whose order is worth changing; equal if there are none.
  std::pair<BufferId, BufferId> choose() {
    find_critical();
    if (critical_.empty()) return {};
    const BufferId id = critical_[random_.below(critical_.size())];
    const auto around = [&](BufferId one) {
      const auto neighbours = placer_.neighbours(one);
      return neighbours.empty() ? one : neighbours[random_.below(neighbours.size())];
    };
    const bool in_place = placer_.of(id).placed() && placer_.of(id).pool == homes_[id.index()];
    if (!in_place) return {id, around(id)};
    find_stack(id);
    const BufferId one = stack_[random_.below(stack_.size())];
    if (random_.below(8) == 0) return {one, stack_[random_.below(stack_.size())]};
    return {one, around(one)};
  }

  // Exchanges the two, or moves the later one to the place before the earlier one.
  void change(std::size_t first, std::size_t last, bool exchange) {
    const auto begin = current_.order.begin();
    const auto at = [&](std::size_t k) { return begin + static_cast<std::ptrdiff_t>(k); };
    if (exchange) {
      std::iter_swap(at(first), at(last));
    } else {
      std::rotate(at(first), at(last), at(last + 1));
    }
    index_positions(first, last + 1);
  }

  void undo(std::size_t first, std::size_t last, bool exchange) {
    const auto begin = current_.order.begin();
    const auto at = [&](std::size_t k) { return begin + static_cast<std::ptrdiff_t>(k); };
    if (exchange) {
      std::iter_swap(at(first), at(last));
    } else {
      std::rotate(at(first), at(first + 1), at(last + 1));
    }
    index_positions(first, last + 1);
  }

  void step() {
    const auto [one, other] = choose();
    if (one == other) return;
    const std::size_t first = std::min(position_[one.index()], position_[other.index()]);
    const std::size_t last = std::max(position_[one.index()], position_[other.index()]);
    const bool exchange = random_.below(2) == 0;
    saved_.clear();
    for (std::size_t k = first; k < current_.order.size(); ++k) {
      saved_.emplace_back(current_.order[k], placer_.of(current_.order[k]));
    }
    change(first, last, exchange);
    if (placer_.rerun(current_, first, &score_, trial_)) {
      std::swap(score_, trial_);
      return;
    }
    undo(first, last, exchange);
    for (const auto& [id, allocation] : saved_) placer_.restore(id, allocation);
  }

  void shake() {
    current_ = best_;
    const std::size_t n = current_.order.size();
    for (std::size_t k = 0; k < 2 + n / 32; ++k) {
      std::swap(current_.order[random_.below(n)], current_.order[random_.below(n)]);
    }
    score_ = placer_.run(current_);
    index_positions(0, n);
  }

  FirstFit& placer_;
  const Group& group_;
  Random& random_;
  Cost goal_;
  Attempt current_;
  Score score_;
  Attempt best_;
  Score best_score_;
  std::vector<std::size_t> position_;  // of a buffer in current_.order
  std::vector<PoolId> homes_;          // by buffer
  std::vector<BufferId> critical_;     // scratch
  std::vector<BufferId> stack_;        // scratch
  std::vector<std::pair<BufferId, Allocation>> saved_;
  Score trial_;
};

// Looks at neighbours that one iteration may take.
std::uint64_t looks(const FirstFit& placer, const Group& group) {
  std::uint64_t sum = 0;
  for (const BufferId id : group.buffers) sum += 4 + placer.neighbours(id).size();
  return sum;
}

}  // namespace

std::vector<Attempt> first_attempts(const Problem& problem, const Conflicts& conflicts, const Group& group) {
  std::vector<Attempt> attempts;
  for (const std::vector<BufferId>& order : order_portfolio(problem, conflicts, group)) {
    attempts.push_back({order, Fit::lowest_gap});
    attempts.push_back({order, Fit::tightest_gap});
  }
  attempts.push_back({order_by_size(problem, conflicts, group), Fit::above_all});
  attempts.push_back({order_by_conflicts(problem, conflicts, group), Fit::above_all});
  return attempts;
}

Climbed climb(FirstFit& placer, const Group& group, const Attempt& start, Random& random, std::uint64_t limit,
              const std::function<bool()>& is_over) {
  const Score start_score = placer.run(start);
  Climb climb(placer, group, start, random);
  const std::uint64_t iterations = climb.run(limit, is_over);
  if (climb.best_score() < start_score) return {climb.best(), climb.best_score(), iterations};
  return {start, start_score, iterations};
}

std::uint64_t climb_limit(const FirstFit& placer, const Group& group) {
  return std::min(most_iterations, most_looks / looks(placer, group));
}

PlanResult hill_climb(const Problem& problem, const Options& options) {
  const Conflicts conflicts(problem);
  const std::vector<Group> groups = split_by_pools(problem);
  FirstFit placer(problem, conflicts, groups);
  Random random(options.seed);
  std::vector<Attempt> winners;
  std::uint64_t iterations = 0;
  for (const Group& group : groups) {
    const Attempt start = best_attempt(placer, group, first_attempts(problem, conflicts, group));
    const std::uint64_t limit = options.iterations > 0 ? options.iterations : climb_limit(placer, group);
    Climbed climbed = climb(placer, group, start, random, limit);
    iterations += climbed.iterations;
    winners.push_back(std::move(climbed.attempt));
  }
  return conclude(placer, groups, winners, iterations);
}

}  // namespace usmp::planners
