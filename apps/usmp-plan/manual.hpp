// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// What the command line takes, as plain values that are read off the parser's own description of it. --help, the manual
// page and the completions of the shells are made of these, so they say what the parser does.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "example.hpp"

namespace usmp::apps {

struct Command;  // commands.hpp, which takes long to compile

// What stands behind an option or in an argument, as far as a shell can complete it.
enum class ValueKind {
  none,       // a flag
  text,       // anything
  words,      // one of `words`, or for some options a text of the user's
  word_list,  // some of `words` with commas between them
  file,
  directory,
  program,
};

struct OptionText {
  std::vector<std::string> names;  // "-o", "--output", short ones first; of an argument its one name, "MODEL"
  std::string value;               // "FILE"; empty for flags and arguments
  std::string description;
  ValueKind kind = ValueKind::none;
  std::vector<std::string> words;
  bool required = false;
  bool repeated = false;  // may be given more than once
};

struct CommandText {
  std::string name;  // empty for the program itself
  std::string summary;
  std::string details;
  std::string synopsis;  // what stands between the command and [OPTION]...: "MODEL... [--execute]"
  std::vector<OptionText> arguments;
  std::vector<OptionText> options;  // in the order of their definition, --help and --version last
  std::vector<Example> examples;
};

struct Manual {
  std::string version;
  std::string date;                   // of the version: "2026-11-28"
  std::vector<CommandText> commands;  // the program itself, then the commands in the order of their definition
};

struct ExitText {
  std::string_view code;
  std::string_view brief;  // for --help
  std::string_view meaning;
};

[[nodiscard]] Manual manual_of(std::span<const Command> commands, const std::string& version, const std::string& date);
[[nodiscard]] std::span<const ExitText> exit_texts();

// "-o, --output FILE"
[[nodiscard]] std::string heading(const OptionText& option);

// "usmp-plan verify MODEL... [--execute] [OPTION]..."; of the program itself without options, to fit a line of --help.
[[nodiscard]] std::string usage(const CommandText& command);

// Sentences: the summary, and the details.
[[nodiscard]] std::string description(const CommandText& command);

// What `usmp-plan COMMAND --help` prints: lines of at most 80 characters, unless a word is longer.
[[nodiscard]] std::string help_text(const Manual& manual, const CommandText& command);

}  // namespace usmp::apps
