#include "step_selection.hpp"

#include <spdlog/spdlog.h>

#include <algorithm>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
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

// What a plan needs, in terms that mean the same of two programs.
struct Need {
  std::vector<Bytes> spilled;         // Cost::spilled
  std::map<std::string, Bytes> used;  // by pool; pools that only one of the programs has are empty in the other
};

Need need_of(const Problem& problem, const Cost& cost) {
  Need need{cost.spilled, {}};
  for (std::size_t i = 0; i < problem.pools.size(); ++i) need.used[problem.pools[i].name] = cost.used[i];
  return need;
}

// Whether nothing of `a` is more than of `b`.
bool is_within(const Need& a, const Need& b) {
  for (std::size_t r = 0; r < a.spilled.size(); ++r) {
    if (a.spilled[r] > (r < b.spilled.size() ? b.spilled[r] : 0)) return false;
  }
  return std::ranges::all_of(a.used, [&](const auto& pool) {
    const auto found = b.used.find(pool.first);
    return pool.second <= (found == b.used.end() ? 0 : found->second);
  });
}

// A module with some of the steps, and what its plans need.
struct Trial {
  AnalysedModule analysed;
  Transformations transformations;
  std::optional<Need> plan = {};   // of the best one found; nothing: none was
  std::optional<Need> bound = {};  // no plan of this program needs less
};

assemble::Assembly assembly_of(const AnalysedModule& analysed, const Settings& settings) {
  return assemble::assemble(analysed.module, analysed.analysis, settings.pools);
}

Trial trial_of(AnalysedModule analysed, Transformations transformations, const assemble::Assembly& assembly) {
  Trial trial{std::move(analysed), std::move(transformations)};
  const PlanResult result = planners::optimal(assembly.problem, {.node_limit = nodes_for(assembly.problem)});
  if (!result.has_plan()) return trial;
  trial.plan = need_of(assembly.problem, cost_of(assembly.problem, result.plan));
  if (result.bound) trial.bound = need_of(assembly.problem, *result.bound);
  return trial;
}

// Whether no plan of `other` is better than the one found of `trial`.
bool is_as_good(const Trial& trial, const Trial& other) {
  return trial.plan && (!other.plan || (other.bound && is_within(*trial.plan, *other.bound)));
}

bool is_optional(Step step) { return std::ranges::count(only_for_memory, step) > 0; }

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
    AnalysedModule analysed = with({asked.steps, 0});
    const bool has_choice =
        asked.recompute_percent > 0 || std::ranges::any_of(analysed.transformed, [](const StepResult& row) {
          return is_optional(row.step) && !row.changes.empty();
        });
    if (!has_choice) return analysed;
    const assemble::Assembly assembly = assembly_of(analysed, settings_);
    Trial best = trial_of(std::move(analysed), {asked.steps, 0}, assembly);
    for (const Step step : only_for_memory) leave_out_if_useless(best, step);
    if (asked.recompute_percent > 0) recompute_if_useful(best);
    for (const StepResult& row : left_out_) name_left_out(best.analysed.transformed, row);
    return std::move(best.analysed);
  }

 private:
  [[nodiscard]] AnalysedModule with(const Transformations& transformations) const {
    AnalysedModule analysed = original_;
    analyse_module(analysed, model_, transformations, settings_.workspace_io);
    return analysed;
  }

  // Nothing: that program is too large to be analysed, or has a buffer that the pools have no place for, and nobody
  // asked for it.
  [[nodiscard]] std::optional<Trial> trial_with(const Transformations& transformations) const {
    AnalysedModule analysed;
    try {
      analysed = with(transformations);
    } catch (const Error& error) {
      if (error.kind() != ErrorKind::too_large) throw;
      return std::nullopt;
    }
    assemble::Assembly assembly;
    try {
      assembly = assembly_of(analysed, settings_);
    } catch (const Error&) {  // of a buffer and the pools that it may have
      return std::nullopt;
    }
    return trial_of(std::move(analysed), transformations, assembly);
  }

  [[nodiscard]] std::optional<Trial> without(const Trial& trial, Step step) const {
    Transformations rest = trial.transformations;
    std::erase(rest.steps, step);
    if (step != Step::inplace) return trial_with(rest);
    // The same program, of which less is known.
    AnalysedModule analysed = trial.analysed;
    analysed.analysis.distances.clear();
    std::erase_if(analysed.transformed, [](const StepResult& row) { return row.step == Step::inplace; });
    for (tir::Function& function : analysed.module.functions) transform::drop_notes(function, Step::inplace);
    const assemble::Assembly assembly = assembly_of(analysed, settings_);
    return trial_of(std::move(analysed), std::move(rest), assembly);
  }

  void leave_out_if_useless(Trial& best, Step step) {
    const StepResult* row = row_of(best.analysed, step);
    if (row == nullptr) return;
    std::optional<Trial> less = without(best, step);
    if (!less || !is_as_good(*less, best)) return;
    spdlog::debug("module {}: {} is left out, the plan is as small without it", original_.info->name,
                  transform::name_of(step));
    left_out_.push_back(*row);
    best = std::move(*less);
  }

  // With all steps that were asked for: what did not help before may help now.
  void recompute_if_useful(Trial& best) {
    std::optional<Trial> more = trial_with(model_.transformations);
    if (!more) return;
    const StepResult* row = row_of(more->analysed, Step::recompute);
    if (row == nullptr) return;
    const bool is_smaller =
        more->plan && (!best.plan || (is_within(*more->plan, *best.plan) && !is_within(*best.plan, *more->plan)));
    if (!is_smaller) {
      left_out_.push_back(*row);
      return;
    }
    left_out_.clear();
    best = std::move(*more);
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
