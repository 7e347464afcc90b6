// usmp-random-modules: campaigns of random modules (docs/testing.md).
#include <CLI/CLI.hpp>
#include <cstdlib>
#include <iostream>

#include "random_modules/campaign.hpp"
#include "random_modules/generate.hpp"
#include "usmp/tir/printer.hpp"

using namespace usmp::random_modules;

int main(int argc, char** argv) {
  CLI::App app("Random TIR modules: planned by every algorithm, run, and held against a reference interpreter.",
               "usmp-random-modules");
  Settings settings;
  bool print = false;
  std::size_t shrinks = 3;
  std::size_t shrunk = 0;
  app.add_option("--seed", settings.seed, "of the first module; the others follow")->capture_default_str();
  app.add_option("--count", settings.count, "number of modules")->capture_default_str();
  app.add_option("--compile-every", settings.compile_every, "compile the C of every such module; 0: of none")
      ->capture_default_str();
  app.add_option("--variants", settings.variants, "of a module's different C, how many are compiled; 0: all")
      ->capture_default_str();
  app.add_option("--jobs", settings.jobs, "threads")->capture_default_str()->check(CLI::PositiveNumber);
  app.add_flag("!--no-warnings", settings.warnings, "what compilers warn of is no failure");
  app.add_option("--shrink", shrinks, "so many failures are made small")->capture_default_str();
  app.add_flag("--print", print, "print the modules' TIR instead");
  CLI11_PARSE(app, argc, argv);

  if (print) {
    for (std::uint64_t i = 0; i < settings.count; ++i)
      std::cout << usmp::tir::print(generate(settings.seed + i).module);
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
    const Shrunk small = shrink_failure(failure);
    std::cout << "shrunk:\n"
              << small.module << small.what << "\nagain: usmp-random-modules --count 1 --variants 0 --seed "
              << failure.seed << '\n';
  }
  std::cout << totals.modules << " modules, of these " << totals.undefined << " not well defined; " << totals.plans
            << " plans verified and replayed; " << totals.variants << " different C of " << totals.compiled
            << " modules run in " << totals.programs << " programs; " << totals.failures.size() << " failures\n";
  return totals.failures.empty() ? EXIT_SUCCESS : EXIT_FAILURE;
}
