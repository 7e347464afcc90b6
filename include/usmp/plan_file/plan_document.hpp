// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// The contents of M.plan.json as a value: reports, diffs and checks use it, whether it was read from a file or made
// from a module that has just been planned.
//
// Members missing from plans of earlier versions have the default values given here.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "usmp/problem/problem.hpp"

namespace usmp::plan_file {

inline constexpr int plan_schema_version = 2;  // 1: the bounds and statuses were those of each pool alone

// C of the archive itself, which is emitted unchanged.
struct ImportedC {
  std::string function;  // whose body imports it
  std::size_t bytes = 0;
  std::string first_line;  // that is not blank, trimmed, cut after 60 bytes

  friend bool operator==(const ImportedC&, const ImportedC&) = default;
};

struct PlanDocument {
  struct Search {
    std::optional<std::string> minimized;  // the pool that was minimized first
    StopReason stopped = StopReason::finished;
    std::uint64_t iterations = 0;  // of the algorithm's own kind

    friend bool operator==(const Search&, const Search&) = default;
  };

  // See Cost::spilled.
  struct Spilled {
    Bytes bytes = 0;
    Bytes lower_bound = 0;

    friend bool operator==(const Spilled&, const Spilled&) = default;
  };

  // What was minimised first, with the objective `accesses`.
  struct Charge {
    bool in_cycles = false;  // else accesses, times the ranks of pools
    std::int64_t value = 0;
    std::int64_t lower_bound = 0;  // no plan has less

    friend bool operator==(const Charge&, const Charge&) = default;
  };

  // What one run accesses of all buffers in a pool.
  struct Accesses {
    std::int64_t loads = 0;
    std::int64_t stores = 0;
    std::int64_t bytes = 0;              // loaded and stored
    std::optional<std::int64_t> cycles;  // an estimate; nothing: the pool's speed is not known

    friend bool operator==(const Accesses&, const Accesses&) = default;
  };

  struct Pool {
    // What all modules need that were planned together, to be linked.
    struct AllModules {
      Bytes used = 0;  // of a workspace pool the maximum, of a parameter pool the sum with padding
      // Whose plans make it so, in the order of planning: of a workspace pool the first that ends there, behind those
      // that lie beneath it because they run side by side; of a parameter pool all with constants. Empty if it is 0.
      std::vector<std::string> set_by;

      friend bool operator==(const AllModules&, const AllModules&) = default;
    };

    std::string name;  // unique in the document
    PoolKind kind = PoolKind::workspace;
    bool internal = false;
    std::string section;                // empty: none
    std::optional<Bytes> address = {};  // where a programmer writes the contents; nothing: a linker places them
    std::optional<Bytes> capacity;      // nothing: unbounded
    Bytes alignment = 1;
    Bytes reserved = 0;
    Bytes beside = 0;  // of these, what modules that run side by side with this one have there
    Bytes used = 0;
    std::optional<Bytes> lower_bound;  // nothing: the plan does not say
    std::string lower_bound_reason;
    PlanStatus status = PlanStatus::feasible;
    std::optional<AllModules> all_modules = {};  // nothing: the module was planned alone
    std::optional<Accesses> accesses = {};       // with the objective `accesses`

    friend bool operator==(const Pool&, const Pool&) = default;
  };

  struct Buffer {
    std::string name;  // not unique
    std::string function;
    BufferKind kind = BufferKind::tensor;
    std::string pool;  // the name of one of `pools`, if the document lists any; empty: not placed
    Bytes offset = 0;  // 0 if not placed
    bool pinned = false;
    Bytes size = 0;
    Bytes alignment = 1;
    std::optional<std::vector<LiveRange>> live;  // nothing: the plan does not say
    std::vector<std::string> candidates;         // names of pools
    std::optional<RowsHeld> rows = {};           // nothing: all of the tensor; rows · row_bytes = size
    // Number of the RowOperator that makes it, or reads the constant; 0: its operator is not by rows.
    std::size_t row_operator = 0;

    [[nodiscard]] bool placed() const { return !pool.empty(); }
    friend bool operator==(const Buffer&, const Buffer&) = default;
  };

  // One of those whose rows a call computes by turns.
  struct RowOperator {
    std::size_t number = 0;  // among the calls as they were without rolling, from 1
    std::string callee;
    std::string kind;  // as in Call
    // In one call, of the nests that are its own functions; nothing: not known.
    std::optional<std::int64_t> instructions = {};
    std::vector<std::string> kernels = {};  // likewise

    friend bool operator==(const RowOperator&, const RowOperator&) = default;
  };

  struct Call {
    std::string callee;
    LiveRange ticks;
    std::string kind = {};  // "conv2d", "add", "external", …; empty: the plan does not say, or nothing tells
    std::optional<std::int64_t> multiply_accumulates = {};  // nothing: not known
    std::vector<std::string> reads = {};                    // "int8[1,49,10,1]", in the order of the parameters
    std::vector<std::string> writes = {};
    std::optional<std::int64_t> instructions = {};  // of one call, an estimate; nothing: not known
    std::vector<std::string> kernels = {};          // operators that sums of products became: "dot_run"
    std::vector<RowOperator> by_rows = {};          // empty: the callee is one operator

