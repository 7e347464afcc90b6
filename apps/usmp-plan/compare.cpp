// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// usmp-plan compare MODEL: what several algorithms make of one model, or one within several amounts of work or on
// several cores.
#include <iostream>
#include <map>
#include <memory>

#include "commands.hpp"
#include "options.hpp"

namespace usmp::apps {
namespace {

const std::map<std::string, driver::CompareFormat> compare_formats = {{"text", driver::CompareFormat::text},
                                                                      {"markdown", driver::CompareFormat::markdown},
                                                                      {"json", driver::CompareFormat::json},
                                                                      {"csv", driver::CompareFormat::csv},
                                                                      {"svg", driver::CompareFormat::svg}};

}  // namespace

Command add_compare(CLI::App& program) {
  const auto options = std::make_shared<driver::CompareOptions>();
  auto* app = program.add_subcommand("compare", "compare algorithms, memory against work, or cores");
  add_model_options(*app, options->model, true);
  add_problem_options(*app, *options);
  app->remove_option(app->get_option("--cpu"));
  std::vector<std::string> cores = driver::core_names();
  cores.insert(cores.begin(), "all");
  app->add_option("--cpu", options->cpus, "core to write loops for, or several cores to compare")
      ->type_name("NAMES")
      ->check(such_as(cores, true));
  app->add_option("--algorithms", options->algorithms, "algorithms, separated by commas (default: all)")
      ->type_name("NAMES")
      ->check(such_as(driver::algorithm_names(), true));
  app->add_option("--recompute", options->recompute, "memory with N% more computation, for each N")
      ->type_name("N,N,...");
  add_goal_options(*app, *options);
  add_format_options(*app, {"text", "markdown", "json", "csv", "svg"},
                     [options](const std::string& name) { options->format = compare_formats.at(name); });
  app->add_option("--save", options->save, "save the plans as M.ALGORITHM.plan.json")->type_name("DIR");
  app->add_flag_callback(
      "--no-time", [options] { options->times = false; }, "omit the times, which differ from run to run");
  return {app,
          [options] {
            options->color = color_terminal();
            options->progress = progress_terminal();
            set_up_logging(driver::Verbosity::normal);
            return driver::compare(*options, std::cout, std::cerr);
          },
          {{"usmp-plan compare model.tar --pools pools.yaml", "all algorithms"},
           {"usmp-plan compare model.tar --algorithms optimal,none --save plans", "two algorithms; save the plans"},
           {"usmp-plan compare model.tar --recompute 0,10,30,70", "memory against work"},
           {"usmp-plan compare model.tar --cpu cortex-m4,rv32imc", "two cores"}}};
}

}  // namespace usmp::apps
