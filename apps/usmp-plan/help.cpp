// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// --help: usage, commands, options, examples.
#include <algorithm>

#include "manual.hpp"

namespace usmp::apps {
namespace {

constexpr std::size_t width = 80;
constexpr std::size_t column = 25;  // at which descriptions begin

// `text` from `at` on in lines of at most `width` characters, behind a line of `at` characters that stands there
// already.
std::string wrapped(const std::string& text, std::size_t at) {
  std::string lines;
  std::size_t used = at;
  for (std::size_t begin = 0; begin < text.size();) {
    const std::size_t end = std::min(text.find(' ', begin), text.size());
    const std::size_t length = end - begin;
    if (used > at && used + 1 + length > width) {
      lines += "\n" + std::string(at, ' ');
      used = at;
    } else if (used > at) {
      lines += ' ';
      ++used;
    }
    lines += text.substr(begin, length);
    used += length;
    begin = end + 1;
  }
  return lines + "\n";
}

std::string entry(const std::string& name, const std::string& description) {
  std::string text = "  " + name;
  text += text.size() + 2 > column ? "\n" + std::string(column, ' ') : std::string(column - text.size(), ' ');
  return text + wrapped(description, column);
}

std::string options_text(const std::vector<OptionText>& options, const std::string& title) {
  if (options.empty()) return {};
  std::string text = "\n" + title + ":\n";
  for (const OptionText& option : options) text += entry(heading(option), option.description);
  return text;
}

std::string commands_text(const Manual& manual) {
  std::string text = "Commands (usmp-plan COMMAND --help shows the options):\n";  // a screen's lines are few
  for (const CommandText& command : manual.commands) {
    if (!command.name.empty()) text += entry(command.name, command.summary);  // `plan`: the line of its usage says it
  }
  return text;
}

// Effects stand in a column, behind long commands where they fit, else on a line of their own.
std::string examples_text(const std::vector<Example>& examples, bool is_close) {
  if (examples.empty()) return {};
  constexpr std::size_t longest_in_column = 48;
  std::string text = is_close ? "Examples:\n" : "\nExamples:\n";  // a screen's lines are few
  std::size_t longest = 0;
  for (const Example& example : examples) {
    if (example.command.size() <= longest_in_column) longest = std::max(longest, example.command.size());
  }
  for (const Example& example : examples) {
    std::string line = "  " + example.command;
    line += std::string(longest + 2 > line.size() ? longest + 2 - line.size() : 0, ' ') + "    ";
    const bool fits = line.size() + example.effect.size() <= width;
    text += (fits ? line : "  " + example.command + "\n      ") + example.effect + "\n";
  }
  return text;
}

}  // namespace

std::string help_text(const Manual& manual, const CommandText& command) {
  const bool whole = command.name.empty();
  const std::string head = "Usage: ";
  std::string text = head + wrapped(usage(command) + (whole ? " | usmp-plan COMMAND [ARGUMENT]..." : ""), head.size());
  text += wrapped(description(command), 0);
  if (whole) {
    for (const OptionText& argument : command.arguments) {
      text += wrapped(heading(argument) + ": " + argument.description + ".", 0);
    }
    text += commands_text(manual);
  } else {
    text += options_text(command.arguments, "Arguments");
  }
  text += options_text(command.options, "Options");
  text += examples_text(command.examples, whole);
  return text;
}

}  // namespace usmp::apps
