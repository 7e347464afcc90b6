// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// What the exact search learns, held against all plans that it may keep: those that are left-justified, have their
// twins in order and reach no higher than required (propagate.cpp). No clause and no explanation may exclude one of
// them.
#include <doctest/doctest.h>

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "planners/exact/search.hpp"
#include "planning_support/random_problem.hpp"

namespace usmp::planners::exact_clauses_test {

using namespace usmp::planners::exact;

namespace {

constexpr std::size_t most_items = 7;

// All kept plans, by building them from below: the next item stands no lower than the latest, at its base or directly
// on one that has a place. Shares no code with the search.
class KeptPlans {
 public:
  KeptPlans(const Packing& packing, bool twins_in_order) : packing_(packing), twins_in_order_(twins_in_order) {
    offsets_.assign(packing.items.size(), -1);
    std::size_t left = 0;
    for (std::size_t i = 0; i < offsets_.size(); ++i) {
      if (packing.items[i].pinned) offsets_[i] = *packing.items[i].pinned;
      if (!packing.items[i].pinned) ++left;
    }
    extend(left, {0, 0});
  }

  [[nodiscard]] const std::vector<std::vector<Bytes>>& plans() const { return plans_; }

 private:
  [[nodiscard]] bool meet(std::size_t a, std::size_t b) const {
    return a != b && overlap(packing_.items[a].live, packing_.items[b].live);
  }

  [[nodiscard]] bool free_at(std::size_t i, Bytes offset) const {
    for (std::size_t j = 0; j < offsets_.size(); ++j) {
      if (offsets_[j] < 0 || !meet(i, j)) continue;
      if (offset < offsets_[j] + packing_.items[j].size && offsets_[j] < offset + packing_.items[i].size) return false;
    }
    return true;
  }

  [[nodiscard]] bool same(std::size_t a, std::size_t b) const {
    const Item& one = packing_.items[a];
    const Item& other = packing_.items[b];
    return !one.pinned && !other.pinned && one.size == other.size && one.alignment == other.alignment &&
           one.live == other.live;
  }

  // An equal item with a smaller number has no place yet, and will stand higher.
  [[nodiscard]] bool before_its_twin(std::size_t i) const {
    for (std::size_t j = 0; j < i; ++j) {
      if (offsets_[j] < 0 && same(i, j)) return true;
    }
    return false;
  }

  void extend(std::size_t left, std::pair<Bytes, std::size_t> latest) {
    if (left == 0) {
      plans_.push_back(offsets_);
      return;
    }
    for (std::size_t i = 0; i < offsets_.size(); ++i) {
      if (offsets_[i] >= 0 || (twins_in_order_ && before_its_twin(i))) continue;
      const Bytes base = align_up(packing_.reserved, packing_.items[i].alignment);
      std::vector<Bytes> places{base};
      for (std::size_t j = 0; j < offsets_.size(); ++j) {
        if (offsets_[j] < 0 || !meet(i, j)) continue;
        places.push_back(align_up(offsets_[j] + packing_.items[j].size, packing_.items[i].alignment));
      }
      std::sort(places.begin(), places.end());
      places.erase(std::unique(places.begin(), places.end()), places.end());
      for (const Bytes place : places) {
        if (place < base || std::pair(place, i) < latest || !free_at(i, place)) continue;
        offsets_[i] = place;
        extend(left - 1, {place, i});
        offsets_[i] = -1;
      }
    }
  }

  const Packing& packing_;
  bool twins_in_order_;
  std::vector<Bytes> offsets_;
  std::vector<std::vector<Bytes>> plans_;
};

// Small items that often are equal, now and then with one alignment for all, or with none. A few small sizes make
// plans in which ends touch, where an explanation that is wrong by one shows.
Packing random_packing(test::ProblemMaker& maker, std::size_t i) {
  const Bytes largest = i % 2 == 0 ? 2 + static_cast<Bytes>(maker.below(4)) : 3 + static_cast<Bytes>(maker.below(20));
  const Problem problem = maker.make({.buffers = 5 + maker.below(4),
                                      .pins = i % 3 == 0,
                                      .most_ranges = 1 + maker.below(3),
                                      .horizon = 4 + static_cast<Tick>(maker.below(4)),
                                      .largest = largest});
  const Pool& pool = problem.pools.front();
  const std::size_t kind = maker.below(4);
  Packing packing;
  packing.reserved = pool.reserved;
  for (const Buffer& buffer : problem.buffers) {
    if (buffer.size == 0 || buffer.live.empty()) continue;
    Item item{buffer.size, alignment_in(buffer, pool), buffer.live, buffer.pinned};
    if (!item.pinned && kind < 2) item.alignment = 1;
    if (!item.pinned && kind == 2) item.alignment = 1 + static_cast<Bytes>(maker.below(3));
    packing.items.push_back(item);
    if (!item.pinned && maker.below(6) == 0) packing.items.push_back(item);
  }
  if (packing.items.size() > most_items) packing.items.resize(most_items);
  return packing;
}

struct Checker {
  Checker(const Packing& packing, const Rules& rules) : model(packing) {
    const KeptPlans kept(packing, rules.twins);
    for (const std::vector<Bytes>& offsets : kept.plans()) {
      std::vector<Unit>& plan = plans.emplace_back();
      for (std::size_t k = 0; k < model.size(); ++k) {
        const Bytes from_origin = offsets[model.item[k]] - model.origin;
        if (from_origin % model.unit != 0) FAIL("a kept plan's offset is no multiple of the unit");
        plan.push_back(from_origin / model.unit);
      }
      plan.push_back(peak_of(packing, offsets));
    }
    std::sort(plans.begin(), plans.end(), [](const auto& a, const auto& b) { return a.back() < b.back(); });
  }

