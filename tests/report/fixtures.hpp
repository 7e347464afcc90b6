// A small planned module, made by hand.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "usmp/report/summary.hpp"

// Owns what a Summary points to. Two workspace pools, a parameter pool between them, five buffers:
//
//   time   0   1   2   3   4   5   6
//   a      |-------|                    48 bytes  dtcm at 0
//   b          |-------|               16 bytes  dtcm at 48
//   c                  |-------|       32 bytes  dtcm at 0
//   big    |-----------------------|  100 bytes  sram at 0
//   k      |-----------------------|   10 bytes  flash at 0
struct Planned {
  usmp::assemble::Assembly assembly;
  usmp::liveness::Analysis analysis;
  usmp::tir::Module module;
  usmp::Plan plan;
  usmp::report::Summary summary;

  Planned() {
    summary.module = "default";
    summary.archive = "net.tar";
    summary.algorithm = "hill_climb";
    summary.seed = 7;
  }
  Planned(const Planned&) = delete;
  Planned& operator=(const Planned&) = delete;

  void add_pool(const std::string& name, usmp::PoolKind kind, std::optional<usmp::Bytes> capacity,
                usmp::Bytes alignment = 1) {
    assembly.problem.pools.push_back({name, kind, capacity, alignment});
    usmp::config::PoolSpec spec;
    spec.name = name;
    spec.kind = kind;
    spec.size_hint = capacity;
    spec.alignment = alignment;
    assembly.pools.push_back(spec);
  }

  void add_buffer(usmp::Buffer buffer, std::size_t pool, usmp::Bytes offset) {
    assembly.problem.buffers.push_back(std::move(buffer));
    assembly.sites.emplace_back(analysis.sites.size());
    analysis.sites.emplace_back();
    plan.allocations.push_back({usmp::PoolId(pool), offset});
  }

  // Call when everything is added.
  const usmp::report::Summary& finish() {
    summary.assembly = &assembly;
    summary.analysis = &analysis;
    summary.tir = &module;
    summary.plan = &plan;
    usmp::Cost cost = usmp::cost_of(assembly.problem, plan);
    summary.used = cost.used;
    summary.spilled = cost.spilled;
    summary.spilled_bound.resize(cost.spilled.size());
    if (summary.bounds.empty()) summary.bounds.resize(assembly.problem.pools.size());
    return summary;
  }
};

// What might have been done to the example before it was planned: every kind of outcome.
inline std::vector<usmp::transform::StepResult> example_steps() {
  using usmp::transform::Step;
  using usmp::transform::StepResult;
  StepResult fuse{Step::fuse, 160, 112, {{Step::fuse, "conv_1", "T_add: computed where it is read"}}};
  fuse.changes.push_back({Step::fuse, "main", "sid_7: a scalar"});
  StepResult narrow{Step::narrow, 112, 112, {}};
  narrow.left_out = true;
  StepResult merge{Step::merge, 112, 112, {}};
  StepResult constants{Step::constants, 112, 112, {{Step::constants, "conv_1", "k: stored as int8 (10 bytes less)"}}};
  constants.constants = {24, 10};
  StepResult recompute{Step::recompute, 112, 96, {{Step::recompute, "conv_1", "b: a row at a time"}}};
  recompute.extra_work_permille = 15;
  return {fuse, narrow, merge, constants, recompute};
}

inline void fill_example(Planned& planned) {
  using usmp::BufferKind;
  using usmp::PoolId;
  using usmp::PoolKind;
  planned.add_pool("dtcm", PoolKind::workspace, 1024, 16);
  planned.add_pool("flash", PoolKind::constant, 2048);
  planned.add_pool("sram", PoolKind::workspace, std::nullopt);
  planned.assembly.pools[1].internal = true;
  planned.assembly.pools[1].section = ".rodata.flash";
  planned.assembly.problem.horizon = 6;
  planned.analysis.horizon = 6;
  const std::vector<PoolId> workspace = {PoolId(0), PoolId(2)};
  planned.add_buffer({"a", "main", BufferKind::tensor, 48, 16, workspace, {{0, 2}}}, 0, 0);
  planned.add_buffer({"b", "conv", BufferKind::scratch, 16, 4, workspace, {{1, 3}}}, 0, 48);
  planned.add_buffer({"c", "main", BufferKind::tensor, 32, 16, workspace, {{3, 5}}}, 0, 0);
  planned.add_buffer({"big", "main", BufferKind::input, 100, 1, {PoolId(2)}, {{0, 1}, {2, 6}}}, 2, 0);
  planned.add_buffer({"k", "conv", BufferKind::constant, 10, 8, {PoolId(1)}, {{0, 6}}}, 1, 0);
  planned.summary.bounds = {{60, "load"}, {10, "load"}, {100, "load"}};
  planned.summary.unplanned_workspace = 212;
  planned.analysis.calls = {{"conv", {1, 3}}, {"extern_relu", {4, 5}}};
  planned.module.functions.resize(2);
  planned.module.functions[0].name = "conv";
  planned.module.functions[1].name = "main";
}
