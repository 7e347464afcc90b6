// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// Combines limits, signals and progress into what a search asks now and then.
#include "search.hpp"

#include <spdlog/spdlog.h>

#include <algorithm>
#include <string>

#include "usmp/support/message.hpp"

namespace usmp::driver {

WatchedSearch::WatchedSearch(const SearchOptions& options, const Interrupt& interrupt, std::ostream* terminal)
    : search_{.node_limit = options.node_limit,
              .time_limit = options.time_limit,
              .seed = options.seed.value_or(0),
              .interrupted = &interrupt.flag(),
              .progress = {},
              .log = debug_log()} {
  if (terminal == nullptr) return;
  line_.emplace(*terminal);
  search_.progress = [this, options](const std::string& pool, const planners::Progress& progress) {
    line_->show(pool, progress, options);
  };
}

SearchOptions what_is_left(SearchOptions options, std::chrono::milliseconds spent) {
  if (options.time_limit) options.time_limit = std::max(std::chrono::milliseconds(1), *options.time_limit - spent);
  return options;
}

pipeline::Log debug_log() {
  return [](const std::string& line) { spdlog::debug("{}", message_line(line)); };
}

}  // namespace usmp::driver
