// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// Adds options to the parser, checks and converts their values, and asks what the terminal can show.
#include "options.hpp"

#include <spdlog/sinks/stdout_color_sinks.h>
#include <spdlog/spdlog.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <chrono>
#include <cmath>
#include <cstdlib>
#include <string_view>

#include "usmp/support/printable.hpp"
#include "usmp/support/text.hpp"

namespace usmp::apps {
namespace {

std::int64_t percentage_of(const std::string& text, const char* option) {
  constexpr NumberRange range = {.least = 0, .most = static_cast<std::uint64_t>(driver::max_recompute_percent)};
  return static_cast<std::int64_t>(number_of(text, range, option, "a whole number of percent from 0 to 1000"));
}

std::int64_t stack_bytes_of(const std::string& text) {
  const std::optional<std::int64_t> bytes = driver::bytes_of(text);
  if (bytes && *bytes <= driver::max_plan_stack) return *bytes;
  throw CLI::ValidationError("--plan-stack",
                             "found '" + printable(text) + "', expected bytes from 0 to 1GiB, as in 512 or 4KiB");
}

std::uint64_t node_limit_of(const std::string& text) {
  return number_of(text, {.least = 1}, "--node-limit", "a number of search nodes, at least 1");
}

// "text, json or csv"
std::string enumeration(const std::vector<std::string>& words) {
  const std::vector<std::string> all_but_last(words.begin(), words.end() - 1);
  return joined(all_but_last) + (all_but_last.empty() ? "" : " or ") + words.back();
}

bool is_set(const char* variable) {
  const char* const value = std::getenv(variable);
  return value != nullptr && *value != '\0';
}

}  // namespace

CLI::Validator one_of(const std::vector<std::string>& words) {
  return {[words](const std::string& word) -> std::string {
            if (std::find(words.begin(), words.end(), word) != words.end()) return {};
            return "unknown '" + printable(word) + "'" + did_you_mean(word, words) + "; expected " + enumeration(words);
          },
          "{" + joined(words, ",") + "}"};
}

CLI::Validator such_as(const std::vector<std::string>& words, bool list) {
  return {[](const std::string&) { return std::string(); }, "{" + joined(words, ",") + (list ? "}," : "}")};
}

CLI::Validator input_name() {
  return {[](std::string& name) {
            if (name == "-") name = "/dev/stdin";
            return std::string();
          },
          ""};
}

void add_format_options(CLI::App& app, const std::vector<std::string>& formats,
                        const std::function<void(const std::string&)>& choose) {
  auto* format = app.add_option_function<std::string>("--format", choose,
                                                      enumeration(formats) + " (default: " + formats.front() + ")")
                     ->type_name("NAME")
                     ->check(one_of(formats));
  app.add_flag_callback(
         "--json", [choose] { choose("json"); }, "same as --format json")
      ->excludes(format);
}

void add_model_options(CLI::App& app, driver::ModelOptions& options, bool required) {
  auto* model = app.add_option("MODEL", options.model, ".tflite, archive (.tar, .tar.gz, ...), directory or TVM's C")
                    ->transform(input_name());
  if (required) model->required();
  app.add_option("--module", options.module, "only this module of the archive (default: all)")->type_name("NAME");
  add_reading_options(app, options);
}

void add_reading_options(CLI::App& app, driver::ModelOptions& options) {
  app.add_option("--from", options.from, "read modules from c or tir (default: tir if any)")
      ->type_name("NAME")
      ->check(one_of({"c", "tir"}));
  app.add_option_function<std::vector<std::string>>(
         "--synchronous",
         [&options](const std::vector<std::string>& names) {
           for (const std::string& name : names) {
             if (!name.empty() && c_identifier(name) == name) {
               options.synchronous.insert(name);
             } else {
               throw CLI::ValidationError("--synchronous",
                                          "found '" + printable(name) + "', expected names of C functions, as f,g");
             }
           }
         },
         "functions of the C that keep no address of a tensor")
      ->type_name("NAMES")
      ->delimiter(',')
      ->allow_extra_args(false);
}

void add_name_option(CLI::App& app, driver::PlanningOptions& options) {
  app.add_option("--name", options.names, "name of a model's module")->type_name("NAME=MODEL")->allow_extra_args(false);
}

void add_models_options(CLI::App& app, driver::PlanningOptions& options, bool required) {
  auto* models = app.add_option_function<std::vector<std::string>>(
                        "MODEL",
                        [&options](const std::vector<std::string>& paths) {
                          options.model.model = paths.front();
                          options.more_models.assign(paths.begin() + 1, paths.end());
                        },
                        ".tflite, archive (.tar, .tar.gz, ...), directory or TVM's C")
                     ->transform(input_name());
  if (required) models->required();
  add_name_option(app, options);
  app.add_option("--module", options.model.module, "only this module of the archive (default: all)")->type_name("NAME");
  add_reading_options(app, options.model);
}

void add_transform_options(CLI::App& app, driver::ModelOptions& options) {
  std::vector<std::string> names = {"none", "all"};
  for (const std::string& name : driver::transformation_names()) names.push_back(name);
  app.add_option("--transform", options.transform,
                 "transformations: none, all or names (default: " + options.transform.value_or("all") + ")")
      ->type_name("NAMES")
      ->check(such_as(names, true));
  app.add_option("--cpu", options.cpu, "target core (default: the archive's, else generic)")
      ->type_name("NAME")
      ->check(one_of(driver::core_names()));
  app.add_option_function<std::string>(
         "--allow-recompute",
         [&options](const std::string& text) { options.recompute_percent = percentage_of(text, "--allow-recompute"); },
         "allow N% more computation, to save memory (default: 0)")
      ->type_name("N");
  app.add_option_function<std::string>(
         "--plan-stack", [&options](const std::string& text) { options.plan_stack = stack_bytes_of(text); },
         "plan C's local arrays above this (default: 256)")
      ->type_name("BYTES");
}

void add_pools_options(CLI::App& app, std::optional<std::string>& pools_file, std::optional<std::string>& memory_file,
                       bool& workspace_io) {
  app.add_option("--pools", pools_file, "memory pools (default: one unbounded internal pool)")->type_name("FILE");
  app.add_option("--memory", memory_file, "linker script whose MEMORY gives the pools their sizes")->type_name("FILE");
  app.add_flag("--workspace-io", workspace_io, "place inputs and outputs in the workspace pools, too");
}

void add_algorithm_option(CLI::App& app, std::optional<std::string>& algorithm, const std::string& fallback) {
  app.add_option("--algorithm", algorithm, "how to plan (default: " + fallback + ")")
      ->type_name("NAME")
      ->check(such_as(driver::algorithm_names()));
}

void add_search_options(CLI::App& app, driver::SearchOptions& options) {
  app.add_option_function<std::string>(
         "--node-limit", [&options](const std::string& text) { options.node_limit = node_limit_of(text); },
         "stop after N search nodes (default: about 10 s)")
      ->type_name("N");
  app.add_option_function<std::string>(
         "--time-limit", [&options](const std::string& text) { options.time_limit = seconds_of(text, "--time-limit"); },
         "stop after SECONDS; the plan depends on the machine")
      ->type_name("SECONDS");
  app.add_option_function<std::string>(
         "--seed",
         [&options](const std::string& text) { options.seed = number_of(text, {}, "--seed", "a whole number from 0"); },
         "seed of randomised algorithms (default: 0)")
      ->type_name("N");
}

std::uint64_t number_of(const std::string& text, NumberRange range, const char* option, const char* expected) {
  std::uint64_t number = 0;
  const char* const end = text.data() + text.size();
  const auto [stopped, error] = std::from_chars(text.data(), end, number);
  if (error != std::errc{} || stopped != end || number < range.least || number > range.most) {
    throw CLI::ValidationError(option, "found '" + printable(text) + "', expected " + expected);
  }
  return number;
}

std::chrono::milliseconds seconds_of(const std::string& text, const std::string& option) {
  constexpr double shortest = 1e-3;
  constexpr double longest = 1e9;
  constexpr double milliseconds = 1000.0;
  double seconds = 0;
  const char* const end = text.data() + text.size();
  const auto [stopped, error] = std::from_chars(text.data(), end, seconds, std::chars_format::fixed);
  if (error != std::errc{} || stopped != end || !(seconds >= shortest && seconds <= longest)) {
    throw CLI::ValidationError(
        option, "found '" + printable(text) + "', expected seconds from 0.001 to 1000000000, as 30 or 0.5");
  }
  return std::chrono::milliseconds(static_cast<std::int64_t>(std::ceil(seconds * milliseconds)));
}

void add_problem_options(CLI::App& app, driver::PlanningOptions& options) {
  add_transform_options(app, options.model);
  add_pools_options(app, options.pools_file, options.memory_file, options.workspace_io);
}

void add_goal_options(CLI::App& app, driver::PlanningOptions& options) {
  app.add_option("--objective", options.objective, "size or accesses (default: the pools file's or size)")
      ->type_name("NAME")
      ->check(one_of({"size", "accesses"}));
  app.add_option("--minimize", options.minimize, "minimize this pool first")->type_name("POOL");
  app.add_option("--pins", options.pins, "keep the placements of an earlier plan")
      ->type_name("M.plan.json")
      ->allow_extra_args(false);
  add_search_options(app, options.search);
}

void add_planning_options(CLI::App& app, driver::PlanningOptions& options) {
  add_problem_options(app, options);
  add_algorithm_option(app, options.algorithm, "the pools file's, else " + driver::default_algorithm_name());
  add_goal_options(app, options);
}

void add_proof_options(CLI::App& app, driver::ProofOptions& options) {
  app.add_option("--proof", options.file, "write a proof of a pool's lower bound (.pbp) and its constraints (.opb)")
      ->type_name("FILE");
  app.add_option("--proof-pool", options.pool, "the pool of --proof; default: the first with a bound")
      ->type_name("POOL");
}

void add_ignore_sizes_option(CLI::App& app, driver::PlanningOptions& options) {
  app.add_flag("--ignore-sizes", options.ignore_sizes,
               "if no plan fits the pools, plan into the same pools without their sizes");
}

namespace {

bool is_dumb_terminal() {
  const char* const terminal = std::getenv("TERM");
  return !is_set("TERM") || std::string_view(terminal) == "dumb";
}

}  // namespace

bool color_terminal() { return isatty(STDOUT_FILENO) != 0 && !is_set("NO_COLOR") && !is_dumb_terminal(); }

std::optional<std::size_t> terminal_width() {
  winsize size = {};
  if (::isatty(STDOUT_FILENO) == 0 || ::ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) != 0 || size.ws_col == 0) return {};
  return size.ws_col;
}

// A dumb terminal cannot write a line anew.
bool progress_terminal() { return isatty(STDERR_FILENO) != 0 && !is_dumb_terminal(); }

void set_up_logging(driver::Verbosity verbosity) {
  spdlog::set_default_logger(spdlog::stderr_color_mt("usmp-plan"));
  spdlog::set_pattern("%n: %l: %v");
  spdlog::set_level(verbosity == driver::Verbosity::verbose ? spdlog::level::debug : spdlog::level::warn);
}

}  // namespace usmp::apps
