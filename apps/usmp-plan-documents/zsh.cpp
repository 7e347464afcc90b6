// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// Writes specifications for zsh's _arguments, a branch for each command.
#include "documents.hpp"
#include "usmp/support/text.hpp"

namespace usmp::apps {
namespace {

std::string shell_word(const std::string& text) { return shell_quoted(text, "'\\''"); }

// In descriptions and messages of _arguments, brackets and colons have a meaning.
std::string escaped(std::string_view text) {
  std::string result;
  for (const char c : text) {
    if (c == '[' || c == ']' || c == ':' || c == '\\') result += '\\';
    result += c;
  }
  return result;
}

std::string zsh_action(const OptionText& option) {
  switch (option.kind) {
    case ValueKind::words:
      return "(" + joined(option.words, " ") + ")";
    case ValueKind::word_list:
      return "_values -s , " + option.value + " " + joined(option.words, " ");
    case ValueKind::file:
      return "_files";
    case ValueKind::directory:
      return "_files -/";
    case ValueKind::program:
      return "_command_names -e";
    case ValueKind::none:
    case ValueKind::text:
      break;
  }
  return " ";
}

// "'(-o --output)'{-o,--output=}'[write a file]:FILE:_files'"
std::string specification(const OptionText& option) {
  const bool has_value = !option.value.empty();
  std::string rest = "[" + escaped(option.description) + "]";
  if (has_value) rest += ":" + escaped(option.value) + ":" + zsh_action(option);
  std::string text;
  for (const std::string& name : option.names) {
    std::string head = option.repeated ? "*" : "(" + joined(option.names, " ") + ")";
    head += name;
    if (has_value) head += name.starts_with("--") ? "=" : "+";
    text += " \\\n        " + shell_word(head + rest);
  }
  return text;
}

std::string options_of(const CommandText& command) {
  std::string text;
  for (const OptionText& option : command.options) text += specification(option);
  return text;
}

std::string branch(const CommandText& command) {
  std::string text = "      (" + command.name + ")\n      _arguments -S" + options_of(command);
  for (const OptionText& argument : command.arguments) {
    const std::string end = argument.kind == ValueKind::text ? " " : zsh_action(argument);
    text += " \\\n        " + shell_word(":" + escaped(argument.names.front()) + ":" + end);
  }
  return text + " && ret=0\n      ;;\n";
}

}  // namespace

std::string zsh_completion(const Manual& manual) {
  std::string text =
      "#compdef usmp-plan\n# Generated from the options of usmp-plan; not to be edited.\n\n_usmp-plan() {\n";
  text +=
      "  local curcontext=$curcontext state state_descr line ret=1\n  typeset -A opt_args\n  local -a commands\n  "
      "commands=(\n";
  for (const CommandText& command : manual.commands) {
    if (!command.name.empty()) text += "    " + shell_word(command.name + ":" + escaped(command.summary)) + "\n";
  }
  text += "    " + shell_word("plan:" + escaped(plan_summary)) + "\n    " +
          shell_word("help:" + escaped(help_summary)) + "\n";
  text += "  )\n  _arguments -S -C" + options_of(manual.commands.front()) +
          " \\\n        ': :->first' \\\n        '*:: :->rest' && ret=0\n";
  text +=
      "  case $state in\n    (first)\n    _describe -t commands 'command' commands && ret=0\n    _files && ret=0\n    "
      ";;\n";
  text += "    (rest)\n    curcontext=\"${curcontext%:*}-$line[1]:\"\n    case $line[1] in\n";
  for (const CommandText& command : manual.commands) {
    if (!command.name.empty()) text += branch(command);
  }
  CommandText plan = manual.commands.front();
  plan.name = "plan";
  text += branch(plan) + "      (help)\n      _describe -t commands 'command' commands && ret=0\n      ;;\n";
  return text + "    esac\n    ;;\n  esac\n  return ret\n}\n\n_usmp-plan \"$@\"\n";
}

}  // namespace usmp::apps
