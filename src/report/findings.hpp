// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// What of a check somebody has to see, for every format.
#pragma once

#include <string>
#include <vector>

#include "usmp/report/check.hpp"

namespace usmp::report {

struct Finding {
  compare::Verdict verdict = compare::Verdict::breach;  // or a warning
  config::Position position;
  bool in_file = true;  // the pools file; else of a model
  std::string title;    // "sram: max", "no plan"
  std::string message;  // "module default: …", "all modules: …", one line, printable
};

// Findings of the file, then in the order of modules, pools and limits, then of all modules together, then the warnings
// of the plans. A module without a plan has the pools that are too small; if nobody says which, one finding.
[[nodiscard]] std::vector<Finding> findings_of(const compare::BudgetReport& report);

[[nodiscard]] std::size_t count_of(const std::vector<Finding>& findings, compare::Verdict verdict);

// "with --workspace-io: within budget; sram max 28128 instead of 38082" for each advice, printable.
[[nodiscard]] std::vector<std::string> advice_lines(const compare::BudgetReport& report);

// "1 breach, 2 warnings", "within budget".
[[nodiscard]] std::string tally_text(const compare::BudgetReport& report);

}  // namespace usmp::report
