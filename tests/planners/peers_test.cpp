// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// The rules of other projects' planners, each on an example that shows it. That their plans are right is tested with
// those of all algorithms (planners_test.cpp).
#include <doctest/doctest.h>

#include <optional>
#include <vector>

#include "usmp/planners/planner.hpp"

namespace usmp::planners::peers_test {
namespace {

Problem one_pool(std::optional<Bytes> capacity = {}) {
  Problem problem;
  problem.pools.push_back({.name = "sram", .kind = PoolKind::workspace, .capacity = capacity, .alignment = 1});
  problem.horizon = 20;
  return problem;
}

Buffer& add(Problem& problem, Bytes size, std::vector<LiveRange> live) {
  Buffer& buffer = problem.buffers.emplace_back();
  buffer.name = std::to_string(problem.buffers.size() - 1);
  buffer.size = size;
  buffer.candidates = {PoolId(0)};
  buffer.live = std::move(live);
  return buffer;
}

std::vector<Bytes> offsets(const PlanResult& result) {
  REQUIRE(result.has_plan());
  std::vector<Bytes> list;
  for (const Allocation& at : result.plan.allocations) list.push_back(at.offset);
  return list;
}

using Offsets = std::vector<Bytes>;

}  // namespace

TEST_CASE("gmem: constants at 4 KiB, tensors in execution order into the first dead block that is large enough") {
  Problem problem = one_pool();
  add(problem, 16, {{3, 5}});  // in the block of the next but one: dead for a tick, and large enough
  add(problem, 100, {{0, 20}}).kind = BufferKind::constant;
  add(problem, 32, {{0, 2}});
  add(problem, 50, {{0, 20}}).kind = BufferKind::constant;
  add(problem, 16, {{2, 4}});  // its operator's input was in the first block until now: a new one
  add(problem, 40, {{6, 8}});  // larger than every dead block
  add(problem, 8, {{9, 10}});  // all three are free: the first
  CHECK((offsets(planners::gmem(problem, {})) == Offsets{4146, 0, 4146, 4096, 4178, 4194, 4146}));
}

TEST_CASE("gmem: a block is not used again while another buffer has it, and keeps its size") {
  Problem problem = one_pool();
  add(problem, 32, {{0, 1}});
  add(problem, 8, {{2, 3}, {8, 9}});  // takes the block, and keeps it between its live ranges
  add(problem, 8, {{5, 6}});
  add(problem, 30, {{10, 11}});  // the block still has its 32 bytes
  CHECK((offsets(planners::gmem(problem, {})) == Offsets{0, 0, 32, 0}));
}

TEST_CASE("gmem: pinned bytes are held") {
  Problem problem = one_pool();
  add(problem, 16, {{0, 1}}).pinned = 8;
  add(problem, 4, {{5, 6}});
  CHECK((offsets(planners::gmem(problem, {})) == Offsets{8, 24}));
}

TEST_CASE("gmem: the 4 KiB of constants are given up where they would not fit") {
  Problem problem = one_pool(120);
  add(problem, 30, {{0, 20}}).kind = BufferKind::constant;
  add(problem, 50, {{0, 20}}).kind = BufferKind::constant;
  CHECK((offsets(planners::gmem(problem, {})) == Offsets{0, 30}));
}

TEST_CASE("greedy_by_breadth: the buffers of the busiest tick go before larger ones") {
  Problem problem = one_pool();
  add(problem, 38, {{5, 8}});  // the largest, but at its busiest tick 63 bytes are live
  add(problem, 30, {{0, 3}});
  add(problem, 25, {{1, 6}});
  add(problem, 10, {{1, 3}});  // at tick 1, 65 bytes are live
  CHECK((offsets(planners::greedy_by_breadth(problem, {})) == Offsets{55, 0, 30, 55}));
  CHECK((offsets(planners::greedy_by_size(problem, {})) == Offsets{0, 0, 38, 63}));
}

TEST_CASE("shared_objects: buffers own an object in turn, those above a positional maximum first") {
  // At one tick the largest live size is at most 10, the second at most 8: 10 and 9 are assigned first.
  Problem problem = one_pool();
  add(problem, 4, {{3, 5}});
  add(problem, 8, {{1, 3}});
  add(problem, 9, {{2, 4}});
  add(problem, 10, {{0, 2}});
  const PlanResult result = planners::shared_objects(problem, {});
  CHECK((offsets(result) == Offsets{10, 10, 0, 0}));
  CHECK(result.status == PlanStatus::optimal);
}

TEST_CASE("shared_objects: an object is not shared by two at a time") {
  Problem problem = one_pool();
  add(problem, 10, {{0, 1}});
  add(problem, 6, {{1, 2}});
  add(problem, 6, {{1, 2}});
  const PlanResult result = planners::shared_objects(problem, {});
  CHECK((offsets(result) == Offsets{0, 0, 10}));  // 16 bytes, where a plan needs 12
  CHECK(result.status == PlanStatus::feasible);
}

TEST_CASE("shared_objects: the object that was idle for the shortest time is taken, then the larger one") {
  Problem problem = one_pool();
  add(problem, 12, {{0, 1}});
  add(problem, 12, {{0, 4}});
  add(problem, 9, {{5, 6}});
  for (int i = 0; i < 3; ++i) add(problem, 9, {{10, 11}});  // a third positional maximum: all of size 9 go last
  CHECK((offsets(planners::shared_objects(problem, {})) == Offsets{0, 12, 12, 12, 0, 24}));
  problem.buffers[0].size = 13;
  problem.buffers[1].live = {{0, 1}};
  CHECK((offsets(planners::shared_objects(problem, {})) == Offsets{0, 13, 0, 0, 13, 25}));
}

TEST_CASE("shared_objects: a buffer whose object stands too high goes to its next pool") {
  Problem problem = one_pool(15);
  problem.pools.push_back({.name = "dram", .kind = PoolKind::workspace, .capacity = {}, .alignment = 1});
  for (int i = 0; i < 2; ++i) add(problem, 10, {{0, 2}}).candidates = {PoolId(0), PoolId(1)};
  const PlanResult result = planners::shared_objects(problem, {});
  REQUIRE(result.has_plan());
  CHECK((result.plan.allocations == std::vector<Allocation>{{PoolId(0), 0}, {PoolId(1), 0}}));
}

}  // namespace usmp::planners::peers_test
