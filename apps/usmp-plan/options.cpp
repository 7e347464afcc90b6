#include "options.hpp"

#include <spdlog/sinks/stdout_color_sinks.h>
#include <spdlog/spdlog.h>
#include <unistd.h>

#include <charconv>
#include <chrono>
#include <cmath>
#include <cstdlib>

namespace usmp::apps {
namespace {

std::uint64_t number_of(const std::string& text, std::uint64_t least, const char* option, const char* expected) {
  std::uint64_t number = 0;
  const char* const end = text.data() + text.size();
  const auto [stopped, error] = std::from_chars(text.data(), end, number);
  if (error != std::errc{} || stopped != end || number < least) {
    throw CLI::ValidationError(option, "is '" + text + "': expected " + expected);
  }
  return number;
}

std::uint64_t node_limit_of(const std::string& text) {
  return number_of(text, 1, "--node-limit", "a number of search nodes, at least 1");
}

}  // namespace

void add_model_options(CLI::App& app, driver::ModelOptions& options, bool required) {
  auto* model =
      app.add_option("MODEL", options.model, "MLF archive (.tar, .tar.gz, .tar.xz, .tar.zst) or extracted archive");
  if (required) model->required();
  app.add_option("--module", options.module, "one module of the archive (default: all)")->type_name("NAME");
}

void add_transform_option(CLI::App& app, driver::ModelOptions& options) {
  app.add_option("--transform", options.transform,
                 "change the program so that it needs less memory: none, all, or some of " +
                     driver::transformation_names() + " (default: " + options.transform + ")")
      ->type_name("NAMES");
}

void add_pools_options(CLI::App& app, std::optional<std::string>& pools_file, bool& workspace_io) {
  app.add_option("--pools", pools_file, "pools file (default: one unbounded internal pool)")->type_name("FILE");
  app.add_flag("--workspace-io", workspace_io, "place inputs and outputs in the workspace pools");
}

void add_algorithm_option(CLI::App& app, std::optional<std::string>& algorithm, const std::string& fallback) {
  app.add_option("--algorithm", algorithm, "planning algorithm (default: " + fallback + ")")->type_name("NAME");
}

void add_search_options(CLI::App& app, driver::SearchOptions& options) {
  app.add_option_function<std::string>(
         "--node-limit", [&options](const std::string& text) { options.node_limit = node_limit_of(text); },
         "search nodes after which an exact search ends (default: worth about 10 s)")
      ->type_name("N");
  app.add_option_function<std::string>(
         "--time-limit", [&options](const std::string& text) { options.time_limit = seconds_of(text, "--time-limit"); },
         "end the search after so many seconds; the plan then depends on the machine")
      ->type_name("SECONDS");
  app.add_option_function<std::string>(
         "--seed",
         [&options](const std::string& text) { options.seed = number_of(text, 0, "--seed", "a whole number from 0"); },
         "seed of randomised algorithms (default: 0)")
      ->type_name("N");
}

std::chrono::milliseconds seconds_of(const std::string& text, const std::string& option) {
  constexpr double shortest = 1e-3;
  constexpr double longest = 1e9;
  constexpr double milliseconds = 1000.0;
  double seconds = 0;
  const char* const end = text.data() + text.size();
  const auto [stopped, error] = std::from_chars(text.data(), end, seconds, std::chars_format::fixed);
  if (error != std::errc{} || stopped != end || !(seconds >= shortest && seconds <= longest)) {
    throw CLI::ValidationError(option, "is '" + text + "': expected seconds from 0.001 to 1000000000, as 30 or 0.5");
  }
  return std::chrono::milliseconds(static_cast<std::int64_t>(std::ceil(seconds * milliseconds)));
}

void add_problem_options(CLI::App& app, driver::PlanningOptions& options) {
  add_transform_option(app, options.model);
  add_pools_options(app, options.pools_file, options.workspace_io);
}

void add_goal_options(CLI::App& app, driver::PlanningOptions& options) {
  app.add_option("--minimize", options.minimize, "make this pool as small as possible before everything else")
      ->type_name("POOL");
  app.add_option("--pins", options.pins, "keep buffers where an earlier plan placed them")
      ->type_name("M.plan.json")
      ->allow_extra_args(false);
  add_search_options(app, options.search);
}

void add_planning_options(CLI::App& app, driver::PlanningOptions& options) {
  add_problem_options(app, options);
  add_algorithm_option(app, options.algorithm, "the pools file's, else " + driver::default_algorithm_name());
  add_goal_options(app, options);
}

bool color_terminal() { return isatty(STDOUT_FILENO) != 0 && std::getenv("NO_COLOR") == nullptr; }

bool progress_terminal() { return isatty(STDERR_FILENO) != 0; }

void set_up_logging(driver::Verbosity verbosity) {
  spdlog::set_default_logger(spdlog::stderr_color_mt("usmp-plan"));
  spdlog::set_pattern("%n: %l: %v");
  spdlog::set_level(verbosity == driver::Verbosity::verbose ? spdlog::level::debug : spdlog::level::warn);
}

}  // namespace usmp::apps
