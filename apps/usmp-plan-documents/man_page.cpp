// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// Sets the manual in roff: usage, commands with their options, examples, exit codes.
#include <algorithm>

#include "documents.hpp"

namespace usmp::apps {
namespace {

// Text as roff shows it unchanged, also at the beginning of a line.
std::string roff(std::string_view text) {
  std::string escaped;
  for (const char c : text) {
    if (c == '\\') {
      escaped += "\\e";
    } else if (c == '-') {
      escaped += "\\-";
    } else if (c == '\'') {
      escaped += "\\(aq";
    } else {
      escaped += c;
    }
  }
  return escaped.starts_with('.') ? "\\&" + escaped : escaped;
}

std::string bold(std::string_view text) { return "\\fB" + roff(text) + "\\fR"; }
std::string italic(std::string_view text) { return "\\fI" + roff(text) + "\\fR"; }

std::string heading_of(const OptionText& option) {
  std::string text;
  for (const std::string& name : option.names) text += (text.empty() ? "" : ", ") + bold(name);
  return option.value.empty() ? text : text + " " + italic(option.value);
}

std::string paragraph(const std::string& head, const std::string& body) { return ".TP\n" + head + "\n" + body + "\n"; }

std::string entry(const OptionText& option) {
  std::string body = roff(option.description) + ".";
  if (option.repeated) body += " May be given more than once.";
  return paragraph(heading_of(option), body);
}

// Options in bold, arguments and values in italics, brackets and bars as they are.
std::string synopsis(const CommandText& command) {
  std::string text = bold("usmp-plan" + (command.name.empty() ? "" : " " + command.name)) + " ";
  constexpr std::string_view marks = " []|";
  const std::string usage = command.synopsis + " [OPTION]...";
  for (std::size_t begin = 0; begin < usage.size();) {
    const bool is_word = marks.find(usage[begin]) == std::string_view::npos;
    const std::size_t next = is_word ? usage.find_first_of(marks, begin) : usage.find_first_not_of(marks, begin);
    const std::string part = usage.substr(begin, next - begin);
    const std::size_t name = part.ends_with("...") ? part.size() - 3 : part.size();
    if (is_word && name > 0) text += part.starts_with('-') ? bold(part) : italic(part.substr(0, name));
    text += is_word ? roff(part.substr(part.starts_with('-') ? part.size() : name)) : part;
    begin = std::min(next, usage.size());
  }
  return text + "\n";
}

std::string body_of(const CommandText& command) {
  std::string text;
  for (const OptionText& argument : command.arguments) {
    text += paragraph(italic(argument.names.front()), roff(argument.description) + ".");
  }
  for (const OptionText& option : command.options) text += entry(option);
  return text;
}

std::string examples_of(const CommandText& command) {
  std::string text;
  for (const Example& example : command.examples) text += paragraph(bold(example.command), roff(example.effect) + ".");
  return text;
}

std::string exit_status() {
  std::string text = ".SH EXIT STATUS\n";
  for (const ExitText& exit : exit_texts()) text += paragraph(bold(exit.code), roff(exit.meaning));
  return text;
}

constexpr std::string_view closing_sections =
    ".SH ENVIRONMENT\n"
    ".TP\n\\fBNO_COLOR\\fR\nIf it is set and not empty, no colour is used. Without it, colour is used on terminals "
    "only.\n"
    ".TP\n\\fBPATH\\fR\nWhere C compilers and the programs of \\fB\\-\\-algorithm exec:\\fR are looked for.\n"
    ".SH SEE ALSO\n"
    "The documentation that comes with the program describes pools files, the emitted C and the formats of all "
    "files.\n";

}  // namespace

std::string man_page(const Manual& manual) {
  const CommandText& program = manual.commands.front();
  std::string text =
      ".\\\" Generated from the options of usmp-plan; not to be edited.\n.TH USMP\\-PLAN 1 \"" + manual.date +
      "\" \"usmp\\-plan " + roff(manual.version) +
      "\" \"User Commands\"\n.SH NAME\nusmp\\-plan \\- offline memory planner for TVM models on microcontrollers\n.SH "
      "SYNOPSIS\n";
  std::string commands;
  std::string examples;
  for (const CommandText& command : manual.commands) {
    text += (command.name.empty() ? "" : ".br\n") + synopsis(command);
    examples += examples_of(command);
    if (command.name.empty()) continue;
    commands +=
        ".SS " + bold("usmp-plan " + command.name) + "\n" + roff(description(command)) + "\n" + body_of(command);
  }
  text += ".SH DESCRIPTION\n" + roff(description(program)) + "\n.SH OPTIONS\n" + body_of(program);
  text += ".SH COMMANDS\n" + commands;
  return text + ".SH EXAMPLES\n" + examples + exit_status() + std::string(closing_sections);
}

}  // namespace usmp::apps
