// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// Reads options and their values off the parser, and words usage and exit codes.
#include "manual.hpp"

#include <algorithm>
#include <array>
#include <map>

#include "commands.hpp"
#include "usmp/support/text.hpp"

namespace usmp::apps {
namespace {

constexpr std::array<ExitText, 10> exits = {{
    {"0", "ok", "Success. diff: the plans are equal."},
    {"1", "internal error", "Internal error: a bug. diff: the plans differ. check: a budget is exceeded."},
    {"2", "usage",
     "Wrong command line, missing file, wrong pools file, plan file or instance, or an external algorithm that fails."},
    {"3", "archive", "Malformed or unsupported archive."},
    {"4", "no plan fits", "No plan fits the pools."},
    {"5", "not written", "A result could not be written."},
    {"6", "out of memory", "Out of memory."},
    {"130", "Ctrl-C", "Ctrl-C (SIGINT): the results, if any, are those found by then."},
    {"141", "closed pipe", "Standard output has no reader any more (SIGPIPE)."},
    {"143", "SIGTERM", "Ended by SIGTERM."},
}};

ValueKind kind_of(const std::string& value) {
  static const std::map<std::string, ValueKind> kinds = {
      {"FILE", ValueKind::file},        {"DIR", ValueKind::directory},   {"PATH", ValueKind::file},
      {"M.plan.json", ValueKind::file}, {"PROGRAM", ValueKind::program}, {"MODEL", ValueKind::file},
      {"PLAN", ValueKind::file},        {"OLD", ValueKind::file},        {"NEW", ValueKind::file},
  };
  const auto found = kinds.find(value);
  return found == kinds.end() ? ValueKind::text : found->second;
}

// The parser shows an option's value as "NAME:{text,json}" if only these are taken, and lists of them with a comma
// behind that (options.hpp).
void add_words(OptionText& option, const std::string& shown) {
  const std::size_t begin = shown.find(":{");
  const std::size_t end = shown.find('}', begin);
  if (begin == std::string::npos || end == std::string::npos) return;
  option.kind = shown.compare(end, 2, "},") == 0 ? ValueKind::word_list : ValueKind::words;
  option.words = split(std::string_view(shown).substr(begin + 2, end - begin - 2), ',');
}

OptionText text_of(const CLI::Option& option) {
  OptionText text;
  text.description = option.get_description();
  text.required = option.get_required();
  text.repeated = option.get_expected_max() == CLI::detail::expected_max_vector_size;
  if (option.get_positional()) {
    text.names = {option.get_name(true)};
    text.kind = kind_of(text.names.front());
    if (text.kind == ValueKind::text) add_words(text, option.get_type_name());
    return text;
  }
  for (const std::string& name : option.get_snames()) text.names.push_back("-" + name);
  for (const std::string& name : option.get_lnames()) text.names.push_back("--" + name);
  if (option.get_items_expected_max() == 0) return text;
  const std::string shown = option.get_type_name();
  text.value = shown.substr(0, shown.find(':'));
  text.kind = kind_of(text.value);
  add_words(text, shown);
  return text;
}

// "MODEL...", "OLD NEW"
std::string arguments_of(const CommandText& command) {
  std::vector<std::string> words;
  for (const OptionText& argument : command.arguments) {
    // The program's own argument is needed, too; the parser does not know, because commands do without.
    const bool needed = argument.required || command.name.empty();
    words.push_back((needed ? argument.names.front() : "[" + argument.names.front() + "]") +
                    (argument.repeated ? "..." : ""));
  }
  return joined(words, " ");
}

CommandText text_of(const Command& command) {
  const CLI::App& app = *command.app;
  CommandText text;
  if (app.get_parent() != nullptr) text.name = app.get_name();
  text.summary = app.get_description();
  text.details = command.details;
  text.examples = command.examples;
  for (const CLI::Option* option : app.get_options([](const CLI::Option*) { return true; })) {
    (option->get_positional() ? text.arguments : text.options).push_back(text_of(*option));
  }
  std::stable_partition(text.options.begin(), text.options.end(), [](const OptionText& option) {
    return option.names.back() != "--help" && option.names.back() != "--version";
  });
  text.synopsis = command.synopsis.empty() ? arguments_of(text) : command.synopsis;
  return text;
}

}  // namespace

std::span<const ExitText> exit_texts() { return exits; }

Manual manual_of(std::span<const Command> commands, const std::string& version, const std::string& date) {
  Manual manual;
  manual.version = version;
  manual.date = date;
  for (const Command& command : commands) manual.commands.push_back(text_of(command));
  return manual;
}

std::string heading(const OptionText& option) {
  std::string text = joined(option.names);
  if (!option.value.empty()) text += " " + option.value;
  return text;
}

std::string description(const CommandText& command) {
  std::string text = command.summary + ".";
  text.front() = upper_case(text.substr(0, 1)).front();
  return text + (command.details.empty() ? "" : " " + command.details);
}

std::string usage(const CommandText& command) {
  return command.name.empty() ? "usmp-plan [plan] " + arguments_of(command) + " [OPTION]..."
                              : "usmp-plan " + command.name + " " + command.synopsis + " [OPTION]...";
}

}  // namespace usmp::apps
