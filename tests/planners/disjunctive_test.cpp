// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// The search of one pool whose items may share bytes: against exhaustive search, also when it is cut short.
#include "planners/exact/disjunctive.hpp"

#include <doctest/doctest.h>

#include <vector>

#include "planning_support/oracle.hpp"
#include "planning_support/random_problem.hpp"
#include "usmp/verify/verify.hpp"

namespace usmp::planners::disjunctive_test {

using namespace usmp::planners::exact;

namespace {

struct Question {
  Problem problem;
  Packing packing;
  std::vector<Spacing> spacings;
};

Question question_of(Problem problem) {
  Question question{std::move(problem), {}, {}};
  std::vector<BufferId> all;
  for (std::size_t i = 0; i < question.problem.buffers.size(); ++i) all.emplace_back(i);
  question.packing = packing_of(question.problem, all, PoolId(0));
  for (const Distance& distance : question.problem.distances) {
    question.spacings.push_back({distance.below.index(), distance.above.index(), distance.bytes});
  }
  return question;
}

// Whatever the budget was: the placement is right, and no bound is wrong.
void check(const Question& question, const Minimum& minimum, Bytes least) {
  Plan plan;
  for (const Bytes offset : minimum.offsets) plan.allocations.push_back({PoolId(0), offset});
  for (const auto& violation : verify::check(question.problem, plan)) FAIL_CHECK(violation.message);
  CHECK(minimum.upper == used_bytes(question.problem, plan).front());
  CHECK(minimum.upper >= least);
  CHECK(minimum.lower <= least);
}

}  // namespace

TEST_CASE("the least peak of items that may share bytes") {
  test::ProblemMaker maker(71);
  int shared = 0;
  for (int i = 0; i < 600; ++i) {
    const Question question = question_of(maker.make({.buffers = 6, .sharing = i % 4 != 0, .pins = i % 3 == 0}));
    CAPTURE(i);
    const Bytes least = test::truth_of(question.problem).best->used.front();
    Problem apart = question.problem;
    apart.distances.clear();
    if (!invalid_reason(apart) && test::truth_of(apart).best->used.front() > least) ++shared;
    Budget budget(100'000);
    const Minimum minimum =
        minimise_spaced(question.packing, question.spacings, 0, stacked(question.packing), {}, budget);
    check(question, minimum, least);
    CHECK(minimum.lower == least);
    CHECK(minimum.upper == least);
  }
  CHECK(shared > 200);
}

TEST_CASE("where nothing is shared it agrees with the search that adds sizes up") {
  test::ProblemMaker maker(74);
  std::uint64_t nodes = 0;
  for (int i = 0; i < 300; ++i) {
    const Question question = question_of(maker.make({.buffers = 8, .pins = i % 5 == 0}));
    CAPTURE(i);
    Budget other(100'000);
    const Minimum least = minimise(question.packing, 0, stacked(question.packing), {}, other);
    REQUIRE(least.lower == least.upper);
    Budget budget(100'000);
    const Minimum minimum =
        minimise_spaced(question.packing, question.spacings, 0, stacked(question.packing), {}, budget);
    check(question, minimum, least.upper);
    CHECK(minimum.lower == least.lower);
    nodes += budget.spent();
  }
  CHECK(nodes > 5000);
}

TEST_CASE("a search that is cut short claims nothing false") {
  test::ProblemMaker maker(72);
  int unfinished = 0;
  for (int i = 0; i < 300; ++i) {
    const Question question = question_of(maker.make({.buffers = 6, .sharing = true, .pins = i % 3 == 0}));
    CAPTURE(i);
    const Bytes least = test::truth_of(question.problem).best->used.front();
    for (const std::uint64_t nodes : {0U, 1U, 3U, 10U}) {
      Budget budget(nodes);
      const Minimum minimum =
          minimise_spaced(question.packing, question.spacings, 0, stacked(question.packing), {}, budget);
      check(question, minimum, least);
      if (minimum.lower < minimum.upper) ++unfinished;
    }
  }
  CHECK(unfinished > 200);
}

TEST_CASE("a bound that is far below is raised, also by a search that does not end") {
  int raised = 0;
  int lowered = 0;
  for (std::uint64_t seed = 1; seed <= 16; ++seed) {
    test::ProblemMaker maker(seed);
    const Question question = question_of(maker.make({.buffers = 28, .sharing = true, .largest = 5000}));
    CAPTURE(seed);
    Budget enough(100'000);
    const std::vector<Bytes> start = stacked(question.packing);
    const Minimum best = minimise_spaced(question.packing, question.spacings, 0, start, {}, enough);
    if (best.lower < best.upper) continue;
    for (const Bytes below : {best.lower - best.lower / 10, best.lower}) {
      constexpr std::uint64_t nodes = 3'200;  // the least that are divided
      Budget budget(nodes);
      const Minimum minimum = minimise_spaced(question.packing, question.spacings, below, start, {}, budget);
      check(question, minimum, best.lower);
      CHECK(budget.spent() <= nodes);
      if (minimum.lower > below && minimum.lower < minimum.upper) ++raised;
      if (minimum.lower == below && minimum.upper < peak_of(question.packing, start)) ++lowered;
    }
  }
  CHECK(raised >= 3);
  CHECK(lowered >= 3);
}

TEST_CASE("it ends at what is enough, and proves what is hopeless") {
  test::ProblemMaker maker(73);
  for (int i = 0; i < 200; ++i) {
    const Question question = question_of(maker.make({.buffers = 6, .sharing = true}));
    CAPTURE(i);
    const Bytes least = test::truth_of(question.problem).best->used.front();
    Budget budget(100'000);
    const std::vector<Bytes> start = stacked(question.packing);
    const Minimum enough =
        minimise_spaced(question.packing, question.spacings, 0, start, {.enough = least + 5}, budget);
    check(question, enough, least);
    CHECK(enough.upper <= least + 5);
    const Minimum hopeless = minimise_spaced(question.packing, question.spacings, 0, start,
                                             {.hopeless = std::max<Bytes>(0, least - 1)}, budget);
    if (least == 0) continue;
    CHECK(hopeless.lower == least);
    Budget unused(100'000);  // where the bound says so already, there is nothing to look for
    CHECK(minimise_spaced(question.packing, question.spacings, least, start, {.hopeless = least - 1}, unused).lower ==
          least);
    CHECK(unused.spent() == 0);
  }
}

TEST_CASE("bounds that push each other up byte by byte cost nodes") {
  // Each has its own place above the one before, by a byte, in a circle: an order that has no end below the capacity.
  constexpr Bytes size = 1'000'000'000;
  Packing packing;
  for (int i = 0; i < 3; ++i) packing.items.push_back({size, 1, {{0, 1}}, std::nullopt});
  const std::vector<Spacing> spacings = {{0, 1, 1}, {0, 2, 1000}, {1, 2, 1}, {2, 0, 1}};
  Budget budget(8);
  const Minimum minimum = minimise_spaced(packing, spacings, size, exact::stacked(packing), {}, budget);
  CHECK(budget.exhausted());
  CHECK(minimum.lower <= size + 1000);
}

TEST_CASE("a chain that drifts down: no order of two neighbours is free") {
  Problem problem;
  problem.pools = {{.name = "sram"}};
  problem.horizon = 12;
  for (Tick i = 0; i < 10; ++i) {
    problem.buffers.push_back(
        {.name = std::to_string(i), .function = {}, .size = 1000, .candidates = {PoolId(0)}, .live = {{i, i + 2}}});
    if (i > 0)
      problem.distances.push_back(
          {BufferId(static_cast<std::size_t>(i)), BufferId(static_cast<std::size_t>(i - 1)), 10});
  }
  const Question question = question_of(problem);
  Budget budget(1000);
  const Minimum minimum =
      minimise_spaced(question.packing, question.spacings, 1010, stacked(question.packing), {}, budget);
  CHECK(minimum.lower == 1090);
  CHECK(minimum.upper == 1090);
}

}  // namespace usmp::planners::disjunctive_test
