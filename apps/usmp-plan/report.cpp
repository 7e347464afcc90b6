// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// usmp-plan report PLAN|MODEL: a plan as text, data, table or picture.
#include <filesystem>
#include <iostream>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "commands.hpp"
#include "options.hpp"
#include "usmp/support/printable.hpp"

namespace usmp::apps {
namespace {

const std::map<std::string, driver::ReportFormat> report_formats = {
    {"text", driver::ReportFormat::text}, {"json", driver::ReportFormat::json},
    {"csv", driver::ReportFormat::csv},   {"markdown", driver::ReportFormat::markdown},
    {"svg", driver::ReportFormat::svg},   {"html", driver::ReportFormat::html}};

const std::map<std::string, driver::ReportFormat> formats_by_ending = {
    {"", driver::ReportFormat::text},        {".txt", driver::ReportFormat::text},
    {".json", driver::ReportFormat::json},   {".csv", driver::ReportFormat::csv},
    {".md", driver::ReportFormat::markdown}, {".svg", driver::ReportFormat::svg},
    {".html", driver::ReportFormat::html}};

// The format that the ending of the file's name says.
driver::ReportFormat format_of(const std::string& file) {
  const auto found = formats_by_ending.find(std::filesystem::path(file).extension().string());
  if (found != formats_by_ending.end()) return found->second;
  throw CLI::ValidationError("-o",
                             "found '" + printable(file) +
                                 "', expected a name that ends in .html, .svg, .md, .csv, .json or .txt, or --format");
}

}  // namespace

Command add_report(CLI::App& program) {
  const auto options = std::make_shared<driver::ReportOptions>();
  auto* app = program.add_subcommand("report", "show what memory is used for; draw a memory map");
  app->add_option_function<std::vector<std::string>>(
         "PLAN",
         [options](const std::vector<std::string>& paths) {
           options->model.model = paths.front();
           options->more_models.assign(paths.begin() + 1, paths.end());
         },
         "plan files (M.plan.json), directories of output, or models to plan")
      ->transform(input_name())
      ->required();
  add_name_option(*app, *options);
  app->add_option("--module", options->model.module, "only this module")->type_name("NAME");
  add_reading_options(*app, options->model);
  add_planning_options(*app, *options);
  add_ignore_sizes_option(*app, *options);
  app->add_flag("--tvm-plan", options->tvm_plan, "report TVM's own plan, read from the model's C");
  add_format_options(*app, {"text", "json", "csv", "markdown", "svg", "html"},
                     [options](const std::string& name) { options->format = report_formats.at(name); });
  app->add_option("-o,--output", options->output, "output file; .html, .svg ... choose the format")->type_name("FILE");
  add_proof_options(*app, options->proof);
  app->add_flag_callback(
      "--verbose", [options] { options->verbosity = driver::Verbosity::verbose; }, "list every buffer");
  return {app,
          [app, options] {
            const bool is_given = app->count("--format") > 0 || app->count("--json") > 0;
            if (!is_given && options->output) options->format = format_of(*options->output);
            options->color = color_terminal();
            options->progress = progress_terminal();
            set_up_logging(driver::Verbosity::normal);
            return driver::report(*options, std::cout, std::cerr);
          },
          {{"usmp-plan report kws.plan.json", "what occupies memory at the peak"},
           {"usmp-plan report kws.plan.json --format html -o map.html", "a memory map"}},
          "Planning options apply to models only."};
}

}  // namespace usmp::apps
