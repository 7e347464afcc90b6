// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// Running programs: text in, text out, limits. No shell is involved anywhere.
#pragma once

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace usmp::process {

struct Command {
  std::string program;                        // a path if there is a '/' in it, else a name looked up in PATH
  std::vector<std::string> arguments = {};    // passed unchanged
  std::vector<std::string> environment = {};  // "NAME=value": added to our own, or replacing it
  std::string without = {};                   // beginning of names of our own variables that it does not get, if any
  std::optional<std::string> directory = {};  // to start in; absent: our own
  bool joins_error = false;                   // standard error goes where standard output goes; else to our own
  // Starts it as the leader of a process group. A limit also ends its children, whatever groups and sessions these have
  // made for themselves. The terminal's Ctrl-C then reaches it only through `Limits::interrupted`.
  bool leads_group = false;
};

struct Limits {
  std::size_t output = 0;                              // bytes
  std::optional<std::chrono::milliseconds> time = {};  // from the start
  const std::atomic<bool>* interrupted = nullptr;      // checked a few times a second
};

enum class End : std::uint8_t { exited, too_much_output, time_limit, interrupted };  // all but exited: killed

struct Result {
  End end = End::exited;
  int status = 0;  // from waitpid, if it exited
  std::string output;

  [[nodiscard]] bool succeeded() const { return end == End::exited && status == 0; }
};

// Signals to us that end a program (ending_signals), if they are not ignored or handled, first end the program (with
// its group, if it leads one) and then take their default action; if the caller blocks them, the result is
// End::interrupted.
//
// Writes `input` to the program's standard input while it reads its standard output, however much of either there is. A
// program need not read all of its input. Throws Error of kind usage (file: the program) if it cannot be started.
[[nodiscard]] Result run(const Command& command, std::string_view input, const Limits& limits);

// "exit code 3" or "signal 11": how a program that exited did so.
[[nodiscard]] std::string status_text(int status);

}  // namespace usmp::process
