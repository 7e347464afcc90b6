// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// usmp-random-tflite: campaigns of random TensorFlow Lite models (docs/testing.md).
#include <CLI/CLI.hpp>
#include <cstdlib>
#include <filesystem>
#include <iostream>

#include "tflite_random/campaign.hpp"
#include "tflite_random/generate.hpp"
#include "tflite_random/golden.hpp"

using namespace usmp::tflite_random;

namespace {

// The models of a folder and their golden files, written anew with version 1 of all operators.
void copy_models(const std::filesystem::path& from, const std::filesystem::path& to) {
  for (const auto& entry : std::filesystem::directory_iterator(from)) {
    if (entry.path().extension() != ".tflite") continue;
    const Model model = model_of(read_bytes(entry.path()));
    const std::vector<Run> runs = read_golden(std::filesystem::path(entry.path()).replace_extension(".golden"));
    write_golden(to, entry.path().stem().string(), file_of(model), model, runs);
  }
}

}  // namespace

int main(int argc, char** argv) try {
  CLI::App app("Random TensorFlow Lite models: read, run, and held against an interpreter of the format.",
               "usmp-random-tflite");
  Settings settings;
  bool print_models = false;
  bool statistics = false;
  std::size_t shown = 20;
  app.add_option("--seed", settings.seed, "of the first model; the others follow")->capture_default_str();
  app.add_option("--count", settings.count, "number of models")->capture_default_str();
  app.add_option("--jobs", settings.jobs, "threads")->capture_default_str()->check(CLI::PositiveNumber);
  app.add_option("--transform-every", settings.transform_every, "transform every such model, too; 0: none")
      ->capture_default_str();
  app.add_option("--write", settings.folder, "a folder for models with golden files, for tests/e2e/tflite.py");
  app.add_option("--write-every", settings.write_every, "write every such model")
      ->capture_default_str()
      ->check(CLI::PositiveNumber);
  std::filesystem::path copied;
  app.add_option("--copy", copied, "write the models of this folder, with version 1 of all operators, instead");
  app.add_option("--show", shown, "so many failures are printed")->capture_default_str();
  app.add_flag("--print", print_models, "print the models instead");
  app.add_flag("--statistics", statistics, "print how often there was each operator, by its number, and type");
  CLI11_PARSE(app, argc, argv);

  if (!copied.empty()) {
    copy_models(copied, settings.folder);
    return EXIT_SUCCESS;
  }
  if (print_models) {
    for (std::uint64_t i = 0; i < settings.count; ++i) std::cout << print(random_model(settings.seed + i).model);
    return EXIT_SUCCESS;
  }
  std::uint64_t reported = 0;
  const Totals totals = run_campaign(settings, [&](const Totals& sofar) {
    if (sofar.models < reported + 1000) return;
    reported = sofar.models;
    std::cerr << sofar.models << " models, " << sofar.failures.size() << " failures\n";
  });
  for (const Failure& failure : totals.failures) {
    if (shown-- == 0) break;
    std::cout << "seed " << failure.seed << ": " << failure.what << '\n';
  }
  if (statistics) {
    for (const auto& [name, count] : totals.operators) std::cout << name << ": " << count << '\n';
  }
  std::cout << totals.models << " models, of these " << totals.undefined << " not well defined; " << totals.transformed
            << " run transformed, too; " << totals.written << " written; " << totals.failures.size() << " failures\n";
  return totals.failures.empty() ? EXIT_SUCCESS : EXIT_FAILURE;
} catch (const std::exception& error) {
  std::cerr << error.what() << '\n';
  return EXIT_FAILURE;
}
