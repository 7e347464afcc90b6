// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// usmp-plan inspect MODEL: what a model holds, without planning it.
#include <iostream>
#include <memory>
#include <utility>

#include "commands.hpp"
#include "options.hpp"

namespace usmp::apps {

Command add_inspect(CLI::App& program) {
  const auto options = std::make_shared<driver::InspectOptions>();
  auto* app = program.add_subcommand("inspect", "list functions, calls, buffers and their live ranges");
  add_model_options(*app, options->model, true);
  add_transform_options(*app, options->model);
  auto* tir = app->add_flag("--tir", options->tir, "print the IR");
  app->add_flag("--json", options->model.json, "print JSON")->excludes(tir);
  return {app,
          [options] {
            options->width = terminal_width();
            set_up_logging(driver::Verbosity::normal);
            return driver::inspect(*options, std::cout, std::cerr);
          },
          {{"usmp-plan inspect model.tar", "functions, buffers, calls"},
           {"usmp-plan inspect model.tar --transform all --tir", "the transformed program"}}};
}

}  // namespace usmp::apps
