// SPDX-License-Identifier: Apache-2.0
// One line on a terminal that shows how far a search is.
#pragma once

#include <chrono>
#include <functional>
#include <iosfwd>
#include <string>

#include "usmp/planners/planner.hpp"
#include "usmp/problem/problem.hpp"

namespace usmp::driver {

// Silent for the first second; then the line is rewritten in place a few times a second at most, and erased at the end.
class ProgressLine {
 public:
  using Clock = std::chrono::steady_clock;
  using Now = std::function<Clock::time_point()>;

  // `terminal` must outlive it. The second counts from here.
  explicit ProgressLine(std::ostream& terminal, Now now = Clock::now);
  ~ProgressLine();
  ProgressLine(const ProgressLine&) = delete;
  ProgressLine& operator=(const ProgressLine&) = delete;

  void show(const std::string& pool, const planners::Progress& progress);
  void show(std::string text);
  void erase();

 private:
  std::ostream& terminal_;
  Now now_;
  Clock::time_point next_;
  std::size_t width_ = 0;  // of the line that stands there
};

// "sram: 986112 to 1041408 bytes (gap 5.61%), 1234567 steps", at most 79 characters.
[[nodiscard]] std::string progress_text(const std::string& pool, const planners::Progress& progress);

}  // namespace usmp::driver
