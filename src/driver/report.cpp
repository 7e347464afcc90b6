// SPDX-License-Identifier: Apache-2.0
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
#include "usmp/report/memory_map.hpp"
#include "usmp/support/error.hpp"
#include "usmp/support/text.hpp"

namespace usmp::driver {
namespace {

plan_file::PlanDocument chosen(std::vector<plan_file::PlanDocument> documents, const ModelOptions& options) {
  if (documents.size() == 1 && !options.module) return std::move(documents.front());
  const auto asked = std::ranges::find(documents, options.module, &plan_file::PlanDocument::module);
  if (asked != documents.end()) return std::move(*asked);
  std::vector<std::string> names;
  names.reserve(documents.size());
  for (const plan_file::PlanDocument& document : documents) names.push_back(document.module);
  throw Error(ErrorKind::usage, {options.model, {}, {}},
              options.module ? "no module '" + *options.module + "'" + did_you_mean(*options.module, names) +
                                   "; the file holds: " + joined(names)
                             : one_module_text(names, "a report shows one"));
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

std::optional<ProofFiles> proof_of(const plan_file::PlanDocument& plan, const ProofOptions& options) {
  if (!options.file) return std::nullopt;
  std::vector<bounds::PoolBound> proved;
  for (const plan_file::PlanDocument::Pool& pool : plan.pools) {
    proved.push_back({pool.lower_bound.value_or(0), pool.lower_bound_reason});
  }
  return proof_files(problem_of(plan), proved, options);
}

int report_or_throw(const ReportOptions& options, std::ostream& out, std::ostream& err) {
  const std::string& path = options.model.model;
  if (options.output) check_output_path("-o", *options.output, inputs_of(options));
  check_proof_options(options.proof, inputs_of(options), options.output);
  std::string text;
  std::optional<ProofFiles> proof;
  if (options.tvm_plan && is_plan_file(path)) {
    throw Error(ErrorKind::usage, {path, {}, {}}, "is a plan: --tvm-plan asks for a model that TVM planned");
  }
  if (is_plan_file(path)) {
    require_no_planning_options(options, {path, {}, {}}, "is a plan");
    const plan_file::PlanDocument plan = chosen(read_plan_file(path), options.model);
    try {
      text = text_of(plan, options);
      proof = proof_of(plan, options.proof);
    } catch (const Error& error) {
      throw error.with_file(path);
    }
  } else {
    if (options.tvm_plan) require_no_planning_options(options, {path, {}, {}}, "--tvm-plan plans nothing");
    std::optional<std::vector<plan_file::PlanDocument>> documents =
        options.tvm_plan ? tvm_documents(path, options.model) : plan_model(options, err);
    if (!documents) return exit_infeasible;
    const plan_file::PlanDocument plan = chosen(std::move(*documents), options.model);
    text = text_of(plan, options);
    proof = proof_of(plan, options.proof);
    if (options.format != ReportFormat::text) print_warnings(plan, err);  // the text has them
  }
  write_proof(proof);
  if (options.output) {
    write_file(*options.output, text);
  } else {
    out << text;
  }
  return exit_ok;
}

}  // namespace

int report(const ReportOptions& options, std::ostream& out, std::ostream& err) {
  return run(err, [&] { return report_or_throw(options, out, err); });
}

}  // namespace usmp::driver
