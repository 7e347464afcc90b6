// Command line of usmp-plan: options to driver calls.
#include <spdlog/sinks/stdout_color_sinks.h>
#include <spdlog/spdlog.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <charconv>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <iostream>

#include "usmp/driver/driver.hpp"

namespace {

using usmp::driver::InspectOptions;
using usmp::driver::ModelOptions;
using usmp::driver::PlanOptions;
using usmp::driver::SearchOptions;
using usmp::driver::Verbosity;

constexpr const char* description =
    "usmp-plan: offline memory planner for TVM Model Library Format archives\n"
    "Plans all buffers of a model into the memories of a board and writes C for it.";

constexpr const char* footer =
    "Examples:\n"
    "  usmp-plan model.tar --pools pools.yaml            write model_planned/\n"
    "  usmp-plan model.tar --pools pools.yaml -o out.tar write a re-planned archive\n"
    "  usmp-plan init model.tar > pools.yaml             start a pools file\n"
    "  usmp-plan inspect model.tar                       list functions, buffers and calls\n"
    "Exit codes: 0 ok, 1 internal error, 2 usage or pools file, 3 malformed or unsupported\n"
    "archive, 4 no plan fits the pools, 5 a result could not be written.";

void add_model_options(CLI::App& app, ModelOptions& options, bool required) {
  auto* model =
      app.add_option("MODEL", options.model, "MLF archive (.tar, .tar.gz, .tar.xz, .tar.zst) or extracted archive");
  if (required) model->required();
  app.add_option("--module", options.module, "one module of the archive (default: all)")->type_name("NAME");
}

// Seconds, fractions allowed, rounded up to milliseconds.
std::chrono::milliseconds time_limit_of(const std::string& text) {
  constexpr double longest = 1e9;
  constexpr double milliseconds = 1000.0;
  double seconds = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), seconds);
  const bool complete = error == std::errc{} && end == text.data() + text.size();
  if (!complete || !(seconds > 0) || seconds > longest) {
    throw CLI::ValidationError("--time-limit", "is '" + text + "': expected seconds above 0, as 30 or 0.5");
  }
  return std::chrono::milliseconds(static_cast<std::int64_t>(std::ceil(seconds * milliseconds)));
}

std::uint64_t node_limit_of(const std::string& text) {
  std::uint64_t nodes = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), nodes);
  if (error != std::errc{} || end != text.data() + text.size() || nodes == 0) {
    throw CLI::ValidationError("--node-limit", "is '" + text + "': expected a number of search nodes, at least 1");
  }
  return nodes;
}

void add_search_options(CLI::App& app, SearchOptions& options) {
  app.add_option_function<std::string>(
         "--node-limit", [&options](const std::string& text) { options.node_limit = node_limit_of(text); },
         "search nodes after which an exact search ends (default: worth about 10 s)")
      ->type_name("N");
  app.add_option_function<std::string>(
         "--time-limit", [&options](const std::string& text) { options.time_limit = time_limit_of(text); },
         "end the search after so many seconds; the plan then depends on the machine")
      ->type_name("SECONDS");
  app.add_option("--seed", options.seed, "seed of randomised algorithms")
      ->capture_default_str()
      ->type_name("N")
      ->check(CLI::NonNegativeNumber);
}

bool color_terminal() { return isatty(STDOUT_FILENO) != 0 && std::getenv("NO_COLOR") == nullptr; }

void set_up_logging(Verbosity verbosity) {
  spdlog::set_default_logger(spdlog::stderr_color_mt("usmp-plan"));
  spdlog::set_pattern("%n: %l: %v");
  spdlog::set_level(verbosity == Verbosity::verbose ? spdlog::level::debug : spdlog::level::warn);
}

int run(int argc, char** argv) {
  CLI::App app(description, "usmp-plan");
  app.footer(footer);
  app.set_version_flag("--version", "usmp-plan " USMP_VERSION);
  PlanOptions options;
  bool quiet = false;
  bool verbose = false;
  bool list = false;
  add_model_options(app, options.model, false);
  app.add_option("--pools", options.pools_file, "pools file (default: one unbounded internal pool)")->type_name("FILE");
  app.add_option("-o,--output", options.output, "directory or archive to write (default: MODEL_planned/)")
      ->type_name("DIR|FILE.tar");
  app.add_option("--algorithm", options.algorithm, "planning algorithm (default: the pools file's, else hill_climb)")
      ->type_name("NAME");
  app.add_option("--minimize", options.minimize, "make this pool as small as possible before everything else")
      ->type_name("POOL");
  app.add_option("--pins", options.pins, "keep buffers where an earlier plan placed them")
      ->type_name("M.plan.json")
      ->allow_extra_args(false);
  add_search_options(app, options.search);
  app.add_flag("--workspace-io", options.workspace_io, "place inputs and outputs in the workspace pools");
  app.add_flag("--dry-run", options.dry_run, "plan and verify, write nothing");
  app.add_flag("--json", options.model.json, "print the plan as JSON");
  auto* quiet_flag = app.add_flag("--quiet", quiet, "print nothing on success");
  app.add_flag("--verbose", verbose, "list every buffer, log the stages")->excludes(quiet_flag);
  app.add_flag("--list-algorithms", list, "list the planning algorithms");

  InspectOptions inspect_options;
  auto* inspect = app.add_subcommand("inspect", "list modules, functions, buffers with live ranges, calls");
  add_model_options(*inspect, inspect_options.model, true);
  inspect->add_flag("--tir", inspect_options.tir, "print the IR");
  inspect->add_flag("--json", inspect_options.model.json, "print JSON");
  ModelOptions init_options;
  auto* init = app.add_subcommand("init", "print a starter pools file for a model");
  add_model_options(*init, init_options, true);
  app.require_subcommand(0, 1);

  try {
    app.parse(argc, argv);
    if (!list && !*inspect && !*init && options.model.model.empty()) throw CLI::RequiredError("MODEL");
  } catch (const CLI::ParseError& error) {
    if (error.get_exit_code() == 0) return app.exit(error);  // --help and --version
    std::cerr << "usmp-plan: error: " << error.what() << " (--help shows the options)\n";
    return usmp::driver::exit_usage;
  }
  options.verbosity = quiet ? Verbosity::quiet : verbose ? Verbosity::verbose : Verbosity::normal;
  options.color = color_terminal();
  options.progress = !quiet && isatty(STDERR_FILENO) != 0;
  set_up_logging(options.verbosity);
  int code = usmp::driver::exit_ok;
  if (list) {
    code = usmp::driver::list_algorithms(std::cout);
  } else if (*inspect) {
    code = usmp::driver::inspect(inspect_options, std::cout, std::cerr);
  } else if (*init) {
    code = usmp::driver::init(init_options, std::cout, std::cerr);
  } else {
    code = usmp::driver::plan(options, std::cout, std::cerr);
  }
  if (!std::cout.flush() && code == usmp::driver::exit_ok) {
    std::cerr << "usmp-plan: error: standard output could not be written\n";
    return usmp::driver::exit_output;
  }
  return code;
}

}  // namespace

int main(int argc, char** argv) {
  try {
    return run(argc, argv);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "usmp-plan: internal error: %s\n", error.what());
    return usmp::driver::exit_internal;
  }
}
