// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// Problems with one fault each and its message; costs, offsets and pins of small examples.
#include "usmp/problem/problem.hpp"

#include <doctest/doctest.h>

#include <limits>
#include <random>
#include <string>

namespace usmp::problem::problem_test {
namespace {

// The example of the header.
Problem example() {
  Problem problem;
  problem.pools = {{.name = "sram", .kind = PoolKind::workspace, .capacity = 48, .alignment = 1}};
  problem.horizon = 5;
  const auto add = [&](const char* name, Bytes size, LiveRange live) {
    Buffer buffer;
    buffer.name = name;
    buffer.size = size;
    buffer.candidates = {PoolId(0)};
    buffer.live = {live};
    problem.buffers.push_back(buffer);
  };
  add("A", 32, {0, 2});
  add("B", 16, {1, 4});
  add("C", 32, {3, 5});
  return problem;
}

template <class Change>
std::string reason_after(Change change) {
  Problem problem = example();
  change(problem);
  return invalid_reason(problem).value_or("");
}

}  // namespace

TEST_CASE("the example is valid") { CHECK_FALSE(invalid_reason(example()).has_value()); }

TEST_CASE("every fault of a problem has its message") {
  CHECK(reason_after([](Problem& p) { p.buffers[1].size = -1; }) == "buffer 'B': negative size -1");
  CHECK(reason_after([](Problem& p) { p.buffers[1].alignment = 0; }) == "buffer 'B': alignment 0 is below 1");
  CHECK(reason_after([](Problem& p) { p.buffers[1].candidates.clear(); }) == "buffer 'B': no candidate pool");
  CHECK(reason_after([](Problem& p) { p.buffers[1].candidates = {PoolId(1)}; }) ==
        "buffer 'B': candidate pool does not exist");
  CHECK(reason_after([](Problem& p) { p.buffers[1].candidates = {PoolId()}; }) ==
        "buffer 'B': candidate pool does not exist");
  CHECK(reason_after([](Problem& p) {
          p.buffers[1].candidates = {PoolId(0), PoolId(0)};
        }) == "buffer 'B': candidate pool named twice");
  CHECK(reason_after([](Problem& p) {
          p.buffers[1].live = {{2, 2}};
        }) == "buffer 'B': live range [2, 2) is empty or outside [0, 5)");
  CHECK(reason_after([](Problem& p) {
          p.buffers[1].live = {{-1, 2}};
        }) == "buffer 'B': live range [-1, 2) is empty or outside [0, 5)");
  CHECK(reason_after([](Problem& p) {
          p.buffers[1].live = {{2, 6}};
        }) == "buffer 'B': live range [2, 6) is empty or outside [0, 5)");
  const std::string unsorted = "buffer 'B': live ranges are not sorted, disjoint and apart";
  CHECK(reason_after([](Problem& p) { p.buffers[1].live = {{3, 4}, {0, 1}}; }) == unsorted);
  CHECK(reason_after([](Problem& p) { p.buffers[1].live = {{0, 2}, {1, 3}}; }) == unsorted);
  CHECK(reason_after([](Problem& p) { p.buffers[1].live = {{0, 2}, {2, 3}}; }) == unsorted);
  CHECK(reason_after([](Problem& p) { p.buffers[1].live = {{0, 2}, {3, 4}}; }).empty());
  CHECK(reason_after([](Problem& p) { p.horizon = -1; }) == "negative horizon");
  CHECK(reason_after([](Problem& p) { p.pools.push_back(p.pools[0]); }) == "pool 'sram' appears twice");
  CHECK(reason_after([](Problem& p) { p.pools.resize(257); }) == "there are 257 pools, more than the limit of 256");
  CHECK(reason_after([](Problem& p) { p.pools[0].alignment = 0; }) == "pool 'sram': alignment is below 1");
  CHECK(reason_after([](Problem& p) { p.pools[0].capacity = -1; }) == "pool 'sram': negative capacity");
}

TEST_CASE("totals that planners could overflow on are refused") {
  const std::string message = "the buffers need more than 72057594037927936 bytes in total";
  CHECK(reason_after([](Problem& p) { p.buffers[0].size = std::numeric_limits<Bytes>::max(); }) == message);
  CHECK(reason_after([](Problem& p) { p.buffers[0].size = Problem::max_total_bytes; }) == message);
  CHECK(reason_after([](Problem& p) {
          for (Buffer& buffer : p.buffers) buffer.size = Problem::max_total_bytes / 2;
        }) == message);
  CHECK(reason_after([](Problem& p) { p.buffers[0].alignment = Problem::max_total_bytes; }) == message);
  CHECK(reason_after([](Problem& p) {
          p.buffers[0].alignment = Bytes{1} << 40;
          p.pools[0].alignment = (Bytes{1} << 40) - 1;
        }) == message);
  CHECK(reason_after([](Problem& p) { p.buffers[0].size = Problem::max_total_bytes / 2; }).empty());
}

TEST_CASE("pins contradict nothing") {
  CHECK(reason_after([](Problem& p) { p.buffers[0].pinned = 16; }).empty());
  CHECK(reason_after([](Problem& p) {
          p.pools.push_back({.name = "dram"});
          p.buffers[0].candidates.emplace_back(1);
          p.buffers[0].pinned = 0;
        }) == "buffer 'A' is pinned, but not to one pool");
  CHECK(reason_after([](Problem& p) {
          p.pools[0].reserved = 8;
          p.buffers[0].pinned = 4;
        }) == "buffer 'A' is pinned to offset 4 of pool 'sram', but its first 8 bytes are reserved");
  CHECK(reason_after([](Problem& p) {
          p.buffers[1].alignment = 8;
          p.pools[0].alignment = 6;
          p.buffers[1].pinned = 16;
        }) == "buffer 'B' is pinned to offset 16 of pool 'sram', which is not a multiple of its alignment 24");
  CHECK(reason_after([](Problem& p) { p.buffers[1].pinned = 33; }) ==
        "buffer 'B' is pinned to offset 33 of pool 'sram' and has 16 bytes, but the pool's capacity is 48");
  CHECK(reason_after([](Problem& p) {
          p.buffers[0].pinned = 0;
          p.buffers[1].pinned = 31;
        }) ==
        "buffer 'B' is pinned to offset 31 of pool 'sram' and overlaps buffer 'A', pinned to offset 0 and live at "
        "the same time");
  CHECK(reason_after([](Problem& p) {
          p.buffers[0].pinned = 0;
          p.buffers[2].pinned = 0;
        }).empty());
  // One behind the other, whichever is named first.
  CHECK(reason_after([](Problem& p) {
          p.buffers[0].pinned = 0;
          p.buffers[1].pinned = 32;
        }).empty());
  CHECK(reason_after([](Problem& p) {
          p.buffers[0].pinned = 16;
          p.buffers[1].pinned = 0;
        }).empty());
  CHECK(reason_after([](Problem& p) {
          p.pools[0].capacity.reset();
          p.buffers[0].pinned = Problem::max_total_bytes;
        }) == "the buffers need more than 72057594037927936 bytes in total");
  CHECK(reason_after([](Problem& p) { p.pools[0].reserved = Problem::max_total_bytes; }) ==
        "the buffers need more than 72057594037927936 bytes in total");
  CHECK(reason_after([](Problem& p) { p.pools[0].reserved = -1; }) == "pool 'sram': negative reserved bytes");
}

TEST_CASE("what a plan costs") {
  Problem problem = example();
  problem.pools.push_back({.name = "dram"});
  problem.pools.push_back({.name = "flash"});
  problem.buffers[0].candidates = {PoolId(0), PoolId(1)};
  problem.buffers[1].candidates = {PoolId(1), PoolId(2), PoolId(0)};
  const Plan plan{{{PoolId(1), 0}, {PoolId(0), 4}, {PoolId(0), 0}}};
  CHECK((cost_of(problem, plan) == Cost{{48, 16}, {32, 32, 0}}));
  CHECK((cost_of(problem, {std::vector<Allocation>(3)}) == Cost{{0, 0}, {0, 0, 0}}));
  CHECK((Cost{{9, 1}, {9}} < Cost{{9, 2}, {1}}));
}

TEST_CASE("the first offset is behind what is reserved") {
  Buffer buffer;
  Pool pool;
  buffer.alignment = 4;
  pool.alignment = 6;
  CHECK(first_offset(buffer, pool) == 0);
  pool.reserved = 13;
  CHECK(first_offset(buffer, pool) == 0);
  buffer.size = 1;
  CHECK(first_offset(buffer, pool) == 24);
}

TEST_CASE("the offset obeys both alignments") {
  Buffer buffer;
  Pool pool;
  buffer.alignment = 4;
  pool.alignment = 6;
  CHECK(alignment_in(buffer, pool) == 12);
  pool.alignment = 16;
  CHECK(alignment_in(buffer, pool) == 16);
}

TEST_CASE("used bytes are the largest end in each pool") {
  Problem problem = example();
  problem.pools.push_back({.name = "dram", .kind = PoolKind::workspace, .capacity = {}, .alignment = 1});
  Plan plan{{{PoolId(0), 0}, {PoolId(0), 32}, {PoolId(0), 0}}};
  CHECK(used_bytes(problem, plan) == std::vector<Bytes>{48, 0});
  plan.allocations[0] = {PoolId(1), 100};
  CHECK(used_bytes(problem, plan) == std::vector<Bytes>{48, 132});
  plan.allocations[1] = {};
  CHECK(used_bytes(problem, plan) == std::vector<Bytes>{32, 132});
}

TEST_CASE("names of kinds and states") {
  CHECK(std::string(to_string(BufferKind::tensor)) == "tensor");
  CHECK(std::string(to_string(BufferKind::scratch)) == "scratch");
  CHECK(std::string(to_string(BufferKind::input)) == "input");
  CHECK(std::string(to_string(BufferKind::output)) == "output");
  CHECK(std::string(to_string(BufferKind::constant)) == "constant");
  CHECK(std::string(to_string(PlanStatus::feasible)) == "feasible");
  CHECK(std::string(to_string(PlanStatus::optimal)) == "optimal");
  CHECK(std::string(to_string(PlanStatus::infeasible)) == "infeasible");
  CHECK(std::string(to_string(PlanStatus::not_found)) == "not_found");
  CHECK(std::string(to_string(StopReason::finished)) == "finished");
  CHECK(std::string(to_string(StopReason::node_limit)) == "node_limit");
  CHECK(std::string(to_string(StopReason::time_limit)) == "time_limit");
  CHECK(std::string(to_string(StopReason::interrupted)) == "interrupted");
}

TEST_CASE("every fault of a distance has its message") {
  const auto reason_of = [](std::vector<Distance> distances) {
    return reason_after([&](Problem& p) { p.distances = std::move(distances); });
  };
  const BufferId a(0);
  const BufferId b(1);
  CHECK(reason_of({{a, b, 0}, {b, a, 15}}) == "");
  CHECK(reason_of({{a, BufferId(3), 0}}) == "a distance is between buffers that do not exist");
  CHECK(reason_of({{a, a, 0}}) == "the distance from buffer 'A' to buffer 'A': both are the same buffer");
  CHECK(reason_of({{a, b, -1}}) == "the distance from buffer 'A' to buffer 'B' is -1, not in [0, 32)");
  CHECK(reason_of({{b, a, 16}}) == "the distance from buffer 'B' to buffer 'A' is 16, not in [0, 16)");
  CHECK(reason_of({{a, b, 1}, {a, b, 2}}) ==
        "the distance from buffer 'A' to buffer 'B' appears twice or out of order");
  CHECK(reason_of({{b, a, 1}, {a, b, 2}}) ==
        "the distance from buffer 'A' to buffer 'B' appears twice or out of order");
}

TEST_CASE("buffers are far enough apart as the distance says, or by the size of the one below") {
  Problem problem = example();
  const BufferId a(0);
  const BufferId b(1);
  problem.distances = {{a, b, 4}};
  CHECK(distance(problem, a, b) == 4);
  CHECK(distance(problem, b, a) == 16);
  CHECK(distance(problem, a, BufferId(2)) == 32);
  CHECK_FALSE(far_enough(problem, a, 0, b, 3));
  CHECK(far_enough(problem, a, 0, b, 4));
  CHECK_FALSE(far_enough(problem, b, 0, a, 15));
  CHECK(far_enough(problem, b, 0, a, 16));
  problem.buffers[1].size = 0;
  CHECK(far_enough(problem, a, 0, b, 0));
}

TEST_CASE("a pin collides with one below another that shares the bytes of that one") {
  Problem problem;
  problem.pools = {{.name = "sram"}};
  problem.horizon = 4;
  const auto add = [&](const char* name, Bytes size, Bytes offset, Tick begin) {
    problem.buffers.push_back(
        {.name = name, .function = {}, .size = size, .candidates = {PoolId(0)}, .live = {{begin, 4}}});
    problem.buffers.back().pinned = offset;
  };
  add("large", 10, 0, 0);
  add("inside", 2, 4, 1);
  problem.distances = {{BufferId(0), BufferId(1), 4}};
  CHECK_FALSE(invalid_reason(problem).has_value());
  add("behind", 2, 7, 2);
  CHECK(invalid_reason(problem).value_or("").find("overlaps buffer 'large'") != std::string::npos);
}

TEST_CASE("pins collide if a pair of them does") {
  std::mt19937 random(7);
  const auto below = [&](unsigned n) { return static_cast<Bytes>(random() % n); };
  int collisions = 0;
  constexpr int runs = 3000;
  for (int run = 0; run < runs; ++run) {
    Problem problem;
    problem.pools = {{.name = "a"}, {.name = "b"}};
    problem.horizon = 12;
    for (std::size_t i = 0; i < 6; ++i) {
      Buffer buffer;
      buffer.name = "b" + std::to_string(i);
      buffer.size = below(6) * below(3);
      buffer.candidates = {PoolId(random() % 4 == 0 ? 1 : 0)};
      for (Tick at = below(4); at < 11; at += 2 + below(4)) buffer.live.push_back({at, at + 1});
      if (random() % 8 != 0) buffer.pinned = below(25);
      problem.buffers.push_back(buffer);
    }
    for (std::size_t i = 0; i < 6; ++i) {
      for (std::size_t k = 0; k < 6; ++k) {
        const Bytes size = problem.buffers[i].size;
        if (i == k || size == 0 || random() % 3 != 0) continue;
        problem.distances.push_back({BufferId(i), BufferId(k), below(static_cast<unsigned>(size))});
      }
    }
    std::string first;
    for (std::size_t i = 0; i < 6; ++i) {
      for (std::size_t k = 0; k < i; ++k) {
        const Buffer& a = problem.buffers[i];
        const Buffer& b = problem.buffers[k];
        if (!a.pinned || !b.pinned || a.candidates != b.candidates || !overlap(a.live, b.live)) continue;
        if (far_enough(problem, BufferId(i), *a.pinned, BufferId(k), *b.pinned) || !first.empty()) continue;
        first = "buffer '" + a.name + "' is pinned to offset " + std::to_string(*a.pinned) + " of pool '" +
                problem.pool(a.candidates[0]).name + "' and overlaps buffer '" + b.name + "', pinned to offset " +
                std::to_string(*b.pinned) + " and live at the same time";
      }
    }
    CHECK(invalid_reason(problem).value_or("") == first);
    collisions += first.empty() ? 0 : 1;
  }
  CHECK(collisions > runs / 5);
  CHECK(collisions < runs - runs / 5);
}

TEST_CASE("pins that may share bytes do not contradict each other") {
  Problem problem = example();
  problem.buffers[0].pinned = 0;
  problem.buffers[1].pinned = 8;
  CHECK(invalid_reason(problem).has_value());
  problem.distances = {{BufferId(0), BufferId(1), 8}};
  CHECK_FALSE(invalid_reason(problem).has_value());
  problem.distances.front().bytes = 9;
  CHECK(invalid_reason(problem).has_value());
}

}  // namespace usmp::problem::problem_test
