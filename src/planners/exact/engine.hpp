// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// The search's state: a lower and an upper bound of every offset, the reason of each, and what follows from them.
//
// Idea: lazy clause generation (Ohrimenko, Stuckey, Codish: Propagation via lazy clause generation, Constraints 14,
// 2009), as CP-SAT solvers do it for scheduling. Memory planning is scheduling turned by a quarter: items are tasks,
// their sizes durations, and each section (a largest set of items live at one tick) is a machine that its items take
// one after another. A literal says that an offset is at least, or at most, some value. Every bound that propagation
// derives is recorded with the literals that imply it; a contradiction is traced back to a clause that says what was
// wrong in terms that hold everywhere, not only here. The clause is learned, the search jumps back to where the
// clause says something new, and never makes the same mistake again in any other place.
//
// Clauses are implied by the packing, by the proved bound of the peak, and by rules that keep at least one best plan
// (see Rules and propagate.cpp): what was learned for one peak holds for all.
// Tests: tests/planners/exact_search_test.cpp.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <span>
#include <utility>
#include <vector>

#include "planners/exact/model.hpp"

namespace usmp::planners::exact {

// Variables come in pairs: 2·i is the offset of item i, 2·i + 1 the same, negated; a bound is always "at least". The
// variable behind the last item is the peak, in bytes.
using Variable = std::int32_t;

[[nodiscard]] constexpr Variable at_least(std::size_t item) { return static_cast<Variable>(2 * item); }
[[nodiscard]] constexpr Variable at_most(std::size_t item) { return static_cast<Variable>(2 * item + 1); }
[[nodiscard]] constexpr Variable opposite(Variable variable) { return variable ^ 1; }

// "variable >= value".
struct Literal {
  Variable variable = 0;
  Unit value = 0;

  friend bool operator==(const Literal&, const Literal&) = default;
};

class Engine {
 public:
  // Steps that the trail may have, about a hundred bytes each: bounds that creep would fill any memory.
  static constexpr std::size_t most_steps = std::size_t{1} << 22U;

  Engine(const Model& model, const Rules& rules, std::size_t steps = most_steps);

  // The root: what is proved or asked for. Call with no decision made.
  void require_peak_at_least(Bytes peak);
  void require_peak_at_most(Bytes peak);
  // There is no plan with the required peaks; then this stays so, and the rest means nothing.
  [[nodiscard]] bool contradictory() const { return contradictory_; }

  // Derives what follows. False on a contradiction, which the next call has to be `learn`. True with `overflowed`: not
  // everything was derived, and the search has to end here.
  [[nodiscard]] bool propagate();
  [[nodiscard]] bool overflowed() const { return trail_.size() > most_steps_; }
  // Learns from the contradiction and goes back to where the lesson says something new. False if the contradiction
  // holds without any decision, see contradictory.
  [[nodiscard]] bool learn();

  // Whether something may support the item at its lower bound. If nothing does, the bound is raised, and `propagate`
  // has to follow; or that is a contradiction, and `learn` has to.
  enum class Support { possible, raised, contradiction };
  [[nodiscard]] Support support(std::size_t item);
  void decide_lowest(std::size_t item);  // item stands at its lower bound
  void assume_peak_at_most(Bytes peak);  // may only be the first decision
  void restart();                        // takes back all decisions, forgets clauses that did not help

  // For tests: is told every set of literals that the analysis takes for impossible together, in no plan that has the
  // required peaks and obeys the rules: contradictions, explanations (the reason and the opposite of what it implies)
  // and lessons.
  using Inspector = std::function<void(std::span<const Literal> impossible)>;
  void inspect(Inspector inspector) { inspector_ = std::move(inspector); }

  [[nodiscard]] std::size_t level() const { return levels_.size(); }
  [[nodiscard]] Unit low(std::size_t item) const { return bound_[2 * item]; }
  [[nodiscard]] Unit high(std::size_t item) const { return -bound_[2 * item + 1]; }
  [[nodiscard]] bool fixed(std::size_t item) const { return bound_[2 * item] == -bound_[2 * item + 1]; }
  [[nodiscard]] Bytes peak_low() const { return low(peak_); }
  [[nodiscard]] Bytes peak_high() const { return high(peak_); }
  [[nodiscard]] double activity(std::size_t item) const { return activity_[item]; }
  [[nodiscard]] std::uint64_t conflicts() const { return conflicts_; }
  // Bounds and watches looked at; the same on every machine.
  [[nodiscard]] std::uint64_t work() const { return work_; }

 private:
  enum class Source : std::uint8_t { root, decision, clause, literals, not_first };

  // One bound on the trail. Its reason: a clause; or literals_[first .. first + count), of which the first `slack` ones
  // may be weakened by as much as the bound is more than what is asked for; or, for not_first, the two literals there
  // and crowds_[crowd .. crowd + crowd_size), see not_first_reason.
  struct TrailEntry {
    Variable variable = 0;
    std::int32_t previous = -1;  // of the same variable
    Unit value = 0;
    std::int32_t level = 0;
    Source source = Source::root;
    std::int32_t clause = -1;
    std::uint32_t first = 0;
    std::uint32_t count = 0;
    std::uint32_t slack = 0;
    std::uint32_t crowd = 0;
    std::uint32_t crowd_size = 0;
  };

