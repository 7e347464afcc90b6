// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// Adds all commands to the parser, replaces its help by ours, and makes flags refuse values.
#include "program.hpp"

#include <algorithm>
#include <memory>
#include <string>

namespace usmp::apps {
namespace {

// Shows our help instead of the parser's, which does not break lines.
class HelpFormatter final : public CLI::FormatterBase {
 public:
  explicit HelpFormatter(const Program& program) : program_(program) {}

  std::string make_help(const CLI::App* app, std::string /*name*/, CLI::AppFormatMode /*mode*/) const override {
    const Manual manual = program_.manual();
    const std::string name = app->get_parent() == nullptr ? "" : app->get_name();
    const auto found = std::find_if(manual.commands.begin(), manual.commands.end(),
                                    [&](const CommandText& command) { return command.name == name; });
    return help_text(manual, *found);
  }

 private:
  const Program& program_;
};

// "--json=false" would turn nothing off: flags are given or left out.
void refuse_values_of_flags(CLI::App& app) {
  for (CLI::Option* option : app.get_options([](const CLI::Option*) { return true; })) {
    const bool takes_word = option->check_fname("emit-metadata");  // "--emit-metadata=info"
    if (option->get_items_expected_max() == 0 && !takes_word) option->disable_flag_override();
  }
}

}  // namespace

Program::Program() : parser_("Plan a model into the memories of a board, and write C that uses the plan", "usmp-plan") {
  parser_.set_help_flag("-h,--help", "show this help");
  parser_.set_version_flag("-V,--version", "usmp-plan " USMP_VERSION, "show the version");
  parser_.formatter(std::make_shared<HelpFormatter>(*this));
  parser_.require_subcommand(0, 1);
  for (const auto add : {add_plan, add_init, add_inspect, add_report, add_diff, add_compare, add_check, add_verify,
                         add_convert, add_problem, add_solve}) {
    commands_.push_back(add(parser_));
    refuse_values_of_flags(*commands_.back().app);
  }
}

Manual Program::manual() const { return manual_of(commands_, USMP_VERSION, USMP_RELEASE_DATE); }

const Command& Program::chosen() const {
  const auto found = std::find_if(commands_.begin() + 1, commands_.end(),
                                  [](const Command& command) { return command.app->parsed(); });
  return found == commands_.end() ? commands_.front() : *found;
}

}  // namespace usmp::apps
