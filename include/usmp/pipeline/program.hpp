// A module of an archive on its way to its planning problem: as the archive has it, transformed and analysed,
// assembled.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "usmp/assemble/assemble.hpp"
#include "usmp/codegen/codegen.hpp"
#include "usmp/config/pools.hpp"
#include "usmp/liveness/liveness.hpp"
#include "usmp/mlf/metadata.hpp"
#include "usmp/plan_file/plan_document.hpp"
#include "usmp/tir/ir.hpp"
#include "usmp/transform/transform.hpp"

namespace usmp::pipeline {

// Gets a line about what is being done, for who looks for a fault; may be empty.
using Log = std::function<void(const std::string& line)>;

// What may be done to a program before it is planned.
struct Transformations {
  std::vector<transform::Step> steps;  // in the order of application
  std::int64_t recompute_percent = 0;
};

// Where a program's memory is to be, and what stays where it was.
struct Request {
  config::PoolsConfig pools;
  bool workspace_io = false;
  std::vector<plan_file::PlanDocument> earlier;  // plans that pin buffers, at most one of each module
  Log log;
};

// As the archive has it.
struct SourceModule {
  mlf::ModuleInfo info;
  tir::Module module;
  codegen::Interface interface;
};

// What is planned.
struct Program {
  tir::Module module;
  std::vector<transform::StepResult> transformed;  // how it came about
  liveness::Analysis analysis;
};

struct AssembledModule {
  SourceModule source;
  Program program;
  assemble::Assembly assembly;
  std::vector<std::string> warnings;  // of the pools, and of buffers that an earlier plan knows and that are not pinned
  std::vector<bool> pinned;           // [i]: whether it has the buffer of the pools file's pin i
};

// `tir`: the bytes of info.tir_member. Throws Error of kind archive with the member set.
[[nodiscard]] SourceModule read_module(const mlf::ModuleInfo& info, std::string_view tir);

// With all transformations asked for. Throws Error with the member set.
[[nodiscard]] Program transformed(const SourceModule& source, const Transformations& transformations,
                                  bool workspace_io);

// With those of the transformations that make the plan smaller: a step that only serves that (narrow, merge, reorder,
// inplace) is left out if it is proved that no plan with it is better, in the order of Cost, than the one found without
// it, or if no plan with it is found. Computing more than once stays if the plan then needs less of some pool and no
// more of the others; the other steps are then those asked for. fuse and constants also save time and flash, and stay.
// Steps left out are named in Program::transformed.
//
// What counts is the best plan in the request's pools (docs/planning.md) that few search nodes find; pins, the
// algorithm and limits of the user's do not, so the same archive, pools and steps are always one program. Transforms
// and plans at most seven times, about a second each in large programs; what these lists of steps have in front is
// applied once. Throws as `transformed` and assemble do.
[[nodiscard]] Program with_useful_steps(const SourceModule& source, const Transformations& transformations,
                                        const Request& request);

// Live ranges of the module, which is the source's own or made of it, as if `workspace_io` had been asked for.
[[nodiscard]] liveness::Analysis live_ranges(const SourceModule& source, const tir::Module& module, bool workspace_io);

// Transforms the module as far as that makes its plan smaller and brings it to its problem, pins included. Throws
// Error: of kind usage and without a member for what the pools say, else with the member set.
[[nodiscard]] AssembledModule assemble_module(SourceModule source, const Transformations& transformations,
                                              const Request& request);

}  // namespace usmp::pipeline
