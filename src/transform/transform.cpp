#include "usmp/transform/transform.hpp"

#include <algorithm>
#include <utility>

#include "transform/constants.hpp"
#include "transform/fuse.hpp"
#include "transform/inplace.hpp"
#include "transform/merge_calls.hpp"
#include "transform/narrow.hpp"
#include "transform/peak.hpp"
#include "transform/recompute.hpp"
#include "transform/reorder.hpp"
#include "transform/transpose_constants.hpp"
#include "usmp/liveness/distances.hpp"
#include "usmp/support/text.hpp"
#include "usmp/tir/verify.hpp"

namespace usmp::transform {
namespace {

// Returns what it did to the module.
using Pass = std::vector<Change> (*)(tir::Module& module, const Options& options);

struct StepRow {
  Step step;
  Pass pass;
  bool must_lower_load;  // or it is taken back
};

// A pass that asks nothing of the options.
template <std::vector<Change> (*pass)(tir::Module&)>
std::vector<Change> plain(tir::Module& module, const Options& /*options*/) {
  return pass(module);
}

// Narrow weights may want another order.
std::vector<Change> constants(tir::Module& module) {
  std::vector<Change> changes = shrink_constants(module);
  const std::vector<Change> turned = transpose_constants(module);
  changes.insert(changes.end(), turned.begin(), turned.end());
  return changes;
}

// In the order in which they run: operators are merged when tensors have got small and copies are gone.
constexpr StepRow passes[] = {{Step::fuse, plain<fuse>, false},
                              {Step::narrow, plain<narrow>, true},
                              {Step::merge, plain<merge_calls>, false},
                              {Step::constants, plain<constants>, false},
                              {Step::reorder, reorder, false}};

// In front of the notes of a step.
std::string note_prefix(Step step) { return std::string(name_of(step)) + ": "; }

// What was done to a function stands with it.
void add_notes(tir::Module& module, const StepResult& step) {
  const auto add = [&](const std::string& name, const std::string& text) {
    if (const auto function = module.find(name))
      module.functions[*function].notes.push_back(note_prefix(step.step) + text);
  };
  for (const Change& change : step.changes) {
    add(change.function, change.text);
    for (const Change::Note& note : change.notes) add(note.function, note.text);
  }
}

Bytes constant_bytes(const liveness::Analysis& analysis) {
  Bytes sum = 0;
  for (const liveness::Site& site : analysis.sites) {
    if (site.kind == BufferKind::constant && !site.live.empty()) sum += site.size;
  }
  return sum;
}

ConstantBytes constant_bytes(const tir::Module& before, const tir::Module& after) {
  liveness::Analysis shared = liveness::analyse(after);
  liveness::share_constants(shared, after);
  return {constant_bytes(liveness::analyse(before)), constant_bytes(shared)};
}

StepResult run(const StepRow& row, tir::Module& module, const Options& options, Bytes load) {
  tir::Module changed = module;
  StepResult result{row.step, load, load, row.pass(changed, options)};
  tir::check_pass(changed, name_of(row.step));
  if (row.step == Step::constants) result.constants = constant_bytes(module, changed);
  if (result.changes.empty()) return result;
  const Bytes after = peak_of(changed).load;
  if (row.must_lower_load && after >= load) return {row.step, load, load, {}};
  result.load_after = after;
  add_notes(changed, result);
  module = std::move(changed);
  return result;
}

}  // namespace

std::string_view name_of(Step step) {
  switch (step) {
    case Step::fuse:
      return "fuse";
    case Step::narrow:
      return "narrow";
    case Step::merge:
      return "merge";
    case Step::constants:
      return "constants";
    case Step::reorder:
      return "reorder";
    case Step::recompute:
      return "recompute";
    default:
      return "inplace";
  }
}

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

void drop_notes(tir::Function& function, Step step) {
  std::erase_if(function.notes, [&](const std::string& note) { return note.starts_with(note_prefix(step)); });
}

Result transform(const tir::Module& module, const Options& options) {
  Result result{module, {}};
  if (options.steps.empty()) return result;
  Bytes load = peak_of(module).load;
  for (const StepRow& row : passes) {
    if (!options.asks_for(row.step)) continue;
    result.steps.push_back(run(row, result.module, options, load));
    load = result.steps.back().load_after;
  }
  if (auto recomputed = recompute(result.module, options)) {
    load = recomputed->load_after;
    result.steps.push_back(std::move(*recomputed));
    add_notes(result.module, result.steps.back());
  }
  if (options.asks_for(Step::inplace)) {
    result.distances = liveness::find_distances(result.module, options.liveness);
    result.steps.push_back(describe_shared_bytes(result.module, result.distances, load));
    add_notes(result.module, result.steps.back());
  }
  return result;
}

}  // namespace usmp::transform
