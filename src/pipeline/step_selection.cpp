// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// Which of the transformations that were asked for a module is planned with.
#include <algorithm>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "pipeline/analyse.hpp"
#include "usmp/assemble/assemble.hpp"
#include "usmp/pipeline/program.hpp"
#include "usmp/planners/planner.hpp"
#include "usmp/support/error.hpp"
#include "usmp/tir/visit.hpp"

namespace usmp::pipeline {
namespace {

using transform::Step;
using transform::StepResult;

// A search node takes time that grows with the square of the buffers; all of them some tenths of a second at most.
std::uint64_t nodes_for(const Problem& problem) {
  constexpr std::uint64_t work = 20'000'000;
  constexpr std::uint64_t least = 50;
  constexpr std::uint64_t most = 20'000;
  const std::uint64_t buffers = std::max<std::uint64_t>(problem.buffers.size(), 1);
  return std::clamp(work / buffers / buffers, least, most);
}

// Tensors, constants and calls of a program whose steps are tried one by one; of a larger one, all are kept.
constexpr std::size_t most_parts = 8000;

std::size_t parts_of(const tir::Module& module) {
  std::size_t parts = 0;
  for (const tir::Function& function : module.functions) {
    tir::for_each_stmt(function.body, [&](const tir::Stmt& stmt) {
      const bool is_part = std::holds_alternative<tir::Allocate>(stmt.node) ||
                           std::holds_alternative<tir::AllocateConst>(stmt.node) ||
                           std::holds_alternative<tir::Evaluate>(stmt.node);
      if (is_part) ++parts;
    });
  }
  return parts;
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

Bytes sum_of(const std::map<std::string, Bytes>& used) {
  Bytes sum = 0;
  for (const auto& [pool, bytes] : used) sum += bytes;
  return sum;
}

// Whether a plan with `a` is better than one with `b`, and takes no more of all pools together: what the choice of
// pools costs decides, then their sizes.
bool is_better(const Need& a, const Need& b) {
  if (sum_of(a.used) > sum_of(b.used)) return false;
  const auto spilled =
      std::lexicographical_compare_three_way(a.spilled.begin(), a.spilled.end(), b.spilled.begin(), b.spilled.end());
  return spilled == std::strong_ordering::equal ? is_within(a, b) && !is_within(b, a)
                                                : spilled == std::strong_ordering::less;
}

// The program as it was between passes: before the first one, and behind each. Programs with the same passes in front
// share what these made.
struct Passed {
  std::vector<Step> steps;
  std::vector<std::shared_ptr<const transform::Result>> programs;  // one more than steps
  std::int64_t strip_percent = 0;
  std::optional<Bytes> rolling_room = {};
};

// A program with some of the passes, and what its plans need.
struct Trial {
  Program program;
  Transformations transformations;
  Passed passed;
  std::optional<Need> plan = {};   // of the best one found; nothing: none was
  std::optional<Need> bound = {};  // no plan of this program needs less
};

// Whether no plan of `other` is better than the one found of `trial`.
bool is_as_good(const Trial& trial, const Trial& other) {
  return trial.plan && (!other.plan || (other.bound && is_within(*trial.plan, *other.bound)));
}

// Those that are good for nothing but a smaller plan and are tried one by one, those first that change most of the
// program. Computing more than once is tried when these are settled.
std::vector<Step> optional_steps(const Transformations& transformations) {
  std::vector<Step> steps;
  std::ranges::copy_if(transformations.steps, std::back_inserter(steps), transform::is_for_memory_alone);
  return steps;
}

// What rolling says it did: programs of which it says the same are the same.
std::vector<std::string> chains_of(const transform::Result& program) {
  std::vector<std::string> texts;
  for (const transform::Change& change : program.changes()) {
    if (change.step == Step::rolling) texts.push_back(change.text);
  }
  return texts;
}

const StepResult* row_of(const Program& program, Step step) {
  const auto found = std::ranges::find(program.transformed, step, &StepResult::step);
  return found == program.transformed.end() || found->changes.empty() ? nullptr : &*found;
}

class StepSelection {
 public:
  StepSelection(const SourceModule& source, const Transformations& asked, const Request& request,
                std::vector<Problem>* tried)
      : source_(source),
        asked_(asked),
        request_(request),
        tried_(tried),
        is_small_(parts_of(source.module) <= most_parts) {}

  Program run() {
    const std::vector<Step> optional = optional_steps(asked_);
    if (asked_.steps.empty()) return transformed(source_, asked_, request_.workspace_io);
    Transformations within_no_work = asked_;
    within_no_work.recompute_percent = 0;
    Trial best = with(within_no_work, {});
    const bool has_choice =
        tries_other_programs() ||
        (is_small_ && std::ranges::any_of(optional, [&](Step step) { return row_of(best.program, step) != nullptr; }));
    note_interruption(best);
    if (!has_choice || best.program.cut_short) return std::move(best.program);
    if (asked_.recompute_percent > 0) all_ = best.passed;
    plan(best);
    roll_into_room(best);
    if (is_small_) {
      reorder_first(best);
      for (const Step step : optional) leave_out_if_useless(best, step);
    }
    take_what_fits(best, optional);
    if (asked_.recompute_percent > 0) recompute_if_useful(best);
    note_interruption(best);
    for (const StepResult& row : left_out_) name_left_out(best.program.transformed, row);
    return std::move(best.program);
  }

 private:
  void note_interruption(Trial& trial) const {
    if (!request_.watch.is_interrupted()) return;
    trial.program.cut_short = {trial.transformations, trial.passed.programs.size() - 1};
  }

  // Whatever the size of the program.
  [[nodiscard]] bool tries_other_programs() const { return asked_.recompute_percent > 0 || room().has_value(); }

  [[nodiscard]] transform::Options options_of(const Transformations& transformations) const {
    transform::Options options = pass_options(source_, transformations, request_.workspace_io);
    options.liveness.memo = memo_;
    return options;
  }

  // `known`: what other transformations have made of the source; passes that these have in front are not run again.
  // Interrupted, it leaves out the passes that have not begun.
  [[nodiscard]] Trial with(const Transformations& transformations, const Passed& known) const {
    try {
      const transform::Options options = options_of(transformations);
      const std::vector<Step> steps = transform::passes_of(options);
      Passed passed;
      auto differ = std::ranges::mismatch(steps, known.steps).in1;
      if (options.strip_percent != known.strip_percent || options.rolling_room != known.rolling_room) {
        differ = std::min(differ, std::ranges::find(steps, Step::rolling));
      }
      passed.strip_percent = options.strip_percent;
      passed.rolling_room = options.rolling_room;
      const auto same = static_cast<std::size_t>(differ - steps.begin());
      passed.steps = steps;
      if (known.programs.empty()) {
        passed.programs.push_back(
            std::make_shared<transform::Result>(transform::begin(module_of(source_, transformations))));
      } else {
        passed.programs.assign(known.programs.begin(), known.programs.begin() + static_cast<std::ptrdiff_t>(same) + 1);
      }
      for (std::size_t i = same; i < steps.size() && !request_.watch.is_interrupted(); ++i) {
        run_pass(passed, steps[i], options, transformations);
        if (!is_small_ && !tries_other_programs()) passed.programs[i].reset();  // nobody goes on from it
      }
      Program program = analysed(source_, *passed.programs.back(), options, transformations);
      return {.program = std::move(program), .transformations = transformations, .passed = std::move(passed)};
    } catch (const Error& error) {
      throw error.with_member(source_.info.tir_member);
    }
  }

  // The first `count` passes, and `step`.
  [[nodiscard]] Passed passed_with(const Passed& known, std::ptrdiff_t count, Step step,
                                   const Transformations& transformations) const {
    const transform::Options options = options_of(transformations);
    Passed passed{.steps = {known.steps.begin(), known.steps.begin() + count},
                  .programs = {known.programs.begin(), known.programs.begin() + count + 1},
                  .strip_percent = options.strip_percent,
                  .rolling_room = options.rolling_room};
    passed.steps.push_back(step);
    run_pass(passed, step, options, transformations);
    return passed;
  }

  void run_pass(Passed& passed, Step step, const transform::Options& options,
                const Transformations& transformations) const {
    tell(step, transformations);
    passed.programs.push_back(
        std::make_shared<transform::Result>(transform::apply(*passed.programs.back(), step, options)));
  }

  // Names what is left out of that: "module default: transformations, rolling (without narrow)".
  void tell(Step step, const Transformations& transformations) const {
    if (!request_.watch.tell) return;
    std::string text = "module " + source_.info.name + ": transformations, " + std::string(transform::name_of(step));
    for (const Step asked : asked_.steps) {
      const bool is_left_out = std::ranges::find(transformations.steps, asked) == transformations.steps.end();
      if (is_left_out) text += " (without " + std::string(transform::name_of(asked)) + ")";
    }
    request_.watch.tell(text);
  }

  void plan(Trial& trial) const { plan(trial, assembled(trial.program, request_)); }

  void plan(Trial& trial, const assemble::Assembly& assembly) const {
    if (tried_ != nullptr) tried_->push_back(assembly.problem);
    const PlanResult result = planners::optimal(
        assembly.problem, {.node_limit = nodes_for(assembly.problem), .interrupted = request_.watch.interrupted});
    if (!result.has_plan()) return;
    trial.plan = need_of(assembly.problem, cost_of(assembly.problem, result.plan));
    if (result.bound) trial.bound = need_of(assembly.problem, *result.bound);
  }

  // Nothing: that program is too large to be analysed, or has a buffer that the pools have no place for, and nobody
  // asked for it; or the trials were interrupted.
  [[nodiscard]] std::optional<Trial> planned_with(const Transformations& transformations, const Passed& known) const {
    std::optional<Trial> trial;
    if (request_.watch.is_interrupted()) return std::nullopt;
    try {
      trial = with(transformations, known);
    } catch (const Error& error) {
      if (error.kind() != ErrorKind::too_large) throw;
      return std::nullopt;
    }
    assemble::Assembly assembly;
    try {
      assembly = assembled(trial->program, request_);
    } catch (const Error&) {  // of a buffer and the pools that it may have
      return std::nullopt;
    }
    plan(*trial, assembly);
    if (request_.watch.is_interrupted()) return std::nullopt;
    return trial;
  }

  // Whether a buffer alone takes more than no plan of `best` needs less than, in each pool that it may be in. Of the
  // steps behind rolling, reorder and inplace leave the buffers as they are, and need not be tried to know.
  [[nodiscard]] bool has_too_large_a_buffer(const Transformations& without_rolling, const Trial& best) const {
    if (!best.plan || !best.bound || without_rolling.recompute_percent > 0) return false;
    Transformations in_front = without_rolling;
    std::erase_if(in_front.steps, [](Step step) { return step > Step::rolling; });
    try {
      const Problem problem = assembled(with(in_front, best.passed).program, request_).problem;
      return std::ranges::any_of(problem.buffers, [&](const Buffer& buffer) {
        return std::ranges::all_of(buffer.candidates, [&](PoolId pool) {
          const auto bound = best.bound->used.find(problem.pool(pool).name);
          return buffer.size > (bound == best.bound->used.end() ? 0 : bound->second);
        });
      });
    } catch (const Error&) {  // the trial says what it means
      return false;
    }
  }

  void leave_out_if_useless(Trial& best, Step step) {
    const StepResult* row = row_of(best.program, step);
    if (row == nullptr) return;
    Transformations rest = best.transformations;
    std::erase(rest.steps, step);
    if (step == Step::rolling && has_too_large_a_buffer(rest, best)) return;
    std::optional<Trial> less = planned_with(rest, best.passed);
    if (!less || !is_as_good(*less, best)) return;
    if (request_.log) {
      request_.log("module " + source_.info.name + ": " + std::string(transform::name_of(step)) +
                   " is left out, the plan is as small without it");
    }
    left_out_.push_back(*row);
    best = std::move(*less);
  }

  static void take_if_better(Trial& best, std::optional<Trial> other) {
    if (!other || !other->plan) return;
    if (!best.plan || is_better(*other->plan, *best.plan)) best = std::move(*other);
  }

  // What the first pool has room for, if that is bounded and rolling is asked for.
  [[nodiscard]] std::optional<Bytes> room() const {
    if (std::ranges::find(asked_.steps, Step::rolling) == asked_.steps.end()) return std::nullopt;
    const config::PoolSpec& first = request_.pools.workspace_pools.front();
    const auto wanted = request_.capacities.find(first.name);
    const std::optional<Bytes> size = wanted == request_.capacities.end() ? first.size_hint : wanted->second;
    if (!size) return std::nullopt;
    return std::max<Bytes>(0, *size - first.reserved);
  }

  // Where not all of a plan is in the first pool, or there is none: chains that leave less outside of it, or of a part
  // of it, as what little is too much for all of it may be in large buffers.
  void roll_into_room(Trial& best) {
    const Passed whole = best.passed;
    Transformations transformations = best.transformations;
    const auto rolling = std::ranges::find(whole.steps, Step::rolling) - whole.steps.begin();
    const auto behind = static_cast<std::size_t>(rolling) + 1;
    if (!room() || whole.programs.size() <= behind) return;
    std::set<std::vector<std::string>> tried = {chains_of(*whole.programs[behind])};
    for (const Bytes quarters : {4, 3, 2, 1, 0}) {
      const bool is_inside =
          best.plan && std::ranges::all_of(best.plan->spilled, [](Bytes bytes) { return bytes == 0; });
      if (is_inside || request_.watch.is_interrupted()) return;
      transformations.rolling_room = *room() * quarters / 4;
      const Passed passed = passed_with(whole, rolling, Step::rolling, transformations);
      if (!tried.insert(chains_of(*passed.programs.back())).second) continue;
      take_if_better(best, planned_with(transformations, passed));
    }
  }

  // Where there is no plan yet: such chains of calls in another order, and steps left out together with rolling.
  void take_what_fits(Trial& best, const std::vector<Step>& optional) {
    if (best.plan || !room()) return;
    const Transformations all = best.transformations;
    for (const Bytes part_of_room : {*room(), Bytes{0}}) {
      Trial rolled = best;
      rolled.transformations.rolling_room = part_of_room;
      reorder_first(rolled);
      take_if_better(best, std::move(rolled));
      if (best.plan) return;
    }
    for (const Step step : optional) {
      if (step == Step::rolling || row_of(best.program, step) == nullptr) continue;
      Transformations rest = all;
      std::erase_if(rest.steps, [&](Step other) { return other == step || other == Step::rolling; });
      take_if_better(best, planned_with(rest, best.passed));
      if (best.plan) return;
    }
  }

  // Chains are of consecutive calls: another order of the calls gives others.
  void reorder_first(Trial& best) {
    Transformations transformations = best.transformations;
    transformations.reorder_first = true;
    const transform::Options options = options_of(transformations);
    const std::vector<Step>& steps = best.passed.steps;
    const auto rolling = std::ranges::find(steps, Step::rolling);
    if (rolling == steps.end() || !options.asks_for(Step::reorder) || request_.watch.is_interrupted()) return;
    const Passed known = passed_with(best.passed, rolling - steps.begin(), Step::reorder, transformations);
    if (known.programs.back()->steps.back().changes.empty()) return;
    take_if_better(best, planned_with(transformations, known));
  }

  // With all steps that were asked for: what did not help before may help now. Also without rolling where it was left
  // out, as nothing is computed again in chains; where no plan fits yet, with chains that leave less outside of the
  // first pool; and with strips, within less work, too: the plan may be as small.
  void recompute_if_useful(Trial& best) {
    Transformations all = asked_;
    all.reorder_first = best.transformations.reorder_first;
    all.rolling_room = best.transformations.rolling_room;
    const std::vector<Step>& kept = best.transformations.steps;
    const bool rolls = std::ranges::find(kept, Step::rolling) != kept.end();
    bool is_useful = recompute_if_useful(best, all, true);
    if (!rolls) {
      Transformations whole = all;
      std::erase(whole.steps, Step::rolling);
      is_useful = recompute_if_useful(best, whole, false) || is_useful;
    }
    for (const std::optional<Bytes> room_of_chains : {room(), std::optional<Bytes>(0)}) {
      if (best.plan || !room()) break;
      Transformations into_room = all;
      into_room.rolling_room = room_of_chains;
      is_useful = recompute_if_useful(best, into_room, false) || is_useful;
    }
    constexpr int most_strips = 6;
    all.rolling_room.reset();
    all.strip_percent = asked_.recompute_percent;
    for (int i = 0; i < most_strips && all.strip_percent > 0; ++i) {
      is_useful = recompute_if_useful(best, all, false) || is_useful;
      all.strip_percent = all.strip_percent * 3 / 4;
    }
    if (is_useful) leave_out_if_useless(best, Step::inplace);
  }

  // `is_named`: what it would have done is listed as left out.
  bool recompute_if_useful(Trial& best, const Transformations& transformations, bool is_named) {
    const std::optional<Trial> more = planned_with(transformations, all_);
    if (!more) return false;
    const StepResult* row = row_of(more->program, transformations.strip_percent > 0 ? Step::rolling : Step::recompute);
    if (row == nullptr) return false;
    const bool is_no_larger = more->plan && (!best.plan || is_within(*more->plan, *best.plan));
    const bool is_smaller = is_no_larger && (!best.plan || !is_within(*best.plan, *more->plan));
    if (!is_smaller && !(is_no_larger && extra_work(*more) < extra_work(best))) {
      if (is_named) left_out_.push_back(*row);
      return false;
    }
    std::erase_if(left_out_, [&](const StepResult& left) {
      return left.step == Step::recompute ||
             std::ranges::find(transformations.steps, left.step) != transformations.steps.end();
    });
    best = *more;
    return true;
  }

  // In thousandths.
  static std::int64_t extra_work(const Trial& trial) {
    std::int64_t sum = 0;
    for (const StepResult& step : trial.program.transformed) sum += step.extra_work_permille.value_or(0);
    return sum;
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

  const SourceModule& source_;
  const Transformations& asked_;
  const Request& request_;
  std::vector<Problem>* tried_;
  const bool is_small_;
  std::shared_ptr<liveness::FootprintMemo> memo_ = liveness::make_footprint_memo();  // of all programs tried
  Passed all_;  // with all steps asked for, kept for recomputing
  std::vector<StepResult> left_out_;
};

}  // namespace

Program with_useful_steps(const SourceModule& source, const Transformations& transformations, const Request& request,
                          std::vector<Problem>* tried) {
  return StepSelection(source, transformations, request, tried).run();
}

}  // namespace usmp::pipeline
