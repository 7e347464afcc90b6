// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// Words what the parser refused, with the nearest command or option in spelling, or the command that has it.
#include "usage_error.hpp"

#include <algorithm>
#include <filesystem>
#include <system_error>
#include <vector>

#include "usmp/driver/driver.hpp"
#include "usmp/support/printable.hpp"
#include "usmp/support/text.hpp"

namespace usmp::apps {
namespace {

std::vector<std::string> names_of_options(const CommandText& command) {
  std::vector<std::string> names;
  for (const OptionText& option : command.options) names.insert(names.end(), option.names.begin(), option.names.end());
  return names;
}

bool contains(const std::vector<std::string>& names, const std::string& name) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

// "; it belongs to usmp-plan report": where an option belongs that stands at a command which does not have it.
std::string owners(const Manual& manual, const std::string& option) {
  std::string text;
  for (const CommandText& command : manual.commands) {
    if (!contains(names_of_options(command), option)) continue;
    text += text.empty() ? "; it belongs to usmp-plan" : ", usmp-plan";
    if (!command.name.empty()) text += " " + command.name;
  }
  return text;
}

// What is wrong with an argument that the parser did not know what to do with.
std::string unexpected(const Manual& manual, const CommandText& command, const std::string& argument) {
  if (argument.size() < 2 || !argument.starts_with('-')) return "unexpected argument '" + printable(argument) + "'";
  const std::string name = argument.substr(0, argument.find('='));
  const std::string unknown = "unknown option '" + printable(name) + "'";
  if (!name.starts_with("--")) return unknown + owners(manual, name);  // one letter is near to all others
  std::vector<std::string> names = names_of_options(command);
  names.insert(names.end(), {"--workspace-pools", "--constant-pools"});  // tvmc's
  const bool is_of_tvmc = driver::is_tvmc_option(name);
  const std::string elsewhere = is_of_tvmc ? "" : owners(manual, name);
  if (!elsewhere.empty()) {  // near is only what is longer, as --algorithms
    std::erase_if(names, [&](const std::string& candidate) { return !candidate.starts_with(name); });
  }
  const std::string nearest(is_of_tvmc ? std::string_view(name) : nearest_spelling(name, names));
  const std::string of_tvmc =
      driver::is_tvmc_option(nearest) ? "; usmp-plan init turns tvmc's options into a pools file" : "";
  return unknown + (is_of_tvmc ? "" : did_you_mean(name, names)) + elsewhere + of_tvmc;
}

std::optional<std::string> first_unexpected(const Program& program, const CommandText& command) {
  const std::vector<std::string> remaining = program.parser().remaining(true);
  const auto option = std::find_if(remaining.begin(), remaining.end(),
                                   [](const std::string& word) { return word.size() > 1 && word.starts_with('-'); });
  if (option != remaining.end()) return unexpected(program.manual(), command, *option);
  if (!remaining.empty()) return unexpected(program.manual(), command, remaining.front());
  return {};
}

// "--pools" of "--pools: At Most 1 required but received 2" and of "pools was given a disallowed flag override".
std::string option_in(const std::string& text) {
  const std::string name = text.substr(0, text.find_first_of(": "));
  return name.starts_with('-') ? name : (name.size() == 1 ? "-" : "--") + name;
}

// As users write it: the parser names an option by its first long name, "--output" where "-o" was given.
std::string value_of(const CommandText& command, const std::string& option) {
  for (const OptionText& one : command.options) {
    if (contains(one.names, option)) return joined(one.names, " or ") + " needs a value: " + one.value;
  }
  return option + " needs a value";
}

// What the parser refused, in this program's words. Its own are for programmers.
std::string in_own_words(const CommandText& command, const CLI::ParseError& error) {
  std::string text = error.what();
  const std::string option = option_in(text);
  if (error.get_name() == "ExcludesError") {
    return option + " and " + text.substr(text.rfind(' ') + 1) + " cannot be given together";
  }
  if (error.get_name() != "ArgumentMismatch") return text;
  if (text.find("At Most") != std::string::npos) return option + " is given more than once";
  if (text.find("flag override") != std::string::npos) return option + " takes no value";
  return value_of(command, option);
}

std::vector<std::string> command_names(const Program& program) {
  std::vector<std::string> names = {"plan", "help"};
  for (const CLI::App* command : program.parser().get_subcommands({})) names.push_back(command->get_name());
  return names;
}

}  // namespace

std::optional<std::string> misspelled_command(const Program& program) {
  if (!program.parser().get_subcommands().empty()) return {};
  const CLI::Option* const model = program.parser().get_option("MODEL");
  if (model->results().empty()) return {};
  const std::string& word = model->results().front();
  const std::vector<std::string> names = command_names(program);
  const std::string hint = did_you_mean(word, names);
  std::error_code unreadable;
  if (hint.empty() || std::filesystem::exists(word, unreadable)) return {};
  return "'" + printable(word) + "' is neither a file nor a command" + hint;
}

std::optional<std::string> unknown_topic(const Program& program, std::span<const std::string> arguments) {
  if (arguments.size() < 2 || arguments[0] != "help" || arguments[1].starts_with('-')) return {};
  const std::vector<std::string> names = command_names(program);
  std::error_code unreadable;
  const bool is_model = std::filesystem::exists(arguments[1], unreadable);
  if (std::ranges::find(names, arguments[1]) != names.end()) {
    if (arguments.size() == 2 || arguments[2].starts_with('-')) return {};
    return "help: found '" + printable(arguments[2]) + "' after '" + arguments[1] + "', expected one command";
  }
  if (is_model) return {};
  return "help: no command '" + printable(arguments[1]) + "'" + did_you_mean(arguments[1], names) +
         "; usmp-plan help lists the commands";
}

std::optional<std::string> empty_value(const Program& program) {
  for (const CLI::Option* option : program.chosen().app->get_options([](const CLI::Option*) { return true; })) {
    if (!contains(option->results(), "") || option->check_lname("cflags")) continue;
    return option->get_positional() ? option->get_name(true) + " is empty, expected a name"
                                    : option->get_name() + ": the value is empty";
  }
  return {};
}

std::string usage_message(const Program& program, const CLI::ParseError& error) {
  if (auto message = misspelled_command(program)) return *message + "; see usmp-plan --help";
  const Manual manual = program.manual();
  const std::string name = program.chosen().app->get_parent() == nullptr ? "" : program.chosen().app->get_name();
  const auto command = std::find_if(manual.commands.begin(), manual.commands.end(),
                                    [&](const CommandText& candidate) { return candidate.name == name; });
  const std::string message = first_unexpected(program, *command).value_or(in_own_words(*command, error));
  return message + "; see usmp-plan " + (name.empty() ? "" : name + " ") + "--help";
}

}  // namespace usmp::apps
