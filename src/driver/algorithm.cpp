// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// Words what is proved where there is no plan; lists the algorithms.
#include "algorithm.hpp"

#include <algorithm>
#include <ostream>
#include <string_view>
#include <utility>

#include "usmp/driver/driver.hpp"
#include "usmp/report/algorithms.hpp"
#include "usmp/report/needed.hpp"
#include "usmp/report/text.hpp"
#include "usmp/support/printable.hpp"

namespace usmp::driver {

namespace {

// The proof of a size that is not there is one that no plan exists.
bool is_proved(const NeededSizes& needed) {
  for (const Shortfall& shortfall : needed.shortfalls) {
    for (const Enlargement& choice : shortfall.choices) {
      for (const NeededSize& size : choice) {
        if (size.at_least > size.available) return true;
      }
    }
  }
  return false;
}

}  // namespace

std::string no_plan_text(const PlanResult& result, const NeededSizes& needed,
                         const pipeline::ChosenAlgorithm& algorithm) {
  std::string text = "no plan fits the pools";
  if (result.status != PlanStatus::infeasible && !is_proved(needed)) {
    text = "no plan was found that fits the pools (algorithm " + printable(algorithm.name);
    if (result.stopped != StopReason::finished) text += ", " + report::stop_text(result.stopped);
    text += ")";
  }
  return text + report::needed_text(needed);
}

std::vector<std::string> algorithm_names() { return pipeline::algorithm_names(); }

std::string default_algorithm_name() { return pipeline::default_algorithm().name; }

int list_algorithms(std::ostream& out, bool json) {
  if (json) {
    std::vector<report::AlgorithmRow> rows;
    for (const planners::Algorithm& algorithm : planners::algorithms()) {
      rows.push_back({std::string(algorithm.name), std::string(algorithm.summary), rows.empty()});
    }
    out << report::algorithms_json(rows);
    return exit_ok;
  }
  std::size_t width = std::string_view("exec:PROGRAM").size();
  for (const planners::Algorithm& algorithm : planners::algorithms()) width = std::max(width, algorithm.name.size());
  const auto line = [&](std::string_view name, std::string_view summary) {
    out << name << std::string(width + 2 - name.size(), ' ') << summary;
  };
  for (const planners::Algorithm& algorithm : planners::algorithms()) {
    line(algorithm.name, algorithm.summary);
    out << (&algorithm == &planners::algorithms().front() ? " (default)" : "") << '\n';
  }
  line("exec:PROGRAM", "your own program (docs/instances.md)\n");
  return exit_ok;
}

}  // namespace usmp::driver