    friend bool operator==(const Call&, const Call&) = default;
  };

  // An input or output of the module.
  struct Tensor {
    std::string name;
    std::optional<Bytes> size;  // nothing: not known
    bool in_pool = false;       // else the application has it

    friend bool operator==(const Tensor&, const Tensor&) = default;
  };

  struct Unplanned {
    std::string name;
    std::string function;
    std::string reason;

    friend bool operator==(const Unplanned&, const Unplanned&) = default;
  };

  struct Change {
    std::string function;
    std::string what;

    friend bool operator==(const Change&, const Change&) = default;
  };

  // Sum of sizes of the constants that are read: by the program without any transformation, and as it was planned.
  // There, equal ones count once.
  struct Constants {
    Bytes before = 0;
    Bytes after = 0;

    friend bool operator==(const Constants&, const Constants&) = default;
  };

  // What was done to the program before it was planned. Loads: the largest sum of sizes of buffers live at one time.
  struct StepOutcome {
    std::string step;
    Bytes load_before = 0;
    Bytes load_after = 0;
    std::vector<Change> changes;
    std::optional<std::int64_t> extra_work_permille = {};  // of recompute: how much more is computed, in thousandths
    bool left_out = false;                                 // the plan is as small without it
    std::optional<Constants> constants = {};               // of the step constants; nothing: the plan does not say

    // Whether the program is another one for the step, or constants have fewer places.
    [[nodiscard]] bool did_something() const;
    // Steps that found nothing to do are not worth a line.
    [[nodiscard]] bool is_worth_a_line() const { return left_out || did_something(); }

    friend bool operator==(const StepOutcome&, const StepOutcome&) = default;
  };

  // The program that was planned when Ctrl-C ended the trials of transformations: `passes` of those that these options
  // ask for. Others are the outcome of the trials, and found again.
  struct CutShort {
    std::vector<std::string> steps;
    std::size_t passes = 0;
    std::int64_t recompute_percent = 0;
    std::int64_t strip_percent = 0;
    std::optional<Bytes> rolling_room;
    bool reorder_first = false;

    friend bool operator==(const CutShort&, const CutShort&) = default;
  };

  int schema_version = plan_schema_version;
  std::string module;
  std::string archive;    // file name only
  std::string algorithm;  // empty: the plan does not say
  std::uint64_t seed = 0;
  std::optional<bool> workspace_io;
  PlanStatus status = PlanStatus::feasible;
  std::optional<Search> search;
  Tick horizon = 0;         // every live range ends at or before it
  bool says_totals = true;  // else the next two are not known
  Bytes workspace_used = 0;
  Bytes constants_used = 0;
  std::optional<Bytes> unplanned_workspace;  // of the unplanned build, which the archive states
  // Bytes of all workspace pools in the plan that TVM made of the same program, if that is known and has inputs and
  // outputs in pools where this one has.
  std::optional<Bytes> tvm_workspace;
  // Sum of sizes of the constants that the program reads, in parameter pools or not; those in one place count once.
  // Nothing, here and below: the plan does not say.
  std::optional<Bytes> constant_bytes;
  std::optional<Bytes> state_bytes;     // what the model keeps from run to run, in memory of its own; absent: none
  std::optional<Bytes> stack_estimate;  // of the entry with the module's functions that it calls, in bytes
  // Bytes of arrays that the C which was read has on its stack at one time; absent: none. And how many of these are
  // planned or not needed; absent: none, the others stay.
  std::optional<Bytes> stack_arrays;
  std::optional<Bytes> stack_saved;
  // In one run. Nothing also if some function's are not known.
  std::optional<std::int64_t> multiply_accumulates;
  std::optional<std::int64_t> instructions;  // an estimate
  std::string cpu;                           // that the C is shaped for; empty: the plan does not say
  std::vector<Tensor> inputs;
  std::vector<Tensor> outputs;
  std::optional<Charge> charge;  // nothing: the objective is `size`
  std::vector<Spilled> spilled;
  std::vector<Pool> pools;      // workspace pools, then parameter pools
  std::vector<Buffer> buffers;  // by id
  // How close buffers may be, by index, that may share bytes while both are live. See Problem::distances.
  std::vector<Distance> distances;
  std::vector<Call> calls;  // in execution order
  std::vector<Unplanned> unplanned;
  std::vector<ImportedC> imported_c;
  std::vector<std::string> tvm_headers;  // of TVM's source tree, which C copied from the archive includes; sorted
  std::vector<StepOutcome> transformed;
  std::optional<CutShort> cut_short;
  std::vector<std::string> warnings;

  // O(pools). Null: there is no pool of this name.
  [[nodiscard]] const Pool* find_pool(std::string_view name) const;

  friend bool operator==(const PlanDocument&, const PlanDocument&) = default;
};

}  // namespace usmp::plan_file
