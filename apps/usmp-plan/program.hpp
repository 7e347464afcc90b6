// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// The parser of the command line with all commands.
#pragma once

#include <CLI/CLI.hpp>
#include <vector>

#include "commands.hpp"
#include "manual.hpp"

namespace usmp::apps {

class Program {
 public:
  Program();
  Program(const Program&) = delete;  // commands point into the parser
  Program& operator=(const Program&) = delete;
  ~Program() = default;

  [[nodiscard]] CLI::App& parser() { return parser_; }
  [[nodiscard]] const CLI::App& parser() const { return parser_; }
  [[nodiscard]] Manual manual() const;

  // The one that was parsed; the program's own without a subcommand.
  [[nodiscard]] const Command& chosen() const;

 private:
  CLI::App parser_;
  std::vector<Command> commands_;  // the program's own is the first
};

}  // namespace usmp::apps
