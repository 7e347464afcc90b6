// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// Options that several commands have.
#pragma once

#include <CLI/CLI.hpp>
#include <chrono>
#include <cstdint>
#include <functional>
#include <limits>
#include <optional>
#include <string>
#include <vector>

#include "usmp/driver/driver.hpp"

namespace usmp::apps {

// Takes these words only. What it shows of itself, "{text,json}", is what the manual and the completions are made of.
CLI::Validator one_of(const std::vector<std::string>& words);

// Shows these words to the manual and the completions, and takes any text: what is wrong is told by the driver, which
// knows more. `list`: with commas between them.
CLI::Validator such_as(const std::vector<std::string>& words, bool list = false);

// For the name of a file that is read: "-" is standard input.
CLI::Validator input_name();

// The same name for the format in all commands that have one: adds --format, and --json for "json".
void add_format_options(CLI::App& app, const std::vector<std::string>& formats,
                        const std::function<void(const std::string&)>& choose);

void add_model_options(CLI::App& app, driver::ModelOptions& options, bool required);
void add_reading_options(CLI::App& app, driver::ModelOptions& options);  // part of add_model_options

// The same for commands that take several models, and its part for those that take plans, too.
void add_models_options(CLI::App& app, driver::PlanningOptions& options, bool required);
void add_name_option(CLI::App& app, driver::PlanningOptions& options);
void add_transform_options(CLI::App& app, driver::ModelOptions& options);
void add_pools_options(CLI::App& app, std::optional<std::string>& pools_file, std::optional<std::string>& memory_file,
                       bool& workspace_io);
void add_algorithm_option(CLI::App& app, std::optional<std::string>& algorithm, const std::string& fallback);
void add_search_options(CLI::App& app, driver::SearchOptions& options);

// What is planned, besides the model: transformations, pools, inputs and outputs.
void add_problem_options(CLI::App& app, driver::PlanningOptions& options);

// What is looked for and how long, besides the algorithm.
void add_goal_options(CLI::App& app, driver::PlanningOptions& options);

// All that shapes the plan of an archive, besides the model: the two above and the algorithm.
void add_planning_options(CLI::App& app, driver::PlanningOptions& options);
// --proof and --proof-pool.
void add_proof_options(CLI::App& app, driver::ProofOptions& options);
// For commands that show plans.
void add_ignore_sizes_option(CLI::App& app, driver::PlanningOptions& options);

struct NumberRange {
  std::uint64_t least = 0;
  std::uint64_t most = std::numeric_limits<std::uint64_t>::max();
};

// A whole number in decimal. Throws CLI::ValidationError that names the option and says what was `expected`.
std::uint64_t number_of(const std::string& text, NumberRange range, const char* option, const char* expected);

// "30", "0.5": seconds, rounded up to milliseconds. Throws CLI::ValidationError that names the option.
std::chrono::milliseconds seconds_of(const std::string& text, const std::string& option);

// Whether standard output is a terminal that may be coloured: not if NO_COLOR is set and not empty, nor if the terminal
// is a dumb one.
bool color_terminal();

// The columns of the terminal that standard output is; nothing if it is none or does not tell.
std::optional<std::size_t> terminal_width();

// Whether standard error is a terminal, on which long searches show how far they are.
bool progress_terminal();

void set_up_logging(driver::Verbosity verbosity);

}  // namespace usmp::apps
