// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// One line on a terminal that shows how far a search is.
#pragma once

#include <chrono>
#include <functional>
#include <iosfwd>
#include <string>

#include "usmp/driver/driver.hpp"
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

  void show(const std::string& pool, const planners::Progress& progress, const SearchOptions& limits);
  void show(std::string text);
  void erase();

 private:
  std::ostream& terminal_;
  Now now_;
  Clock::time_point next_;
  std::size_t width_ = 0;  // of the line that stands there
};

// In the words of the result, at most 79 characters: "sram: 9536 bytes, gap of 896 (10.37%), 1234567 steps, limit 30 s;
// Ctrl-C keeps this plan", with as much of it as fits.
[[nodiscard]] std::string progress_text(const std::string& pool, const planners::Progress& progress,
                                        const SearchOptions& limits);

}  // namespace usmp::driver
