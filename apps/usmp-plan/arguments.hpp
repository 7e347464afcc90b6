// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// Words of the command line that the parser does not know but people type.
#pragma once

#include <string>
#include <vector>

namespace usmp::apps {

// "--help COMMAND" as "help COMMAND", and "help help" as "help".
[[nodiscard]] std::vector<std::string> with_help_as_command(std::vector<std::string> arguments);

// "plan MODEL" is what the program does without a command, and "help COMMAND" is "COMMAND --help". Models of these
// names are given as "./plan". All other arguments stay as they are.
[[nodiscard]] std::vector<std::string> understood(std::vector<std::string> arguments);

// "help plan" and "plan --help": the program's own options without the list of commands.
[[nodiscard]] bool asks_for_help_of_plan(const std::vector<std::string>& arguments);

// Takes the words of tvmc's out of the arguments of `init`, whose own parser would not know them: its options about
// pools and passes with their values, and everything behind "--". Other commands' arguments stay as they are.
[[nodiscard]] std::vector<std::string> take_tvmc_words(std::vector<std::string>& arguments);

}  // namespace usmp::apps
