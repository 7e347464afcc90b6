// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// usmp-plan check MODEL: holds a model's plan to the budgets of the pools file.
#include <cstdlib>
#include <iostream>
#include <memory>

#include "commands.hpp"
#include "options.hpp"

namespace usmp::apps {
namespace {

struct CheckArguments {
  driver::CheckOptions check;
  bool quiet = false;
};

// GitHub names the file that the job's page is made of.
std::optional<std::string> step_summary() {
  const char* const path = std::getenv("GITHUB_STEP_SUMMARY");
  return path == nullptr || *path == '\0' ? std::nullopt : std::optional<std::string>(path);
}

}  // namespace

Command add_check(CLI::App& program) {
  const auto options = std::make_shared<CheckArguments>();
  driver::CheckOptions& check = options->check;
  auto* app = program.add_subcommand("check", "check a model against the budgets of its pools");
  add_models_options(*app, check, true);
  add_planning_options(*app, check);
  app->get_option("--pools")->required()->description("memory pools and their budgets");
  app->add_option("--baseline", check.baselines, "plan to measure max_growth against")
      ->type_name("M.plan.json")
      ->allow_extra_args(false);
  app->add_flag("--strict", check.strict, "treat warnings as breaches");
  auto* github = app->add_flag("--github", check.github, "print GitHub annotations, write the step summary");
  app->add_option("--junit", check.junit, "write the results as JUnit XML")->type_name("FILE");
  app->add_flag("--json", check.model.json, "print JSON")->excludes(github);
  app->add_flag("--quiet", options->quiet, "print only warnings and breaches");
  return {app,
          [options] {
            driver::CheckOptions& chosen = options->check;
            if (chosen.github) chosen.step_summary = step_summary();
            chosen.verbosity = options->quiet ? driver::Verbosity::quiet : driver::Verbosity::normal;
            chosen.color = color_terminal();
            chosen.progress = !options->quiet && progress_terminal();
            set_up_logging(chosen.verbosity);
            return driver::check(chosen, std::cout, std::cerr);
          },
          {{"usmp-plan check model.tar --pools pools.yaml", "a CI step"},
           {"usmp-plan check model.tar --pools pools.yaml --baseline old/kws.plan.json", "limit growth"}},
          "The exit code is 1 if a budget is exceeded.",
          "MODEL... --pools FILE [--baseline M.plan.json]..."};
}

}  // namespace usmp::apps
