// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// Parses the arguments, prints help, version or what is wrong, or runs the chosen command.
#include "run.hpp"

#include <algorithm>
#include <iostream>
#include <string>
#include <utility>
#include <vector>

#include "arguments.hpp"
#include "commands.hpp"
#include "program.hpp"
#include "usage_error.hpp"
#include "usmp/driver/driver.hpp"
#include "usmp/support/message.hpp"
#include "usmp/support/printable.hpp"

namespace usmp::apps {

int parse_and_run(int argc, char** argv) {
  Program program;
  const std::vector<std::string> arguments = with_help_as_command({argv + 1, argv + argc});
  if (const auto message = unknown_topic(program, arguments)) {
    tell(std::cerr, Severity::error, printable(*message));
    return driver::exit_usage;
  }
  if (arguments.empty()) {
    const Manual manual = program.manual();
    std::cerr << help_text(manual, manual.commands.front());
    return driver::exit_usage;
  }
  if (asks_for_help_of_plan(arguments)) {
    const Manual manual = program.manual();
    CommandText plan = manual.commands.front();
    plan.name = "plan";
    for (OptionText& argument : plan.arguments) argument.required = true;
    std::cout << help_text(manual, plan);
    return driver::exit_ok;
  }
  try {
    std::vector<std::string> words = understood(arguments);
    std::vector<std::string> of_tvmc = take_tvmc_words(words);
    std::reverse(words.begin(), words.end());  // the parser takes them off the end
    program.parser().parse(words);
    if (const auto message = misspelled_command(program)) throw CLI::ValidationError(*message);
    if (const auto message = empty_value(program)) throw CLI::ValidationError(*message);
    const Command& command = program.chosen();
    if (command.take_tvmc_words) command.take_tvmc_words(std::move(of_tvmc));
    return command.run();
  } catch (const CLI::ParseError& error) {
    if (error.get_exit_code() == 0 && !misspelled_command(program)) return program.parser().exit(error);  // --help
    tell(std::cerr, Severity::error, printable(usage_message(program, error)));
    return driver::exit_usage;
  }
}

Manual manual_of_program() { return Program().manual(); }

}  // namespace usmp::apps