  struct Clause {
    std::uint32_t first = 0;  // in clause_literals_
    std::uint32_t count = 0;
    double activity = 0;
  };

  // The clause is to be looked at when the variable's bound reaches `value`: one of its two watched literals is false
  // then. Nothing has to be done if `other` is true.
  struct Watch {
    Unit value = 0;
    std::int32_t clause = 0;
    Literal other;
  };

  [[nodiscard]] Unit round_up(Variable variable, Unit value) const;
  [[nodiscard]] Literal negation(Literal literal) const {
    return {opposite(literal.variable), round_up(opposite(literal.variable), 1 - literal.value)};
  }
  [[nodiscard]] bool is_true(Literal literal) const { return bound_[index(literal.variable)] >= literal.value; }
  [[nodiscard]] bool is_false(Literal literal) const {
    return bound_[index(opposite(literal.variable))] >= 1 - literal.value;
  }
  static std::size_t index(std::int32_t i) { return static_cast<std::size_t>(i); }

  // Each returns false on a contradiction, and leaves it in conflict_.
  bool imply(Literal literal, std::span<const Literal> reason, std::size_t slack);
  bool imply_not_first(std::size_t item, Unit raised, Unit threshold, Unit end, std::span<const std::int32_t> crowd);
  bool imply_by_clause(Literal literal, std::int32_t clause);
  bool push(Literal literal, TrailEntry step);
  bool propagate_clauses(Variable variable, Unit value);
  bool propagate_low(std::size_t item);
  bool propagate_high(std::size_t item);
  bool propagate_peak();
  bool propagate_twins(std::size_t item);
  bool order(std::size_t below, std::size_t above);
  bool check_section(std::size_t section);
  bool raise_not_first(std::size_t section, std::size_t open, Unit sum, Unit end);
  void mark_sections(std::size_t item);
  void mark_all_sections();

  [[nodiscard]] std::int32_t step_of(Literal literal);
  void explain(std::int32_t step, Unit needed, std::vector<Literal>& reason) const;
  void reason_of(std::int32_t step, Unit needed, std::vector<Literal>& reason) const;
  void not_first_reason(std::size_t item, Unit raised, Unit threshold, Unit end, std::span<const std::int32_t> crowd,
                        std::vector<Literal>& reason) const;
  void add_to_lesson(Literal literal);
  void drop_implied();
  [[nodiscard]] bool implied(Literal literal, std::int32_t before, int depth);
  void bump(Variable variable);
  void decide(Literal literal);
  void back_to(std::size_t level);
  std::int32_t add_clause(std::span<const Literal> literals);
  void watch(std::int32_t clause);
  void forget();

  const Model& model_;
  Rules rules_;
  std::size_t peak_;  // index of the peak "item"
  std::size_t most_steps_;

  std::vector<Unit> bound_;         // by variable
  std::vector<Unit> handled_;       // by variable: the bound up to which its watches have been looked at
  std::vector<std::int32_t> last_;  // by variable: its latest step
  std::vector<TrailEntry> trail_;
  std::vector<std::size_t> levels_;        // trail length at each decision
  std::vector<Literal> literals_;          // reasons of the steps
  std::vector<std::int32_t> crowds_;       // sets of items that reasons speak of
  std::vector<std::size_t> crowd_levels_;  // length of crowds_ at each decision
  std::size_t next_ = 0;                   // of the trail, to be propagated
  bool peak_assumed_ = false;              // the first decision is about the peak

  std::vector<std::vector<std::int32_t>> section_;  // members, nearly sorted by lower bound
  std::vector<char> marked_;
  std::vector<std::int32_t> to_check_;

  std::vector<Clause> clauses_;
  std::vector<Literal> clause_literals_;
  std::vector<std::vector<Watch>> watches_;  // by variable
  std::size_t most_clauses_ = 4000;

  std::vector<std::vector<std::int32_t>> twin_above_;
  std::vector<std::vector<std::int32_t>> twin_below_;

  Inspector inspector_;
  std::vector<Literal> conflict_;
  std::vector<Literal> scratch_;
  // Analysis.
  std::vector<Unit> needed_;        // by step
  std::vector<bool> waiting_;       // by step: of the current level, to be explained
  std::vector<Unit> lesson_value_;  // by variable
  std::vector<bool> in_lesson_;     // by variable
  std::vector<Variable> lesson_;    // literals of earlier levels that were true together
  std::size_t waiting_count_ = 0;
  std::int32_t highest_waiting_ = -1;

  std::vector<double> activity_;
  int looks_ = 0;  // that the search for implied literals may still take
  double activity_step_ = 1;
  double clause_step_ = 1;
  bool contradictory_ = false;
  std::uint64_t conflicts_ = 0;
  std::uint64_t work_ = 0;
};

}  // namespace usmp::planners::exact
