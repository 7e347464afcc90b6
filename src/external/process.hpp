// Running a program with text in and text out.
#pragma once

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace usmp::external {

struct ProcessLimits {
  std::size_t output = 0;                              // bytes
  std::optional<std::chrono::milliseconds> time = {};  // from the start
  const std::atomic<bool>* interrupted = nullptr;      // looked at a few times a second
};

enum class ProcessEnd : std::uint8_t { exited, too_much_output, time_limit, interrupted };  // all but exited: killed

struct ProcessResult {
  ProcessEnd end = ProcessEnd::exited;
  int status = 0;  // as waitpid says, if it exited
  std::string output;
};

// Writes `input` to the program's standard input while it reads its standard output, however much of either there is.
// A program that does not read all of its input is none the worse for it. Throws Error of kind usage (file: the
// program) if it cannot be started.
[[nodiscard]] ProcessResult run_process(const std::string& program, std::string_view input,
                                        const ProcessLimits& limits);

}  // namespace usmp::external
