// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// usmp-plan init MODEL: a pools file to begin with.
#include <iostream>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "commands.hpp"
#include "options.hpp"

namespace usmp::apps {

Command add_init(CLI::App& program) {
  const auto options = std::make_shared<driver::InitOptions>();
  auto* app = program.add_subcommand("init", "print a starter pools file for a model");
  add_model_options(*app, options->model, true);
  app->add_option("--tvmc", options->tvmc_file, "take the pools from the tvmc command line in FILE")
      ->type_name("FILE")
      ->transform(input_name());
  app->add_option("--memory", options->memory_file, "make a pool for each region in the MEMORY of a linker script")
      ->type_name("FILE")
      ->transform(input_name());
  app->add_option("--schema", options->schema, "also write the JSON Schema of pools files to FILE, for editors")
      ->type_name("FILE");
  app->add_option("-o,--output", options->output, "output file (default: standard output)")->type_name("FILE");
  app->add_flag("--force", options->force, "replace files that somebody has edited");
  app->add_flag("--json", options->model.json, "print JSON, which --pools also accepts");
  return {app,
          [options] {
            set_up_logging(driver::Verbosity::normal);
            return driver::init(*options, std::cout, std::cerr);
          },
          {{"usmp-plan init model.tar -o pools.yaml", "then enter your memories"},
           {"usmp-plan init model.tar --memory board.ld", "pools for the regions of a linker script"},
           {"usmp-plan init model.tar --workspace-pools=dtcm,sram", "pools as tvmc names them"},
           {"usmp-plan init model.tar -- tvmc compile --workspace-pools=sram model.onnx", "from a tvmc command line"}},
          "It also accepts tvmc's options for memory pools and --pass-config, or a whole tvmc command line after --.",
          "",
          [options](std::vector<std::string> words) { options->tvmc = std::move(words); }};
}

}  // namespace usmp::apps
