// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// usmp-plan-documents man|bash|zsh|fish: prints the manual page of usmp-plan, or its completion for a shell. Run when
// the project is built; nothing of it is installed.
#include <cstdio>
#include <exception>
#include <functional>
#include <iostream>
#include <map>

#include "documents.hpp"
#include "usmp-plan/run.hpp"

namespace {

int run(const std::string& kind) {
  using usmp::apps::Manual;
  const std::map<std::string, std::function<std::string(const Manual&)>> documents = {
      {"man", usmp::apps::man_page},
      {"bash", usmp::apps::bash_completion},
      {"zsh", usmp::apps::zsh_completion},
      {"fish", usmp::apps::fish_completion}};
  const auto found = documents.find(kind);
  if (found == documents.end()) {
    std::cerr << "usage: usmp-plan-documents man|bash|zsh|fish\n";
    return 2;
  }
  std::cout << found->second(usmp::apps::manual_of_program());
  return std::cout.flush() ? 0 : 1;
}

}  // namespace

int main(int argc, char** argv) {
  try {
    return run(argc == 2 ? argv[1] : "");
  } catch (const std::exception& error) {
    std::fprintf(stderr, "usmp-plan-documents: %s\n", error.what());
    return 1;
  }
}
