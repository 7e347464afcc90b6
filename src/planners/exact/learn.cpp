// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// From a contradiction to a clause: first unique implication point, over bounds.
//
// A contradiction is a set of literals that are true together and must not be. Those that the latest decision made true
// are replaced by their reasons, the latest first, until one is left; the clause forbids it together with the literals
// of earlier decisions. A literal is explained by the earliest step that makes it true, and the reason is weakened to
// what the literal needs (TrailEntry::slack). At last, literals that the others imply are dropped.
#include <algorithm>
#include <cassert>

#include "planners/exact/engine.hpp"

namespace usmp::planners::exact {
namespace {

// How far a search for the reasons of a literal goes that may be implied by others: steps deep, and literals in all.
constexpr int deepest = 12;
constexpr int most_looks = 500;

}  // namespace

std::int32_t Engine::step_of(Literal literal) {
  std::int32_t step = last_[index(literal.variable)];
  while (trail_[index(step)].previous >= 0 && trail_[index(trail_[index(step)].previous)].value >= literal.value) {
    step = trail_[index(step)].previous;
    ++work_;
  }
  return step;
}

void Engine::explain(std::int32_t step, Unit needed, std::vector<Literal>& reason) const {
  reason_of(step, needed, reason);
  if (!inspector_) return;
  std::vector<Literal> impossible = reason;
  impossible.push_back(negation({trail_[index(step)].variable, needed}));
  inspector_(impossible);
}

void Engine::reason_of(std::int32_t step, Unit needed, std::vector<Literal>& reason) const {
  const TrailEntry& one = trail_[index(step)];
  reason.clear();
  if (one.source == Source::clause) {
    const Clause& clause = clauses_[index(one.clause)];
    for (std::uint32_t i = 0; i < clause.count; ++i) {
      const Literal literal = clause_literals_[clause.first + i];
      if (literal.variable != one.variable) reason.push_back(negation(literal));
    }
    return;
  }
  if (one.source == Source::not_first) {
    const Unit raised = rules_.weakening ? needed : one.value;
    not_first_reason(index(one.variable) / 2, raised, literals_[one.first].value, literals_[one.first + 1].value,
                     std::span(crowds_).subspan(one.crowd, one.crowd_size), reason);
    return;
  }
  reason.assign(literals_.begin() + one.first, literals_.begin() + one.first + one.count);
  if (!rules_.weakening) return;
  for (std::uint32_t i = 0; i < one.slack; ++i) reason[i].value -= one.value - needed;
}

// All of the crowd end at `end` or below, and with one at the threshold or above as the lowest they would not fit. Each
// of the others is at the threshold or above, too, or ends at `raised` or above: of both, what asks for less. With
// alignment, to end behind the last multiple before `raised` is as good.
void Engine::not_first_reason(std::size_t item, Unit raised, Unit threshold, Unit end,
                              std::span<const std::int32_t> crowd, std::vector<Literal>& reason) const {
  const Unit above = raised - model_.alignment[item] + 1;
  reason.clear();
  reason.push_back({at_least(item), threshold});
  for (const std::int32_t member : crowd) {
    const Unit height = model_.height[index(member)];
    if (index(member) != item) reason.push_back({at_least(index(member)), std::min(above - height, threshold)});
    reason.push_back({at_most(index(member)), height - end});
  }
}

// A literal that is true: of the current level, it waits for its explanation; of an earlier one, it is part of the
// lesson; of the root, it is proved.
void Engine::add_to_lesson(Literal literal) {
  literal.value = round_up(literal.variable, literal.value);
  std::int32_t step = step_of(literal);
  if (trail_[index(step)].level == 0) return;
  if (peak_assumed_ && trail_[index(step)].level == 1) {
    // Whatever follows from the assumed peak alone: one literal instead of many.
    step = static_cast<std::int32_t>(levels_.front());
    literal = {trail_[index(step)].variable, trail_[index(step)].value};
  }
  bump(literal.variable);
  if (index(trail_[index(step)].level) == level()) {
    if (waiting_[index(step)]) {
      needed_[index(step)] = std::max(needed_[index(step)], literal.value);
    } else {
      waiting_[index(step)] = true;
      needed_[index(step)] = literal.value;
      highest_waiting_ = std::max(highest_waiting_, step);
      ++waiting_count_;
    }
  } else if (in_lesson_[index(literal.variable)]) {
    lesson_value_[index(literal.variable)] = std::max(lesson_value_[index(literal.variable)], literal.value);
  } else {
    in_lesson_[index(literal.variable)] = true;
    lesson_value_[index(literal.variable)] = literal.value;
    lesson_.push_back(literal.variable);
  }
}

// NOLINTNEXTLINE(misc-no-recursion): `depth` starts at `deepest`.
bool Engine::implied(Literal literal, std::int32_t before, int depth) {
  literal.value = round_up(literal.variable, literal.value);
  const std::int32_t step = step_of(literal);
  if (trail_[index(step)].level == 0) return true;
  if (in_lesson_[index(literal.variable)] && lesson_value_[index(literal.variable)] >= literal.value &&
      step_of({literal.variable, lesson_value_[index(literal.variable)]}) < before) {
    return true;
  }
  if (peak_assumed_ && trail_[index(step)].level == 1) return in_lesson_[index(at_most(peak_))];
  if (trail_[index(step)].source == Source::decision || depth == 0 || looks_ <= 0) return false;
  std::vector<Literal> reason;
  explain(step, literal.value, reason);
  looks_ -= static_cast<int>(reason.size());
  // NOLINTNEXTLINE(misc-no-recursion): as above.
  return std::all_of(reason.begin(), reason.end(), [&](const Literal& l) { return implied(l, before, depth - 1); });
}

// A literal may only be dropped for others that became true before it, else two could be dropped for each other.
void Engine::drop_implied() {
  std::vector<Variable> kept;
  for (const Variable variable : lesson_) {
    const Literal literal{variable, lesson_value_[index(variable)]};
    const std::int32_t step = step_of(literal);
    bool drop = false;
    if (trail_[index(step)].source != Source::decision) {
      looks_ = most_looks;
      std::vector<Literal> reason;
      explain(step, literal.value, reason);
      drop = std::all_of(reason.begin(), reason.end(), [&](const Literal& l) { return implied(l, step, deepest); });
    }
    if (!drop) kept.push_back(variable);
  }
  for (const Variable variable : lesson_) in_lesson_[index(variable)] = false;
  lesson_ = std::move(kept);
  for (const Variable variable : lesson_) in_lesson_[index(variable)] = true;
}

bool Engine::learn() {
  ++conflicts_;
  if (contradictory_) return false;
  if (inspector_) inspector_(conflict_);
  std::int32_t latest = 0;
  for (const Literal& literal : conflict_) latest = std::max(latest, trail_[index(step_of(literal))].level);
  if (latest == 0) {
    contradictory_ = true;
    return false;
  }
  back_to(index(latest));

  needed_.resize(std::max(needed_.size(), trail_.size()));
  waiting_.resize(needed_.size(), false);
  lesson_.clear();
  waiting_count_ = 0;
  highest_waiting_ = -1;
  for (const Literal& literal : conflict_) add_to_lesson(literal);
  std::int32_t step = highest_waiting_;
  std::vector<Literal> reason;
  while (waiting_count_ > 1) {
    if (trail_[index(step)].source == Source::clause) {
      clauses_[index(trail_[index(step)].clause)].activity += clause_step_;
    }
    explain(step, needed_[index(step)], reason);
    work_ += reason.size();
    waiting_[index(step)] = false;
    --waiting_count_;
    for (const Literal& literal : reason) add_to_lesson(literal);
    do {
      --step;
    } while (!waiting_[index(step)]);
  }
  waiting_[index(step)] = false;
  const Literal point{trail_[index(step)].variable, needed_[index(step)]};
  if (rules_.minimisation) drop_implied();

  // The unique implication point says all that an earlier literal of its variable says.
  std::vector<Literal> clause{negation(point)};
  std::int32_t target = 0;
  for (const Variable variable : lesson_) {
    in_lesson_[index(variable)] = false;
    if (variable == point.variable) continue;
    const Literal literal{variable, lesson_value_[index(variable)]};
    const std::int32_t at = trail_[index(step_of(literal))].level;
    clause.push_back(negation(literal));
    if (at <= target) continue;
    target = at;
    std::swap(clause[1], clause.back());
  }
  if (inspector_) {
    std::vector<Literal> impossible(clause.size());
    std::transform(clause.begin(), clause.end(), impossible.begin(), [&](const Literal& l) { return negation(l); });
    inspector_(impossible);
  }
  activity_step_ *= 1.05;
  clause_step_ *= 1.001;
  if (clause_step_ > 1e100) {
    for (Clause& one : clauses_) one.activity *= 1e-100;
    clause_step_ *= 1e-100;
  }
  back_to(index(target));
  if (clause.size() == 1) {
    contradictory_ = !imply(clause.front(), {}, 0);
    return !contradictory_;
  }
  [[maybe_unused]] const bool said = imply_by_clause(clause.front(), add_clause(clause));
  assert(said);
  return true;
}

}  // namespace usmp::planners::exact
