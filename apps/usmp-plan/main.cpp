// Command line of usmp-plan: picks the command, turns what is wrong with the command line into an exit code.
#include <cxxabi.h>
#include <fcntl.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <iostream>
#include <new>
#include <typeinfo>

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
    "  usmp-plan diff old.plan.json new.plan.json        what changed (exit code 1: they differ)\n"
    "  usmp-plan compare model.tar --pools pools.yaml    algorithms side by side\n"
    "  usmp-plan check model.tar --pools pools.yaml      hold a model to its budgets (exit code 1: beyond)\n"
    "  usmp-plan report model.plan.json --format html -o map.html\n"
    "                                                    a memory map for the browser\n"
    "  usmp-plan inspect model.tar                       list functions, buffers and calls\n"
    "  usmp-plan problem model.tar -o problem.json       write the planning problem alone\n"
    "  usmp-plan solve buffers.csv -o plan.csv           plan a bare instance\n"
    "Exit codes: 0 ok, 1 internal error (diff: they differ; check: beyond budget), 2 usage, pools file, instance or\n"
    "external algorithm, 3 malformed or unsupported archive, 4 no plan fits the pools, 5 a result could not be\n"
    "written, 6 out of memory.";

constexpr const char* out_of_memory = "usmp-plan: error: out of memory\n";

// A standard descriptor that was closed would be the next file that is opened, and what is printed would go into that
// file. They get something that nothing can be read from and nothing written to, also by the name /dev/stdout.
void occupy_standard_descriptors() {
  for (const int descriptor : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) {
    if (::fcntl(descriptor, F_GETFD) != -1 || errno != EBADF) continue;
    const int opened = ::open("/dev/full", descriptor == STDIN_FILENO ? O_WRONLY : O_RDONLY);
    if (opened < 0) return;
  }
}

// A reader that has gone and a file that grows beyond its limit are write errors: told, and with an exit code.
void turn_signals_into_errors() {
  std::signal(SIGPIPE, SIG_IGN);
  std::signal(SIGXFSZ, SIG_IGN);
}

// Destructors of libraries may take memory, and end the program when there is none: with the same message and exit
// code.
[[noreturn]] void end_without_memory() {
  const std::type_info* type = abi::__cxa_current_exception_type();
  if (type == nullptr || *type != typeid(std::bad_alloc)) std::abort();
  std::fputs(out_of_memory, stderr);
  ::_exit(driver::exit_memory);
}

int run(int argc, char** argv) {
  CLI::App program(description, "usmp-plan");
  program.footer(footer);
  program.set_version_flag("--version", "usmp-plan " USMP_VERSION);
  const Command plan = add_plan(program);
  const std::array subcommands = {add_check(program),   add_compare(program), add_diff(program),
                                  add_inspect(program), add_init(program),    add_problem(program),
                                  add_report(program),  add_solve(program),   add_verify(program)};
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
  errno = 0;
  if (!std::cout.flush() && code == driver::exit_ok) {
    std::cerr << "usmp-plan: error: standard output could not be written"
              << (errno == 0 ? "" : std::string(": ") + std::strerror(errno)) << '\n';
    return driver::exit_output;
  }
  return code;
}

}  // namespace
}  // namespace usmp::apps

int main(int argc, char** argv) {
  usmp::apps::occupy_standard_descriptors();
  usmp::apps::turn_signals_into_errors();
  std::set_terminate(usmp::apps::end_without_memory);
  try {
    return usmp::apps::run(argc, argv);
  } catch (const std::bad_alloc&) {
    std::fputs(usmp::apps::out_of_memory, stderr);
    return usmp::driver::exit_memory;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "usmp-plan: internal error: %s\n", error.what());
    return usmp::driver::exit_internal;
  }
}
