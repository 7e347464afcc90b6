// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// Writes a bash function that completes commands, options and their values with a branch for each.
#include "documents.hpp"
#include "usmp/support/text.hpp"

namespace usmp::apps {
namespace {

std::string names_of_commands(const Manual& manual, std::string_view separator) {
  std::vector<std::string> names;
  for (const CommandText& command : manual.commands) {
    if (!command.name.empty()) names.push_back(command.name);
  }
  return joined(names, separator);
}

std::string bash_action(const OptionText& option) {
  switch (option.kind) {
    case ValueKind::words:
      return "_usmp_plan_words " + shell_quoted(joined(option.words, " "), "'\\''");
    case ValueKind::word_list:
      return "_usmp_plan_list " + shell_quoted(joined(option.words, " "), "'\\''");
    case ValueKind::file:
      return "_usmp_plan_paths -f";
    case ValueKind::directory:
      return "_usmp_plan_paths -d";
    case ValueKind::program:
      return "_usmp_plan_paths -c";
    case ValueKind::none:
    case ValueKind::text:
      break;
  }
  return ":";
}

// A branch for each option that takes a value, by the command and the option.
std::string value_branches(const CommandText& command) {
  std::string text;
  for (const OptionText& option : command.options) {
    if (option.value.empty()) continue;
    std::vector<std::string> patterns;
    for (const std::string& name : option.names) patterns.push_back(command.name + ":" + name);
    text += "    " + joined(patterns, "|") + ") " + bash_action(option) + "; return ;;\n";
  }
  return text;
}

std::string option_branch(const CommandText& command) {
  std::vector<std::string> names;
  for (const OptionText& option : command.options) names.insert(names.end(), option.names.begin(), option.names.end());
  return "      " + (command.name.empty() ? "''" : command.name) + ") _usmp_plan_words " +
         shell_quoted(joined(names, " "), "'\\''") + " ;;\n";
}

std::string options_with_values(const CommandText& command) {
  std::vector<std::string> names;
  for (const OptionText& option : command.options) {
    if (!option.value.empty()) names.insert(names.end(), option.names.begin(), option.names.end());
  }
  return joined(names, "|");
}

constexpr std::string_view helpers =
    R"(# Completion of usmp-plan for bash. Generated from its options; not to be edited.

_usmp_plan_words() { COMPREPLY=($(compgen -W "$1" -- "$cur")); }

# Words with commas between them: the last one is completed.
_usmp_plan_list() {
  local done=
  [[ $cur == *,* ]] && done=${cur%,*},
  COMPREPLY=($(compgen -P "$done" -W "$1" -- "${cur##*,}"))
}

_usmp_plan_paths() {
  local IFS=$'\n'
  compopt -o filenames 2>/dev/null
  COMPREPLY=($(compgen "$1" -- "$cur"))
}

_usmp_plan() {
  local cur=${COMP_WORDS[COMP_CWORD]} option=${COMP_WORDS[COMP_CWORD - 1]} command= i
  COMPREPLY=()
  # bash divides --option=value at the '='.
  if [[ $cur == = ]]; then
    cur=
  elif [[ $option == = ]]; then
    option=${COMP_WORDS[COMP_CWORD - 2]}
  fi
)";

}  // namespace

std::string bash_completion(const Manual& manual) {
  std::string text(helpers);
  text += "  # The command is the first word that is neither an option nor the value of one.\n";
  text += "  for ((i = 1; i < COMP_CWORD; ++i)); do\n    case ${COMP_WORDS[i]} in\n";
  text += "      " + options_with_values(manual.commands.front()) + ") ((++i)) ;;\n";
  text += "      " + names_of_commands(manual, "|") + "|help) command=${COMP_WORDS[i]}; break ;;\n";
  text += "      -*) ;;\n      *) break ;;\n    esac\n  done\n  case $command:$option in\n";
  for (const CommandText& command : manual.commands) text += value_branches(command);
  text += "  esac\n  if [[ $cur == -* ]]; then\n    case $command in\n";
  for (const CommandText& command : manual.commands) text += option_branch(command);
  text += "    esac\n    return\n  fi\n";
  text += "  if [[ $command == help ]]; then _usmp_plan_words " +
          shell_quoted("plan " + names_of_commands(manual, " "), "'\\''") + "; return; fi\n  _usmp_plan_paths -f\n";
  text += "  if ((COMP_CWORD == 1)); then COMPREPLY+=($(compgen -W " +
          shell_quoted("plan " + names_of_commands(manual, " ") + " help", "'\\''") +
          " -- \"$cur\")); fi\n}\n\ncomplete -F _usmp_plan usmp-plan\n";
  return text;
}

}  // namespace usmp::apps
