// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// usmp-random-modules: campaigns of random modules (docs/testing.md).
#include <CLI/CLI.hpp>
#include <cstdlib>
#include <iostream>

#include "random_modules/campaign.hpp"
#include "random_modules/generate.hpp"
#include "random_modules/networks.hpp"
#include "random_modules/programs.hpp"
#include "usmp/tir/printer.hpp"

using namespace usmp::random_modules;

namespace {

// The modules with the steps applied, and what these did.
void print_modules(const Settings& settings) {
  for (std::uint64_t i = 0; i < settings.count; ++i) {
    const std::uint64_t seed = settings.seed + i;
    const TestModule test = made(seed, settings);
    const usmp::transform::Result result =
        usmp::transform::transform(test.module, {.steps = settings.steps,
                                                 .recompute_percent = settings.recompute_percent,
                                                 .strip_percent = settings.strip_percent,
                                                 .rolling_grain = settings.rolling_grain});
    std::cout << usmp::tir::print(result.module());
    for (const auto& change : result.changes()) std::cout << change.function << ": " << change.text << '\n';
  }
}

void print_totals(const Totals& totals) {
  std::cout << totals.modules << " modules, of these " << totals.unspelled << " that TVM has no C for and "
            << totals.undefined << " not well defined; " << totals.plans << " plans verified and replayed, "
            << totals.sharing << " with shared bytes; " << totals.variants << " different C of " << totals.compiled
            << " modules run in " << totals.programs << " programs, " << totals.dots << " with dot products of bytes, "
            << totals.rows << " with rows of them, " << totals.lanes << " with products by lanes, " << totals.windows
            << " with windows of them, " << totals.shared << " of several sums a channel, " << totals.floats
            << " with vectors of floats, " << totals.pairs << " with pairs of weights, " << totals.halves
            << " of 16 bits; " << totals.failures.size() << " failures\n";
  std::cout << "the product replays " << totals.product.replayed << " of " << totals.product.pairs
            << " pairs of buffers that share bytes, and refuses " << totals.product.wrong
            << " plans that were made wrong\n";
  for (const auto& [step, count] : totals.changed) {
    std::cout << usmp::transform::name_of(step) << " changed " << count << " modules\n";
  }
}

}  // namespace

int main(int argc, char** argv) {
  CLI::App app("Random TIR modules: planned by every algorithm, run, and held against a reference interpreter.",
               "usmp-random-modules");
  Settings settings;
  bool print = false;
  bool networks = false;
  bool products = false;
  std::string steps = "none";
  std::size_t shrinks = 3;
  std::size_t shrunk = 0;
  app.add_option("--seed", settings.seed, "of the first module; the others follow")->capture_default_str();
  app.add_option("--count", settings.count, "number of modules")->capture_default_str();
  app.add_option("--compile-every", settings.compile_every, "compile the C of every such module; 0: of none")
      ->capture_default_str();
  app.add_option("--variants", settings.variants, "of a module's different C, how many are compiled; 0: all")
      ->capture_default_str();
  std::string compiler;
  app.add_option("--compiler", compiler, "the one that compiles all (\"gcc -O2\"), instead of several in turn");
  app.add_option("--jobs", settings.jobs, "threads")->capture_default_str()->check(CLI::PositiveNumber);
  app.add_flag("!--no-warnings", settings.warnings, "what compilers warn of is no failure");
  app.add_flag("--networks", networks, "programs as TVM writes them for networks");
  app.add_flag("--products", products, "networks of sums of products alone")->excludes("--networks");
  app.add_option("--transform", steps, "steps of transformation that are applied first: none, all or their names")
      ->capture_default_str();
  app.add_option("--allow-recompute", settings.recompute_percent, "percent of work that they may add for memory")
      ->capture_default_str()
      ->check(CLI::Range(0, 1000));
  app.add_flag_callback(
      "--pixels", [&] { settings.rolling_grain = usmp::transform::RollingGrain::pixels; },
      "chains of operators run by pixels, never by rows");
  bool strips = false;
  app.add_flag("--strips", strips, "chains of operators run by rows of strips, within --allow-recompute");
  app.add_flag("--from-c", settings.from_c, "written as TVM's C and read back first");
  app.add_flag("!--no-plans", settings.plans, "only transform, and interpret the result");
  bool kernels = false;
  app.add_flag("--kernels", kernels, "fail unless kernels of all kinds have run");
  app.add_option("--shrink", shrinks, "so many failures are made small")->capture_default_str();
  app.add_flag("--print", print, "print the modules' TIR instead");
  bool list_steps = false;
  app.add_flag("--list-steps", list_steps, "print the names of the steps of transformation instead");
  CLI11_PARSE(app, argc, argv);

  if (list_steps) {
    for (const auto step : usmp::transform::all_steps) std::cout << usmp::transform::name_of(step) << '\n';
    return EXIT_SUCCESS;
  }
  if (strips) {
    settings.rolling_grain = usmp::transform::RollingGrain::strips;
    settings.strip_percent = settings.recompute_percent;
  }
  settings.kind = networks ? Kind::networks : products ? Kind::products : Kind::modules;
  std::string wrong;
  const auto parsed = usmp::transform::parse_steps(steps, &wrong);
  if (!parsed) {
    std::cerr << "--transform: no step is called '" << wrong << "'\n";
    return EXIT_FAILURE;
  }
  settings.steps = *parsed;
  for (std::size_t i = 0; i < compilers().size(); ++i) {
    if (compilers()[i].name == compiler) settings.compiler = i;
  }
  if (!compiler.empty() && !settings.compiler) {
    std::cerr << "--compiler: none is called '" << compiler << "'\n";
    return EXIT_FAILURE;
  }
  if (print) {
    print_modules(settings);
    return EXIT_SUCCESS;
  }
  std::uint64_t reported = 0;
  const Totals totals = run_campaign(settings, [&](const Totals& sofar) {
    if (sofar.modules < reported + 1000) return;
    reported = sofar.modules;
    std::cerr << sofar.modules << " modules, " << sofar.variants << " variants compiled, " << sofar.failures.size()
              << " failures\n";
  });
  for (const Failure& failure : totals.failures) {
    std::cout << "seed " << failure.seed << ": " << failure.what << '\n';
    if (shrunk++ >= shrinks) continue;
    const Shrunk small = shrink_failure(failure, settings);
    std::cout << "shrunk:\n"
              << small.module << small.what << "\nagain: usmp-random-modules "
              << (networks   ? "--networks "
                  : products ? "--products "
                             : "")
              << (settings.from_c ? "--from-c " : "") << "--transform " << steps << " --allow-recompute "
              << settings.recompute_percent << (settings.plans ? "" : " --no-plans")
              << (settings.rolling_grain == usmp::transform::RollingGrain::pixels ? " --pixels" : "")
              << (strips ? " --strips" : "") << " --count 1 --variants 0 --seed " << failure.seed << '\n';
  }
  print_totals(totals);
  if (kernels && (totals.dots == 0 || totals.rows == 0 || totals.lanes == 0 || totals.halves == 0 ||
                  totals.windows == 0 || totals.shared == 0)) {
    std::cerr << "--kernels: the modules have none of one kind\n";
    return EXIT_FAILURE;
  }
  return totals.failures.empty() ? EXIT_SUCCESS : EXIT_FAILURE;
}
