// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// What `fast` promises beyond what every algorithm does (planners_test.cpp): quality and scale. And its parts.
#include <doctest/doctest.h>

#include <algorithm>
#include <map>
#include <set>
#include <vector>

#include "planners/gap_index.hpp"
#include "planners/obstacles.hpp"
#include "planners/sweep.hpp"
#include "planning_support/generators.hpp"
#include "planning_support/random_problem.hpp"
#include "usmp/bounds/bounds.hpp"
#include "usmp/planners/planner.hpp"
#include "usmp/verify/verify.hpp"

namespace usmp::planners::fast_test {
namespace {

// Parts in ten thousand above the load.
Bytes excess(const Problem& problem, const PlanResult& result) {
  REQUIRE(result.has_plan());
  const auto violations = verify::check(problem, result.plan);
  REQUIRE(violations.empty());
  const Bytes load = bounds::pool_bounds(problem).front().bytes;
  return (used_bytes(problem, result.plan).front() - load) * 10'000 / load;
}

}  // namespace

TEST_CASE("within a hundredth of the load where the largest buffer is below a hundredth of it") {
  for (std::uint64_t seed = 1; seed <= 3; ++seed) {
    CAPTURE(seed);
    const Problem problem = test::random_lives(10'000, seed);
    CHECK(excess(problem, planners::fast(problem, {})) < 100);
  }
  const Problem problem = test::random_lives(100'000, 4);
  CHECK(excess(problem, planners::fast(problem, {})) < 50);
}

TEST_CASE("the stack at the peak by slope is what makes the difference") {
  const Problem problem = test::random_lives(50'000, 5);
  const planners::Group group = planners::split_by_pools(problem).front();
  planners::Sweep sweep(problem, group);
  const Bytes load = bounds::pool_bounds(problem).front().bytes;
  const auto above = [&](const planners::SweepOptions& options) {
    return sweep.run(options).score.cost.used.front() - load;
  };
  const Bytes by_slope = above({sweep.peak(), planners::Stacking::by_slope, 16});
  CHECK(2 * by_slope < above({sweep.peak(), planners::Stacking::by_end, 16}));
  CHECK(4 * by_slope < above({-1, planners::Stacking::by_slope, 16}));
  CHECK(4 * by_slope < above({problem.horizon, planners::Stacking::by_slope, 16}));
}

TEST_CASE("thousands of buffers with several live ranges, alignment, pools and pins") {
  test::ProblemMaker maker(21);
  int planned = 0;
  for (int i = 0; i < 9; ++i) {
    Problem problem = maker.make({.buffers = 1500,
                                  .pools = 1 + maker.below(3),
                                  .bounded = i % 3 == 0,
                                  .pins = false,
                                  .most_ranges = 1 + maker.below(4),
                                  .horizon = 500,
                                  .largest = 4000});
    CAPTURE(i);
    // The offsets of one plan are pins of the next problem.
    const PlanResult first = planners::fast(problem, {});
    if (!first.has_plan()) continue;
    REQUIRE(verify::check(problem, first.plan).empty());
    for (std::size_t b = 0; b < problem.buffers.size(); ++b) {
      if (maker.below(4) != 0) continue;
      problem.buffers[b].candidates = {first.plan.allocations[b].pool};
      problem.buffers[b].pinned = first.plan.allocations[b].offset;
    }
    REQUIRE_FALSE(invalid_reason(problem).has_value());
    const PlanResult second = planners::fast(problem, {});
    if (!second.has_plan()) continue;
    CHECK(verify::check(problem, second.plan).empty());
    ++planned;
  }
  CHECK(planned >= 6);
}

TEST_CASE("a pause of a buffer is room for others") {
  // Both of the long ones pause when the short one lives.
  Problem problem = test::one_pool(30);
  test::add_buffer(problem, 10, {0, 10});
  test::add_buffer(problem, 10, {0, 10});
  test::add_buffer(problem, 20, {12, 18});
  problem.buffers[0].live = {{0, 10}, {20, 30}};
  problem.buffers[1].live = {{0, 10}, {20, 30}};
  const PlanResult result = planners::fast(problem, {});
  CHECK(result.status == PlanStatus::optimal);
  CHECK(excess(problem, result) == 0);
}

TEST_CASE("hundreds of thousands of pieces of live time") {
  Problem problem = test::short_lives(50'000, 6);
  const Problem plain = problem;
  for (Buffer& buffer : problem.buffers) {
    const Tick begin = buffer.live.front().begin;
    const Tick end = buffer.live.front().end;
    if (end - begin < 8) continue;
    const Tick step = (end - begin) / 4;
    buffer.live = {{begin, begin + step}, {begin + step + 1, begin + 2 * step}, {end - step, end}};
  }
  REQUIRE_FALSE(invalid_reason(problem).has_value());
  const PlanResult result = planners::fast(problem, {});
  CHECK(excess(problem, result) < 6000);
  // So many are taken to be live from their first tick to their last.
  CHECK((result.plan == planners::fast(plain, {}).plan));
}

TEST_CASE("gaps in order, against a set") {
  test::ProblemMaker random(22);
  planners::GapIndex index;
  std::set<std::pair<Bytes, Bytes>> set;
  for (int i = 0; i < 20'000; ++i) {
    const bool grow = (i / 4000) % 2 == 0 || set.empty();
    if (grow || random.below(3) == 0) {
      const std::pair<Bytes, Bytes> key(1 + static_cast<Bytes>(random.below(300)),
                                        static_cast<Bytes>(random.below(1000)));
      if (set.insert(key).second) index.insert({.size = key.first, .begin = key.second});
    } else {
      auto found = set.lower_bound({static_cast<Bytes>(random.below(300)), 0});
      if (found == set.end()) found = set.begin();
      index.erase(found->first, found->second);
      set.erase(found);
    }
    if (i % 400 != 0) continue;
    const auto size = static_cast<Bytes>(random.below(310));
    auto at = index.at_least(size);
    auto expected = set.lower_bound({size, -1});
    for (; expected != set.end(); ++expected, index.advance(at)) {
      REQUIRE(index.get(at) != nullptr);
      REQUIRE((index.get(at)->key() == *expected));
    }
    REQUIRE(index.get(at) == nullptr);
  }
}

TEST_CASE("obstacles, against a list of them") {
  struct Obstacle {
    LiveRange life;
    Bytes begin, end;
  };
  test::ProblemMaker random(23);
  for (int round = 0; round < 200; ++round) {
    std::vector<Obstacle> list;
    std::vector<Tick> ticks;
    for (std::size_t i = random.below(12); i > 0; --i) {
      const auto begin = static_cast<Tick>(2 + random.below(20));
      const auto low = static_cast<Bytes>(random.below(100));
      list.push_back({{begin, begin + 1 + static_cast<Tick>(random.below(8))},
                      low,
                      low + 1 + static_cast<Bytes>(random.below(20))});
      ticks.push_back(list.back().life.begin);
      ticks.push_back(list.back().life.end);
    }
    planners::Obstacles obstacles(ticks);
    for (const Obstacle& each : list) obstacles.add(each.life, each.begin, each.end);
    for (int i = 0; i < 40; ++i) {
      const auto time = static_cast<Tick>(random.below(30));
      const std::vector<LiveRange> times = {{time, time + 1 + static_cast<Tick>(random.below(6))}, {40, 41}};
      const auto low = static_cast<Bytes>(random.below(120));
      const Bytes size = 1 + static_cast<Bytes>(random.below(15));
      const auto free = [&](Bytes offset) {
        return std::none_of(list.begin(), list.end(), [&](const Obstacle& each) {
          return overlap({each.life}, times) && each.begin < offset + size && offset < each.end;
        });
      };
      const Bytes raised = obstacles.raised(times, low, size);
      REQUIRE((raised == low) == free(low));
      REQUIRE(raised >= low);
      for (Bytes between = low; between < raised; ++between) REQUIRE_FALSE(free(between));
    }
  }
}

TEST_CASE("pins that share bytes, as distances allow, are stood around") {
  test::ProblemMaker maker(77);
  int planned = 0;
  for (int round = 0; round < 2000; ++round) {
    CAPTURE(round);
    Problem problem = maker.make({.buffers = 20, .most_ranges = 2, .horizon = 20, .largest = 20});
    for (std::size_t i = 0; i < 5; ++i) {
      Buffer& buffer = problem.buffers[i];
      buffer.alignment = 1;
      buffer.size += 1;
      buffer.pinned = static_cast<Bytes>(maker.below(4) * 5);
      for (std::size_t other = 0; other < 5; ++other) {
        if (other != i) problem.distances.push_back({BufferId(i), BufferId(other), 0});
      }
    }
    if (invalid_reason(problem)) continue;
    const PlanResult result = planners::fast(problem, {});
    if (!result.has_plan()) continue;
    ++planned;
    const auto violations = verify::check(problem, result.plan);
    REQUIRE_MESSAGE(violations.empty(), violations.front().message);
  }
  CHECK(planned > 100);
}

TEST_CASE("the perfect packings are perfect") {
  for (const Problem& problem : {test::guillotine(300, 1), test::pinwheel(301, 1), test::pinwheel(1001, 2)}) {
    REQUIRE_FALSE(invalid_reason(problem).has_value());
    std::map<Tick, Bytes> changes;
    for (const Buffer& buffer : problem.buffers) {
      REQUIRE(buffer.size > 0);
      changes[buffer.live.front().begin] += buffer.size;
      changes[buffer.live.front().end] -= buffer.size;
    }
    Bytes live = 0;
    for (const auto& [tick, change] : changes) {
      live += change;
      CHECK(live == (tick == test::square ? 0 : test::square));
    }
  }
  CHECK(test::guillotine(1000, 3).buffers.size() == 1000);
  CHECK(test::pinwheel(101, 3).buffers.size() == 101);
}

}  // namespace usmp::planners::fast_test
