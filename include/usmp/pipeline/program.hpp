// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// The stages of a module up to its planning problem: as in the archive, transformed and analysed, assembled.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "usmp/assemble/assemble.hpp"
#include "usmp/codegen/codegen.hpp"
#include "usmp/config/pools.hpp"
#include "usmp/kernels/core.hpp"
#include "usmp/liveness/liveness.hpp"
#include "usmp/model/description.hpp"
#include "usmp/operators/operators.hpp"
#include "usmp/plan_file/plan_document.hpp"
#include "usmp/storage/stack_arrays.hpp"
#include "usmp/tir/ir.hpp"
#include "usmp/transform/transform.hpp"
#include "usmp/tvm_c/reader.hpp"

namespace usmp::pipeline {

// Gets one line per action, for debugging; may be empty.
using Log = std::function<void(const std::string& line)>;

// What goes on while transformations are tried, which takes seconds in large programs.
struct Watch {
  const std::atomic<bool>* interrupted = nullptr;     // ends the trials once it is true; null: nothing does
  std::function<void(const std::string& text)> tell;  // gets a line for each step; may be empty

  [[nodiscard]] bool is_interrupted() const { return interrupted != nullptr && *interrupted; }
};

// The transformations allowed before planning.
struct Transformations {
  std::vector<transform::Step> steps;  // in the order of application
  std::int64_t recompute_percent = 0;
  const kernels::Core* core = nullptr;  // that the C is shaped for; null: the one that the archive names, else generic
  Bytes plan_stack = storage::default_plan_stack;  // arrays on the stack of the C that are larger are planned
  // As in transform::Options; with_useful_steps chooses them.
  std::int64_t strip_percent = 0;
  std::optional<Bytes> rolling_room = {};
  bool reorder_first = false;
};

// The first passes of those that these transformations ask for.
struct FirstPasses {
  Transformations transformations;
  std::size_t count = 0;
};

// Capacities of pools by name, in place of those they have; nothing: unbounded.
using Capacities = std::map<std::string, std::optional<Bytes>>;

// Pools for a program, and earlier plans that pin buffers.
struct Request {
  config::PoolsConfig pools;
  Capacities capacities = {};  // what if
  bool workspace_io = false;
  std::vector<plan_file::PlanDocument> earlier;  // plans that pin buffers, at most one per module
  Log log;
  Watch watch = {};
  // By module: programs of plans that are verified, which another run was interrupted in making.
  std::map<std::string, plan_file::PlanDocument::CutShort> cut_short = {};
};

// The module's C, to be read.
struct CFiles {
  std::vector<tvm_c::Source> own;           // info.c_members
  std::vector<tvm_c::Source> foreign;       // info.foreign_members
  std::set<std::string> shared = {};        // of these: those of other modules, too, which stay as they are
  std::set<std::string> rewritten = {};     // of `own`: those that planned C takes the place of
  std::vector<tvm_c::Source> headers = {};  // others, which may define macros and constants
  std::set<std::string> synchronous = {};   // names of functions: tvm_c::read_planned_module
  // Those of the names that other C of the archive or the tree mentions, each with a file that does. Null: there is
  // none.
  using Mentioned = std::map<std::string, std::string, std::less<>>;
  std::function<Mentioned(const std::set<std::string, std::less<>>& names)> mentioned_elsewhere = nullptr;
};

// C that TVM has planned, as it was read: storage that several tensors share is whole. All workspace has a place.
struct TvmWritten {
  tir::Module module;
  std::vector<tvm_c::PlannedPlace> places;       // of the module's variables
  std::vector<tvm_c::PlannedPlace> whole_pools;  // tvm_c::PlannedModule::whole_pools
};

// As the archive has it.
struct SourceModule {
  model::Description info;
  tir::Module module;
  codegen::Interface interface;
  std::vector<tvm_c::PlannedPool> tvm_pools;     // of C that TVM has planned
  bool tvm_pools_have_io = false;                // inputs or outputs are in them
  std::shared_ptr<const TvmWritten> written;     // null: TVM has not planned it
  std::optional<Bytes> workspace_macro;          // tvm_c::PlannedModule
  std::string constants_section;                 // tvm_c::PlannedModule
  std::vector<tvm_c::KeptFunction> kept;         // of the C that was read
  std::vector<tvm_c::UnreadCall> unread_calls;   // of that C, or of C that TIR imports
  std::vector<tvm_c::KeptFunction> forwarders;   // tvm_c::PlannedModule
  std::vector<tvm_c::PoolAccess> pool_accesses;  // tvm_c::PlannedModule
  std::vector<std::string> lost_placements;      // tvm_c::PlannedModule
  std::set<std::string> visible_names;           // tvm_c::PlannedModule
  std::vector<std::string> warnings;             // tvm_c::PlannedModule
  std::vector<tvm_c::ChangedFile> changed;       // of CFiles::foreign
  std::set<std::string> tvm_headers;             // mlf::tvm_headers of CFiles::foreign
  std::optional<std::string> lost_constants;     // tvm_c::PlannedModule: then there is nothing to plan
  std::optional<Error> edited_run;               // tvm_c::PlannedModule: likewise
};

// Whether C that stays as it is takes workspace from TVM's allocator at run time, beside the plan.
[[nodiscard]] bool allocates_at_run_time(const SourceModule& source);

// What is planned.
struct Program {
  tir::Module module;
  const kernels::Core* core = &kernels::generic_core();  // that the constants are laid out for
  std::vector<transform::StepResult> transformed;        // the transformations applied
  std::vector<operators::Operator> operators;            // by function, before kernels are prepared
  liveness::Analysis analysis;
  std::optional<FirstPasses> cut_short = {};  // the trials were interrupted: what it was made with
};

struct AssembledModule {
  SourceModule source;
  Program program;
  assemble::Assembly assembly;
  std::vector<std::string> warnings;           // about the pools, and buffers of an earlier plan that are not pinned
  std::optional<config::PoolSpec> state_pool;  // of the pools file
  std::vector<bool> pinned;                    // [i]: whether it has the buffer of the pools file's pin i
  // The programs that it was chosen from, as problems without the pins of earlier plans. If there is no plan of any of
  // them in larger pools, then there is none of the program that would be chosen for these pools.
  std::vector<Problem> tried;
};

// `tir`: the bytes of info.tir_member; of `files` only `foreign` and `shared` count. Throws Error of kind archive with
// the member set.
[[nodiscard]] SourceModule read_module(const model::Description& info, std::string_view tir, const CFiles& files = {});

// From C in its place. Throws the same.
[[nodiscard]] SourceModule read_module(const model::Description& info, const CFiles& files);

// From the bytes of a TensorFlow Lite model; `name`: the module's. Throws Error of kind archive.
[[nodiscard]] SourceModule read_module(const std::string& name, std::string_view model);

// The module's info, with what its program says of inputs and outputs where the archive says nothing.
[[nodiscard]] model::Description described(const SourceModule& source);

// With all requested transformations. Throws Error with the member set.
[[nodiscard]] Program transformed(const SourceModule& source, const Transformations& transformations,
                                  bool workspace_io);

// The program of a plan that was written after an interruption. Throws Error of kind usage for steps that there are
// not.
[[nodiscard]] Program made_again(const SourceModule& source, Transformations transformations,
                                 const plan_file::PlanDocument::CutShort& cut, bool workspace_io);

// With the transformations that make the plan smaller. A step that only serves that (narrow, merge, reorder, inplace)
// is dropped if no plan with it is found, or if it is proved that no plan with it is better, in the order of Cost, than
// the one found without it. Recomputing is kept if the plan then needs less of some pool and no more of the others; the
// other steps are then those requested. fuse and constants also save time and flash, and are kept. Program::transformed
// names the dropped steps.
//
// The plans compared are the best in the request's pools (docs/planning.md) that a few search nodes find. Pins,
// algorithm and limits have no influence, so the same archive, pools and steps always give the same program. Transforms
// and plans at most seven times, five times more if buffers are outside of the first pool and a dozen if nothing fits,
// about a second each in large programs; common prefixes of the lists of steps are applied once. Interrupted, it
// returns the best program found so far, which may lack transformations. Throws as `transformed` and assemble do.
//
// `tried`, unless null, gets the problems of the programs that were planned, without pins; none if there was no choice.
[[nodiscard]] Program with_useful_steps(const SourceModule& source, const Transformations& transformations,
                                        const Request& request, std::vector<Problem>* tried = nullptr);

// Live ranges of the module (the source's own or a transformed one), with the given `workspace_io`.
[[nodiscard]] liveness::Analysis live_ranges(const SourceModule& source, const tir::Module& module, bool workspace_io);

// Transforms the module as far as that makes its plan smaller, and assembles its problem, pins included. Throws Error:
// of kind usage and without a member for errors in the pools, else with the member set.
[[nodiscard]] AssembledModule assemble_module(SourceModule source, const Transformations& transformations,
                                              const Request& request);

}  // namespace usmp::pipeline
