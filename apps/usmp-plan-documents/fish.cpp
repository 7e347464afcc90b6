// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// Writes a line of fish's `complete` for each command and option, with the condition under which it is offered.
#include "documents.hpp"
#include "usmp/support/text.hpp"

namespace usmp::apps {
namespace {

// In fish's single quotes, backslashes and quotes have one in front.
std::string shell_word(std::string_view text) {
  std::string doubled;
  for (const char c : text) doubled += c == '\\' ? std::string("\\\\") : std::string(1, c);
  return shell_quoted(doubled, "\\'");
}

std::string value_of(const OptionText& option) {
  switch (option.kind) {
    case ValueKind::none:
      return "";
    case ValueKind::words:
      return " -x -a " + shell_word(joined(option.words, " "));
    case ValueKind::word_list:
      return " -x -a " + shell_word("(__fish_append , " + joined(option.words, " ") + ")");
    case ValueKind::file:
      return " -r -F";
    case ValueKind::directory:
      return " -x -a '(__fish_complete_directories)'";
    case ValueKind::program:
      return " -x -a '(__fish_complete_command)'";
    case ValueKind::text:
      return " -x";
  }
  return "";
}

std::string line(const std::string& condition, const OptionText& option) {
  std::string text = "complete -c usmp-plan -n " + shell_word(condition);
  for (const std::string& name : option.names) {
    text += name.starts_with("--") ? " -l " + name.substr(2) : " -s " + name.substr(1);
  }
  return text + value_of(option) + " -d " + shell_word(option.description) + "\n";
}

}  // namespace

std::string fish_completion(const Manual& manual) {
  std::vector<std::string> names;
  std::string commands;
  for (const CommandText& command : manual.commands) {
    if (command.name.empty()) continue;
    names.push_back(command.name);
    commands += "complete -c usmp-plan -n __fish_is_first_token -a " + shell_word(command.name) + " -d " +
                shell_word(command.summary) + "\n";
  }
  commands += "complete -c usmp-plan -n __fish_is_first_token -a plan -d " + shell_word(plan_summary) + "\n";
  commands += "complete -c usmp-plan -n __fish_is_first_token -a help -d " + shell_word(help_summary) + "\n";
  commands += "complete -c usmp-plan -n '__fish_seen_subcommand_from help' -x -a " +
              shell_word("plan " + joined(names, " ")) + "\n";
  std::string text = "# Completion of usmp-plan for fish. Generated from its options; not to be edited.\n\n" + commands;
  for (const CommandText& command : manual.commands) {
    const std::string condition = command.name.empty() ? "not __fish_seen_subcommand_from " + joined(names, " ")
                                                       : "__fish_seen_subcommand_from " + command.name;
    text += "\n";
    for (const OptionText& option : command.options) text += line(condition, option);
  }
  return text;
}

}  // namespace usmp::apps
