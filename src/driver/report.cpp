// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// usmp-plan report: one plan, of a file or of a model that is planned for it, for people, programs and pages.
#include "usmp/report/report.hpp"

#include <algorithm>
#include <ostream>
#include <utility>

#include "documents.hpp"
#include "models.hpp"
#include "output.hpp"
#include "output_path.hpp"
#include "plan_check.hpp"
#include "planning.hpp"
#include "proof_files.hpp"
#include "run.hpp"
#include "tvm_plans.hpp"
#include "usmp/compare/figures.hpp"
#include "usmp/report/memory_map.hpp"
#include "usmp/support/error.hpp"
#include "usmp/support/text.hpp"

namespace usmp::driver {
namespace {

using Documents = std::vector<plan_file::PlanDocument>;

// Formats in which one module stands behind the other, or one is shown at a time.
bool shows_several(const ReportOptions& options) {
  return (options.format == ReportFormat::text || options.format == ReportFormat::markdown ||
          options.format == ReportFormat::html) &&
         !options.proof.file;
}

// The module that is asked for; all of them if none is.
Documents chosen(Documents documents, const ReportOptions& options) {
  const std::optional<std::string>& module = options.model.module;
  if (!module && (documents.size() == 1 || shows_several(options))) return documents;
  const auto asked = std::ranges::find(documents, module, &plan_file::PlanDocument::module);
  if (asked != documents.end()) return {std::move(*asked)};
  std::vector<std::string> names;
  names.reserve(documents.size());
  for (const plan_file::PlanDocument& document : documents) names.push_back(document.module);
  const std::string what = options.proof.file ? "--proof is of one" : "this format shows one";
  if (!module && !options.more_models.empty()) {
    throw Error(ErrorKind::usage, {}, counted(documents.size(), "module") + ", and " + what + ": expected one model");
  }
  throw Error(ErrorKind::usage, {options.model.model, {}, {}},
              module
                  ? "no module '" + *module + "'" + did_you_mean(*module, names) + "; the file holds: " + joined(names)
                  : one_module_text(names, what));
}

std::string text_of(const plan_file::PlanDocument& plan, const ReportOptions& options) {
  switch (options.format) {
    case ReportFormat::text:
      return report::report_text(
          plan, {.color = options.color && !options.output, .verbose = options.verbosity == Verbosity::verbose});
    case ReportFormat::json:
      return report::report_json(plan);
    case ReportFormat::csv:
      return report::report_csv(plan);
    case ReportFormat::markdown:
      return report::report_markdown(plan);
    case ReportFormat::svg:
      return report::memory_map_svg(plan);
    case ReportFormat::html:
      return report::memory_map_html(plan);
  }
  return {};
}

std::string text_of(const Documents& plans, const ReportOptions& options) {
  if (options.format == ReportFormat::html) return report::memory_map_html(plans);
  std::string text;
  for (const plan_file::PlanDocument& plan : plans) text += (text.empty() ? "" : "\n") + text_of(plan, options);
  return text;
}

std::optional<ProofFiles> proof_of(const plan_file::PlanDocument& plan, const ProofOptions& options) {
  if (!options.file) return std::nullopt;
  std::vector<bounds::PoolBound> proved;
  for (const plan_file::PlanDocument::Pool& pool : plan.pools) {
    proved.push_back({pool.lower_bound.value_or(0), pool.lower_bound_reason});
  }
  return proof_files(problem_of(plan), proved, options);
}

// Plans of files, in their order. Nothing is planned.
Documents read_plans(const ReportOptions& options, const std::vector<std::string>& paths) {
  require_no_planning_options(options, {paths.front(), {}, {}}, "is a plan");
  Documents documents;
  for (const std::string& path : paths) {
    if (!is_plan_file(path)) {
      throw Error(ErrorKind::usage, {path, {}, {}}, "is a model beside plans, expected only plans or only models");
    }
    for (plan_file::PlanDocument& plan : read_plan_file(path)) {
      try {
        (void)compare::plan_figures(plan);  // says what it lacks
      } catch (const Error& error) {
        throw error.with_file(path);
      }
      documents.push_back(std::move(plan));
    }
  }
  return documents;
}

int report_or_throw(const ReportOptions& options, std::ostream& out, std::ostream& err) {
  const std::vector<std::string> paths = models_and(options, {});
  if (options.output) check_output_path("-o", *options.output, inputs_of(options));
  check_proof_options(options.proof, inputs_of(options), options.output);
  const auto plan_path = std::ranges::find_if(paths, is_plan_file);
  if (options.tvm_plan && plan_path != paths.end()) {
    throw Error(ErrorKind::usage, {*plan_path, {}, {}}, "is a plan: --tvm-plan asks for a model that TVM planned");
  }
  std::optional<Documents> documents;
  const bool reads = plan_path != paths.end();
  if (reads) {
    documents = read_plans(options, paths);
  } else if (options.tvm_plan) {
    if (paths.size() > 1) throw Error(ErrorKind::usage, {paths[1], {}, {}}, "--tvm-plan: expected one model");
    require_no_planning_options(options, {paths.front(), {}, {}}, "--tvm-plan plans nothing");
    documents = tvm_documents(paths.front(), options.model);
  } else {
    documents = plan_model(options, err);
  }
  if (!documents) return exit_infeasible;
  const Documents plans = chosen(std::move(*documents), options);
  std::string text;
  std::optional<ProofFiles> proof;
  try {
    text = text_of(plans, options);
    proof = proof_of(plans.front(), options.proof);
  } catch (const Error& error) {
    throw reads ? error.with_file(paths.front()) : error;
  }
  // The text has them, as has the page.
  for (const plan_file::PlanDocument& plan : plans) {
    if (!reads && options.format != ReportFormat::text) print_warnings(plan, err);
  }
  write_proof(proof);
  write_output(options.output, text, out);
  return exit_ok;
}

}  // namespace

int report(const ReportOptions& options, std::ostream& out, std::ostream& err) {
  return run(err, [&] { return report_or_throw(options, out, err); });
}

}  // namespace usmp::driver