  // No plan that reaches no higher than required makes all of these true.
  void operator()(std::span<const Literal> impossible) {
    ++checked;
    for (const std::vector<Unit>& plan : plans) {
      if (plan.back() > required) return;
      const bool all = std::all_of(impossible.begin(), impossible.end(), [&](const Literal& literal) {
        const Unit value = plan[static_cast<std::size_t>(literal.variable / 2)];
        return (literal.variable % 2 == 0 ? value : -value) >= literal.value;
      });
      if (all) ++wrong;
    }
  }

  Model model;
  std::vector<std::vector<Unit>> plans;  // offsets in units, and the peak at the end; the lowest peak first
  Bytes required = 0;
  int checked = 0;
  int wrong = 0;
};

// Asks for peaks from below and from above in turn, in short runs, as `minimise` does. Returns what was checked.
int check_lessons(const Packing& packing, const Rules& rules, std::uint64_t turn) {
  Checker checker(packing, rules);
  REQUIRE(!checker.plans.empty());
  const Bytes least = checker.plans.front().back();
  Search search(checker.model, rules);
  search.engine().inspect([&](std::span<const Literal> impossible) { checker(impossible); });
  Budget budget(20'000);
  Bytes lower = 0;
  Bytes upper = peak_of(packing, stacked(packing));
  for (int step = 0; lower < upper && !budget.exhausted(); ++step) {
    search.engine().restart();
    search.engine().require_peak_at_least(lower);
    search.engine().require_peak_at_most(upper - 1);
    checker.required = upper - 1;
    const Bytes gap = upper - 1 - lower;
    const Bytes target = step % 2 == 0 ? lower + gap / 4 : upper - 1 - gap / 8;
    search.use_best_plan(step % 4 == 3);
    const Verdict verdict = search.run(target, turn, budget);
    REQUIRE(checker.wrong == 0);
    if (verdict == Verdict::found) {
      upper = peak_of(packing, checker.model.offsets(packing, search.offsets()));
    } else if (verdict == Verdict::impossible) {
      lower = search.engine().contradictory() ? upper : std::max(target + 1, search.engine().peak_low());
    }
    REQUIRE(lower <= least);
    REQUIRE(least <= upper);
  }
  REQUIRE((budget.exhausted() || (lower == least && upper == least)));
  return checker.checked;
}

// The same with decisions at random, which no strategy would make: more items are held up by nothing, and clauses say
// more unusual things. Every plan found lowers the required peak, until no plan is left.
int check_random_decisions(test::ProblemMaker& maker, const Packing& packing, const Rules& rules) {
  Checker checker(packing, rules);
  REQUIRE(!checker.plans.empty());
  const Bytes least = checker.plans.front().back();
  Engine engine(checker.model, rules);
  engine.inspect([&](std::span<const Literal> impossible) { checker(impossible); });
  checker.required = checker.plans[maker.below(checker.plans.size())].back();
  engine.require_peak_at_most(checker.required);
  while (!engine.contradictory()) {
    if (maker.below(50) == 0) engine.restart();
    if (!engine.propagate()) {
      if (!engine.learn()) break;
      continue;
    }
    REQUIRE(checker.wrong == 0);
    if (engine.level() == 0 && least < engine.peak_high() && maker.below(2) == 0) {
      engine.assume_peak_at_most(least - static_cast<Bytes>(maker.below(2)));
      continue;
    }
    std::vector<std::size_t> open;
    for (std::size_t k = 0; k < checker.model.size(); ++k) {
      if (!engine.fixed(k)) open.push_back(k);
    }
    if (open.empty()) {
      checker.required = engine.peak_low() - 1;
      REQUIRE(checker.required >= least - 1);
      engine.restart();
      engine.require_peak_at_most(checker.required);
      continue;
    }
    const std::size_t item = open[maker.below(open.size())];
    const Engine::Support support = engine.support(item);
    if (support == Engine::Support::contradiction && !engine.learn()) break;
    if (support == Engine::Support::possible) engine.decide_lowest(item);
  }
  REQUIRE(checker.wrong == 0);
  REQUIRE(checker.required == least - 1);
  return checker.checked;
}

Rules some_rules(std::size_t i) {
  Rules rules;
  if (i % 7 == 0) rules.twins = false;
  if (i % 7 == 1) rules.overload = false;
  if (i % 7 == 2) rules.not_first = false;
  if (i % 7 == 3) rules.weakening = false;
  return rules;
}

}  // namespace

TEST_CASE("what is learned excludes no plan that is left-justified, ordered and low enough") {
  test::ProblemMaker maker(61);
  int checked = 0;
  for (std::size_t i = 0; i < 3000; ++i) {
    const Packing packing = random_packing(maker, i);
    if (packing.items.empty()) continue;
    CAPTURE(i);
    checked += check_lessons(packing, some_rules(i), i % 2 == 0 ? 3 : 1000);
  }
  CHECK(checked > 50'000);
}

TEST_CASE("decisions at random: nothing that is learned excludes a plan that is to be kept") {
  test::ProblemMaker maker(62);
  int checked = 0;
  for (std::size_t i = 0; i < 3000; ++i) {
    const Packing packing = random_packing(maker, i);
    if (packing.items.empty()) continue;
    CAPTURE(i);
    checked += check_random_decisions(maker, packing, some_rules(i));
  }
  CHECK(checked > 50'000);
}

}  // namespace usmp::planners::exact_clauses_test
