// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// usmp-plan problem MODEL: the planning problem of an archive as JSON.
#include <iostream>
#include <memory>

#include "commands.hpp"
#include "options.hpp"

namespace usmp::apps {

Command add_problem(CLI::App& program) {
  const auto options = std::make_shared<driver::ProblemOptions>();
  auto* app = program.add_subcommand("problem", "print the planning problem of a model as JSON");
  add_model_options(*app, options->model, true);
  add_transform_options(*app, options->model);
  add_pools_options(*app, options->pools_file, options->memory_file, options->workspace_io);
  app->add_option("-o,--output", options->output, "output file (default: standard output)")->type_name("FILE");
  app->add_flag("--json", options->model.json, "no effect: the output is always JSON");
  return {app,
          [options] {
            set_up_logging(driver::Verbosity::normal);
            return driver::problem(*options, std::cout, std::cerr);
          },
          {{"usmp-plan problem model.tar -o problem.json", "for solve, or for your own planner"}}};
}

}  // namespace usmp::apps
