// usmp-plan solve FILE: plan a bare instance.
#include <iostream>
#include <memory>

#include "commands.hpp"
#include "options.hpp"

namespace usmp::apps {

Command add_solve(CLI::App& program) {
  const auto options = std::make_shared<driver::SolveOptions>();
  auto* app = program.add_subcommand("solve", "plan a bare instance, CSV or a problem in JSON");
  app->add_option("FILE", options->instance, "the instance")->transform(input_name())->required();
  app->add_option("--capacity", options->capacity, "of the one pool, as in 65536 or 64KiB; any plan in it will do")
      ->type_name("BYTES");
  app->add_flag("--minimize", options->minimize, "look for the smallest plan (default without --capacity)");
  app->add_option("-o,--output", options->output, "write the plan: CSV for CSV, an answer in JSON for JSON")
      ->type_name("FILE");
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
           {"usmp-plan solve buffers.csv --capacity 64KiB", "whether one fits"}}};
}

}  // namespace usmp::apps
