// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// A small plan, made by hand.
#pragma once

#include <algorithm>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "usmp/plan_file/plan_document.hpp"
#include "usmp/problem/problem.hpp"

// A problem and its plan that become a document. Workspace pools have to be added first, as documents list them.
struct Planned {
  usmp::Problem problem;
  usmp::Plan plan;
  usmp::plan_file::PlanDocument document;  // what does not follow from problem and plan

  Planned() {
    document.module = "default";
    document.archive = "net.tar";
    document.algorithm = "hill_climb";
    document.seed = 7;
    document.workspace_io = false;
    document.search.emplace();
  }

  void add_pool(const std::string& name, usmp::PoolKind kind, std::optional<usmp::Bytes> capacity,
                usmp::Bytes alignment = 1) {
    problem.pools.push_back({name, kind, capacity, alignment});
    document.pools.emplace_back().lower_bound = 0;
  }

  void add_buffer(usmp::Buffer buffer, std::size_t pool, usmp::Bytes offset) {
    problem.buffers.push_back(std::move(buffer));
    plan.allocations.push_back({usmp::PoolId(pool), offset});
  }

  // Call when everything is added, and again after changes.
  const usmp::plan_file::PlanDocument& finish() {
    using usmp::PlanStatus;
    const usmp::Cost cost = usmp::cost_of(problem, plan);
    const bool has_plan = document.status == PlanStatus::feasible || document.status == PlanStatus::optimal;
    document.workspace_used = document.constants_used = 0;
    for (std::size_t i = 0; i < problem.pools.size(); ++i) {
      const usmp::Pool& from = problem.pools[i];
      usmp::plan_file::PlanDocument::Pool& pool = document.pools[i];
      pool.name = from.name;
      pool.kind = from.kind;
      pool.capacity = from.capacity;
      pool.alignment = from.alignment;
      pool.reserved = from.reserved;
      pool.used = cost.used[i];
      const PlanStatus of_plan = pool.used == pool.lower_bound ? PlanStatus::optimal : PlanStatus::feasible;
      pool.status = has_plan ? of_plan : document.status;
      (pool.kind == usmp::PoolKind::workspace ? document.workspace_used : document.constants_used) += pool.used;
    }
    document.spilled.resize(cost.spilled.size());
    for (std::size_t r = 0; r < cost.spilled.size(); ++r) document.spilled[r].bytes = cost.spilled[r];
    document.buffers.clear();
    for (std::size_t i = 0; i < problem.buffers.size(); ++i) {
      const usmp::Buffer& from = problem.buffers[i];
      const usmp::Allocation& place = plan.allocations[i];
      usmp::plan_file::PlanDocument::Buffer& buffer = document.buffers.emplace_back();
      buffer.name = from.name;
      buffer.function = from.function;
      buffer.kind = from.kind;
      if (place.placed()) buffer.pool = problem.pool(place.pool).name;
      buffer.offset = place.placed() ? place.offset : 0;
      buffer.pinned = from.pinned.has_value();
      buffer.size = from.size;
      buffer.alignment = from.alignment;
      buffer.live = from.live;
      for (const usmp::PoolId pool : from.candidates) buffer.candidates.push_back(problem.pool(pool).name);
    }
    document.horizon = problem.horizon;
    document.distances = problem.distances;
    return document;
  }
};

// What might have been done to the example before it was planned: every kind of outcome.
inline std::vector<usmp::plan_file::PlanDocument::StepOutcome> example_steps() {
  using Step = usmp::plan_file::PlanDocument::StepOutcome;
  const Step fuse{"fuse", 160, 112, {{"conv_1", "T_add: computed where it is read"}, {"main", "sid_7: a scalar"}}};
  Step narrow{"narrow", 112, 112, {}};
  narrow.left_out = true;
  const Step merge{"merge", 112, 112, {}};
  Step constants{"constants", 112, 112, {{"conv_1", "k: stored as int8 (10 bytes less)"}}};
  constants.constants = {24, 10};
  Step recompute{"recompute", 112, 96, {{"conv_1", "b: a row at a time"}}};
  recompute.extra_work_permille = 15;
  return {fuse, narrow, merge, constants, recompute};
}

// The example, with b a ring of the operators that conv runs by rows.
// Planned with modules kws and vww, of which vww runs beside this one.
inline usmp::plan_file::PlanDocument with_other_modules(usmp::plan_file::PlanDocument document) {
  document.pools.at(0).all_modules = {96, {"default", "vww"}};
  document.pools.at(1).all_modules = {200, {"kws"}};
  document.pools.at(2).all_modules = {500, {"kws", "default"}};
  return document;
}

inline usmp::plan_file::PlanDocument with_rows(usmp::plan_file::PlanDocument document) {
  document.transformed.push_back({"rolling", 112, 96, {{"conv", "operators 1 to 3 run row by row"}}});
  document.buffers.at(1).rows = usmp::RowsHeld{.rows = 4, .of = 12, .row_bytes = 4};
  document.buffers.at(1).row_operator = 3;
  document.calls.at(0).kind = "operators by rows";
  document.calls.at(0).by_rows = {{1, "conv_a", "conv2d", 90, {"dot_run"}},
                                  {2, "add", "", 10, {"dot4"}},
                                  {3, "conv_b", "conv2d", 40, {"dot_run", "window_run"}}};
  return document;
}

// Two workspace pools, a parameter pool, five buffers:
//
//   time   0   1   2   3   4   5   6
//   a      |-------|                    48 bytes  dtcm at 0
//   b          |-------|               16 bytes  dtcm at 48
//   c                  |-------|       32 bytes  dtcm at 0
//   big    |-----------------------|  100 bytes  sram at 0
//   k      |-----------------------|   10 bytes  flash at 0
inline void fill_example(Planned& planned) {
  using usmp::BufferKind;
  using usmp::PoolId;
  using usmp::PoolKind;
  planned.add_pool("dtcm", PoolKind::workspace, 1024, 16);
  planned.add_pool("sram", PoolKind::workspace, std::nullopt);
  planned.add_pool("flash", PoolKind::constant, 2048);
  planned.document.pools[2].internal = true;
  planned.document.pools[2].section = ".rodata.flash";
  planned.problem.horizon = 6;
  const std::vector<PoolId> workspace = {PoolId(0), PoolId(1)};
  planned.add_buffer({"a", "main", BufferKind::tensor, 48, 16, workspace, {{0, 2}}}, 0, 0);
  planned.add_buffer({"b", "conv", BufferKind::scratch, 16, 4, workspace, {{1, 3}}}, 0, 48);
  planned.add_buffer({"c", "main", BufferKind::tensor, 32, 16, workspace, {{3, 5}}}, 0, 0);
  planned.add_buffer({"big", "main", BufferKind::input, 100, 1, {PoolId(1)}, {{0, 1}, {2, 6}}}, 1, 0);
  planned.add_buffer({"k", "conv", BufferKind::constant, 10, 8, {PoolId(2)}, {{0, 6}}}, 2, 0);
  constexpr usmp::Bytes bounds[] = {60, 100, 10};
  for (std::size_t i = 0; i < planned.document.pools.size(); ++i) {
    planned.document.pools[i].lower_bound = bounds[i];
    planned.document.pools[i].lower_bound_reason = "load";
  }
  planned.document.unplanned_workspace = 212;
  planned.document.calls = {{"conv", {1, 3}}, {"extern_relu", {4, 5}}};
}
