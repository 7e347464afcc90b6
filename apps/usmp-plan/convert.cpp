// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// usmp-plan convert MODEL.tflite: the model as an archive.
#include <iostream>
#include <memory>

#include "commands.hpp"
#include "options.hpp"

namespace usmp::apps {

Command add_convert(CLI::App& program) {
  const auto options = std::make_shared<driver::ConvertOptions>();
  auto* app = program.add_subcommand("convert", "write a .tflite as a Model Library Format archive");
  app->add_option("MODEL", options->model, "TensorFlow Lite model (.tflite)")->transform(input_name())->required();
  app->add_option("--name", options->names, "name of the model's module")
      ->type_name("NAME=MODEL")
      ->allow_extra_args(false);
  app->add_option("-o,--output", options->output, "archive (.tar, .tar.gz, ...) or directory")
      ->type_name("DIR|FILE.tar")
      ->required();
  app->add_flag("--json", options->json, "print the archive's metadata.json");
  app->add_flag("--quiet", options->quiet, "print nothing on success");
  return {app,
          [options] {
            set_up_logging(driver::Verbosity::normal);
            return driver::convert(*options, std::cout, std::cerr);
          },
          {{"usmp-plan convert model.tflite -o model.tar", "TIR and C without a plan, as TVM exports them"}},
          "",
          "MODEL.tflite -o DIR|FILE.tar"};
}

}  // namespace usmp::apps
