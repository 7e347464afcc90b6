// usmp-plan inspect MODEL and usmp-plan init MODEL: what a model holds, without planning it.
#include <iostream>
#include <memory>

#include "commands.hpp"
#include "options.hpp"

namespace usmp::apps {

Command add_inspect(CLI::App& program) {
  const auto options = std::make_shared<driver::InspectOptions>();
  auto* app = program.add_subcommand("inspect", "list modules, functions, buffers with live ranges, calls");
  add_model_options(*app, options->model, true);
  add_transform_option(*app, options->model);
  app->add_flag("--tir", options->tir, "print the IR");
  app->add_flag("--json", options->model.json, "print JSON");
  return {app, [options] {
            set_up_logging(driver::Verbosity::normal);
            return driver::inspect(*options, std::cout, std::cerr);
          }};
}

Command add_init(CLI::App& program) {
  const auto options = std::make_shared<driver::ModelOptions>();
  auto* app = program.add_subcommand("init", "print a starter pools file for a model");
  add_model_options(*app, *options, true);
  return {app, [options] {
            set_up_logging(driver::Verbosity::normal);
            return driver::init(*options, std::cout, std::cerr);
          }};
}

}  // namespace usmp::apps
