// usmp-plan compare MODEL: what several algorithms make of one model.
#include <iostream>
#include <map>
#include <memory>

#include "commands.hpp"
#include "options.hpp"

namespace usmp::apps {
namespace {

const std::map<std::string, driver::CompareFormat> formats = {{"text", driver::CompareFormat::text},
                                                              {"markdown", driver::CompareFormat::markdown},
                                                              {"json", driver::CompareFormat::json},
                                                              {"csv", driver::CompareFormat::csv}};

}  // namespace

Command add_compare(CLI::App& program) {
  const auto options = std::make_shared<driver::CompareOptions>();
  auto* app = program.add_subcommand("compare", "plan a model with several algorithms and show them side by side");
  add_model_options(*app, options->model, true);
  add_problem_options(*app, *options);
  app->add_option("--algorithms", options->algorithms, "algorithms with commas between them (default: all)")
      ->type_name("NAMES");
  add_goal_options(*app, *options);
  app->add_option_function<std::string>(
         "--format", [options](const std::string& name) { options->format = formats.at(name); },
         "text, markdown, json or csv (default: text)")
      ->type_name("NAME")
      ->check(CLI::IsMember({"text", "markdown", "json", "csv"}));
  app->add_flag_callback(
         "--json", [options] { options->format = driver::CompareFormat::json; }, "the same as --format json")
      ->excludes("--format");
  app->add_option("--save", options->save, "keep the plans there, as M.ALGORITHM.plan.json")->type_name("DIR");
  app->add_flag_callback(
      "--no-time", [options] { options->times = false; }, "leave the times out, which differ from run to run");
  return {app, [options] {
            options->color = color_terminal();
            options->progress = progress_terminal();
            set_up_logging(driver::Verbosity::normal);
            return driver::compare(*options, std::cout, std::cerr);
          }};
}

}  // namespace usmp::apps
