// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// State, decisions and the clause store. Propagation is in propagate.cpp, learning in learn.cpp.
#include "planners/exact/engine.hpp"

#include <algorithm>
#include <cassert>
#include <limits>

namespace usmp::planners::exact {

Engine::Engine(const Model& model, const Rules& rules, std::size_t steps)
    : model_(model), rules_(rules), peak_(model.size()), most_steps_(steps) {
  const std::size_t variables = 2 * (model.size() + 1);
  watches_.resize(variables);
  lesson_value_.resize(variables);
  in_lesson_.resize(variables);
  activity_.resize(model.size() + 1);
  twin_above_.resize(model.size());
  twin_below_.resize(model.size());
  bound_.resize(variables);
  handled_.resize(variables, std::numeric_limits<Unit>::lowest());
  last_.resize(variables, -1);
  Bytes top = model.origin;  // no left-justified plan is higher than all items one above the other, pins apart
  for (std::size_t i = 0; i < model.size(); ++i) {
    top = std::max(top, model.end(i, std::max(model.base[i], model.pinned[i])));
  }
  for (std::size_t i = 0; i < model.size(); ++i) top += (model.height[i] + model.alignment[i]) * model.unit;
  for (std::size_t i = 0; i < model.size(); ++i) {
    const bool pinned = model.pinned[i] >= 0;
    const Unit low = pinned ? model.pinned[i] : model.base[i];
    const Unit high = pinned ? model.pinned[i] : model.highest(i, top);
    push({at_least(i), low}, {});
    push({at_most(i), -high}, {});
  }
  push({at_least(peak_), 0}, {});
  push({at_most(peak_), -2 * Problem::max_total_bytes}, {});
  if (rules.twins) {
    for (const auto& [below, above] : model.twins) {
      twin_above_[index(below)].push_back(above);
      twin_below_[index(above)].push_back(below);
    }
  }
  section_ = model.members;
  marked_.resize(section_.size(), false);
  mark_all_sections();
}

Unit Engine::round_up(Variable variable, Unit value) const {
  const std::size_t item = index(variable) / 2;
  if (item == peak_) return value;
  const Unit alignment = model_.alignment[item];
  const Unit rest = value % alignment;
  if (rest == 0) return value;
  return rest > 0 ? value + alignment - rest : value - rest;
}

bool Engine::push(Literal literal, TrailEntry step) {
  TrailEntry& added = trail_.emplace_back(step);
  added.variable = literal.variable;
  added.value = literal.value;
  added.previous = last_[index(literal.variable)];
  added.level = static_cast<std::int32_t>(level());
  last_[index(literal.variable)] = static_cast<std::int32_t>(trail_.size()) - 1;
  bound_[index(literal.variable)] = literal.value;
  return true;
}

bool Engine::imply(Literal literal, std::span<const Literal> reason, std::size_t slack) {
  literal.value = round_up(literal.variable, literal.value);
  if (is_true(literal)) return true;
  if (is_false(literal)) {
    // The reason need not say more than that the other bound is too small by one step.
    const Literal other{opposite(literal.variable), bound_[index(opposite(literal.variable))]};
    const Unit excess = rules_.weakening ? literal.value - round_up(literal.variable, 1 - other.value) : 0;
    conflict_.assign(reason.begin(), reason.end());
    for (std::size_t i = 0; i < slack; ++i) conflict_[i].value -= excess;
    conflict_.push_back(other);
    return false;
  }
  TrailEntry step;
  step.source = Source::literals;
  step.first = static_cast<std::uint32_t>(literals_.size());
  step.count = static_cast<std::uint32_t>(reason.size());
  step.slack = static_cast<std::uint32_t>(slack);
  literals_.insert(literals_.end(), reason.begin(), reason.end());
  return push(literal, step);
}

bool Engine::imply_not_first(std::size_t item, Unit raised, Unit threshold, Unit end,
                             std::span<const std::int32_t> crowd) {
  const Literal literal{at_least(item), round_up(at_least(item), raised)};
  if (is_true(literal)) return true;
  if (is_false(literal)) {
    not_first_reason(item, rules_.weakening ? high(item) + model_.alignment[item] : literal.value, threshold, end,
                     crowd, conflict_);
    conflict_.push_back({at_most(item), -high(item)});
    return false;
  }
  TrailEntry step;
  step.source = Source::not_first;
  step.first = static_cast<std::uint32_t>(literals_.size());
  step.crowd_size = static_cast<std::uint32_t>(crowd.size());
  // All that a section raises at once speak of the same crowd.
  const bool stored = crowds_.size() >= crowd.size() &&
                      std::equal(crowd.begin(), crowd.end(), crowds_.end() - static_cast<std::ptrdiff_t>(crowd.size()));
  if (!stored) crowds_.insert(crowds_.end(), crowd.begin(), crowd.end());
  step.crowd = static_cast<std::uint32_t>(crowds_.size() - crowd.size());
  literals_.push_back({at_least(item), threshold});
  literals_.push_back({at_least(peak_), end});  // not a literal: a place for the number
  return push(literal, step);
}

bool Engine::imply_by_clause(Literal literal, std::int32_t clause) {
  if (is_true(literal)) return true;
  if (is_false(literal)) {
    conflict_.clear();
    const Clause& one = clauses_[index(clause)];
    for (std::uint32_t i = 0; i < one.count; ++i) conflict_.push_back(negation(clause_literals_[one.first + i]));
    return false;
  }
  TrailEntry step;
  step.source = Source::clause;
  step.clause = clause;
  step.first = static_cast<std::uint32_t>(literals_.size());
  return push(literal, step);
}

void Engine::require_peak_at_least(Bytes peak) {
  assert(level() == 0);
  if (!imply({at_least(peak_), peak}, {}, 0)) contradictory_ = true;
}

void Engine::require_peak_at_most(Bytes peak) {
  assert(level() == 0);
  if (!imply({at_most(peak_), -peak}, {}, 0)) contradictory_ = true;
}

void Engine::decide(Literal literal) {
  levels_.push_back(trail_.size());
  crowd_levels_.push_back(crowds_.size());
  TrailEntry step;
  step.source = Source::decision;
  step.first = static_cast<std::uint32_t>(literals_.size());
  push(literal, step);
}

void Engine::decide_lowest(std::size_t item) {
  assert(!fixed(item));
  decide({at_most(item), -low(item)});
}

void Engine::assume_peak_at_most(Bytes peak) {
  assert(level() == 0 && peak < high(peak_));
  peak_assumed_ = true;
  decide({at_most(peak_), -peak});
}

void Engine::back_to(std::size_t level) {
  if (level >= levels_.size()) return;
  const std::size_t length = levels_[level];
  literals_.resize(trail_[length].first);
  crowds_.resize(crowd_levels_[level]);
  crowd_levels_.resize(level);
  while (trail_.size() > length) {
    const TrailEntry& step = trail_.back();
    last_[index(step.variable)] = step.previous;
    bound_[index(step.variable)] = trail_[index(step.previous)].value;
    handled_[index(step.variable)] = std::min(handled_[index(step.variable)], bound_[index(step.variable)]);
    trail_.pop_back();
  }
  levels_.resize(level);
  if (level == 0) peak_assumed_ = false;
  next_ = trail_.size();
  for (const std::int32_t section : to_check_) marked_[index(section)] = false;
  to_check_.clear();
}

void Engine::restart() {
  back_to(0);
  if (next_ == trail_.size() && to_check_.empty()) forget();
}

std::int32_t Engine::add_clause(std::span<const Literal> literals) {
  const auto id = static_cast<std::int32_t>(clauses_.size());
  clauses_.push_back(
      {static_cast<std::uint32_t>(clause_literals_.size()), static_cast<std::uint32_t>(literals.size()), clause_step_});
  clause_literals_.insert(clause_literals_.end(), literals.begin(), literals.end());
  watch(id);
  return id;
}

void Engine::watch(std::int32_t clause) {
  const std::uint32_t first = clauses_[index(clause)].first;
  for (std::uint32_t i = 0; i < 2; ++i) {
    const Literal one = clause_literals_[first + i];
    const Literal other = clause_literals_[first + 1 - i];
    watches_[index(opposite(one.variable))].push_back({1 - one.value, clause, other});
  }
}

bool Engine::propagate_clauses(Variable variable, Unit value) {
  std::vector<Watch>& list = watches_[index(variable)];
  std::size_t kept = 0;
  std::size_t i = 0;
  bool right = true;
  const Unit handled = handled_[index(variable)];
  work_ += list.size();
  for (; right && i < list.size(); ++i) {
    const Watch one = list[i];
    if (one.value > value || one.value <= handled || is_true(one.other)) {
      list[kept++] = one;
      continue;
    }
    ++work_;
    const Clause& clause = clauses_[index(one.clause)];
    Literal* literals = &clause_literals_[clause.first];
    if (opposite(literals[0].variable) == variable) std::swap(literals[0], literals[1]);
    if (is_true(literals[0])) {
      list[kept++] = {one.value, one.clause, literals[0]};
      continue;
    }
    bool moved = false;
    for (std::uint32_t k = 2; k < clause.count && !moved; ++k, ++work_) {
      if (is_false(literals[k])) continue;
      std::swap(literals[1], literals[k]);
      watches_[index(opposite(literals[1].variable))].push_back({1 - literals[1].value, one.clause, literals[0]});
      moved = true;
    }
    if (moved) continue;
    list[kept++] = one;
    right = imply_by_clause(literals[0], one.clause);
  }
  for (; i < list.size(); ++i) list[kept++] = list[i];
  list.resize(kept);
  if (right) handled_[index(variable)] = value;
  return right;
}

// At the root, everything on the trail is proved and needs no reason. Keeps the half of the clauses that were of use.
void Engine::forget() {
  std::vector<TrailEntry> roots;
  for (std::size_t variable = 0; variable < bound_.size(); ++variable) {
    TrailEntry step;
    step.variable = static_cast<Variable>(variable);
    step.value = bound_[variable];
    last_[variable] = static_cast<std::int32_t>(roots.size());
    roots.push_back(step);
  }
  trail_ = std::move(roots);
  next_ = trail_.size();
  literals_.clear();
  crowds_.clear();
  if (clauses_.size() <= most_clauses_) return;
  most_clauses_ += most_clauses_ / 16;

  std::vector<std::int32_t> order;
  for (std::size_t i = 0; i < clauses_.size(); ++i) order.push_back(static_cast<std::int32_t>(i));
  std::sort(order.begin(), order.end(), [&](std::int32_t a, std::int32_t b) {
    const Clause& one = clauses_[index(a)];
    const Clause& other = clauses_[index(b)];
    if ((one.count <= 3) != (other.count <= 3)) return one.count <= 3;
    return one.activity != other.activity ? one.activity > other.activity : a > b;
  });
  order.resize(order.size() / 2);
  std::sort(order.begin(), order.end());
  std::vector<Clause> clauses;
  std::vector<Literal> literals;
  for (const std::int32_t id : order) {
    Clause clause = clauses_[index(id)];
    const auto begin = clause_literals_.begin() + clause.first;
    const auto end = begin + clause.count;
    if (std::any_of(begin, end, [&](const Literal& l) { return is_true(l); })) continue;
    const auto first = static_cast<std::uint32_t>(literals.size());
    std::copy_if(begin, end, std::back_inserter(literals), [&](const Literal& l) { return !is_false(l); });
    clause.first = first;
    clause.count = static_cast<std::uint32_t>(literals.size()) - first;
    assert(clause.count >= 2);  // all of it is propagated
    clauses.push_back(clause);
  }
  clauses_ = std::move(clauses);
  clause_literals_ = std::move(literals);
  for (auto& list : watches_) list.clear();
  for (std::size_t i = 0; i < clauses_.size(); ++i) watch(static_cast<std::int32_t>(i));
}

void Engine::bump(Variable variable) {
  activity_[index(variable) / 2] += activity_step_;
  if (activity_[index(variable) / 2] < 1e100) return;
  for (double& one : activity_) one *= 1e-100;
  activity_step_ *= 1e-100;
}

}  // namespace usmp::planners::exact
