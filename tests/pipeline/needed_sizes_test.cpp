// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// How large pools have to be where no plan fits, against exhaustive search and against the run itself.
#include "usmp/pipeline/needed_sizes.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <atomic>
#include <chrono>

#include "planning_support/oracle.hpp"
#include "planning_support/random_problem.hpp"
#include "random_modules/networks.hpp"

namespace usmp::pipeline::needed_sizes_test {
namespace {

Pool pool(std::string name, std::optional<Bytes> capacity) { return {.name = std::move(name), .capacity = capacity}; }

void add(Problem& problem, Bytes size, std::vector<std::size_t> pools) {
  Buffer buffer;
  buffer.size = size;
  for (const std::size_t id : pools) buffer.candidates.emplace_back(id);
  buffer.live = {{0, 1}};
  problem.buffers.push_back(buffer);
  problem.horizon = 1;
}

// 60 and 40 bytes live together, of which either may go to either pool.
Problem two_pools(Bytes dtcm, Bytes sram) {
  Problem problem;
  problem.pools = {pool("dtcm", dtcm), pool("sram", sram)};
  add(problem, 60, {0, 1});
  add(problem, 40, {0, 1});
  return problem;
}

NeededSizes sizes_of(const Problem& problem, const std::string& algorithm = "optimal", const Search& how = {}) {
  return needed_sizes(problem, algorithm_named(algorithm), {}, how);
}

bool fits(Problem problem, const std::vector<Shortfall>& shortfalls, const Enlargement& choice, Bytes less) {
  const auto set = [&](const Enlargement& pools, Bytes by) {
    for (const NeededSize& size : pools) {
      std::ranges::find(problem.pools, size.pool, &Pool::name)->capacity = size.enough.value() - by;
    }
  };
  for (const Shortfall& shortfall : shortfalls) set(shortfall.choices.front(), 0);
  const auto own = std::ranges::find_if(
      shortfalls, [&](const Shortfall& one) { return std::ranges::find(one.choices, choice) != one.choices.end(); });
  for (const NeededSize& size : own->choices.front()) {
    std::ranges::find(problem.pools, size.pool, &Pool::name)->capacity = size.available;
  }
  set(choice, less);
  return test::truth_of(problem).best.has_value();
}

// A network in a workspace pool of this size, planned with the steps that are of use there.
struct Run {
  Run(std::uint64_t seed, Bytes size) {
    request.pools = config::default_pools();
    request.capacities = {{name, size}};
    SourceModule source;
    source.info.name = "default";
    source.module = random_modules::generate_network(seed).module;
    static_cast<AssembledModule&>(planned) = assemble_module(std::move(source), steps, request);
    planned.result = planners::optimal(planned.assembly.problem, {});
  }

  [[nodiscard]] NeededSizes needed() const { return needed_sizes(planned, steps, request, default_algorithm(), {}); }

