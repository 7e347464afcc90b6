// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// usmp-plan verify MODEL: plans, or reads plans, and checks them; with --execute also what the emitted C computes.
#include "usmp/verify/verify.hpp"
#include "usmp/support/message.hpp"

#include <algorithm>
#include <ostream>

#include "documents.hpp"
#include "execution.hpp"
#include "models.hpp"
#include "output_path.hpp"
#include "planning.hpp"
#include "run.hpp"
#include "search.hpp"
#include "tvm_plans.hpp"
#include "usmp/assemble/pins.hpp"
#include "usmp/plan_file/plan_json.hpp"
#include "usmp/report/verification.hpp"
#include "usmp/support/printable.hpp"

namespace usmp::driver {
namespace {

std::string io_text(bool workspace_io) { return workspace_io ? "in the workspace" : "outside of the workspace"; }

// The module's plan as the file has it.
Plan plan_of_file(pipeline::PlannedProgram& planned, const Planning& planning, const std::string& file,
                  const plan_file::PlanDocument& recorded) {
  const Settings& settings = planning.settings;
  if (recorded.workspace_io && *recorded.workspace_io != settings.request.workspace_io) {
    throw Error(ErrorKind::usage, {file, {}, {}},
                "has inputs and outputs " + io_text(*recorded.workspace_io) + ", but they are asked for " +
                    io_text(settings.request.workspace_io) + " (--workspace-io)");
  }
  try {
    Plan plan = assemble::recorded_plan(planned.assembly, recorded);
    std::vector<std::string> violations = pipeline::violations_of(planned.assembly.problem, plan);
    if (!violations.empty()) throw Error(ErrorKind::usage, {}, "the plan is wrong:", std::move(violations));
    pipeline::require_replayed(planned, plan, planning.replay_steps, debug_log());
    return plan;
  } catch (const Error& error) {
    throw error.with_file(file);
  }
}

// One file of each module.
void adopt_files(Planning& planning, const VerifyOptions& options, const Settings& recorded) {
  std::vector<const pipeline::AssembledModule*> modules;
  for (const auto& planned : planning.modules) modules.push_back(planned.get());
  check_pins(modules, recorded);
  for (const auto& planned : planning.modules) {
    const std::string& name = planned->source.info.name;
    const auto found = std::find_if(recorded.request.earlier.begin(), recorded.request.earlier.end(),
                                    [&](const plan_file::PlanDocument& plan) { return plan.module == name; });
    if (found == recorded.request.earlier.end()) {
      throw Error(ErrorKind::usage, {options.model.model, {}, {}},
                  "no plan of module '" + name + "' is given: expected one with --plan, or --module to choose");
    }
    const std::string& file =
        recorded.earlier_files[static_cast<std::size_t>(found - recorded.request.earlier.begin())];
    PlanResult result;
    result.status = PlanStatus::feasible;
    result.plan = plan_of_file(*planned, planning, file, *found);
    planning.settings.algorithm.name = name_of_model(file);
    pipeline::adopt(*planned, std::move(result), origin_of(*planned, planning, options.search.seed.value_or(0)));
  }
}

// Emission is part of what can go wrong. Nothing is written.
void require_emission(const Planning& planning) {
  std::vector<codegen::EmissionInput> inputs;
  const Model* model = &planning.models.front();
  try {
    for (const auto& planned : planning.modules) {
      model = &planning.model_of(*planned);
      inputs.push_back(pipeline::emission_input(*planned, planning.settings.request.workspace_io));
      (void)codegen::module_files(inputs.back());
    }
    (void)codegen::metadata_header(inputs);
  } catch (const Error& error) {
    throw error.with_file(model->archive.path);
  }
}

// Nothing where no buffers share bytes.
std::optional<report::Replay> replay_of(const pipeline::PlannedProgram& planned) {
  const replay::Result& result = planned.replayed;
  if (result.pairs == 0) return std::nullopt;
  report::Replay replay{.pairs = result.pairs, .accesses = result.accesses, .left_out = {}};
  for (const replay::LeftOut& pair : result.left_out) {
    const placement::Table& table = planned.placements;
    replay.left_out.push_back(
        {table.storage(pair.one).name, table.storage(pair.other).name, replay::to_string(pair.reason)});
  }
  return replay;
}

// Pairs are counted where they are shown.
std::vector<report::Verified> checks_of(const Planning& planning, bool shown, bool is_read) {
  std::vector<report::Verified> checks;
  for (const auto& planned : planning.modules) {
    checks.push_back({.plan = &planned->document, .conflicts = {}, .replay = replay_of(*planned), .execution = {}});
    checks.back().is_read = is_read;
    if (shown) checks.back().conflicts = verify::conflicting_pairs(planned->assembly.problem);
  }
  return checks;
}

void print_executions(const std::vector<report::Verified>& checks, const std::vector<report::Execution>& executions,
                      std::ostream& out) {
  for (std::size_t i = 0; i < executions.size(); ++i) {
    out << report::execution_text(executions[i], checks.size() > 1 ? c_identifier(checks[i].plan->module) : "");
  }
}

// What was checked is printed before anything runs.
int execute_and_print(const Planning& planning, const VerifyOptions& options, std::ostream& out, std::ostream& err) {
  const bool as_text = options.verbosity != Verbosity::quiet && !options.model.json;
  std::vector<report::Verified> checks =
      checks_of(planning, options.verbosity != Verbosity::quiet, !options.plans.empty());
  if (as_text) {
    for (const report::Verified& check : checks) out << report::verification_text(check, options.color);
  }
  std::vector<report::Execution> executions;
  const bool ended = options.execute && was_interrupted();
  if (ended) tell(err, Severity::warning, "interrupted: the C was not executed");
  const int code = options.execute && !ended ? execute_all(planning, options, executions, err) : exit_ok;
  if (as_text) print_executions(checks, executions, out);
  if (code != exit_ok || !options.model.json) return code;
  for (std::size_t i = 0; i < executions.size(); ++i) checks[i].execution = executions[i];
  out << report::verification_json(checks);
  return code;
}

int verify_tvm_plans(const VerifyOptions& options, std::ostream& out, std::ostream& err) {
  const std::string& path = options.model.model;
  require_no_planning_options(options, {path, {}, {}}, "--tvm-plan plans nothing");
  if (!options.more_models.empty()) {
    throw Error(ErrorKind::usage, {options.more_models.front(), {}, {}}, "--tvm-plan: expected one model");
  }
  const std::vector<pipeline::TvmPlan> plans = read_tvm_plans(path, options.model);
  std::vector<report::Verified> checks;
  for (const pipeline::TvmPlan& plan : plans) {
    if (!plan.violations.empty()) {
      throw Error(ErrorKind::usage, {path, {}, {}},
                  "TVM's plan of module " + in_quotes(plan.document.module) + " is wrong:", plan.violations);
    }
    if (options.verbosity == Verbosity::quiet) print_warnings(plan.document, err);
    checks.push_back({.plan = &plan.document, .conflicts = plan.conflicts, .replay = {}, .execution = {}});
  }
  if (options.model.json) {
    out << report::verification_json(checks);
  } else if (options.verbosity != Verbosity::quiet) {
    for (const report::Verified& check : checks) out << report::verification_text(check, options.color);
  }
  return exit_ok;
}

int verify_or_throw(const VerifyOptions& options, std::ostream& out, std::ostream& err) {
  if (options.tvm_plan) return verify_tvm_plans(options, out, err);
  if (options.keep) check_output_path("--keep", *options.keep, models_and(options, {}), OutputKind::directory);
  if (options.execute) require_execution(options, err);
  Settings recorded;  // read once: a pipe has a plan only once
  read_earlier_plans(recorded, options.plans, Check::left_out);
  Planning planning = assemble_all(options, true, options.progress ? &err : nullptr, recorded.request.earlier);
  check_concurrent(planning);
  planning.replay_steps = pipeline::replay_steps_of_verify;
  if (planning.has_bare_module() && options.execute) {
    throw Error(ErrorKind::usage, {options.model.model, {}, {}},
                "a bare TIR module has no interface, so it cannot be executed");
  }
  if (options.plans.empty()) {
    plan_all(planning, options, options.progress ? &err : nullptr);
    if (planning.without_plan() != nullptr) return report_infeasible(planning, err);
    if (!pools_have_room(planning, err)) return exit_infeasible;
  } else {
    planning.interrupt.reset();
    adopt_files(planning, options, recorded);
  }
  require_apart(planning);
  if (!planning.has_bare_module()) require_emission(planning);
  if (options.verbosity == Verbosity::quiet) print_warnings(planning.modules, err);
  return execute_and_print(planning, options, out, err);
}

}  // namespace

int verify(const VerifyOptions& options, std::ostream& out, std::ostream& err) {
  return run(err, [&] { return verify_or_throw(options, out, err); });
}

}  // namespace usmp::driver
