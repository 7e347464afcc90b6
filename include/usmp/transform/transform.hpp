// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// Transformations of programs so that they need less memory: TIR to TIR, before liveness analysis and planning.
//
// Every step is exact: each element that leaves the program goes through the same operations in the same order and of
// the same types, so outputs have the same bits. A step changes something only where analysis of the loops (affine
// accesses, constant bounds) proves it legal; elsewhere the program does not change. The result is planned, verified
// and emitted like any other module, and `verify --execute` compares it with the module in the archive.
//
// The interface of the entry function does not change: names, types and order of its parameters. Opaque functions
// (tir::is_opaque) are not analysed.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "usmp/liveness/liveness.hpp"
#include "usmp/support/checked.hpp"
#include "usmp/tir/ir.hpp"

namespace usmp::transform {

// In the order in which they are applied.
enum class Step : std::uint8_t {
  fuse,       // loop nests of an operator become one; buffers between them become scalars or vanish
  narrow,     // tensors between operators are stored in the smallest exact type
  merge,      // operators become one where the tensor between them is live at the peak
  constants,  // constants are stored in the smallest exact type, and equal ones once
  rolling,    // operators run a row or a pixel at a time; tensors between them hold the rows that are still to be read
  reorder,    // calls of the entry function are reordered
  recompute,  // elements are computed more than once, within Options::recompute_percent; not one of all_steps
  inplace,    // no change of the program: buffers may share bytes while one is read and the other is written
};

inline constexpr Step all_steps[] = {Step::fuse,    Step::narrow,  Step::merge,  Step::constants,
                                     Step::rolling, Step::reorder, Step::inplace};

// "fuse".
[[nodiscard]] std::string_view name_of(Step step);

// Reads "none", "all" or comma-separated step names ("fuse,reorder"): steps in the order of application, each once.
// Nothing if a word is invalid; `wrong` is then that word: empty between two commas, "all" or "none" if it is not the
// only word.
[[nodiscard]] std::optional<std::vector<Step>> parse_steps(std::string_view text, std::string* wrong = nullptr);

// What operators compute at a time in chains of Step::rolling: what needs the least memory, rows if these need no more;
// or always the same; strips if and only if Options::strip_percent allows them, or nothing but strips.
enum class RollingGrain : std::uint8_t { any, rows, pixels, strips };

struct Options {
  std::vector<Step> steps;
  // How much more work the program may do to need less memory, in percent of its work after the other steps (estimated
  // by loops/cost.hpp). 0: none. Extends only requested steps.
  std::int64_t recompute_percent = 0;
  // How much of it Step::rolling may do, with strips: at most recompute_percent. What it does Step::recompute may not.
  std::int64_t strip_percent = 0;
  RollingGrain rolling_grain = RollingGrain::any;
  // Bytes of the memories that are preferred: Step::rolling then makes small what does not fit in there, instead of the
  // peak, and is kept if the peak does not rise. Without strips.
  std::optional<Bytes> rolling_room = {};
  bool reorder_first = false;       // Step::reorder before Step::rolling, not behind it
  liveness::Options liveness = {};  // as the result will be analysed: what counts as workspace

  [[nodiscard]] bool asks_for(Step step) const;
};

// One thing that was done, for reports.
struct Change {
  // What it means for another function than `Change::function`.
  struct Note {
    std::string function;
    std::string text;
  };
  Step step = Step::fuse;
  std::string function;  // the function changed; the entry if several operators are concerned
  std::string text;      // "T_add (4096 bytes): computed where it is read". No full stop
  std::vector<Note> notes = {};
};

// The effect of a step. The load is the peak live bytes: the largest sum of sizes of workspace buffers that are live at
// one time, without inputs and outputs. No plan needs less.
struct StepResult {
  Step step = Step::fuse;
  Bytes load_before = 0;
  Bytes load_after = 0;
  std::vector<Change> changes;  // in order of application
  // Extra work of Step::recompute, and of Step::rolling with strips: thousandths of the work without it, rounded up.
  std::optional<std::int64_t> extra_work_permille = {};
  // It would have changed the program, but the plan is as small without it; set by the planning stage.
  bool left_out = false;
  // What the program has too much of for the step to look at it, as "more than 10000 calls"; empty: it looked.
  std::string too_large = {};
};

// A program with passes applied. A value: a common prefix of several lists of steps is applied once and copied. Copies,
// and programs of which a pass changed nothing, share the module.
struct Result {
  Result() = default;
  explicit Result(tir::Module module) : shared(std::make_shared<const tir::Module>(std::move(module))) {}

  // With Function::notes.
  [[nodiscard]] const tir::Module& module() const& { return *shared; }
  [[nodiscard]] tir::Module module() && { return *shared; }

  std::shared_ptr<const tir::Module> shared = std::make_shared<const tir::Module>();
  std::vector<StepResult> steps = {};  // those applied, in order; Step::recompute if it did anything
  // From liveness::find_distances of the module, for Step::inplace. Empty without it.
  std::vector<liveness::StorageDistance> distances = {};
  Bytes load = 0;         // as in StepResult; not set without steps
  double extra_work = 0;  // of Step::rolling, as loops/cost.hpp counts it

  [[nodiscard]] std::vector<Change> changes() const;  // of all steps
};

// Whether the step serves only to make the plan smaller: it may be dropped if the plan is as small without it.
[[nodiscard]] bool is_for_memory_alone(Step step);

// The passes that `options` requests, in order of application: its steps, and Step::recompute if more work is allowed;
// with reorder_first Step::reorder and Step::rolling change places.
[[nodiscard]] std::vector<Step> passes_of(const Options& options);

// The program before any pass. Throws as liveness::analyse does.
[[nodiscard]] Result begin(tir::Module module);

// Applies one more pass, which must come after those of `before`. A pass depends only on the module, on
// recompute_percent, strip_percent, rolling_room and on whether merge and inplace are requested, so `before` may come
// from other `options`. A pass that does not achieve its purpose (narrow: lower the load) is undone. Throws as
// liveness::analyse does.
[[nodiscard]] Result apply(const Result& before, Step step, const Options& options);

// begin, and apply for all passes_of(options). Valid input gives valid output (tir::find_fault). Throws as
// liveness::analyse does.
[[nodiscard]] Result transform(const tir::Module& module, const Options& options);

}  // namespace usmp::transform
