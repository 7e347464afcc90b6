// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// Orders, bounds and what follows from them; what failures teach is in pair_lessons.cpp.
#include "planners/exact/pair_search.hpp"

#include <algorithm>
#include <map>
#include <utility>

namespace usmp::planners::exact {
namespace {

constexpr std::uint64_t nodes_untold = 256;
// At pairs, before the budget is asked again.
constexpr std::uint64_t most_looks_unpaid = 1'000'000;

}  // namespace

PairSearch::PairSearch(const Packing& packing, std::span<const Spacing> spacings, std::vector<Bytes> guide)
    : packing_(packing), conflicts_of_(packing.items.size()), guide_(std::move(guide)) {
  std::map<std::pair<std::size_t, std::size_t>, Bytes> distances;
  for (const Spacing& spacing : spacings) distances[{spacing.below, spacing.above}] = spacing.bytes;
  const auto distance = [&](std::size_t below, std::size_t above) {
    const auto found = distances.find({below, above});
    return found == distances.end() ? packing.items[below].size : found->second;
  };
  for (std::size_t b = 0; b < packing.items.size(); ++b) {
    for (std::size_t a = 0; a < b; ++a) {
      if (is_empty(a) || is_empty(b) || !overlap(packing.items[a].live, packing.items[b].live)) continue;
      const auto pair = static_cast<std::uint32_t>(pairs_.size());
      const Pair one{static_cast<std::uint32_t>(a), static_cast<std::uint32_t>(b), distance(a, b), distance(b, a)};
      conflicts_of_[a].push_back({pair, one.b, Order::a_below, one.a_below, one.b_below});
      conflicts_of_[b].push_back({pair, one.a, Order::b_below, one.b_below, one.a_below});
      pairs_.push_back(one);
    }
  }
  orders_.assign(pairs_.size(), Order::open);
  weights_.assign(pairs_.size(), 1);
  ordered_at_.assign(pairs_.size(), nothing);
  watching_.resize(2 * pairs_.size());
  lowest_at_.assign(packing.items.size(), nothing);
  highest_at_.assign(packing.items.size(), nothing);
  moved_.assign(packing.items.size(), 0);
}

std::optional<std::vector<Bytes>> PairSearch::next(Bytes capacity, Budget& budget) {
  if (!capacity_) begin();
  capacity_ = capacity;
  budget_ = &budget;
  // What was decided stays; what contradicts the new capacity is taken back below.
  bool is_consistent = lower_highest_to_capacity() && propagate();
  while (true) {
    if (budget.exhausted()) return std::nullopt;
    if (!is_consistent) {
      if (decisions_.empty()) {
        note_contradiction();
        return std::nullopt;
      }
      if (++failures_ > failures_of_run_ ? !restart(is_consistent) : !step_back(is_consistent)) return std::nullopt;
      continue;
    }
    const std::optional<std::size_t> pair = choose();
    if (!pair) {
      guide_ = lowest_;
      return lowest_;
    }
    if (!budget.spend()) return std::nullopt;
    if (tell_ && ++nodes_ % nodes_untold == 0) tell_();
    decide(*pair, is_consistent);
    budget.spend_work(std::exchange(looks_, 0) + pairs_.size());
  }
}

bool PairSearch::is_empty(std::size_t i) const { return packing_.items[i].size == 0 || packing_.items[i].live.empty(); }

void PairSearch::begin() {
  for (const Item& item : packing_.items) {
    is_aligned_.push_back(item.pinned ? 0 : 1);
    lowest_.push_back(item.pinned.value_or(item.size == 0 ? 0 : align_up(packing_.reserved, item.alignment)));
    highest_.push_back(item.pinned.value_or(Problem::max_total_bytes));
  }
  base_lowest_ = lowest_;
  for (std::size_t i = 0; i < packing_.items.size(); ++i) queue(i, moved_up | moved_down);
}

bool PairSearch::lower_highest_to_capacity() {
  for (std::size_t i = 0; i < packing_.items.size(); ++i) {
    const Item& item = packing_.items[i];
    if (item.pinned) {
      if (*item.pinned + item.size > *capacity_) return fails(Failure::Kind::item, i);
      continue;
    }
    const Bytes last = *capacity_ - item.size;
    if (!lower_highest(i, last, {})) return fails(Failure::Kind::item, i);
  }
  return true;
}

bool PairSearch::fails(Failure::Kind kind, std::size_t index) {
  failure_ = {kind, static_cast<Index>(index)};
  return false;
}

void PairSearch::note(Change::Kind kind, std::size_t index, Bytes before, Bytes after, Index& changed_at,
                      const Reason& reason) {
  trail_.push_back(
      {kind, static_cast<Index>(index), static_cast<Index>(decisions_.size()), before, after, changed_at, reason});
  changed_at = static_cast<Index>(trail_.size() - 1);
}

bool PairSearch::raise_lowest(std::size_t i, Bytes to, const Reason& reason) {
  if (is_aligned_[i] != 0 && to <= lowest_[i]) return true;
  to = align_up(to, packing_.items[i].alignment);
  if (to <= lowest_[i]) return true;
  if (to > highest_[i]) return false;
  note(Change::Kind::lowest, i, lowest_[i], to, lowest_at_[i], reason);
  lowest_[i] = to;
  queue(i, moved_up);
  return true;
}

bool PairSearch::lower_highest(std::size_t i, Bytes to, const Reason& reason) {
  if (to < 0) return false;
  if (is_aligned_[i] != 0 && to >= highest_[i]) return true;
  to -= to % packing_.items[i].alignment;
  if (to >= highest_[i]) return true;
  if (to < lowest_[i]) return false;
  note(Change::Kind::highest, i, highest_[i], to, highest_at_[i], reason);
  highest_[i] = to;
  queue(i, moved_down);
  return true;
}

bool PairSearch::set_order(std::size_t pair, Order order, const Reason& reason) {
  if (orders_[pair] == Order::open) {
    note(Change::Kind::order, pair, 0, 0, ordered_at_[pair], reason);
    orders_[pair] = order;
    set_.push_back({static_cast<Index>(pair), order});
  }
  const Pair& one = pairs_[pair];
  return order == Order::a_below ? push_apart(one.a, one.b, one.a_below, pair)
                                 : push_apart(one.b, one.a, one.b_below, pair);
}

bool PairSearch::push_apart(std::size_t below, std::size_t above, Bytes distance, std::size_t pair) {
  return (raise_lowest(above, lowest_[below] + distance, {ordered_at_[pair], lowest_at_[below]}) &&
          lower_highest(below, highest_[above] - distance, {ordered_at_[pair], highest_at_[above]})) ||
         fails(Failure::Kind::pair, pair);
}

void PairSearch::queue(std::size_t i, std::uint8_t moved) {
  if (moved_[i] == 0) queue_.push_back(i);
  moved_[i] |= moved;
}

std::size_t PairSearch::number_of(const Literal& literal) {
  return 2 * std::size_t{literal.pair} + (literal.order == Order::a_below ? 0 : 1);
}

bool PairSearch::propagate() {
  do {
    while (!set_.empty()) {
      const Literal literal = set_.back();
      set_.pop_back();
      if (!propagate_clauses(literal)) return false;
    }
    if (!propagate_pairs()) return false;
  } while (!set_.empty());
  return true;
}

bool PairSearch::propagate_clauses(const Literal& literal) {
  std::vector<Index>& watching = watching_[number_of(literal)];
  std::size_t kept = 0;
  bool is_consistent = true;
  for (std::size_t k = 0; k < watching.size(); ++k) {
    const Index number = watching[k];
    if (!is_consistent) {
      watching[kept++] = number;
      continue;
    }
    Orders& clause = clauses_[number].orders;
    looks_ += 2;
    if (clause[0].pair == literal.pair && clause[0].order == literal.order) std::swap(clause[0], clause[1]);
    if (orders_[clause[0].pair] == opposite(clause[0].order)) {
      watching[kept++] = number;
      continue;
    }
    const auto other = std::find_if(clause.begin() + 2, clause.end(), [&](const Literal& one) { return !holds(one); });
    if (other != clause.end()) {
      std::swap(clause[1], *other);
      watching_[number_of(clause[1])].push_back(number);
      continue;
    }
    watching[kept++] = number;
    if (holds(clause[0])) {
      is_consistent = fails(Failure::Kind::clause, number);
    } else {
      is_consistent = set_order(clause[0].pair, opposite(clause[0].order), {nothing, nothing, number});
    }
  }
  watching.resize(kept);
  return is_consistent;
}

bool PairSearch::propagate_pairs() {
  bool is_consistent = true;
  while (!queue_.empty()) {
    const std::size_t item = queue_.back();
    queue_.pop_back();
    const std::uint8_t moved = std::exchange(moved_[item], std::uint8_t{0});
    if (looks_ > most_looks_unpaid && !charge()) return false;
    const std::vector<Conflict>& conflicts = conflicts_of_[item];
    for (std::size_t k = 0; k < conflicts.size() && is_consistent; ++k) {
      is_consistent = ((moved & moved_up) == 0 || look_up(item, conflicts[k])) &&
                      ((moved & moved_down) == 0 || look_down(item, conflicts[k]));
      if (!is_consistent) weights_[conflicts[k].pair] += weight_;
    }
  }
  return is_consistent;
}

bool PairSearch::charge() {
  budget_->spend_work(std::exchange(looks_, 0));
  return budget_->spend();
}

bool PairSearch::look_up(std::size_t item, const Conflict& conflict) {
  ++looks_;
  const Order order = orders_[conflict.pair];
  if (order == conflict.is_below) {
    return raise_lowest(conflict.other, lowest_[item] + conflict.to_other,
                        {ordered_at_[conflict.pair], lowest_at_[item]}) ||
           fails(Failure::Kind::pair, conflict.pair);
  }
  if (order != Order::open || lowest_[item] + conflict.to_other <= highest_[conflict.other]) return true;
  if (lowest_[conflict.other] + conflict.from_other > highest_[item]) {
    return fails(Failure::Kind::both, conflict.pair);
  }
  return set_order(conflict.pair, opposite(conflict.is_below), {lowest_at_[item], highest_at_[conflict.other]});
}

bool PairSearch::look_down(std::size_t item, const Conflict& conflict) {
  ++looks_;
  const Order order = orders_[conflict.pair];
  if (order == opposite(conflict.is_below)) {
    return lower_highest(conflict.other, highest_[item] - conflict.from_other,
                         {ordered_at_[conflict.pair], highest_at_[item]}) ||
           fails(Failure::Kind::pair, conflict.pair);
  }
  if (order != Order::open || lowest_[conflict.other] + conflict.from_other <= highest_[item]) return true;
  if (lowest_[item] + conflict.to_other > highest_[conflict.other]) {
    return fails(Failure::Kind::both, conflict.pair);
  }
  return set_order(conflict.pair, conflict.is_below, {lowest_at_[conflict.other], highest_at_[item]});
}

std::optional<std::size_t> PairSearch::choose() const {
  std::optional<std::size_t> best;
  double least = 0;
  for (std::size_t i = 0; i < pairs_.size(); ++i) {
    if (orders_[i] != Order::open) continue;
    const Pair& pair = pairs_[i];
    const Bytes rise = lowest_[pair.b] - lowest_[pair.a];
    if (rise >= pair.a_below || -rise >= pair.b_below) continue;
    const double room = static_cast<double>(room_a(pair) + room_b(pair)) / weights_[i];
    if (best && room >= least) continue;
    best = i;
    least = room;
  }
  return best;
}

void PairSearch::decide(std::size_t pair, bool& is_consistent) {
  const Pair& one = pairs_[pair];
  const bool a_first = follows_guide_ ? guide_[one.a] <= guide_[one.b] : room_a(one) >= room_b(one);
  decisions_.push_back({trail_.size()});
  is_consistent = set_order(pair, a_first ? Order::a_below : Order::b_below, {}) && propagate();
}

void PairSearch::forget_queue() {
  set_.clear();
  for (const std::size_t item : queue_) moved_[item] = 0;
  queue_.clear();
}

}  // namespace usmp::planners::exact
