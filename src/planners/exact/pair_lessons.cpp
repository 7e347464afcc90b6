// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// From a failure of the search by pairs to orders that do not go together, and back to where that says something new.
#include <algorithm>
#include <memory>
#include <utility>

#include "planners/exact/pair_search.hpp"

namespace usmp::planners::exact {
namespace {

// At the most: what is learned in a run is kept in it.
constexpr std::uint64_t longest_run = 100'000;
// The longer half of these is forgotten at the next beginning.
constexpr std::size_t most_clauses = 4'000;

}  // namespace

bool PairSearch::restart(bool& is_consistent) {
  note_roots();
  forget_queue();
  if (!decisions_.empty()) take_back(decisions_.front().trail);
  decisions_.clear();
  forget_clauses();
  failures_ = 0;
  failures_of_run_ = std::min(failures_of_run_ + failures_of_run_ / 5, longest_run);
  follows_guide_ = !follows_guide_;
  for (std::size_t i = 0; i < packing_.items.size(); ++i) queue(i, moved_up | moved_down);
  is_consistent = lower_highest_to_capacity() && propagate();
  if (!is_consistent && !budget_->exhausted()) note_contradiction();
  return is_consistent;
}

void PairSearch::forget_clauses() {
  std::erase_if(clauses_, [&](const Clause& clause) {
    return std::ranges::any_of(clause.orders,
                               [&](const Literal& one) { return orders_[one.pair] == opposite(one.order); });
  });
  for (Clause& clause : clauses_) {
    std::erase_if(clause.orders, [&](const Literal& one) { return holds(one); });
  }
  if (clauses_.size() > most_clauses) {
    std::ranges::stable_sort(clauses_, {}, [](const Clause& clause) { return clause.orders.size(); });
    clauses_.resize(most_clauses / 2);
  }
  for (auto& watching : watching_) watching.clear();
  for (std::size_t i = 0; i < clauses_.size(); ++i) watch(static_cast<Index>(i));
}

void PairSearch::watch(Index clause) {
  watching_[number_of(clauses_[clause].orders[0])].push_back(clause);
  watching_[number_of(clauses_[clause].orders[1])].push_back(clause);
}

void PairSearch::raise_weight() {
  constexpr double growth = 1.02;
  constexpr double most = 1e100;
  weight_ *= growth;
  if (weight_ < most) return;
  for (double& weight : weights_) weight = std::max(weight / most, 1 / most);
  weight_ /= most;
}

Bytes PairSearch::base_highest(Index item) const {
  const Item& one = packing_.items[item];
  const Bytes last = *capacity_ - one.size;
  return one.pinned ? *one.pinned : last < 0 ? -1 : last - last % one.alignment;
}

Bytes PairSearch::explain_lowest(Index item, Index change, Bytes needed) {
  pushed_.clear();
  Index at = item;
  while (base_lowest_[at] < needed) {
    while (trail_[change].before >= needed) change = trail_[change].changed_before;
    const Reason& reason = trail_[change].reason;
    const Index pair = trail_[reason.first].index;
    const Bytes apart = distance(pair, orders_[pair]);
    const Bytes alignment = packing_.items[at].alignment;
    because_.push_back(reason.first);
    pushed_.emplace_back(at, apart);
    needed = align_up(needed, alignment) - alignment + 1 - apart;
    at = below(pair, orders_[pair]);
    change = reason.second;
    ++looks_;
  }
  Bytes lowest = base_lowest_[at];
  stack_.push_back(at);
  for (std::size_t i = pushed_.size(); i-- > 0;) {
    stack_.push_back(pushed_[i].first);
    lowest = align_up(lowest + pushed_[i].second, packing_.items[pushed_[i].first].alignment);
  }
  return lowest;
}

Bytes PairSearch::explain_highest(Index item, Index change, Bytes needed) {
  pushed_.clear();
  Index at = item;
  while (base_highest(at) > needed) {
    while (trail_[change].before <= needed) change = trail_[change].changed_before;
    const Reason& reason = trail_[change].reason;
    const Index pair = trail_[reason.first].index;
    const Bytes apart = distance(pair, orders_[pair]);
    const Bytes alignment = packing_.items[at].alignment;
    because_.push_back(reason.first);
    pushed_.emplace_back(at, apart);
    needed = needed - needed % alignment + alignment - 1 + apart;
    at = below(pair, opposite(orders_[pair]));
    change = reason.second;
    ++looks_;
  }
  Bytes highest = base_highest(at);
  for (const auto& [pushed, apart] : pushed_) stack_.push_back(pushed);
  stack_.push_back(at);
  for (std::size_t i = pushed_.size(); i-- > 0;) {
    highest -= pushed_[i].second;
    highest -= highest % packing_.items[pushed_[i].first].alignment;
  }
  return highest;
}

void PairSearch::explain_pair(Index pair, Order order, Index lowest_at, Index highest_at) {
  const Index lower = below(pair, order);
  const Index upper = below(pair, opposite(order));
  const Bytes apart = distance(pair, order);
  const Bytes highest = highest_at == nothing ? base_highest(upper) : trail_[highest_at].after;
  const Bytes lowest = explain_lowest(lower, lowest_at, highest - apart + 1);
  static_cast<void>(explain_highest(upper, highest_at, lowest + apart - 1));
  note_stack();
}

void PairSearch::explain_failure() {
  const Index index = failure_.index;
  switch (failure_.kind) {
    case Failure::Kind::pair: {
      because_.push_back(ordered_at_[index]);
      const Order order = orders_[index];
      explain_pair(index, order, lowest_at_[below(index, order)], highest_at_[below(index, opposite(order))]);
      break;
    }
    case Failure::Kind::both:
      for (const Order order : {Order::a_below, Order::b_below}) {
        explain_pair(index, order, lowest_at_[below(index, order)], highest_at_[below(index, opposite(order))]);
      }
      break;
    case Failure::Kind::clause:
      for (const Literal& one : clauses_[index].orders) because_.push_back(ordered_at_[one.pair]);
      note_lesson_of(index, nothing);
      break;
    case Failure::Kind::item:
      static_cast<void>(explain_lowest(index, lowest_at_[index], *capacity_ - packing_.items[index].size + 1));
      note_stack();
      break;
  }
}

void PairSearch::explain_order(Index change) {
  const Reason& reason = trail_[change].reason;
  const Index pair = trail_[change].index;
  if (reason.clause == nothing) {
    explain_pair(pair, opposite(orders_[pair]), reason.first, reason.second);
    return;
  }
  for (const Literal& one : clauses_[reason.clause].orders) {
    if (one.pair != pair) because_.push_back(ordered_at_[one.pair]);
  }
  note_lesson_of(reason.clause, pair);
}

void PairSearch::minimise(Orders& clause) {
  const Orders whole = clause;
  for (const Literal& one : whole) is_marked_[ordered_at_[one.pair]] = 1;
  std::unique_ptr<Record> record = std::move(record_);
  std::size_t kept = 1;
  for (std::size_t k = 1; k < whole.size(); ++k) {
    const Index at = ordered_at_[whole[k].pair];
    bool follows = at != decisions_[trail_[at].level - 1].trail;
    if (follows) {
      explain_order(at);
      follows = std::ranges::all_of(because_,
                                    [&](Index change) { return trail_[change].level == 0 || is_marked_[change] != 0; });
      because_.clear();
    }
    if (!follows) clause[kept++] = whole[k];
    if (follows && record) {
      std::swap(record, record_);
      explain_order(at);
      for (const Index change : std::exchange(because_, {})) {
        if (trail_[change].level == 0) record_->roots.insert(change);
      }
      std::swap(record, record_);
    }
  }
  record_ = std::move(record);
  clause.resize(kept);
  for (const Literal& one : whole) is_marked_[ordered_at_[one.pair]] = 0;
}

bool PairSearch::step_back(bool& is_consistent) {
  note_roots();
  forget_queue();
  is_marked_.resize(trail_.size(), 0);
  marked_of_level_.assign(decisions_.size() + 1, 0);
  std::size_t marked = 0;
  const auto mark_because = [&] {
    for (const Index change : because_) {
      if (trail_[change].level == 0 && record_) record_->roots.insert(change);
      if (is_marked_[change] != 0 || trail_[change].level == 0) continue;
      is_marked_[change] = 1;
      ++marked_of_level_[trail_[change].level];
      ++marked;
    }
    because_.clear();
  };
  explain_failure();
  mark_because();
  Orders clause;
  std::size_t level = decisions_.size();
  while (level > 0 && marked_of_level_[level] == 0) --level;
  for (std::size_t at = trail_.size(); marked > 0;) {
    --at;
    if (is_marked_[at] == 0) continue;
    is_marked_[at] = 0;
    --marked;
    const Change& change = trail_[at];
    --marked_of_level_[change.level];
    ++looks_;
    weights_[change.index] += weight_;
    if (change.level == level && marked_of_level_[level] > 0) {
      explain_order(static_cast<Index>(at));
      mark_because();
      continue;
    }
    clause.push_back({change.index, orders_[change.index]});
  }
  if (!clause.empty()) minimise(clause);
  const Index lesson = note_lesson(clause);
  if (clause.empty()) return false;
  raise_weight();
  // The first one is the latest, the others follow in the order of their decisions.
  const std::size_t back_to = clause.size() == 1 ? 0 : trail_[ordered_at_[clause[1].pair]].level;
  take_back(decisions_[back_to].trail);
  decisions_.resize(back_to);
  const Literal latest = clause.front();
  Reason reason;
  if (clause.size() > 1) {
    reason.clause = static_cast<Index>(clauses_.size());
    clauses_.push_back({std::move(clause), lesson});
    watch(reason.clause);
  } else if (record_) {
    record_->lesson_of_root[latest.pair] = lesson;
  }
  is_consistent = lower_highest_to_capacity() && set_order(latest.pair, opposite(latest.order), reason) && propagate();
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
