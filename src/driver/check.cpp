// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// usmp-plan check: plans a model and holds each pool to its budget.
#include <algorithm>
#include <charconv>
#include <set>
#include <string_view>
#include <utility>

#include "advice.hpp"
#include "algorithm.hpp"
#include "documents.hpp"
#include "model.hpp"
#include "models.hpp"
#include "output.hpp"
#include "output_path.hpp"
#include "planning.hpp"
#include "run.hpp"
#include "usmp/report/check.hpp"
#include "usmp/support/message.hpp"
#include "usmp/support/printable.hpp"

namespace usmp::driver {
namespace {

using Documents = std::optional<std::vector<plan_file::PlanDocument>>;

Documents read_baselines(const std::vector<std::string>& files) {
  if (files.empty()) return std::nullopt;
  Documents all(std::in_place);
  std::set<std::pair<std::string, std::string>> modules;
  for (const std::string& file : files) {
    for (plan_file::PlanDocument& document : read_plan_file(file)) {
      if (!modules.emplace(document.module, document.archive).second) {
        throw Error(ErrorKind::usage, {file, {}, {}}, "a second plan of module '" + document.module + "'");
      }
      all->push_back(std::move(document));
    }
  }
  return all;
}

compare::PlanningOutcome outcome_of(const pipeline::PlannedProgram& planned, const Planning& planning) {
  const Settings& settings = planning.settings;
  compare::PlanningOutcome outcome;
  outcome.module = planned.source.info.name;
  outcome.archive = planning.model_of(planned).file_name;
  outcome.algorithm = settings.algorithm.name;
  if (planned.result.has_plan()) {
    outcome.plan = planned.document;
    return outcome;
  }
  outcome.no_plan = no_plan_text(planned.result, planned.needed, settings.algorithm);
  outcome.needed = planned.needed;
  return outcome;
}

compare::BudgetReport checked(const Planning& planning, const Documents& baseline, bool strict) {
  std::vector<compare::PlanningOutcome> outcomes;
  for (const auto& planned : planning.modules) outcomes.push_back(outcome_of(*planned, planning));
  compare::BudgetReport report = compare::check_budgets(planning.settings.request.pools, outcomes, baseline);
  report.archive = planning.file_names();
  report.pools_file = *planning.settings.pools_file;
  if (strict) compare::make_strict(report);
  return report;
}

std::string text_of(const compare::BudgetReport& report, const CheckOptions& options) {
  if (options.model.json) return report::check_json(report);
  const std::string text =
      report::check_text(report, {.color = options.color, .quiet = options.verbosity == Verbosity::quiet});
  return options.github ? text + report::check_github(report) : text;
}

// Reads "line 4, column 5", as the pools file's reader says it.
config::Position position_of(const std::string& place) {
  config::Position position;
  const std::string_view line = "line ";
  const std::string_view column = ", column ";
  if (!place.starts_with(line)) return position;
  const char* end = place.data() + place.size();
  const auto [behind, error] = std::from_chars(place.data() + line.size(), end, position.line);
  if (error != std::errc{} || !std::string_view(behind, end).starts_with(column)) return {};
  if (std::from_chars(behind + column.size(), end, position.column).ec != std::errc{}) return {};
  return position;
}

// What waits for a report gets one, too, when there is no result.
void report_failure(const Error& error, const CheckOptions& options, std::ostream& out, std::ostream& err) {
  const report::CheckFailure failure{.message = error.what(),
                                     .file = error.where().file,
                                     .position = position_of(error.where().place),
                                     .exit_code = exit_code(error.kind())};
  std::ostream& told = stream_beside(options.junit, out, err);
  if (options.model.json) told << report::check_json(failure);
  if (options.github) told << report::check_github(failure);
  try {
    if (options.junit) write_file(*options.junit, report::check_junit(failure));
    if (options.step_summary) append_file(*options.step_summary, report::check_markdown(failure) + "\n");
  } catch (const Error& second) {
    tell(err, second);
  }
}

int check_models(const CheckOptions& options, std::ostream& out, std::ostream& err) {
  const Documents baseline = read_baselines(options.baselines);
  Planning planning = assemble_all(options, true, options.progress ? &err : nullptr);
  check_concurrent(planning);
  if (!compare::has_limits(planning.settings.request.pools)) {
    throw Error(ErrorKind::usage, {*options.pools_file, {}, {}},
                "no pool has a budget or a size: expected something to check (docs/pools.md)");
  }
  planning.tells_regions = false;  // they are checked
  plan_all(planning, options, options.progress ? &err : nullptr);
  if (planning.without_plan() == nullptr) require_apart(planning);
  compare::BudgetReport report = checked(planning, baseline, options.strict);
  if (compare::may_be_helped(report) && !was_interrupted()) {
    try_options(options, planning.settings.request.workspace_io, all_attempts, options.progress ? &err : nullptr,
                [&](const std::string& words, const Planning& other) {
                  auto advice = compare::advice_of(report, checked(other, baseline, options.strict), words);
                  const bool is_new =
                      advice && std::ranges::none_of(report.advice, [&](const compare::Advice& earlier) {
                        return earlier.verdict == advice->verdict && earlier.figures == advice->figures;
                      });
                  if (is_new) report.advice.push_back(*std::move(advice));
                });
  }
  const std::string text = text_of(report, options);  // takes memory, so before anything is written
  if (options.junit) write_file(*options.junit, report::check_junit(report));
  if (options.step_summary) append_file(*options.step_summary, report::check_markdown(report) + "\n");
  stream_beside(options.junit, out, err) << text;
  const bool is_told = !options.model.json && std::ranges::all_of(planning.modules, [](const auto& planned) {
    return planned->needed.fits_with.empty();  // which findings do not say
  });
  if (planning.without_plan() != nullptr) {
    if (!is_told) return report_infeasible(planning, err);
    tell_joint_sizes(planning, err);
    return exit_infeasible;
  }
  if (!pools_have_room(planning, err)) return exit_infeasible;
  return report.verdict() == compare::Verdict::breach && !was_interrupted() ? exit_breach : exit_ok;
}

int check_or_throw(const CheckOptions& options, std::ostream& out, std::ostream& err) {
  if (!options.pools_file) throw Error(ErrorKind::usage, {}, "check needs a pools file with budgets (--pools)");
  if (options.junit) check_output_path("--junit", *options.junit, inputs_of(options, options.baselines));
  if (options.junit && options.step_summary)
    require_different_outputs("--junit", *options.junit, "GITHUB_STEP_SUMMARY", *options.step_summary);
  if (options.step_summary) require_appendable(*options.step_summary);
  try {
    return check_models(options, out, err);
  } catch (const Error& error) {
    if (error.kind() != ErrorKind::output) report_failure(error, options, out, err);
    throw;
  }
}

}  // namespace

int check(const CheckOptions& options, std::ostream& out, std::ostream& err) {
  return run(err, [&] { return check_or_throw(options, out, err); });
}

}  // namespace usmp::driver
