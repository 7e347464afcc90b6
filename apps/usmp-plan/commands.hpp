// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// The commands of the program, each in a file of its own: options in, driver call out. What they share is in
// options.hpp.
#pragma once

#include <CLI/CLI.hpp>
#include <functional>
#include <string>
#include <vector>

#include "example.hpp"

namespace usmp::apps {

struct Command {
  CLI::App* app = nullptr;
  std::function<int()> run;            // after the command line has been parsed; returns an exit code
  std::vector<Example> examples = {};  // for --help and the manual page
  std::string details = {};            // the same: what the one line of the app's description leaves out
  std::string synopsis = {};           // arguments and the options that matter most; empty: the arguments
  std::function<void(std::vector<std::string>)> take_tvmc_words = {};  // arguments.hpp; before `run`
};

Command add_plan(CLI::App& program);  // the program's own options: what it does without a subcommand
Command add_check(CLI::App& program);
Command add_compare(CLI::App& program);
Command add_convert(CLI::App& program);
Command add_diff(CLI::App& program);
Command add_inspect(CLI::App& program);
Command add_init(CLI::App& program);
Command add_problem(CLI::App& program);
Command add_report(CLI::App& program);
Command add_solve(CLI::App& program);
Command add_verify(CLI::App& program);

}  // namespace usmp::apps
