// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// A search as the user asked for it: limits, Ctrl-C, progress.
#pragma once

#include <chrono>
#include <iosfwd>
#include <optional>

#include "interrupt.hpp"
#include "progress.hpp"
#include "usmp/driver/driver.hpp"
#include "usmp/pipeline/algorithm.hpp"

namespace usmp::driver {

// One search. `interrupt` lives as long as Ctrl-C is to end searches: after it, those of further modules end at once
// too. Progress is shown on `terminal`, which may be null, until this goes.
class WatchedSearch {
 public:
  WatchedSearch(const SearchOptions& options, const Interrupt& interrupt, std::ostream* terminal);
  WatchedSearch(const WatchedSearch&) = delete;
  WatchedSearch& operator=(const WatchedSearch&) = delete;

  [[nodiscard]] const pipeline::Search& limits() const { return search_; }

 private:
  std::optional<ProgressLine> line_;  // erased when it goes
  pipeline::Search search_;
};

// The same search with `spent` less of its time limit, a millisecond at least.
[[nodiscard]] SearchOptions what_is_left(SearchOptions options, std::chrono::milliseconds spent);

// Debug lines of the program's own log.
[[nodiscard]] pipeline::Log debug_log();

}  // namespace usmp::driver
