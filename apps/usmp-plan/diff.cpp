// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// usmp-plan diff OLD NEW...: what differs between two plans.
#include <iostream>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "commands.hpp"
#include "options.hpp"

namespace usmp::apps {
namespace {

struct DiffArguments {
  driver::DiffOptions diff;
  bool quiet = false;
  bool verbose = false;
};

const std::map<std::string, driver::DiffFormat> diff_formats = {
    {"text", driver::DiffFormat::text}, {"markdown", driver::DiffFormat::markdown}, {"json", driver::DiffFormat::json},
    {"csv", driver::DiffFormat::csv},   {"svg", driver::DiffFormat::svg},           {"html", driver::DiffFormat::html}};

}  // namespace

Command add_diff(CLI::App& program) {
  const auto options = std::make_shared<DiffArguments>();
  driver::DiffOptions& diff = options->diff;
  auto* app = program.add_subcommand("diff", "compare two plans");
  app->add_option("OLD", diff.before, "a plan file (M.plan.json), a directory of output, or a model to plan")
      ->transform(input_name())
      ->required();
  app->add_option_function<std::vector<std::string>>(
         "NEW",
         [&diff](const std::vector<std::string>& paths) {
           diff.after = paths.front();
           diff.more_models.assign(paths.begin() + 1, paths.end());
         },
         "a plan file (M.plan.json), a directory of output, or models to plan")
      ->transform(input_name())
      ->required();
  add_name_option(*app, diff);
  app->add_option("--module", diff.model.module, "only this module of the archives (default: all)")->type_name("NAME");
  add_reading_options(*app, diff.model);
  add_planning_options(*app, diff);
  add_ignore_sizes_option(*app, diff);
  app->add_flag("--tvm-plan", diff.tvm_plan, "compare TVM's own plan of OLD, read from its C");
  add_format_options(*app, {"text", "markdown", "json", "csv", "svg", "html"},
                     [&diff](const std::string& name) { diff.format = diff_formats.at(name); });
  auto* quiet = app->add_flag("--quiet", options->quiet, "print nothing; the exit code says whether they differ");
  app->add_flag("--verbose", options->verbose, "list every buffer that differs")->excludes(quiet);
  return {app,
          [options] {
            driver::DiffOptions& chosen = options->diff;
            chosen.verbosity = options->quiet     ? driver::Verbosity::quiet
                               : options->verbose ? driver::Verbosity::verbose
                                                  : driver::Verbosity::normal;
            chosen.color = color_terminal();
            chosen.progress = !options->quiet && progress_terminal();
            set_up_logging(driver::Verbosity::normal);
            return driver::diff(chosen, std::cout, std::cerr);
          },
          {{"usmp-plan diff old/kws.plan.json new/kws.plan.json", "compare two plans"},
           {"usmp-plan diff kws.plan.json model.tar --pools pools.yaml --format markdown", "compare with a new plan"}},
          "The exit code is 0 if they are equal and 1 if they differ. Planning options apply to models only."};
}

}  // namespace usmp::apps
