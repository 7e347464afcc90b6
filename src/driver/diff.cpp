// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// usmp-plan diff: what differs between two plans.
#include "usmp/report/diff.hpp"

#include <algorithm>
#include <filesystem>
#include <ostream>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "documents.hpp"
#include "file_kind.hpp"
#include "model.hpp"
#include "models.hpp"
#include "output_path.hpp"
#include "planning.hpp"
#include "run.hpp"
#include "tvm_plans.hpp"
#include "usmp/support/input_file.hpp"

namespace usmp::driver {
namespace {

using Documents = std::optional<std::vector<plan_file::PlanDocument>>;

Documents documents_of(const std::string& path, PlanningOptions planning, std::ostream& err) {
  if (is_plan_file(path)) return read_plan_file(path);
  planning.model.model = path;
  return plan_model(planning, err);
}

// OLD is one model; a name is its, or that of one of NEW.
PlanningOptions planning_of_before(const DiffOptions& options) {
  PlanningOptions planning = options;
  planning.more_models.clear();
  std::erase_if(planning.names, [&](const std::string& name) { return !name.ends_with("=" + options.before); });
  return planning;
}

PlanningOptions planning_of_after(const DiffOptions& options) {
  PlanningOptions planning = options;
  planning.model.model = options.after;
  const std::vector<std::string> paths = models_and(planning, {});
  if (std::ranges::find(paths, options.before) == paths.end()) {
    std::erase_if(planning.names, [&](const std::string& name) { return name.ends_with("=" + options.before); });
  }
  const auto plan = std::ranges::find_if(paths, is_plan_file);
  if (paths.size() > 1 && plan != paths.end()) {
    throw Error(ErrorKind::usage, {*plan, {}, {}}, "is a plan, expected one plan or only models as NEW");
  }
  return planning;
}

// Those that `shown`, the output, does not have: each once. Nobody asked for those of a plan file.
void print_other_warnings(const std::string& path, std::vector<plan_file::PlanDocument> plans,
                          std::set<std::string>& shown, std::ostream& err) {
  if (is_plan_file(path)) return;
  for (plan_file::PlanDocument& plan : plans) {
    std::erase_if(plan.warnings, [&](const std::string& warning) { return !shown.insert(warning).second; });
    print_warnings(plan, err);
  }
}

// The file names, with as many directories in front as tell them apart. Nothing does that for two sides of one model.
std::pair<std::string, std::string> names_apart(const std::string& before, const std::string& after) {
  namespace fs = std::filesystem;
  fs::path one = fs::path(before).lexically_normal();
  fs::path other = fs::path(after).lexically_normal();
  fs::path one_name = name_of_model(before);
  fs::path other_name = name_of_model(after);
  if (one == other || names_open_file(before)) return {one_name.string(), other_name.string()};
  while (one_name == other_name && one.has_relative_path() && other.has_relative_path()) {
    one = one.parent_path();
    other = other.parent_path();
    if (one.filename().empty() || other.filename().empty()) return {before, after};
    one_name = one.filename() / one_name;
    other_name = other.filename() / other_name;
  }
  return {one_name.string(), other_name.string()};
}

std::string text_of(const compare::Diff& diff, const report::DiffPlans& plans, const DiffOptions& options) {
  switch (options.format) {
    case DiffFormat::text:
      if (options.verbosity == Verbosity::quiet) return {};
      return report::diff_text(diff, {.color = options.color, .verbose = options.verbosity == Verbosity::verbose});
    case DiffFormat::markdown:
      return report::diff_markdown(diff);
    case DiffFormat::json:
      return report::diff_json(diff);
    case DiffFormat::csv:
      return report::diff_csv(diff);
    case DiffFormat::svg:
      return report::diff_svg(diff, plans);
    case DiffFormat::html:
      return report::diff_html(diff, plans);
  }
  return {};
}

int diff_or_throw(const DiffOptions& options, std::ostream& out, std::ostream& err) {
  if (options.before == options.after && is_open_pipe(options.before)) {
    throw Error(ErrorKind::usage, {options.before, {}, {}}, "is a pipe, which can be one side only");
  }
  if (options.tvm_plan && is_plan_file(options.before)) {
    throw Error(ErrorKind::usage, {options.before, {}, {}}, "is a plan: --tvm-plan asks for a model that TVM planned");
  }
  if ((options.tvm_plan || is_plan_file(options.before)) && is_plan_file(options.after)) {
    require_no_planning_options(options, {}, "both sides are plans");
  }
  const PlanningOptions planning = planning_of_after(options);
  const Documents before = options.tvm_plan ? tvm_documents(options.before, options.model)
                                            : documents_of(options.before, planning_of_before(options), err);
  if (!before) return exit_infeasible;
  const Documents after = documents_of(options.after, planning, err);
  if (!after) return exit_infeasible;
  auto [name_before, name_after] = names_apart(options.before, options.after);
  for (const std::string& path : options.more_models) name_after += ", " + name_of_model(path);
  const compare::Diff diff = compare::diff_modules(*before, *after, name_before, name_after);
  const std::string text = text_of(diff, {*before, *after}, options);
  std::set<std::string> shown;
  for (const compare::PlanDiff& module : diff.modules) {
    const bool has_warnings = options.format != DiffFormat::csv && options.format != DiffFormat::svg;
    if (!text.empty() && has_warnings) shown.insert(module.warnings.begin(), module.warnings.end());
  }
  print_other_warnings(options.before, *before, shown, err);
  print_other_warnings(options.after, *after, shown, err);
  out << text;
  return diff.differs() && !was_interrupted() ? exit_different : exit_ok;
}

}  // namespace

int diff(const DiffOptions& options, std::ostream& out, std::ostream& err) {
  return run(err, [&] { return diff_or_throw(options, out, err); });
}

}  // namespace usmp::driver
