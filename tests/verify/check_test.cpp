// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// Plans with one fault each; overlaps against a byte map; sweep and comparison of all pairs.
#include <doctest/doctest.h>

#include <algorithm>
#include <limits>
#include <set>
#include <string>

#include "planning_support/random_problem.hpp"
#include "usmp/verify/verify.hpp"

namespace usmp::verify::check_test {

using verify::Violation;
using verify::ViolationKind;

namespace {

constexpr Bytes largest = std::numeric_limits<Bytes>::max();

// a [0,32) and b [32,48) in sram; c in dram where a is not allowed; a and c never meet.
Problem problem_of_three() {
  Problem problem;
  problem.pools = {{.name = "sram", .kind = PoolKind::workspace, .capacity = 48, .alignment = 4},
                   {.name = "dram", .kind = PoolKind::workspace, .capacity = {}, .alignment = 1}};
  problem.horizon = 10;
  const auto add = [&](const char* name, Bytes size, std::vector<LiveRange> live, std::vector<PoolId> candidates) {
    Buffer buffer;
    buffer.name = name;
    buffer.size = size;
    buffer.alignment = 6;
    buffer.live = std::move(live);
    buffer.candidates = std::move(candidates);
    problem.buffers.push_back(buffer);
  };
  add("a", 32, {{0, 2}, {7, 9}}, {PoolId(0)});
  add("b", 12, {{1, 8}}, {PoolId(0), PoolId(1)});
  add("c", 32, {{3, 5}}, {PoolId(1), PoolId(0)});
  return problem;
}

Plan right_plan() { return {{{PoolId(0), 0}, {PoolId(0), 36}, {PoolId(0), 0}}}; }

template <class Change>
std::vector<Violation> after(Change change) {
  Plan plan = right_plan();
  change(plan.allocations);
  return verify::check(problem_of_three(), plan);
}

// Exactly one violation, of this kind and about this buffer, with this message.
void check_only(const std::vector<Violation>& found, ViolationKind kind, std::size_t buffer, const char* message) {
  REQUIRE(found.size() == 1);
  CHECK(found[0].kind == kind);
  CHECK(found[0].buffer == BufferId(buffer));
  CHECK(found[0].message == message);
}

using Allocations = std::vector<Allocation>;

}  // namespace

TEST_CASE("a right plan has no violation") {
  CHECK(verify::check(problem_of_three(), right_plan()).empty());
  CHECK(verify::check(Problem{}, Plan{}).empty());
}

TEST_CASE("one allocation a buffer") {
  auto found = after([](Allocations& a) { a.pop_back(); });
  REQUIRE(found.size() == 1);
  CHECK(found[0].kind == ViolationKind::wrong_count);
  CHECK(found[0].message == "the plan has 2 allocations for 3 buffers");
  found = after([](Allocations& a) { a.push_back(a[0]); });
  REQUIRE(found.size() == 1);
  CHECK(found[0].kind == ViolationKind::wrong_count);
}

TEST_CASE("reserved bytes are left alone, and pinned buffers where they are") {
  Problem problem = problem_of_three();
  problem.pools[0].reserved = 12;
  problem.buffers[1].pinned = 36;
  problem.buffers[0].candidates = {PoolId(1)};
  problem.pools[1].reserved = 6;
  problem.buffers[2].size = 12;
  problem.buffers[0].size = 0;  // an empty buffer uses no reserved bytes
  const Plan low{{{PoolId(1), 0}, {PoolId(0), 36}, {PoolId(0), 0}}};
  check_only(verify::check(problem, low), ViolationKind::reserved, 2,
             "buffer 'c' in pool 'sram' has offset 0, but the first 12 bytes are reserved");
  const Plan moved{{{PoolId(1), 0}, {PoolId(0), 24}, {PoolId(0), 12}}};
  check_only(verify::check(problem, moved), ViolationKind::not_at_pin, 1,
             "buffer 'b' in pool 'sram' has offset 24, but is pinned to 36");
}

TEST_CASE("every buffer has a place in a pool where it may be") {
  check_only(after([](Allocations& a) { a[1] = {}; }), ViolationKind::not_placed, 1, "buffer 'b' has no place");
  CHECK(after([](Allocations& a) { a = Allocations(3); }).size() == 3);
  check_only(after([](Allocations& a) { a[1].pool = PoolId(2); }), ViolationKind::unknown_pool, 1,
             "buffer 'b' is in pool number 2, but there are 2");
  check_only(after([](Allocations& a) { a[0].pool = PoolId(1); }), ViolationKind::not_a_candidate, 0,
             "buffer 'a' may not be in pool 'dram'");
}

TEST_CASE("offsets are multiples of both alignments and not negative") {
  check_only(after([](Allocations& a) { a[1].offset = 34; }), ViolationKind::misaligned, 1,
             "buffer 'b' in pool 'sram' has offset 34, not a multiple of 6");
  check_only(after([](Allocations& a) {
               a[1] = {PoolId(1), 0};
               a[2].offset = 6;
             }),
             ViolationKind::misaligned, 2, "buffer 'c' in pool 'sram' has offset 6, not a multiple of 4");
  check_only(after([](Allocations& a) { a[1].offset = -12; }), ViolationKind::negative_offset, 1,
             "buffer 'b' in pool 'sram' has the negative offset -12");
  // [-6, 6) would share bytes with others, but a place outside the pool is not compared any further.
  check_only(after([](Allocations& a) { a[1].offset = -6; }), ViolationKind::negative_offset, 1,
             "buffer 'b' in pool 'sram' has the negative offset -6");
  check_only(after([](Allocations& a) { a[1].offset = std::numeric_limits<Bytes>::min(); }),
             ViolationKind::negative_offset, 1,
             "buffer 'b' in pool 'sram' has the negative offset -9223372036854775808");
}

TEST_CASE("ends stay within the capacity, and within what can be expressed") {
  check_only(after([](Allocations& a) { a[1].offset = 48; }), ViolationKind::over_capacity, 1,
             "buffer 'b' in pool 'sram' ends at 60, beyond the capacity of 48");
  const Bytes high = largest - largest % 12;  // aligned, so that nothing else is wrong
  check_only(after([&](Allocations& a) { a[1].offset = high; }), ViolationKind::over_capacity, 1,
             "buffer 'b' in pool 'sram' ends beyond what an offset can express: 9223372036854775800 + 12");
  check_only(after([&](Allocations& a) {
               a[1] = {PoolId(1), high};
             }),
             ViolationKind::over_capacity, 1,
             "buffer 'b' in pool 'dram' ends beyond what an offset can express: 9223372036854775800 + 12");
  CHECK(after([&](Allocations& a) { a[1] = {PoolId(1), high - 12}; }).empty());
}

TEST_CASE("buffers that are live together share no byte") {
  check_only(after([](Allocations& a) {
               a[1].offset = 24;
               a[2].pool = PoolId(1);
             }),
             ViolationKind::overlap, 0,
             "buffers 'a' and 'b' overlap in pool 'sram': [0, 32) and [24, 36), both live at 1");
  const auto found = after([](Allocations& a) { a[1].offset = 0; });
  REQUIRE(found.size() == 2);
  CHECK(found[0].other == BufferId(1));
  CHECK(found[1].buffer == BufferId(1));
  CHECK(found[1].other == BufferId(2));
  CHECK(found[1].message == "buffers 'b' and 'c' overlap in pool 'sram': [0, 12) and [0, 32), both live at 3");
}

TEST_CASE("a later live range is enough to overlap") {
  Problem problem = problem_of_three();
  problem.buffers[2].live = {{4, 6}, {8, 9}};
  const auto found = verify::check(problem, right_plan());
  check_only(found, ViolationKind::overlap, 0,
             "buffers 'a' and 'c' overlap in pool 'sram': [0, 32) and [0, 32), both live at 8");
}

TEST_CASE("bytes shared in different pools, at different times or by empty buffers are no overlap") {
  CHECK(after([](Allocations& a) { a[1] = {PoolId(1), 0}; }).empty());
  Problem problem = problem_of_three();
  problem.buffers[1].size = 0;
  Plan plan = right_plan();
  plan.allocations[1].offset = 12;
  CHECK(verify::check(problem, plan).empty());
}

TEST_CASE("several violations come in order of buffer, then kind") {
  const auto found = after([](Allocations& a) {
    a[0].pool = PoolId(1);
    a[0].offset = 5;
    a[1].offset = 47;
    a[2] = {};
  });
  REQUIRE(found.size() == 5);
  CHECK(found[0].kind == ViolationKind::not_a_candidate);
  CHECK(found[1].kind == ViolationKind::misaligned);
  CHECK(found[2].kind == ViolationKind::misaligned);
  CHECK(found[3].kind == ViolationKind::over_capacity);
  CHECK(found[4].kind == ViolationKind::not_placed);
  CHECK(found[2].buffer == BufferId(1));
}

// Tick by tick and byte by byte: the pairs that ever own the same byte.
static std::set<std::pair<std::size_t, std::size_t>> shared_bytes(const Problem& problem, const Plan& plan) {
  std::set<std::pair<std::size_t, std::size_t>> pairs;
  for (Tick tick = 0; tick < problem.horizon; ++tick) {
    for (std::size_t p = 0; p < problem.pools.size(); ++p) {
      std::vector<std::vector<std::size_t>> owners(256);
      for (std::size_t i = 0; i < problem.buffers.size(); ++i) {
        const Buffer& buffer = problem.buffers[i];
        if (plan.allocations[i].pool.index() != p) continue;
        const bool live = std::any_of(buffer.live.begin(), buffer.live.end(),
                                      [&](const LiveRange& range) { return range.begin <= tick && tick < range.end; });
        for (Bytes byte = 0; live && byte < buffer.size; ++byte) {
          auto& here = owners[static_cast<std::size_t>(plan.allocations[i].offset + byte)];
          for (const std::size_t other : here) pairs.insert({other, i});
          here.push_back(i);
        }
      }
    }
  }
  return pairs;
}

TEST_CASE("overlaps are what a byte map finds") {
  test::ProblemMaker maker(61);
  std::size_t overlaps = 0;
  std::size_t clean = 0;
  for (int i = 0; i < 200; ++i) {
    const Problem problem = maker.make({.buffers = 6, .pools = 2, .largest = 20});
    CAPTURE(i);
    Plan plan;
    for (const Buffer& buffer : problem.buffers) {
      plan.allocations.push_back({buffer.candidates[0], static_cast<Bytes>(maker.below(200))});
    }
    std::set<std::pair<std::size_t, std::size_t>> found;
    for (const Violation& violation : verify::check(problem, plan)) {
      if (violation.kind == ViolationKind::overlap) found.insert({violation.buffer.index(), violation.other.index()});
    }
    CHECK((found == shared_bytes(problem, plan)));
    overlaps += found.size();
    if (found.empty()) ++clean;
  }
  CHECK(overlaps > 50);
  CHECK(clean > 20);
}

TEST_CASE("the sweep and the comparison of all pairs find the same violations") {
  test::ProblemMaker maker(62);
  std::size_t overlaps = 0;
  std::size_t others = 0;
  for (int i = 0; i < 400; ++i) {
    const Problem problem = maker.make({.buffers = 1 + maker.below(40),
                                        .pools = 1 + maker.below(3),
                                        .bounded = true,
                                        .sharing = i % 3 == 0,
                                        .pins = true});
    CAPTURE(i);
    const auto spread = 1 + maker.below(i % 2 == 0 ? 30 : 3000);  // of the offsets: many overlaps, or few
    Plan plan;
    for (std::size_t b = 0; b < problem.buffers.size(); ++b) {
      const PoolId pool(maker.below(problem.pools.size() + (maker.below(20) == 0 ? 1 : 0)));
      plan.allocations.push_back({pool, static_cast<Bytes>(maker.below(spread)) - (maker.below(20) == 0 ? 10 : 0)});
      if (maker.below(20) == 0) plan.allocations.back() = {};
      if (maker.below(20) == 0) plan.allocations.back().offset = largest - static_cast<Bytes>(maker.below(30));
    }
    const auto by_pairs = verify::check(problem, plan, verify::Method::pairs);
    const auto by_sweep = verify::check(problem, plan, verify::Method::sweep);
    REQUIRE(by_pairs.size() == by_sweep.size());
    for (std::size_t v = 0; v < by_pairs.size(); ++v) {
      CHECK(by_pairs[v].kind == by_sweep[v].kind);
      CHECK(by_pairs[v].buffer == by_sweep[v].buffer);
      CHECK(by_pairs[v].other == by_sweep[v].other);
      CHECK(by_pairs[v].message == by_sweep[v].message);
      ++(by_pairs[v].kind == ViolationKind::overlap ? overlaps : others);
    }
  }
  CHECK(overlaps > 1000);
  CHECK(others > 1000);
}

TEST_CASE("plans of many buffers are checked in less than quadratic time") {
  Problem problem = problem_of_three();
  problem.buffers.clear();
  problem.pools[0].capacity = {};
  problem.horizon = 300'000;
  Plan plan;
  for (Tick i = 0; i < 300'000; ++i) {
    Buffer buffer;
    buffer.name = std::to_string(i);
    buffer.size = 4;
    buffer.candidates = {PoolId(0)};
    buffer.live = {{i, std::min<Tick>(i + 1000, 300'000)}};
    problem.buffers.push_back(buffer);
    plan.allocations.push_back({PoolId(0), i % 1000 * 4});
  }
  CHECK(verify::check(problem, plan).empty());
  plan.allocations[200'000].offset += 4;
  // Two have these bytes while it lives: the one begun just before the time of its own ends, and the next in turn.
  const auto found = verify::check(problem, plan);
  REQUIRE(found.size() == 2);
  CHECK(found[0].buffer == BufferId(199'001));
  CHECK(found[0].other == BufferId(200'000));
  CHECK(found[1].buffer == BufferId(200'000));
  CHECK(found[1].other == BufferId(200'001));
}

// Compared range by range these take hours.
TEST_CASE("buffers of very many live ranges are checked in less than quadratic time") {
  constexpr Tick ranges = 200'000;
  Problem problem = problem_of_three();
  problem.buffers.resize(2);
  problem.buffers.resize(8, problem.buffers[1]);
  problem.horizon = 8 * ranges;
  for (Tick i = 0; i < 8; ++i) {
    std::vector<LiveRange>& live = problem.buffers[static_cast<std::size_t>(i)].live;
    live.clear();
    for (Tick k = 0; k < ranges; ++k) live.push_back({8 * k + i, 8 * k + i + 1});
  }
  const Plan plan = {std::vector<Allocation>(8, {PoolId(0), 0})};
  for (const auto method : {verify::Method::pairs, verify::Method::sweep}) {
    CHECK(verify::check(problem, plan, method).empty());
  }
  CHECK(verify::conflicting_pairs(problem) == 0);
  problem.buffers[3].live.back().end += 1;  // into the fifth's last
  for (const auto method : {verify::Method::pairs, verify::Method::sweep}) {
    const auto found = verify::check(problem, plan, method);
    REQUIRE(found.size() == 1);
    CHECK(found[0].buffer == BufferId(3));
    CHECK(found[0].other == BufferId(4));
  }
  CHECK(verify::conflicting_pairs(problem) == 1);
  CHECK(verify::check(problem, plan).size() == 1);
  problem.buffers.resize(130, problem.buffers[7]);
  CHECK_FALSE(verify::conflicting_pairs(problem));
}

TEST_CASE("no more violations are listed than asked for, and these are the first") {
  Problem problem = problem_of_three();
  problem.buffers.resize(2);
  problem.buffers.resize(40, problem.buffers[1]);
  const Plan plan = {std::vector<Allocation>(40, {PoolId(0), 0})};
  const std::vector<Violation> all = verify::check(problem, plan);
  CHECK(all.size() == 40 * 39 / 2);
  for (const std::size_t most : {std::size_t{0}, std::size_t{1}, std::size_t{39}, std::size_t{50}, all.size() + 1}) {
    const std::vector<Violation> some = verify::check(problem, plan, most);
    REQUIRE(some.size() == std::min(most, all.size()));
    for (std::size_t i = 0; i < some.size(); ++i) CHECK(some[i].message == all[i].message);
  }
}

TEST_CASE("the sweep stops soon where everything lies on everything else") {
  Problem problem = problem_of_three();
  problem.buffers.resize(2);
  problem.buffers.resize(50'000, problem.buffers[1]);
  const Plan plan = {std::vector<Allocation>(50'000, {PoolId(0), 0})};
  for (const std::size_t most : {std::size_t{0}, std::size_t{1}, std::size_t{11}}) {
    const std::vector<Violation> some = verify::check(problem, plan, verify::Method::sweep, most);
    REQUIRE(some.size() == most);
    for (const Violation& violation : some) CHECK(violation.kind == ViolationKind::overlap);
  }
}

TEST_CASE("buffers that may share bytes are far enough apart, or the plan is refused") {
  Problem problem = problem_of_three();
  problem.distances = {{BufferId(0), BufferId(1), 11}};
  const Plan plan{{{PoolId(0), 0}, {PoolId(0), 12}, {PoolId(1), 0}}};
  for (const verify::Method method : {verify::Method::pairs, verify::Method::sweep}) {
    CHECK(verify::check(problem, plan, method).empty());
    CHECK(verify::check(problem, plan, method, 1).empty());
    problem.distances.front().bytes = 13;
    check_only(verify::check(problem, plan, method), ViolationKind::overlap, 0,
               "buffers 'a' and 'b' overlap in pool 'sram': [0, 32) and [12, 24), both live at 1");
    problem.distances.front() = {BufferId(1), BufferId(0), 0};
    CHECK(verify::check(problem, plan, method).size() == 1);
    problem.distances.front() = {BufferId(0), BufferId(1), 11};
  }
}

TEST_CASE("a pair that may share does not hide one that may not") {
  Problem problem = problem_of_three();
  problem.buffers[2].live = {{1, 5}};
  problem.distances = {{BufferId(0), BufferId(1), 0}};
  Plan plan = right_plan();
  plan.allocations[1] = {PoolId(0), 0};
  for (const verify::Method method : {verify::Method::pairs, verify::Method::sweep}) {
    CHECK(verify::check(problem, plan, method, 1).size() == 1);
    CHECK(verify::check(problem, plan, method).size() == 2);
  }
}

}  // namespace usmp::verify::check_test
