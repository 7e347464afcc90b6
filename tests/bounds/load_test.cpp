// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// Load and packing bound against sums tick by tick and the best of all placements.
#include "usmp/bounds/load.hpp"

#include <doctest/doctest.h>
#include <algorithm>
#include <array>

#include "planning_support/oracle.hpp"
#include "planning_support/random_problem.hpp"

namespace usmp::bounds::load_test {
namespace {

std::vector<BufferId> all(const Problem& problem) {
  std::vector<BufferId> ids;
  for (std::size_t i = 0; i < problem.buffers.size(); ++i) ids.emplace_back(i);
  return ids;
}

Load naive_load(const Problem& problem, Bytes granule) {
  Load best;
  for (Tick tick = 0; tick < problem.horizon; ++tick) {
    Bytes sum = 0;
    for (const Buffer& buffer : problem.buffers) {
      if (overlap(buffer.live, {{tick, tick + 1}})) sum += align_up(buffer.size, granule);
    }
    if (sum > best.bytes) best = {sum, tick};
  }
  return best;
}

// What the live buffers need together, computed from nothing: part by part of those that may share.
Bytes naive_needed(const Problem& problem, std::vector<BufferId> live) {
  const auto size = [&](BufferId id) { return problem.buffer(id).size; };
  const auto share = [&](BufferId a, BufferId b) {
    return a == b || distance(problem, a, b) < size(a) || distance(problem, b, a) < size(b);
  };
  const auto larger = [&](BufferId a, BufferId b) { return std::pair(-size(a), a) < std::pair(-size(b), b); };
  Bytes sum = 0;
  while (!live.empty()) {
    std::vector<BufferId> part = {live.front()};
    live.erase(live.begin());
    for (std::size_t i = 0; i < part.size(); ++i) {
      const BufferId member = part[i];
      std::erase_if(live, [&](BufferId id) {
        if (share(member, id)) part.push_back(id);
        return share(member, id);
      });
    }
    std::sort(part.begin(), part.end(), larger);
    const auto beside = [&](std::vector<BufferId> counted) {
      Bytes bytes = 0;
      for (const BufferId id : part) {
        if (std::any_of(counted.begin(), counted.end(), [&](BufferId other) { return share(id, other); })) continue;
        bytes += size(id);
        counted.push_back(id);
      }
      return bytes;
    };
    Bytes most = 0;
    for (const BufferId a : part) {
      most = std::max(most, size(a) + beside({a}));
      for (const BufferId b : part) {
        if (a == b || !share(a, b)) continue;
        const Bytes closest = std::min(distance(problem, a, b) + size(b), distance(problem, b, a) + size(a));
        most = std::max(most, std::max({closest, size(a), size(b)}) + beside({a, b}));
      }
    }
    Bytes at_starts = 0;
    Bytes at_ends = 0;
    for (const BufferId a : part) {
      Bytes start = size(a);
      Bytes end = size(a);
      for (const BufferId b : part) {
        if (a == b) continue;
        start = std::min(start, distance(problem, a, b));
        end = std::min(end, distance(problem, b, a) - size(b) + size(a));
      }
      at_starts += start;
      at_ends += std::max<Bytes>(end, 0);
    }
    sum += std::max({most, at_starts, at_ends});
  }
  return sum;
}

// The least that three buffers that are live together take, over all places.
Bytes least_of_three(const Problem& problem) {
  const auto size = [&](std::size_t i) { return problem.buffers[i].size; };
  const Bytes most = size(0) + size(1) + size(2);
  Bytes least = most;
  std::array<Bytes, 3> at{};
  const auto is_apart = [&](std::size_t i, std::size_t j) {
    return at[i] >= at[j] + distance(problem, BufferId(j), BufferId(i)) ||
           at[j] >= at[i] + distance(problem, BufferId(i), BufferId(j));
  };
  for (at[0] = 0; at[0] + size(0) <= most; ++at[0]) {
    for (at[1] = 0; at[1] + size(1) <= most; ++at[1]) {
      for (at[2] = 0; at[2] + size(2) <= most; ++at[2]) {
        const Bytes top = std::max({at[0] + size(0), at[1] + size(1), at[2] + size(2)});
        if (top < least && is_apart(0, 1) && is_apart(0, 2) && is_apart(1, 2)) least = top;
      }
    }
  }
  return least;
}

// Buffers that begin one after another and end together, each sharing with the next.
Problem chain(std::size_t count, Bytes size) {
  Problem problem;
  problem.pools = {{.name = "sram", .kind = PoolKind::workspace, .capacity = {}, .alignment = 1}};
  problem.horizon = static_cast<Tick>(count) + 1;
  for (std::size_t i = 0; i < count; ++i) {
    Buffer buffer;
    buffer.size = size;
    buffer.candidates = {PoolId(0)};
    buffer.live = {{static_cast<Tick>(i), problem.horizon}};
    problem.buffers.push_back(buffer);
    if (i > 0) problem.distances.push_back({BufferId(i - 1), BufferId(i), 0});
  }
  return problem;
}

Problem clique(std::vector<Bytes> sizes, Bytes alignment) {
  Problem problem;
  problem.pools = {{.name = "sram", .kind = PoolKind::workspace, .capacity = {}, .alignment = 1}};
  problem.horizon = 3;
  for (const Bytes size : sizes) {
    Buffer buffer;
    buffer.size = size;
    buffer.alignment = alignment;
    buffer.candidates = {PoolId(0)};
    buffer.live = {{1, 2}};
    problem.buffers.push_back(buffer);
  }
  return problem;
}

Bytes bound_of(const Problem& problem) { return packing_bound(problem, all(problem), problem.pools[0]).bytes; }

}  // namespace

TEST_CASE("load is the largest sum over the ticks, at the first such tick") {
  test::ProblemMaker maker(41);
  for (int i = 0; i < 100; ++i) {
    const Problem problem = maker.make({.buffers = 10, .most_ranges = 4});
    CAPTURE(i);
    for (const Bytes granule : {1, 3, 16}) {
      CHECK((load(problem, all(problem), granule) == naive_load(problem, granule)));
    }
  }
  CHECK((load(Problem{}, {}) == Load{}));
}

TEST_CASE("load counts the chosen buffers only") {
  const Problem problem = clique({5, 7, 11}, 1);
  CHECK(load(problem, std::vector{BufferId(0), BufferId(2)}).bytes == 16);
  CHECK(load(problem, std::vector{BufferId(0), BufferId(2)}).at == 1);
}

TEST_CASE("the packing bound rounds all sizes up but one") {
  CHECK(bound_of(clique({1, 10, 16}, 16)) == 33);   // 16 | 10 -> 16 | 1
  CHECK(bound_of(clique({10, 10, 10}, 16)) == 42);  // 10 -> 16 | 10 -> 16 | 10
  CHECK(bound_of(clique({10, 10, 10}, 1)) == 30);
  CHECK(bound_of(clique({}, 1)) == 0);
}

TEST_CASE("different alignments count with their common divisor, empty buffers not at all") {
  Problem problem = clique({10, 10, 0}, 12);
  problem.buffers[1].alignment = 8;
  problem.buffers[2].alignment = 1;
  CHECK(common_alignment(problem, all(problem), problem.pools[0]) == 4);
  CHECK(bound_of(problem) == 22);
  problem.pools[0].alignment = 24;
  CHECK(common_alignment(problem, all(problem), problem.pools[0]) == 24);
  CHECK(bound_of(problem) == 34);
}

TEST_CASE("coarse alignments count by themselves, where finer ones fit into what they lose") {
  Problem problem = clique({520, 520, 520, 8}, 512);
  problem.buffers[3].alignment = 1;
  CHECK(bound_of(problem) == 1024 + 1024 + 520);
  CHECK(test::truth_of(problem).least_used[0] == 1024 + 1024 + 520);
  problem.buffers[1].alignment = 256;
  CHECK(bound_of(problem) == 768 + 768 + 520);
  CHECK(test::truth_of(problem).least_used[0] == 768 + 768 + 520);
  problem.buffers[3].size = 4000;  // more than they lose
  CHECK(bound_of(problem) == 3 * 520 + 4000 + 248);
  CHECK(test::truth_of(problem).least_used[0] >= 3 * 520 + 4000 + 248);
}

TEST_CASE("coarse alignments lose the smallest of their roundings beside finer ones that fit nowhere") {
  // Four coarse ones, of which two may be below a fine one and one is the topmost: the other loses 3 at least.
  Problem problem = clique({5, 7, 11, 13, 9, 17}, 8);
  problem.buffers[4].alignment = problem.buffers[5].alignment = 1;
  CHECK(bound_of(problem) == 5 + 7 + 11 + 13 + 9 + 17 + 1);
  problem.buffers[1].live = {};
  CHECK(bound_of(problem) == 5 + 11 + 13 + 9 + 17);  // three: one for each
  problem.buffers[1].live = problem.buffers[0].live;
  problem.buffers[5].live = {};
  CHECK(bound_of(problem) == 5 + 7 + 11 + 13 + 9 + 1 + 3);
  problem.pools[0].reserved = 5;
  CHECK(bound_of(problem) == 5 + 7 + 11 + 13 + 9 + 1 + 3 + 5);
  problem.distances = {{BufferId(0), BufferId(1), 0}};
  CHECK(bound_of(problem) < 48);

  test::ProblemMaker maker(31);
  int raised = 0;
  for (int i = 0; i < 2000; ++i) {
    Problem random = maker.make({.buffers = 6, .pins = i % 4 == 0, .horizon = 3});
    for (Buffer& buffer : random.buffers) {
      if (!buffer.pinned) buffer.alignment = maker.below(3) == 0 ? 1 + static_cast<Bytes>(maker.below(2)) : 8;
    }
    if (invalid_reason(random)) continue;
    CAPTURE(i);
    const Bytes bound = bound_of(random);
    CHECK(bound <= test::truth_of(random).least_used[0]);
    if (bound > load(random, all(random)).bytes) ++raised;
  }
  CHECK(raised > 300);
}

TEST_CASE("a buffer that is never live must fit by itself") {
  Problem problem = clique({10, 10}, 1);
  problem.buffers[0].live.clear();
  problem.buffers[0].size = 100;
  CHECK(bound_of(problem) == 100);
}

TEST_CASE("a pinned buffer ends where it ends") {
  Problem problem = clique({10, 10}, 1);
  problem.buffers[0].pinned = 90;
  CHECK(bound_of(problem) == 100);
}

TEST_CASE("room is what is not reserved, in whole granules") {
  Pool pool{.name = "sram", .kind = PoolKind::workspace, .capacity = 100, .alignment = 1};
  CHECK(room_in(pool) == 100);
  pool.reserved = 30;
  CHECK(room_in(pool) == 70);
  CHECK(room_in(pool, 16) == 112 - 32);
  pool.reserved = 200;
  CHECK(room_in(pool) == 0);
  pool.capacity.reset();
  CHECK(room_in(pool) == Problem::max_total_bytes - 200);
}

TEST_CASE("of two buffers that may share, what they need as close as they may be counts") {
  Problem problem = clique({32, 16, 20}, 1);
  const auto load_with = [&](std::vector<Distance> distances) {
    problem.distances = std::move(distances);
    return load(problem, all(problem)).bytes;
  };
  const BufferId a(0);
  const BufferId b(1);
  const BufferId c(2);
  CHECK(load_with({}) == 68);
  CHECK(load_with({{a, b, 30}}) == 66);                       // 46 + 20
  CHECK(load_with({{a, b, 0}}) == 52);                        // b inside a
  CHECK(load_with({{a, b, 30}, {b, a, 5}}) == 57);            // 37 + 20
  CHECK(load_with({{a, b, 0}, {a, c, 0}}) == 36);             // b and c are apart
  CHECK(load_with({{a, b, 0}, {a, c, 0}, {b, c, 0}}) == 32);  // all in one place
  CHECK(load(problem, std::vector{a, c}).bytes == 32);
  problem.buffers[1].live = {{0, 1}};  // a and b never meet
  CHECK(load_with({{a, b, 0}}) == 52);
  problem.buffers[0].live = {{0, 1}};
  problem.buffers[1].live = {{0, 2}};
  problem.buffers[2].live = {{1, 2}};
  CHECK(load_with({{a, b, 0}}) == 36);  // what b shared with a says nothing of b and c
}

// Parts that die while the whole is written to, whose first 24 bytes are written before the last part is read.
TEST_CASE("of several that share with one, what it does not share counts beside them all") {
  Problem problem = clique({32, 8, 8, 8, 8}, 1);
  for (std::size_t i = 1; i < 5; ++i) problem.distances.push_back({BufferId(0), BufferId(i), 24});
  CHECK(load(problem, all(problem)).bytes == 24 + 32);
  for (Distance& distance : problem.distances) std::swap(distance.below, distance.above);
  for (Distance& distance : problem.distances) distance.bytes = 0;
  CHECK(load(problem, all(problem)).bytes == 24 + 32);  // one begins where the whole does, the others are apart
}

TEST_CASE("the load is not above the best of all plans") {
  std::size_t equal = 0;
  for (std::uint64_t seed = 0; seed < 400; ++seed) {
    test::ProblemMaker maker(seed);
    Problem problem = clique({1 + static_cast<Bytes>(maker.below(8)), 1 + static_cast<Bytes>(maker.below(8)),
                              1 + static_cast<Bytes>(maker.below(8))},
                             1);
    for (std::size_t i = 0; i < 3; ++i) {
      for (std::size_t j = 0; j < 3; ++j) {
        const auto size = static_cast<std::uint64_t>(problem.buffers[i].size);
        if (i != j && maker.below(3) > 0)
          problem.distances.push_back({BufferId(i), BufferId(j), static_cast<Bytes>(maker.below(size))});
      }
    }
    CAPTURE(seed);
    const Bytes bound = load(problem, all(problem)).bytes;
    const Bytes least = least_of_three(problem);
    CHECK(bound <= least);
    equal += bound == least ? 1 : 0;
  }
  CHECK(equal > 200);
}

TEST_CASE("distances are rounded up like sizes") {
  Problem problem = clique({30, 30}, 16);
  problem.distances = {{BufferId(0), BufferId(1), 1}};
  CHECK(bound_of(problem) == 46);  // 16 apart
}

TEST_CASE("what may be shared is followed through time") {
  for (std::uint64_t seed = 0; seed < 300; ++seed) {
    test::ProblemMaker maker(seed);
    const Problem problem =
        maker.make({.buffers = 2 + maker.below(16), .sharing = true, .most_ranges = 2, .horizon = 12, .largest = 20});
    CAPTURE(seed);
    const std::vector<Load> steps = load_over_time(problem, all(problem));
    std::size_t step = 0;
    for (Tick tick = 0; tick < problem.horizon; ++tick) {
      std::vector<BufferId> live;
      for (const BufferId id : all(problem)) {
        if (overlap(problem.buffer(id).live, {{tick, tick + 1}})) live.push_back(id);
      }
      if (step + 1 < steps.size() && steps[step + 1].at == tick) ++step;
      CHECK(steps[step].bytes == naive_needed(problem, live));
    }
  }
}

TEST_CASE("of many that may share every second one counts, and where they are too many, what was found till then") {
  for (const std::size_t count : {33U, 100U, 500U}) {
    const Problem problem = chain(count, 10);
    CHECK(load(problem, all(problem)).bytes == 10 * static_cast<Bytes>((count + 1) / 2));
  }
  Problem problem = chain(5000, 10);
  const Load found = load(problem, all(problem));
  CHECK(found.bytes > 1000);
  CHECK(found.bytes < 10 * 2500);
  CHECK(load_over_time(problem, all(problem)).size() < 2500);  // each second buffer is a step as long as it goes on
  // What shares with nobody counts as ever, and of the others the largest.
  Buffer apart = problem.buffers.front();
  apart.size = 1000000;
  apart.live = {{4900, 5001}};
  problem.buffers.push_back(apart);
  CHECK(load(problem, all(problem)).bytes == 1000010);
  CHECK(load(problem, all(problem)).at == 4900);
}

}  // namespace usmp::bounds::load_test
