// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// What is wrong with a command line, said so that the right one is close by.
#pragma once

#include <optional>
#include <span>
#include <string>

#include "program.hpp"

namespace usmp::apps {

// The message about a model that is none: a word like that of a command which names no file. "solv x.csv" is not about
// a model "solv".
[[nodiscard]] std::optional<std::string> misspelled_command(const Program& program);

// The message about "help WORD" whose word names no command; nothing for other arguments.
[[nodiscard]] std::optional<std::string> unknown_topic(const Program& program, std::span<const std::string> arguments);

// The message about an argument or option whose value is empty, as of a variable that a script did not set.
[[nodiscard]] std::optional<std::string> empty_value(const Program& program);

// The message for what the parser refused, without a line feed.
[[nodiscard]] std::string usage_message(const Program& program, const CLI::ParseError& error);

}  // namespace usmp::apps
