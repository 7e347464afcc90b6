// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// What the search by pairs has learned, as a refutation that others can check.
#include <algorithm>
#include <cassert>
#include <utility>

#include "planners/exact/pair_search.hpp"

namespace usmp::planners::exact {

using bounds::Refutation;

void PairSearch::record(std::size_t most) {
  record_ = std::make_unique<Record>();
  record_->lesson_of_root.assign(pairs_.size(), nothing);
  record_->most = most;
}

void PairSearch::note_stack() {
  if (!record_) {
    stack_.clear();
    return;
  }
  Refutation::Stack stack = std::exchange(stack_, {});
  const auto [found, is_new] = record_->stacks.try_emplace(stack, static_cast<Index>(record_->all.stacks.size()));
  if (is_new) {
    record_->places += stack.size();
    record_->all.stacks.push_back(std::move(stack));
  }
  record_->steps.push_back({.is_lesson = false, .number = found->second});
}

// All orders of the lesson but that of the pair hold. Those that the clause has lost are needed, too.
void PairSearch::note_lesson_of(Index clause, Index pair) {
  if (!record_) return;
  const Index lesson = clauses_[clause].lesson;
  record_->steps.push_back({.is_lesson = true, .number = lesson});
  for (const Literal& one : record_->orders[lesson]) {
    const Index change = ordered_at_[one.pair];
    if (one.pair != pair && trail_[change].level == 0) record_->roots.insert(change);
  }
}

// That these orders do not go together follows from the steps so far, and from what holds whatever is decided.
PairSearch::Index PairSearch::note_lesson(const Orders& orders) {
  if (!record_) return nothing;
  for (const Index change : std::exchange(record_->roots, {})) {
    record_->steps.push_back({.is_lesson = true, .number = record_->lesson_of_root[trail_[change].index]});
  }
  record_->places += record_->steps.size() + orders.size();
  record_->all.lessons.push_back(std::exchange(record_->steps, {}));
  record_->orders.push_back(orders);
  if (record_->places > record_->most) budget_->give_up();
  return static_cast<Index>(record_->all.lessons.size() - 1);
}

// Notes of each order that holds whatever is decided that the other one does not go.
void PairSearch::note_roots() {
  if (!record_) return;
  const std::size_t end = decisions_.empty() ? trail_.size() : decisions_.front().trail;
  for (; record_->roots_noted < end; ++record_->roots_noted) {
    const auto at = static_cast<Index>(record_->roots_noted);
    const Change& change = trail_[at];
    if (change.kind != Change::Kind::order || record_->lesson_of_root[change.index] != nothing) continue;
    explain_order(at);
    record_->roots.insert(because_.begin(), because_.end());
    because_.clear();
    record_->lesson_of_root[change.index] = note_lesson({{change.index, opposite(orders_[change.index])}});
  }
}

void PairSearch::note_contradiction() {
  if (!record_) return;
  note_roots();
  explain_failure();
  record_->roots.insert(because_.begin(), because_.end());
  because_.clear();
  static_cast<void>(note_lesson({}));
}

Refutation PairSearch::refutation() const {
  assert(record_ && !record_->all.lessons.empty() && record_->orders.back().empty());
  const Refutation& all = record_->all;
  std::vector<bool> needs_lesson(all.lessons.size());
  std::vector<bool> needs_stack(all.stacks.size());
  needs_lesson.back() = true;
  for (std::size_t i = all.lessons.size(); i-- > 0;) {
    if (!needs_lesson[i]) continue;
    for (const Refutation::Step& step : all.lessons[i])
      (step.is_lesson ? needs_lesson : needs_stack)[step.number] = true;
  }
  Refutation result;
  std::vector<Index> stack_number(all.stacks.size());
  std::vector<Index> lesson_number(all.lessons.size());
  for (std::size_t i = 0; i < all.stacks.size(); ++i) {
    if (!needs_stack[i]) continue;
    stack_number[i] = static_cast<Index>(result.stacks.size());
    result.stacks.push_back(all.stacks[i]);
  }
  for (std::size_t i = 0; i < all.lessons.size(); ++i) {
    if (!needs_lesson[i]) continue;
    lesson_number[i] = static_cast<Index>(result.lessons.size());
    Refutation::Lesson lesson = all.lessons[i];
    for (Refutation::Step& step : lesson) step.number = (step.is_lesson ? lesson_number : stack_number)[step.number];
    result.lessons.push_back(std::move(lesson));
  }
  return result;
}

}  // namespace usmp::planners::exact
