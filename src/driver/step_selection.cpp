#include "step_selection.hpp"

#include <spdlog/spdlog.h>

#include <algorithm>
#include <utility>
#include <vector>

#include "usmp/assemble/assemble.hpp"
#include "usmp/planners/planner.hpp"

namespace usmp::driver {
namespace {

using transform::Step;
using transform::StepResult;

// Steps that are good for nothing but a smaller plan, those first that change most of the program.
constexpr Step only_for_memory[] = {Step::narrow, Step::merge, Step::reorder, Step::inplace};

// A search node takes time that grows with the square of the buffers; all of them some tenths of a second at most.
std::uint64_t nodes_for(const Problem& problem) {
  constexpr std::uint64_t work = 20'000'000;
  constexpr std::uint64_t least = 50;
  constexpr std::uint64_t most = 20'000;
  const std::uint64_t buffers = std::max<std::uint64_t>(problem.buffers.size(), 1);
  return std::clamp(work / buffers / buffers, least, most);
}

// A module with some of the steps, and what its plan costs.
struct Trial {
  AnalysedModule analysed;
  Transformations transformations;
  std::optional<Cost> cost = {};  // nothing: no plan was found
  bool proved = false;            // no plan of this program costs less
};

Trial trial_of(AnalysedModule analysed, Transformations transformations, const Settings& settings) {
  Trial trial{std::move(analysed), std::move(transformations)};
  const assemble::Assembly assembly =
      assemble::assemble(trial.analysed.module, trial.analysed.analysis, settings.pools);
  const PlanResult result = planners::optimal(assembly.problem, {.node_limit = nodes_for(assembly.problem)});
  if (!result.has_plan()) return trial;
  trial.cost = cost_of(assembly.problem, result.plan);
  trial.proved = result.status == PlanStatus::optimal;
  return trial;
}

// Buffers of one program may have more candidates than those of another.
Cost with_choices(Cost cost, std::size_t choices) {
  cost.spilled.resize(choices);
  return cost;
}

bool is_cheaper(const Trial& a, const Trial& b) {
  if (!a.cost || !b.cost) return a.cost.has_value();
  const std::size_t choices = std::max(a.cost->spilled.size(), b.cost->spilled.size());
  return with_choices(*a.cost, choices) < with_choices(*b.cost, choices);
}

// Whether nothing is lost with `without` instead of `with`.
bool serves_as_well(const Trial& without, const Trial& with) {
  if (is_cheaper(without, with)) return true;
  return with.proved && without.cost && !is_cheaper(with, without);
}

const StepResult* row_of(const AnalysedModule& analysed, Step step) {
  const auto found = std::ranges::find(analysed.transformed, step, &StepResult::step);
  return found == analysed.transformed.end() || found->changes.empty() ? nullptr : &*found;
}

class StepSelection {
 public:
  StepSelection(const AnalysedModule& original, const Model& model, const Settings& settings)
      : original_(original), model_(model), settings_(settings) {}

  AnalysedModule run() {
    const Transformations& asked = model_.transformations;
    Trial best = with({asked.steps, 0});
    for (const Step step : only_for_memory) leave_out_if_useless(best, step);
    if (asked.recompute_percent > 0) recompute_if_useful(best);
    for (const StepResult& row : left_out_) name_left_out(best.analysed.transformed, row);
    return std::move(best.analysed);
  }

 private:
  [[nodiscard]] Trial with(Transformations transformations) const {
    AnalysedModule analysed = original_;
    analyse_module(analysed, model_, transformations, settings_.workspace_io);
    return trial_of(std::move(analysed), std::move(transformations), settings_);
  }

  [[nodiscard]] Trial without(const Trial& trial, Step step) const {
    Transformations rest = trial.transformations;
    std::erase(rest.steps, step);
    if (step != Step::inplace) return with(std::move(rest));
    // The same program, of which less is known.
    AnalysedModule analysed = trial.analysed;
    analysed.analysis.distances.clear();
    std::erase_if(analysed.transformed, [](const StepResult& row) { return row.step == Step::inplace; });
    return trial_of(std::move(analysed), std::move(rest), settings_);
  }

  void leave_out_if_useless(Trial& best, Step step) {
    const StepResult* row = row_of(best.analysed, step);
    if (row == nullptr) return;
    Trial less = without(best, step);
    if (!serves_as_well(less, best)) return;
    spdlog::debug("module {}: {} is left out, the plan is as small without it", original_.info->name,
                  transform::name_of(step));
    left_out_.push_back(*row);
    best = std::move(less);
  }

  // With all steps that were asked for: what did not help before may help now.
  void recompute_if_useful(Trial& best) {
    Trial more = with(model_.transformations);
    const StepResult* row = row_of(more.analysed, Step::recompute);
    if (row == nullptr) return;
    if (!is_cheaper(more, best)) {
      left_out_.push_back(*row);
      return;
    }
    left_out_.clear();
    best = std::move(more);
    leave_out_if_useless(best, Step::inplace);
  }

  // The row stands where the step would have been applied.
  static void name_left_out(std::vector<StepResult>& rows, const StepResult& left_out) {
    StepResult row{left_out.step, left_out.load_before, left_out.load_before, {}};
    row.left_out = true;
    const auto next = std::ranges::find_if(rows, [&](const StepResult& other) { return other.step > row.step; });
    if (next != rows.begin()) {
      row.load_before = std::prev(next)->load_after;
    } else if (next != rows.end()) {
      row.load_before = next->load_before;
    }
    row.load_after = row.load_before;
    rows.insert(next, std::move(row));
  }

  const AnalysedModule& original_;
  const Model& model_;
  const Settings& settings_;
  std::vector<StepResult> left_out_;
};

}  // namespace

void analyse_with_useful_steps(AnalysedModule& analysed, const Model& model, const Settings& settings) {
  analysed = StepSelection(analysed, model, settings).run();
}

}  // namespace usmp::driver
