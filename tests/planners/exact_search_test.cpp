// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// The exact search in one pool: never a wrong answer, whichever of its rules are switched off.
#include <doctest/doctest.h>

#include <string>
#include <utility>
#include <vector>

#include "planners/exact/packing.hpp"
#include "planners/exact/search.hpp"
#include "planning_support/oracle.hpp"
#include "planning_support/random_problem.hpp"
#include "usmp/planners/planner.hpp"
#include "usmp/verify/verify.hpp"

namespace usmp::planners::exact_search_test {

using namespace usmp::planners::exact;

namespace {

constexpr std::uint64_t plenty = 20'000;

std::vector<BufferId> all_buffers(const Problem& problem) {
  std::vector<BufferId> ids;
  for (std::size_t i = 0; i < problem.buffers.size(); ++i) ids.emplace_back(i);
  return ids;
}

Packing whole(const Problem& problem) { return packing_of(problem, all_buffers(problem), PoolId(0)); }

std::string violations(const Problem& problem, const std::vector<Bytes>& offsets) {
  Plan plan;
  for (const Bytes offset : offsets) plan.allocations.push_back({PoolId(0), offset});
  std::string text;
  for (const auto& violation : verify::check(problem, plan)) text += violation.message + "; ";
  return text;
}

std::vector<std::pair<std::string, Rules>> rule_sets() {
  std::vector<std::pair<std::string, Rules>> sets{{"all rules", Rules{}}};
  const auto without = [&](const char* name, bool Rules::*rule) {
    sets.emplace_back(std::string("without ") + name, Rules{});
    sets.back().second.*rule = false;
  };
  without("overload", &Rules::overload);
  without("not_first", &Rules::not_first);
  without("support", &Rules::support);
  without("twins", &Rules::twins);
  without("weakening", &Rules::weakening);
  without("minimisation", &Rules::minimisation);
  sets.emplace_back("no rules", Rules{false, false, false, false, false, false});
  return sets;
}

// Returns how many rule sets found all answers within the budget.
int check_answers(const Problem& problem, Bytes least, std::uint64_t nodes) {
  const Packing packing = whole(problem);
  int complete = 0;
  for (const auto& [name, rules] : rule_sets()) {
    CAPTURE(name);
    Budget budget(nodes);
    const Minimum minimum = minimise(packing, 0, stacked(packing), {}, budget, {}, rules);
    REQUIRE(minimum.lower <= least);
    REQUIRE(minimum.upper >= least);
    REQUIRE(violations(problem, minimum.offsets) == "");
    if (budget.exhausted()) continue;
    REQUIRE(minimum.upper == least);
    REQUIRE(minimum.lower == least);
    std::vector<Bytes> offsets;
    Budget more(nodes);
    const Verdict verdict = fit(packing, least, more, offsets, rules);
    REQUIRE(verdict != Verdict::impossible);
    if (verdict == Verdict::found) {
      REQUIRE(violations(problem, offsets) == "");
      REQUIRE(peak_of(packing, offsets) <= least);
    }
    if (least > 0) REQUIRE(fit(packing, least - 1, more, offsets, rules) != Verdict::found);
    if (!more.exhausted()) ++complete;
  }
  return complete;
}

}  // namespace

TEST_CASE("thousands of tiny packings against the oracle, with each rule switched off") {
  test::ProblemMaker maker(31);
  for (int i = 0; i < 1500; ++i) {
    const Problem problem = maker.make({.buffers = 1 + maker.below(6),
                                        .pins = i % 3 == 0,
                                        .most_ranges = 1 + maker.below(3),
                                        .horizon = 6,
                                        .largest = 3 + static_cast<Bytes>(maker.below(30))});
    CAPTURE(i);
    const Bytes least = test::truth_of(problem).best->used.front();
    REQUIRE(check_answers(problem, least, plenty) == static_cast<int>(rule_sets().size()));
  }
}

TEST_CASE("small packings: all rule sets agree, and no smaller plan is found by any") {
  test::ProblemMaker maker(32);
  std::uint64_t nodes = 0;
  int complete = 0;
  int proved = 0;
  for (int i = 0; i < 150; ++i) {
    Problem problem = maker.make({.buffers = 12 + maker.below(8),
                                  .pins = i % 4 == 0,
                                  .most_ranges = 1 + maker.below(3),
                                  .horizon = 10,
                                  .largest = 12});
    if (i % 2 == 0) {  // without alignment, sums matter more
      for (Buffer& buffer : problem.buffers) {
        if (!buffer.pinned) buffer.alignment = 1;
      }
    }
    CAPTURE(i);
    const Packing packing = whole(problem);
    Budget budget(plenty);
    const Minimum minimum = minimise(packing, 0, stacked(packing), {}, budget);
    nodes += budget.spent();
    if (minimum.lower < minimum.upper) continue;
    ++proved;
    complete += check_answers(problem, minimum.upper, 1000);
  }
  CHECK(proved > 140);
  CHECK(complete > proved * 6);  // of 8
  CHECK(nodes > 1000);           // not all of it is trivial
}

// Small buffers that cannot be the lowest of their section once raised each other by a few bytes at a time up to the
// size of the large one: hours, and all memory.
TEST_CASE("bounds of small buffers do not creep along a large one") {
  Problem problem;
  problem.horizon = 32;
  problem.pools.push_back({.name = "ram"});
  const auto add = [&](Bytes size, Bytes alignment, std::vector<LiveRange> live) {
    Buffer& buffer = problem.buffers.emplace_back();
    buffer.size = size;
    buffer.alignment = alignment;
    buffer.live = std::move(live);
    buffer.candidates = {PoolId(0)};
  };
  add(8'355'840, 64, {});
  problem.buffers[0].pinned = 128;
  add(76, 1, {{9, 16}});
  add(64, 1, {{1, 3}, {5, 6}, {7, 8}});
  add(111, 1, {{13, 18}});
  add(4'456'448, 1, {{13, 19}});
  add(8'053'063'680, 39, {{14, 20}});
  add(160, 1, {{6, 7}});
  add(2, 11, {{12, 18}, {19, 22}, {24, 27}});
  add(67'108'864, 13, {{14, 17}, {24, 32}});
  add(191'126'044'672, 14, {{8, 16}});
  add(576, 39, {{0, 1}});
  REQUIRE_FALSE(invalid_reason(problem));
  planners::Options options;
  options.node_limit = plenty;
  const PlanResult result = planners::optimal(problem, options);
  CHECK(result.status == PlanStatus::optimal);
  CHECK(result.iterations < 1000);
  CHECK(verify::check(problem, result.plan).empty());
}

TEST_CASE("a trail that gets too long ends the search, without an answer and without a loop") {
  test::ProblemMaker maker(33);
  const Problem problem = maker.make({.buffers = 12, .pins = false, .most_ranges = 1, .horizon = 10, .largest = 12});
  const Packing packing = whole(problem);
  const Model model(packing);
  const Bytes target = peak_of(packing, stacked(packing));
  Budget budget(plenty);
  CHECK(Search(model, {}, 30).run(target, plenty, budget) == Verdict::gave_up);
  CHECK(budget.exhausted());
  Budget fresh(plenty);
  CHECK(Search(model, {}).run(target, plenty, fresh) == Verdict::found);
}

}  // namespace usmp::planners::exact_search_test
