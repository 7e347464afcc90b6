// SPDX-License-Identifier: Apache-2.0
#include "arguments.hpp"

namespace usmp::apps {

std::vector<std::string> understood(std::vector<std::string> arguments) {
  if (arguments.empty()) return arguments;
  if (arguments.front() == "help") {
    arguments.erase(arguments.begin());
    arguments.emplace_back("--help");
  }
  if (arguments.front() == "plan") arguments.erase(arguments.begin());
  return arguments;
}

}  // namespace usmp::apps
