// Command line of usmp-plan: picks the command, turns what is wrong with the command line into an exit code.
#include <CLI/CLI.hpp>
#include <algorithm>
#include <array>
#include <cstdio>
#include <exception>
#include <iostream>

#include "commands.hpp"
#include "usmp/driver/driver.hpp"

namespace usmp::apps {
namespace {

constexpr const char* description =
    "usmp-plan: offline memory planner for TVM Model Library Format archives\n"
    "Plans all buffers of a model into the memories of a board and writes C for it.";

constexpr const char* footer =
    "Examples:\n"
    "  usmp-plan model.tar --pools pools.yaml            write model_planned/\n"
    "  usmp-plan model.tar --pools pools.yaml -o out.tar write a re-planned archive\n"
    "  usmp-plan init model.tar > pools.yaml             start a pools file\n"
    "  usmp-plan verify model.tar --pools pools.yaml --execute\n"
    "                                                    compile, run and compare with unshared code\n"
    "  usmp-plan inspect model.tar                       list functions, buffers and calls\n"
    "  usmp-plan problem model.tar -o problem.json       write the planning problem alone\n"
    "  usmp-plan solve buffers.csv -o plan.csv           plan a bare instance\n"
    "Exit codes: 0 ok, 1 internal error, 2 usage, pools file, instance or external algorithm,\n"
    "3 malformed or unsupported archive, 4 no plan fits the pools, 5 a result could not be written.";

int run(int argc, char** argv) {
  CLI::App program(description, "usmp-plan");
  program.footer(footer);
  program.set_version_flag("--version", "usmp-plan " USMP_VERSION);
  const Command plan = add_plan(program);
  const std::array subcommands = {add_inspect(program), add_init(program), add_problem(program), add_solve(program),
                                  add_verify(program)};
  program.require_subcommand(0, 1);

  int code = driver::exit_ok;
  try {
    program.parse(argc, argv);
    const auto* const chosen = std::find_if(subcommands.begin(), subcommands.end(),
                                            [](const Command& command) { return command.app->parsed(); });
    code = chosen == subcommands.end() ? plan.run() : chosen->run();
  } catch (const CLI::ParseError& error) {
    if (error.get_exit_code() == 0) return program.exit(error);  // --help and --version
    std::cerr << "usmp-plan: error: " << error.what() << " (--help shows the options)\n";
    return driver::exit_usage;
  }
  if (!std::cout.flush() && code == driver::exit_ok) {
    std::cerr << "usmp-plan: error: standard output could not be written\n";
    return driver::exit_output;
  }
  return code;
}

}  // namespace
}  // namespace usmp::apps

int main(int argc, char** argv) {
  try {
    return usmp::apps::run(argc, argv);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "usmp-plan: internal error: %s\n", error.what());
    return usmp::driver::exit_internal;
  }
}
