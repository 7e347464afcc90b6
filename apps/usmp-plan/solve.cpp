// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// usmp-plan solve FILE: plan a bare instance.
#include <iostream>
#include <memory>

#include "commands.hpp"
#include "options.hpp"

namespace usmp::apps {

Command add_solve(CLI::App& program) {
  const auto options = std::make_shared<driver::SolveOptions>();
  auto* app = program.add_subcommand("solve", "plan buffers given as CSV or JSON");
  app->add_option("FILE", options->instance, "instance (CSV) or planning problem (JSON)")
      ->transform(input_name())
      ->required();
  app->add_option("--capacity", options->capacity, "bound of the pool, as 64KiB; accept any plan that fits")
      ->type_name("BYTES");
  app->add_flag("--minimize", options->minimize, "find the smallest plan (default without --capacity)");
  app->add_option("-o,--output", options->output, "write the plan, in the format of the input")->type_name("FILE");
  add_proof_options(*app, options->proof);
  add_algorithm_option(*app, options->algorithm, driver::default_algorithm_name());
  add_search_options(*app, options->search);
  auto* json = app->add_flag("--json", options->json, "print JSON");
  app->add_flag("--quiet", options->quiet, "print nothing on success")->excludes(json);
  return {app,
          [options] {
            options->color = color_terminal();
            options->progress = !options->quiet && progress_terminal();
            set_up_logging(driver::Verbosity::normal);
            return driver::solve(*options, std::cout, std::cerr);
          },
          {{"usmp-plan solve buffers.csv -o plan.csv", "the smallest plan"},
           {"usmp-plan solve buffers.csv --capacity 64KiB", "does a plan fit?"},
           {"usmp-plan solve buffers.csv --proof buffers.pbp", "its bound, for a proof checker"}}};
}

}  // namespace usmp::apps
