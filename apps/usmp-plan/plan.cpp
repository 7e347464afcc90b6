// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// usmp-plan MODEL: plan an archive and write C.
#include <iostream>
#include <memory>
#include <string>

#include "commands.hpp"
#include "options.hpp"

namespace usmp::apps {
namespace {

struct PlanArguments {
  driver::PlanOptions plan;
  std::string metadata;
  bool quiet = false;
  bool verbose = false;
  bool list_algorithms = false;
};

int run(PlanArguments& options) {
  if (!options.list_algorithms && options.plan.model.model.empty()) throw CLI::RequiredError("MODEL");
  options.plan.verbosity = options.quiet     ? driver::Verbosity::quiet
                           : options.verbose ? driver::Verbosity::verbose
                                             : driver::Verbosity::normal;
  options.plan.emit_metadata = options.metadata == "tvm" || options.metadata == "all";
  options.plan.emit_info = options.metadata == "info" || options.metadata == "all";
  options.plan.color = color_terminal();
  options.plan.progress = !options.quiet && progress_terminal();
  set_up_logging(options.plan.verbosity);
  if (options.list_algorithms) return driver::list_algorithms(std::cout, options.plan.model.json);
  return driver::plan(options.plan, std::cout, std::cerr);
}

}  // namespace

Command add_plan(CLI::App& program) {
  const auto options = std::make_shared<PlanArguments>();
  driver::PlanOptions& plan = options->plan;
  add_models_options(program, plan, false);
  add_planning_options(program, plan);
  auto* output = program.add_option("-o,--output", plan.output, "output directory or .tar (default: MODEL_planned/)")
                     ->type_name("PATH");
  auto* in_place =
      program.add_flag("--in-place", plan.in_place, "write into the files that hold TVM's C")->excludes(output);
  program.add_flag("--force", plan.force, "in place, even over uncommitted changes")->needs(in_place);
  auto* plan_json =
      program.add_option("--plan-json", plan.plan_json, "write the plan as JSON to this file")->type_name("FILE");
  program.add_flag("--advice", plan.advice, "say what other options would save");
  program.add_flag("--linker-script", plan.linker_script, "write M_memory.ld, the pools' part of a linker script");
  program.add_flag("--emit-metadata{tvm}", options->metadata, "write tables for TVM's runtimes (=info: for C, =all)")
      ->check(one_of({"tvm", "info", "all"}))
      ->excludes(in_place);
  program.add_flag("--dry-run", plan.dry_run, "plan and verify, but write nothing")
      ->excludes(output)
      ->excludes(plan_json);
  program.add_flag("--json", plan.model.json, "print the plan as JSON");
  auto* quiet = program.add_flag("--quiet", options->quiet, "print only warnings on success");
  program.add_flag("--verbose", options->verbose, "list every buffer and log each stage")->excludes(quiet);
  program.add_flag("--list-algorithms", options->list_algorithms, "list the planning algorithms");
  return {&program,
          [options] { return run(*options); },
          {{"usmp-plan model.tar --pools pools.yaml", "write model_planned/"}},
          "",
          "MODEL... [-o DIR|FILE.tar | --in-place | --dry-run]"};
}

}  // namespace usmp::apps
