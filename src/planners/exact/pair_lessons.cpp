// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// From a failure of the search by pairs to orders that do not go together, and back to where that says something new.
#include <algorithm>
#include <utility>

#include "planners/exact/pair_search.hpp"

namespace usmp::planners::exact {
namespace {

// At the most: what is learned in a run is kept in it.
constexpr std::uint64_t longest_run = 100'000;
// Of which the longer half is forgotten at the next beginning.
constexpr std::size_t most_clauses = 4'000;

}  // namespace

bool PairSearch::restart(bool& is_consistent) {
  forget_queue();
  if (!decisions_.empty()) take_back(decisions_.front().trail);
  decisions_.clear();
  forget_clauses();
  failures_ = 0;
  failures_of_run_ = std::min(failures_of_run_ + failures_of_run_ / 5, longest_run);
  follows_guide_ = !follows_guide_;
  for (std::size_t i = 0; i < packing_.items.size(); ++i) queue(i);
  is_consistent = lower_highest_to_capacity() && propagate();
  return is_consistent;
}

void PairSearch::forget_clauses() {
  std::erase_if(clauses_, [&](const Clause& clause) {
    return std::ranges::any_of(clause, [&](const Literal& one) { return orders_[one.pair] == opposite(one.order); });
  });
  for (Clause& clause : clauses_) {
    std::erase_if(clause, [&](const Literal& one) { return holds(one); });
  }
  if (clauses_.size() > most_clauses) {
    std::ranges::stable_sort(clauses_, {}, &Clause::size);
    clauses_.resize(most_clauses / 2);
  }
  for (auto& watching : watching_) watching.clear();
  for (std::size_t i = 0; i < clauses_.size(); ++i) watch(static_cast<Index>(i));
}

void PairSearch::watch(Index clause) {
  watching_[number_of(clauses_[clause][0])].push_back(clause);
  watching_[number_of(clauses_[clause][1])].push_back(clause);
}

void PairSearch::raise_weight() {
  constexpr double growth = 1.02;
  constexpr double most = 1e100;
  weight_ *= growth;
  if (weight_ < most) return;
  for (double& weight : weights_) weight = std::max(weight / most, 1 / most);
  weight_ /= most;
}

bool PairSearch::step_back(bool& is_consistent) {
  forget_queue();
  std::size_t at = trail_.size();
  is_marked_.resize(trail_.size(), 0);
  marked_of_level_.assign(decisions_.size() + 1, 0);
  std::size_t marked = 0;
  const auto mark = [&](Index change) {
    if (change == nothing || is_marked_[change] != 0 || trail_[change].level == 0) return;
    is_marked_[change] = 1;
    ++marked_of_level_[trail_[change].level];
    ++marked;
  };
  for (const Index change : failed_) mark(change);
  Clause clause;
  std::size_t level = 0;
  std::size_t back_to = 0;
  while (marked > 0) {
    --at;
    if (is_marked_[at] == 0) continue;
    is_marked_[at] = 0;
    --marked;
    const Change& change = trail_[at];
    --marked_of_level_[change.level];
    ++looks_;
    if (change.kind == Change::Kind::order) {
      weights_[change.index] += weight_;
      if (level == 0) level = change.level;
      const bool is_last = change.level < level || marked_of_level_[level] == 0 || at == decisions_[level - 1].trail;
      if (is_last) {
        if (change.level < level) back_to = std::max<std::size_t>(back_to, change.level);
        clause.push_back({change.index, orders_[change.index]});
        continue;
      }
    }
    mark(change.reason.first);
    mark(change.reason.second);
    if (change.reason.clause == nothing) continue;
    for (const Literal& one : clauses_[change.reason.clause]) {
      if (one.pair != change.index) mark(ordered_at_[one.pair]);
    }
  }
  if (clause.empty()) return false;
  raise_weight();
  take_back(decisions_[back_to].trail);
  decisions_.resize(back_to);
  Reason reason;
  if (clause.size() > 1) {
    reason.clause = static_cast<Index>(clauses_.size());
    clauses_.push_back(clause);
    watch(reason.clause);
  }
  is_consistent =
      lower_highest_to_capacity() && set_order(clause[0].pair, opposite(clause[0].order), reason) && propagate();
  return true;
}

void PairSearch::take_back(std::size_t length) {
  for (; trail_.size() > length; trail_.pop_back()) {
    const Change& change = trail_.back();
    if (change.kind == Change::Kind::lowest) {
      lowest_[change.index] = change.before;
      lowest_at_[change.index] = change.changed_before;
    }
    if (change.kind == Change::Kind::highest) {
      highest_[change.index] = change.before;
      highest_at_[change.index] = change.changed_before;
    }
    if (change.kind == Change::Kind::order) {
      orders_[change.index] = Order::open;
      ordered_at_[change.index] = nothing;
    }
  }
}

}  // namespace usmp::planners::exact
