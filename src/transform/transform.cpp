// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// Runs the passes of a table one after another, and keeps what each did or what lowers the load.
#include "usmp/transform/transform.hpp"

#include <algorithm>
#include <optional>
#include <utility>

#include "transform/constants.hpp"
#include "transform/fuse.hpp"
#include "transform/inplace.hpp"
#include "transform/merge_calls.hpp"
#include "transform/narrow.hpp"
#include "transform/peak.hpp"
#include "transform/recompute.hpp"
#include "transform/reorder.hpp"
#include "transform/rolling.hpp"
#include "usmp/liveness/distances.hpp"
#include "usmp/loops/cost.hpp"
#include "usmp/support/text.hpp"
#include "usmp/tir/verify.hpp"

namespace usmp::transform {
namespace {

// Changes the program and says what it did; a row without changes if it found nothing to do. Nothing: no row.
using Pass = std::optional<StepResult> (*)(Result& program, const Options& options);

// What was done to a function stands with it.
void add_notes(tir::Module& module, const StepResult& step) {
  const auto add = [&](const std::string& name, const std::string& text) {
    if (const auto function = module.find(name))
      module.functions[*function].notes.push_back(std::string(name_of(step.step)) + ": " + text);
  };
  for (const Change& change : step.changes) {
    add(change.function, change.text);
    for (const Change::Note& note : change.notes) add(note.function, note.text);
  }
}

void set_module(Result& program, tir::Module module, const StepResult& step) {
  add_notes(module, step);
  program.shared = std::make_shared<const tir::Module>(std::move(module));
}

// A pass that changes the module; `program` stays as it is unless something was done.
template <Step step, std::vector<Change> (*change)(tir::Module&, const Options&)>
std::optional<StepResult> changing(Result& program, const Options& options) {
  tir::Module changed = program.module();
  StepResult result{step, program.load, program.load, change(changed, options)};
  tir::check_pass(changed, name_of(step));
  if (!result.changes.empty()) set_module(program, std::move(changed), result);
  return result;
}

// That asks nothing of the options.
template <std::vector<Change> (*change)(tir::Module&)>
std::vector<Change> plain(tir::Module& module, const Options& /*options*/) {
  return change(module);
}

// Kept if the load falls; so is what it has computed more than once.
std::optional<StepResult> rolling(Result& program, const Options& options) {
  if (options.strip_percent <= 0) return changing<Step::rolling, roll>(program, options);
  const double once = loops::work_of(program.module());
  auto result = changing<Step::rolling, roll>(program, options);
  program.extra_work = std::max(0.0, loops::work_of(program.module()) - once);
  if (!result->changes.empty()) result->extra_work_permille = permille_of(program.extra_work, once);
  return result;
}

std::optional<StepResult> computing_again(Result& program, const Options& options) {
  tir::Module changed = program.module();
  auto result = recompute(changed, options, {}, program.extra_work);
  if (result) set_module(program, std::move(changed), *result);
  return result;
}

std::optional<StepResult> sharing_bytes(Result& program, const Options& options) {
  liveness::AnalysedDistances found = liveness::analyse_distances(program.module(), options.liveness);
  program.distances = std::move(found.distances);
  if (options.liveness.workspace_io && !program.distances.empty()) {
    found.analysis = liveness::analyse(program.module());
  }
  StepResult result = describe_shared_bytes(program.module(), found.analysis, program.distances, program.load);
  if (!result.changes.empty()) set_module(program, program.module(), result);
  return result;
}

enum class Kept : std::uint8_t { when_it_does_something, when_the_load_falls };

// The load behind a pass that did something: counted anew, or what the pass says (as before, of what is no load).
enum class Load : std::uint8_t { counted, told };

struct PassRow {
  Step step;
  std::string_view name;
  Pass pass;
  Load load;
  Kept kept;
  bool for_memory_alone;                                                  // is_for_memory_alone
  std::optional<std::string> (*too_large)(const tir::Module&) = nullptr;  // StepResult::too_large; null: never
};

// In the order in which they run: operators are merged when tensors have got small and copies are gone. What is done
// within limits of its own (recompute), or does not change the program (inplace), is what it is. A pass does not run on
// a program that is too large for it.
constexpr PassRow passes[] = {
    {Step::fuse, "fuse", changing<Step::fuse, plain<fuse>>, Load::counted, Kept::when_it_does_something, false},
    {Step::narrow, "narrow", changing<Step::narrow, plain<narrow>>, Load::counted, Kept::when_the_load_falls, true},
    {Step::merge, "merge", changing<Step::merge, plain<merge_calls>>, Load::counted, Kept::when_it_does_something, true,
     too_large_to_merge},
    {Step::constants, "constants", changing<Step::constants, plain<shrink_constants>>, Load::told,
     Kept::when_it_does_something, false},
    {Step::rolling, "rolling", rolling, Load::counted, Kept::when_the_load_falls, true, too_large_to_roll},
    {Step::reorder, "reorder", changing<Step::reorder, reorder>, Load::counted, Kept::when_it_does_something, true,
     too_large_to_reorder},
    {Step::recompute, "recompute", computing_again, Load::told, Kept::when_it_does_something, true},
    {Step::inplace, "inplace", sharing_bytes, Load::told, Kept::when_it_does_something, true}};

// Lists of steps are sorted as the enumerators are.
static_assert(std::ranges::is_sorted(passes, {}, &PassRow::step));

const PassRow& row_of(Step step) { return *std::ranges::find(passes, step, &PassRow::step); }

}  // namespace

std::string_view name_of(Step step) { return row_of(step).name; }

bool is_for_memory_alone(Step step) { return row_of(step).for_memory_alone; }

bool Options::asks_for(Step step) const { return std::ranges::find(steps, step) != steps.end(); }

std::optional<std::vector<Step>> parse_steps(std::string_view text, std::string* wrong) {
  if (text == "none") return std::vector<Step>();
  if (text == "all") return std::vector<Step>(std::begin(all_steps), std::end(all_steps));
  std::vector<Step> steps;
  for (const std::string& word : split(text, ',')) {
    const auto* const step = std::find_if(std::begin(all_steps), std::end(all_steps),
                                          [&](Step candidate) { return name_of(candidate) == word; });
    if (step == std::end(all_steps)) {
      if (wrong != nullptr) *wrong = word;
      return std::nullopt;
    }
    steps.push_back(*step);
  }
  std::sort(steps.begin(), steps.end());
  steps.erase(std::unique(steps.begin(), steps.end()), steps.end());
  return steps;
}

std::vector<Change> Result::changes() const {
  std::vector<Change> all;
  for (const StepResult& step : steps) all.insert(all.end(), step.changes.begin(), step.changes.end());
  return all;
}

std::vector<Step> passes_of(const Options& options) {
  std::vector<Step> asked;
  for (const PassRow& row : passes) {
    const bool is_asked = row.step == Step::recompute ? options.recompute_percent > 0 : options.asks_for(row.step);
    if (is_asked) asked.push_back(row.step);
  }
  const auto rolling = std::ranges::find(asked, Step::rolling);
  const auto reorder = std::ranges::find(asked, Step::reorder);
  if (options.reorder_first && rolling != asked.end() && reorder != asked.end()) std::iter_swap(rolling, reorder);
  return asked;
}

Result begin(tir::Module module) {
  Result program(std::move(module));
  program.load = peak_of(program.module()).load;
  return program;
}

Result apply(const Result& before, Step step, const Options& options) {
  const PassRow& row = row_of(step);
  Result program = before;
  auto too_large = row.too_large == nullptr ? std::nullopt : row.too_large(before.module());
  if (too_large) {
    program.steps.push_back({step, before.load, before.load, {}});
    program.steps.back().too_large = std::move(*too_large);
    return program;
  }
  auto result = row.pass(program, options);
  if (!result) return program;
  if (row.load == Load::counted && !result->changes.empty()) result->load_after = peak_of(program.module()).load;
  const bool may_stay = step == Step::rolling && options.rolling_room.has_value();
  const Bytes too_much = before.load + (may_stay ? 1 : 0);
  if (row.kept == Kept::when_the_load_falls && result->load_after >= too_much) {
    program.shared = before.shared;
    program.extra_work = before.extra_work;
    *result = {step, before.load, before.load, {}};
  }
  program.load = result->load_after;
  program.steps.push_back(std::move(*result));
  return program;
}

Result transform(const tir::Module& module, const Options& options) {
  if (options.steps.empty()) return Result(module);
  Result program = begin(module);
  for (const Step step : passes_of(options)) program = apply(program, step, options);
  return program;
}

}  // namespace usmp::transform
