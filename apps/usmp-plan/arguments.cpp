// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// Rewrites arguments before the parser sees them, and takes tvmc's command out of those of `init`.
#include "arguments.hpp"

#include <utility>

#include "usmp/driver/driver.hpp"

namespace usmp::apps {

namespace {

bool is_help(const std::string& word) { return word == "--help" || word == "-h"; }

}  // namespace

std::vector<std::string> with_help_as_command(std::vector<std::string> arguments) {
  if (arguments.size() < 2) return arguments;
  if (is_help(arguments[0])) arguments[0] = "help";
  if (arguments[0] == "help" && (arguments[1] == "help" || is_help(arguments[1])))
    arguments.erase(arguments.begin() + 1);
  return arguments;
}

std::vector<std::string> understood(std::vector<std::string> arguments) {
  if (arguments.empty()) return arguments;
  if (arguments.front() == "help") {
    arguments.erase(arguments.begin());
    arguments.emplace_back("--help");
  }
  if (arguments.front() == "plan") arguments.erase(arguments.begin());
  return arguments;
}

bool asks_for_help_of_plan(const std::vector<std::string>& arguments) {
  if (arguments.size() < 2) return false;
  return (arguments[0] == "help" && arguments[1] == "plan") || (arguments[0] == "plan" && is_help(arguments[1]));
}

std::vector<std::string> take_tvmc_words(std::vector<std::string>& arguments) {
  std::vector<std::string> taken;
  if (arguments.empty() || arguments.front() != "init") return taken;
  std::vector<std::string> kept;
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    if (arguments[i] == "--") {
      taken.insert(taken.end(), arguments.begin() + static_cast<std::ptrdiff_t>(i) + 1, arguments.end());
      break;
    }
    const bool of_tvmc = driver::is_tvmc_option(arguments[i]);
    (of_tvmc ? taken : kept).push_back(arguments[i]);
    const bool has_next = i + 1 < arguments.size() && !arguments[i + 1].starts_with("--");
    if (of_tvmc && has_next && driver::takes_next_word(arguments[i])) taken.push_back(arguments[++i]);
  }
  arguments = std::move(kept);
  return taken;
}

}  // namespace usmp::apps
