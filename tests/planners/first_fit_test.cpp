// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// Offsets that first fit gives to small problems, and reruns against whole runs.
#include "planners/first_fit.hpp"

#include <doctest/doctest.h>

#include <string>

#include "planning_support/random_problem.hpp"

namespace usmp::planners::first_fit_test {

using planners::Attempt;
using planners::FirstFit;
using planners::Fit;
using planners::Group;
using planners::Score;

namespace {

Buffer buffer(Bytes size, LiveRange live, std::vector<PoolId> candidates = {PoolId(0)}, Bytes alignment = 1) {
  Buffer result;
  result.name = "b";
  result.size = size;
  result.alignment = alignment;
  result.candidates = std::move(candidates);
  result.live = {live};
  return result;
}

Problem one_pool(std::vector<Buffer> buffers, std::optional<Bytes> capacity = {}, Bytes alignment = 1) {
  Problem problem;
  problem.pools = {{.name = "sram", .kind = PoolKind::workspace, .capacity = capacity, .alignment = alignment}};
  problem.buffers = std::move(buffers);
  problem.horizon = 100;
  return problem;
}

// The offsets that first fit gives to all buffers in id order; -1 where there is no room.
std::vector<Bytes> offsets(const Problem& problem, Fit fit = Fit::lowest_gap) {
  const Conflicts conflicts(problem);
  const auto groups = planners::split_by_pools(problem);
  FirstFit placer(problem, conflicts, groups);
  std::vector<Bytes> result;
  for (std::size_t i = 0; i < problem.buffers.size(); ++i) {
    result.push_back(placer.place(BufferId(i), fit) ? placer.of(BufferId(i)).offset : -1);
  }
  return result;
}

}  // namespace

TEST_CASE("a buffer takes the lowest gap, the tightest gap, or the top") {
  // Buffers at [0,10) and [10,40) and [40,50) and [50,60) and [60,70) first; then those at [10,40) and [50,60) are dead
  // and a buffer of 10 can go into the first gap, or into the second, which it fills.
  const Problem problem = one_pool({buffer(10, {0, 9}), buffer(30, {0, 2}), buffer(10, {0, 9}), buffer(10, {0, 2}),
                                    buffer(10, {0, 9}), buffer(10, {5, 6})});
  CHECK(offsets(problem, Fit::lowest_gap) == std::vector<Bytes>{0, 10, 40, 50, 60, 10});
  CHECK(offsets(problem, Fit::tightest_gap) == std::vector<Bytes>{0, 10, 40, 50, 60, 50});
  CHECK(offsets(problem, Fit::above_all) == std::vector<Bytes>{0, 10, 40, 50, 60, 70});
}

TEST_CASE("a gap that only the alignment makes too small is passed over") {
  // The gap is [10, 30): an offset of 16 leaves 14 bytes.
  const auto with = [&](Bytes size) {
    return offsets(one_pool({buffer(10, {0, 9}), buffer(20, {0, 2}), buffer(10, {0, 9}),
                             buffer(size, {5, 6}, {PoolId(0)}, 16)}))
        .back();
  };
  CHECK(with(14) == 16);
  CHECK(with(15) == 48);
}

TEST_CASE("a buffer shares bytes with what lies above it, or below it, as the distances allow") {
  // Buffers at [0,10) and [10,30); the first is dead when one of 15 comes.
  Problem problem = one_pool({buffer(10, {0, 2}), buffer(20, {0, 9}), buffer(15, {5, 6})});
  const BufferId held(1);
  const BufferId last(2);
  CHECK(offsets(problem).back() == 30);
  SUBCASE("below") {
    problem.distances = {{last, held, 10}};
    CHECK(offsets(problem).back() == 0);
    CHECK(offsets(problem, Fit::tightest_gap).back() == 0);
    CHECK(offsets(problem, Fit::above_all).back() == 30);
  }
  SUBCASE("below, a byte too far") {
    problem.distances = {{last, held, 11}};
    CHECK(offsets(problem).back() == 30);
  }
  SUBCASE("above") {
    problem.distances = {{held, last, 5}};
    CHECK(offsets(problem).back() == 15);
  }
}

TEST_CASE("both alignments hold, each buffer has its own") {
  const auto found = offsets(one_pool({buffer(1, {0, 1}), buffer(1, {0, 1}, {PoolId(0)}, 3),
                                       buffer(1, {0, 1}, {PoolId(0)}, 6), buffer(1, {0, 1}, {PoolId(0)}, 7)},
                                      {}, 4));
  CHECK(found == std::vector<Bytes>{0, 12, 24, 28});
}

TEST_CASE("the first pool with room is taken, and ruled out pools are not entered again") {
  Problem problem;
  problem.pools = {{.name = "fast", .kind = PoolKind::workspace, .capacity = 16, .alignment = 1},
                   {.name = "slow", .kind = PoolKind::workspace, .capacity = 40, .alignment = 1}};
  problem.horizon = 10;
  const std::vector<PoolId> both{PoolId(0), PoolId(1)};
  for (const Bytes size : {20, 10, 10, 6, 20}) problem.buffers.push_back(buffer(size, {0, 9}, both));
  const Conflicts conflicts(problem);
  const auto groups = planners::split_by_pools(problem);
  FirstFit placer(problem, conflicts, groups);
  const Attempt attempt{groups.front().buffers, Fit::lowest_gap};
  const Score score = placer.run(attempt);
  CHECK(placer.of(BufferId(0)) == Allocation{PoolId(1), 0});
  CHECK(placer.of(BufferId(1)) == Allocation{PoolId(0), 0});
  CHECK(placer.of(BufferId(2)) == Allocation{PoolId(1), 20});
  CHECK(placer.of(BufferId(3)) == Allocation{PoolId(0), 10});
  CHECK_FALSE(placer.of(BufferId(4)).placed());
  CHECK(score.unplaced == 20);
  CHECK(score.cost.spilled == std::vector<Bytes>{30});
  CHECK(score.cost.used == std::vector<Bytes>{16, 30});

  const auto shortage = placer.shortage(attempt);
  REQUIRE(shortage.has_value());
  CHECK(shortage->buffer == BufferId(4));
  REQUIRE(shortage->pools.size() == 2);
  CHECK(shortage->pools[0].required == 36);
  CHECK(shortage->pools[0].available == 16);
  CHECK(shortage->pools[1].required == 50);
  CHECK(shortage->pools[1].missing() == 10);
}

TEST_CASE("empty buffers need no room and are in nobody's way") {
  const Problem problem = one_pool({buffer(8, {0, 9}), buffer(0, {0, 9}), buffer(8, {0, 9})}, 16);
  CHECK(offsets(problem) == std::vector<Bytes>{0, 0, 8});
}

TEST_CASE("groups are the pools tied together by buffers") {
  Problem problem;
  for (const char* name : {"a", "b", "c", "d", "e"}) problem.pools.push_back({name, PoolKind::workspace, {}, 1});
  problem.horizon = 1;
  problem.buffers = {buffer(1, {0, 1}, {PoolId(4), PoolId(0)}), buffer(1, {0, 1}, {PoolId(1)}),
                     buffer(1, {0, 1}, {PoolId(0), PoolId(3)}), buffer(1, {0, 1}, {PoolId(1)})};
  const std::vector<Group> groups = planners::split_by_pools(problem);
  REQUIRE(groups.size() == 2);
  CHECK(groups[0].pools == std::vector{PoolId(0), PoolId(3), PoolId(4)});
  CHECK(groups[0].buffers == std::vector{BufferId(0), BufferId(2)});
  CHECK(groups[1].pools == std::vector{PoolId(1)});
  CHECK(groups[1].buffers == std::vector{BufferId(1), BufferId(3)});
}

TEST_CASE("placing the rest again is the same as placing everything again") {
  test::ProblemMaker maker(11);
  for (int i = 0; i < 50; ++i) {
    const Problem problem = maker.make({.buffers = 20, .pools = 2, .bounded = true});
    const Conflicts conflicts(problem);
    for (const auto& groups = planners::split_by_pools(problem); const Group& group : groups) {
      FirstFit partly(problem, conflicts, groups);
      FirstFit wholly(problem, conflicts, groups);
      Attempt attempt{group.buffers, Fit::lowest_gap};
      partly.run(attempt);
      const std::size_t from = maker.below(attempt.order.size());
      std::reverse(attempt.order.begin() + static_cast<std::ptrdiff_t>(from), attempt.order.end());
      Score score;
      REQUIRE(partly.rerun(attempt, from, nullptr, score));
      const Score expected = wholly.run(attempt);
      CHECK((score == expected));
      CHECK((partly.plan() == wholly.plan()));
      CHECK(partly.rerun(attempt, from, &expected, score));
      if (expected.cost.used.front() == 0) continue;
      Score tighter = expected;
      --tighter.cost.used.front();
      CHECK_FALSE(partly.rerun(attempt, from, &tighter, score));
    }
  }
}

}  // namespace usmp::planners::first_fit_test
