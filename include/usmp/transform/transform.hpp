// Programs that need less memory: TIR to TIR, before live ranges are computed and anything is planned.
//
// Every step is exact: each element that leaves the program goes through the same operations in the same order and of
// the same types, so outputs are the same bits. A step does something only where it can prove that it may, by analysis
// of the loops at hand (affine accesses, constant bounds); where it cannot, the program stays as it is. Nothing is
// trusted for it: the result is planned, verified and emitted like any other module, and `verify --execute` runs it
// beside the module as the archive has it.
//
// The interface of the entry function stays the same: names, types and order of its parameters. Functions that
// somebody else provides (tir::is_opaque) are not looked into.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "usmp/liveness/liveness.hpp"
#include "usmp/support/checked.hpp"
#include "usmp/tir/ir.hpp"

namespace usmp::transform {

// In the order in which they are applied.
enum class Step : std::uint8_t {
  fuse,       // loop nests of an operator become one; buffers between them become scalars or vanish
  narrow,     // tensors between operators are stored in the smallest exact type
  merge,      // operators become one where the tensor between them stands at the peak
  constants,  // constants are stored in the smallest exact type, and equal ones once
  reorder,    // calls of the entry function change places
  recompute,  // elements are computed more than once, within Options::recompute_percent; not one of all_steps
  inplace,    // no change of the program: buffers may share bytes while one is read and the other is written
};

inline constexpr Step all_steps[] = {Step::fuse,      Step::narrow,  Step::merge,
                                     Step::constants, Step::reorder, Step::inplace};

// "fuse".
[[nodiscard]] std::string_view name_of(Step step);

// Reads "none", "all" or step names with commas between them ("fuse,reorder"): steps in the order of application, each
// once. Nothing if a word is none of these; `wrong` is then that word: empty between two commas, "all" or "none" where
// one of them does not stand alone.
[[nodiscard]] std::optional<std::vector<Step>> parse_steps(std::string_view text, std::string* wrong = nullptr);

struct Options {
  std::vector<Step> steps;
  // How much more the program may compute to need less memory, in percent of what it computes when the other steps have
  // been applied (loops/cost.hpp says what counts). 0: nothing. Only steps asked for are taken that far.
  std::int64_t recompute_percent = 0;
  liveness::Options liveness = {};  // as the result will be analysed: what counts as workspace

  [[nodiscard]] bool asks_for(Step step) const;
};

// One thing that was done, for reports.
struct Change {
  // What it means for a function that `Change::function` is not.
  struct Note {
    std::string function;
    std::string text;
  };
  Step step = Step::fuse;
  std::string function;  // in which; of the entry for what concerns several operators
  std::string text;      // "T_add (4096 bytes): computed where it is read". No full stop
  std::vector<Note> notes = {};
};

// Sum of sizes of the constants that the program reads.
struct ConstantBytes {
  Bytes before = 0;
  Bytes after = 0;

  friend bool operator==(const ConstantBytes&, const ConstantBytes&) = default;
};

// What a step was good for. The load is the largest sum of sizes of workspace buffers that are live at one time, inputs
// and outputs left out: no plan needs less.
struct StepResult {
  Step step = Step::fuse;
  Bytes load_before = 0;
  Bytes load_after = 0;
  std::vector<Change> changes;  // in the order in which they were done
  // Of Step::recompute: how much more is computed, in thousandths of what was, rounded up.
  std::optional<std::int64_t> extra_work_permille = {};
  // Of Step::constants. Afterwards equal ones count once (liveness::share_constants).
  std::optional<ConstantBytes> constants = {};
  // It could have done something, but the plan is as small without it; set by whoever plans.
  bool left_out = false;
};

// A program with passes applied. A value: what several lists of steps have in front is applied once and copied.
struct Result {
  tir::Module module;             // with Function::notes
  std::vector<StepResult> steps;  // those applied, in order; Step::recompute if it did anything
  // Of Step::inplace: liveness::find_distances of the module. Empty without it.
  std::vector<liveness::StorageDistance> distances = {};
  Bytes load = 0;  // as StepResult has it; not told without steps

  [[nodiscard]] std::vector<Change> changes() const;  // of all steps
};

// Whether the step is good for nothing but a smaller plan: whoever plans may leave it out where the plan is as small
// without it.
[[nodiscard]] bool is_for_memory_alone(Step step);

// The passes that `options` asks for, in the order in which they are applied: its steps, and Step::recompute if the
// program may compute more.
[[nodiscard]] std::vector<Step> passes_of(const Options& options);

// The program before any pass. Throws as liveness::analyse does.
[[nodiscard]] Result begin(const tir::Module& module);

// With one more pass, which stands behind those that `before` has. Besides its own result, a pass looks at the
// module, at recompute_percent and at whether the steps asked for have merge and inplace: so programs that `options` of
// other steps have led to may go on here. A pass that does not do what it is there for (narrow: lower the load) is
// taken back. Throws as liveness::analyse does.
[[nodiscard]] Result apply(const Result& before, Step step, const Options& options);

// begin, and apply for all passes_of(options). Valid input gives valid output (tir::find_fault). Throws as
// liveness::analyse does.
[[nodiscard]] Result transform(const tir::Module& module, const Options& options);

}  // namespace usmp::transform