  std::string name = "global_workspace";
  Transformations steps = {{std::begin(transform::all_steps), std::end(transform::all_steps)}, 0};
  Request request;
  PlannedProgram planned;
};

}  // namespace

TEST_CASE("needed sizes: of whole runs, transformations and all; a byte less does not do") {
  int alternatives = 0;
  for (std::uint64_t seed = 1; seed <= 40; ++seed) {
    CAPTURE(seed);
    const Run roomy(seed, Problem::max_total_bytes);
    const Bytes used = used_bytes(roomy.planned.assembly.problem, roomy.planned.result.plan).front();
    const Run failed(seed, used / 2);
    if (failed.planned.result.has_plan()) continue;  // it uses nothing
    alternatives += failed.planned.tried.size() > 1 ? 1 : 0;
    const NeededSizes sizes = failed.needed();
    REQUIRE(sizes.shortfalls.size() == 1);
    const NeededSize& size = sizes.shortfalls[0].choices.at(0).at(0);
    REQUIRE(size.enough.has_value());
    CHECK(size.proved());
    CHECK(Run(seed, *size.enough).planned.result.has_plan());
    CHECK_FALSE(Run(seed, size.at_least - 1).planned.result.has_plan());
  }
  CHECK(alternatives > 10);
}

TEST_CASE("needed sizes: one pool, its least size") {
  Problem problem;
  problem.pools = {pool("sram", 80), pool("other", std::nullopt)};
  add(problem, 60, {0});
  add(problem, 40, {0});
  const NeededSizes sizes = sizes_of(problem);
  CHECK(sizes.shortfalls == std::vector<Shortfall>{{{{{"sram", 80, 100, 100}}}}});
  CHECK(sizes.shortfalls[0].choices[0][0].proved());
  CHECK(sizes.shortfalls[0].choices[0][0].missing() == 20);
  CHECK(sizes.fits_with.empty());
}

TEST_CASE("needed sizes: each pool that can be enlarged alone, the others as they are") {
  CHECK(sizes_of(two_pools(30, 50)).shortfalls ==
        std::vector<Shortfall>{{{{{"dtcm", 30, 60, 60}}, {{"sram", 50, 100, 100}}}}});
  CHECK(sizes_of(two_pools(45, 20)).shortfalls ==
        std::vector<Shortfall>{{{{{"dtcm", 45, 100, 100}}, {{"sram", 20, 60, 60}}}}});
}

TEST_CASE("needed sizes: pools that are enough only together") {
  Problem problem = two_pools(30, 50);
  add(problem, 7, {0});
  add(problem, 55, {1});
  // The first as small as the second allows without bound, then the second.
  CHECK(sizes_of(problem).shortfalls == std::vector<Shortfall>{{{{{"sram", 50, 155, 155}}}}});
  problem.pools[0].capacity = 5;
  CHECK(sizes_of(problem).shortfalls == std::vector<Shortfall>{{{{{"dtcm", 5, 7, 7}, {"sram", 50, 155, 155}}}}});
}

TEST_CASE("needed sizes: groups of pools that share no buffer each have a shortfall") {
  Problem problem = two_pools(30, 50);
  problem.pools.push_back(pool("flash", 10));
  problem.pools.push_back(pool("rom", 10));
  add(problem, 12, {2});
  add(problem, 10, {3});
  CHECK(sizes_of(problem).shortfalls ==
        std::vector<Shortfall>{{{{{"dtcm", 30, 60, 60}}, {{"sram", 50, 100, 100}}}}, {{{{"flash", 10, 12, 12}}}}});
}

TEST_CASE("needed sizes: what a heuristic needs, what is needed at least, and whether the default would do") {
  Problem problem;
  problem.pools = {pool("sram", 50)};
  add(problem, 60, {0});
  problem.buffers.push_back(problem.buffers.front());
  problem.horizon = 2;
  problem.buffers[1].live = {{1, 2}};
  NeededSizes sizes = sizes_of(problem, "none");
  CHECK(sizes.shortfalls == std::vector<Shortfall>{{{{{"sram", 50, 60, 120}}}}});
  CHECK_FALSE(sizes.shortfalls[0].choices[0][0].proved());
  CHECK(sizes.fits_with.empty());
  problem.pools[0].capacity = 70;
  sizes = sizes_of(problem, "none");
  CHECK(sizes.shortfalls == std::vector<Shortfall>{{{{{"sram", 70, 60, 120}}}}});
  CHECK(sizes.fits_with == "optimal");
}

TEST_CASE("needed sizes: random problems, against exhaustive search") {
  int alone = 0;
  int together = 0;
  test::ProblemMaker maker(11);
  for (int i = 0; i < 90; ++i) {
    const bool tight = i % 3 == 0;
    Problem problem =
        maker.make({.buffers = 5, .pools = 1 + maker.below(3), .bounded = true, .sharing = i % 2 == 0, .pins = !tight});
    for (Pool& one : problem.pools) {
      if (tight) one.capacity = one.capacity.value_or(80) / 8;
    }
    if (invalid_reason(problem) || test::truth_of(problem).best) continue;
    CAPTURE(i);
    const NeededSizes sizes = sizes_of(problem);
    for (const Shortfall& shortfall : sizes.shortfalls) {
      for (const Enlargement& choice : shortfall.choices) {
        CHECK(fits(problem, sizes.shortfalls, choice, 0));
        ++(choice.size() == 1 ? alone : together);
        for (const NeededSize& size : choice) CHECK(size.proved());
        if (choice.size() == 1) CHECK_FALSE(fits(problem, sizes.shortfalls, choice, 1));
      }
    }
  }
  CHECK(alone > 30);
  CHECK(together > 0);
}

TEST_CASE("needed sizes: a search that stops at its limit says at most and at least") {
  int open = 0;
  test::ProblemMaker maker(5);
  for (int i = 0; i < 20; ++i) {
    Problem problem = maker.make({.buffers = 10, .largest = 900});
    problem.pools[0].capacity = 1;
    const NeededSizes exact = sizes_of(problem);
    const NeededSizes limited = sizes_of(problem, "optimal", {.node_limit = 1});
    REQUIRE(exact.shortfalls.size() == 1);
    REQUIRE(limited.shortfalls.size() == 1);
    const NeededSize least = exact.shortfalls[0].choices[0][0];
    const NeededSize known = limited.shortfalls[0].choices[0][0];
    CHECK(least.proved());
    CHECK(known.at_least <= least.at_least);
    CHECK(known.enough >= least.enough);
    open += known.proved() ? 0 : 1;
  }
  CHECK(open > 0);
}

TEST_CASE("needed sizes: of several programs, what the smallest needs; what they need counts only if the run agrees") {
  Problem small = two_pools(30, 50);
  small.buffers.pop_back();  // 60 bytes
  small.pools[1].capacity = 45;
  Problem large = two_pools(30, 45);
  std::vector<Capacities> asked;
  FailedRun run{.bounding = {large, small}, .pinned = {}, .again = {}};
  Bytes needed = 60;
  run.again = [&](const Capacities& capacities, const Search&) -> OtherRun {
    asked.push_back(capacities);
    for (const auto& [name, capacity] : capacities) {
      if (!capacity || *capacity >= needed) return {std::map<std::string, Bytes>{{name, needed}}};
    }
    return {};
  };
  CHECK(needed_sizes(run, {}).shortfalls == std::vector<Shortfall>{{{{{"dtcm", 30, 60, 60}}, {{"sram", 45, 60, 60}}}}});
  CHECK(asked == std::vector<Capacities>{{{"dtcm", 60}}, {{"dtcm", 59}}, {{"sram", 60}}, {{"sram", 59}}});
  asked.clear();
  needed = 70;
  CHECK(needed_sizes(run, {}).shortfalls == std::vector<Shortfall>{{{{{"dtcm", 30, 60, 70}}, {{"sram", 45, 60, 70}}}}});
  CHECK(asked.size() == 6);
  asked.clear();
  run.again = [](const Capacities&, const Search&) -> OtherRun { return {}; };
  CHECK(needed_sizes(run, {}).shortfalls ==
        std::vector<Shortfall>{{{{{"dtcm", 30, 60, std::nullopt}}, {{"sram", 45, 60, std::nullopt}}}}});
}

TEST_CASE("needed sizes: in larger pools the run chooses among other programs") {
  FailedRun run{.bounding = {two_pools(30, 45)}, .pinned = {}, .again = {}};
  Bytes size_of_other = 60;
  run.again = [&](const Capacities& capacities, const Search&) -> OtherRun {
    Problem other = two_pools(30, 45);
    other.buffers.front().size = size_of_other;
    for (const auto& [name, capacity] : capacities) {
      std::ranges::find(other.pools, name, &Pool::name)->capacity = capacity;
    }
    const PlanResult result = planners::optimal(other, {});
    if (!result.has_plan()) return {std::nullopt, {other}};
    const std::vector<Bytes> used = used_bytes(other, result.plan);
    return {std::map<std::string, Bytes>{{"dtcm", used[0]}, {"sram", used[1]}}, {other}};
  };
  const auto dtcm = [&] { return needed_sizes(run, {}).shortfalls.at(0).choices.at(0); };
  CHECK(dtcm() == Enlargement{{"dtcm", 30, 60, 60}});
  size_of_other = 70;  // more than is proved of the program that was seen first
  CHECK(dtcm() == Enlargement{{"dtcm", 30, 60, 70}});
  size_of_other = 50;  // less
  CHECK(dtcm() == Enlargement{{"dtcm", 30, 50, 50}});
}

TEST_CASE("needed sizes: of several pools, what a byte less of one is enough for is not said to need it") {
  Problem problem = two_pools(30, 50);
  problem.pools.push_back(pool("flash", 10));
  add(problem, 12, {2});
  FailedRun run{.bounding = {problem}, .pinned = {}, .again = {}};
  Bytes enough_dtcm = 60;  // for a program that the run takes if flash is large enough
  run.again = [&](const Capacities& capacities, const Search&) -> OtherRun {
    const auto of = [&](const std::string& name, Bytes available) {
      const auto found = capacities.find(name);
      return found == capacities.end() ? available : found->second.value_or(1000);
    };
    const bool has_plan = of("flash", 10) >= 12 && (of("dtcm", 30) >= enough_dtcm || of("sram", 50) >= 100);
    return has_plan ? OtherRun{std::map<std::string, Bytes>{{"dtcm", 60}}, {problem}} : OtherRun{};
  };
  const auto shortfalls = [&] { return needed_sizes(run, {}).shortfalls; };
  const Shortfall flash = {{{{"flash", 10, 12, 12}}}};
  CHECK(shortfalls() == std::vector<Shortfall>{{{{{"dtcm", 30, 60, 60}}, {{"sram", 50, 100, 100}}}}, flash});
  enough_dtcm = 59;
  CHECK(shortfalls() == std::vector<Shortfall>{{{{{"dtcm", 30, 0, 60}}, {{"sram", 50, 100, 100}}}}, flash});
}

TEST_CASE(
    "needed sizes: nothing is said after an interruption; a time limit that is over leaves what is seen at once") {
  std::atomic<bool> interrupted = true;
  CHECK(sizes_of(two_pools(30, 50), "optimal", {.interrupted = &interrupted}).shortfalls.empty());
  const NeededSizes sizes = sizes_of(two_pools(30, 50), "optimal", {.time_limit = std::chrono::milliseconds(1)});
  REQUIRE(sizes.shortfalls.size() == 1);
  for (const Enlargement& choice : sizes.shortfalls[0].choices) CHECK(choice[0].enough >= choice[0].at_least);
}

}  // namespace usmp::pipeline::needed_sizes_test
