// usmp-plan diff OLD NEW: what differs between two plans.
#include <iostream>
#include <map>
#include <memory>

#include "commands.hpp"
#include "options.hpp"

namespace usmp::apps {
namespace {

struct Options {
  driver::DiffOptions diff;
  bool quiet = false;
  bool verbose = false;
};

const std::map<std::string, driver::DiffFormat> formats = {{"text", driver::DiffFormat::text},
                                                           {"markdown", driver::DiffFormat::markdown},
                                                           {"json", driver::DiffFormat::json},
                                                           {"csv", driver::DiffFormat::csv}};

}  // namespace

Command add_diff(CLI::App& program) {
  const auto options = std::make_shared<Options>();
  driver::DiffOptions& diff = options->diff;
  auto* app = program.add_subcommand("diff", "tell what differs between two plans (exit code 0 equal, 1 different)");
  app->add_option("OLD", diff.before, "M.plan.json, or a model to plan with the options below")->required();
  app->add_option("NEW", diff.after, "M.plan.json, or a model to plan with the options below")->required();
  app->add_option("--module", diff.model.module, "one module of the archives (default: all)")->type_name("NAME");
  add_planning_options(*app, diff);
  app->add_option_function<std::string>(
         "--format", [&diff](const std::string& name) { diff.format = formats.at(name); },
         "text, markdown, json or csv (default: text)")
      ->type_name("NAME")
      ->check(CLI::IsMember({"text", "markdown", "json", "csv"}));
  app->add_flag_callback(
         "--json", [&diff] { diff.format = driver::DiffFormat::json; }, "the same as --format json")
      ->excludes("--format");
  auto* quiet = app->add_flag("--quiet", options->quiet, "print no text, only the exit code tells");
  app->add_flag("--verbose", options->verbose, "list every buffer that differs")->excludes(quiet);
  return {app, [options] {
            driver::DiffOptions& chosen = options->diff;
            chosen.verbosity = options->quiet     ? driver::Verbosity::quiet
                               : options->verbose ? driver::Verbosity::verbose
                                                  : driver::Verbosity::normal;
            chosen.color = color_terminal();
            chosen.progress = !options->quiet && progress_terminal();
            set_up_logging(driver::Verbosity::normal);
            return driver::diff(chosen, std::cout, std::cerr);
          }};
}

}  // namespace usmp::apps
